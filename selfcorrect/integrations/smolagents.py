"""smolagents: the calls of a model are repaired before a `ToolCallingAgent` runs them."""

import json
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from smolagents import Tool
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    Model,
    get_tool_json_schema,
)

from selfcorrect.context import run_sync
from selfcorrect.integrations.adapter import Adapter, Turn, answer_of, message_of, tool_of
from selfcorrect.model import Effect, JsonDict
from selfcorrect.reading.call_object import strict_json
from selfcorrect.setup import Options


class MendedModel(Model):  # type: ignore[misc]  # smolagents is untyped
    """A model whose calls are repaired: `ToolCallingAgent(tools=…, model=MendedModel(model))`.

    Args:
        wrapped: The model.
        effects: What tools do, by name or glob; a tool that is not named has side effects.
        **options: Those of `Mender`.
    """

    def __init__(
        self,
        wrapped: Model,
        *,
        effects: Mapping[str, Effect] | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(model_id=wrapped.model_id)
        self._wrapped = wrapped
        self._adapter = Adapter(effects, **options)

    def generate(self, messages: Any, *args: Any, **more: Any) -> ChatMessage:
        """Ask the model until all calls of its turn may run."""

        def ask(objected: list[tuple[ChatMessage, Turn]]) -> ChatMessage:
            errors = [_error(turn) for _, turn in objected]
            return self._wrapped.generate([*messages, *errors], *args, **more)

        tools = more.get("tools_to_call_from")
        if not tools:
            # A plan, or the code of a `CodeAgent`.
            return ask([])
        read = partial(self._message, {tool.name: [*tool.inputs] for tool in tools})
        message, turn = run_sync(
            self._adapter.complete(ask, read, [*_thread(messages)], map(_tool, tools))
        )
        if turn.calls and (turn.is_changed or not message.tool_calls):
            calls = [
                ChatMessageToolCall(
                    ChatMessageToolCallFunction(dict(call.args), call.name), call.id, "function"
                )
                for call in turn.ready
            ]
            message = replace(message, content=turn.objection or message.content, tool_calls=calls)
        return message

    def generate_stream(self, *request: Any, **more: Any) -> Iterator[ChatMessageStreamDelta]:
        """Stream a turn when it is whole: one that is not cannot be judged."""
        message = self.generate(*request, **more)
        deltas = []
        for index, call in enumerate(message.tool_calls or ()):
            args = call.function.arguments
            text = args if isinstance(args, str) else json.dumps(args)
            function = replace(call.function, arguments=text)
            deltas.append(ChatMessageToolCallStreamDelta(index, call.id, call.type, function))
        yield ChatMessageStreamDelta(message.content, deltas, message.token_usage)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Refuse a text: `generate` has made a call of each that may run.

        Raises:
            ValueError: Always; the agent tells the model.
        """
        raise ValueError(f"this is not a call of a tool: {_text(message)}")

    def _message(self, inputs: Mapping[str, list[str]], message: ChatMessage) -> JsonDict:
        """Return a message; a text that is a call alone is one, as in smolagents' own prompt."""
        text, calls = _text(message), message.tool_calls or ()
        own = [(call.function.name, call.function.arguments, call.id) for call in calls]
        action = strict_json(text.strip().removeprefix("Action:").strip())
        name_key, args_key = self._wrapped.tool_name_key, self._wrapped.tool_arguments_key
        if not own and isinstance(action, dict) and isinstance(action.get(name_key), str):
            own = [(action[name_key], action.get(args_key), "")]
        return message_of(text, [(n, _args(args, inputs.get(n, [])), i) for n, args, i in own])


def _thread(messages: Iterable[ChatMessage]) -> Iterator[JsonDict]:
    """Yield a thread as messages of a chat; a step of which it shows the calls has returned."""
    for message in messages:
        text = _text(message)
        if message.role == MessageRole.TOOL_CALL:
            try:
                calls = literal_eval(text.removeprefix("Calling tools:\n"))
            except (ValueError, SyntaxError, RecursionError):
                # An argument such as NaN: the calls count as lost.
                continue
            yield {"role": "assistant", "content": "", "tool_calls": calls}
            yield from (answer_of(call["id"], "") for call in calls)
        elif message.role != MessageRole.SYSTEM:
            is_own = message.role == MessageRole.ASSISTANT
            yield {"role": "assistant" if is_own else "user", "content": text}


def _args(written: Any, names: list[str]) -> Any:
    """Return arguments; smolagents takes a value alone where a tool has one argument."""
    value = strict_json(written) if isinstance(written, str) else written
    is_object = isinstance(value, dict) or str(value).lstrip().startswith("{")
    return written if is_object or value in (None, "") or len(names) != 1 else {names[0]: value}


def _text(message: ChatMessage) -> str:
    content = message.content or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _error(turn: Turn) -> ChatMessage:
    """Return what the model reads of a turn that may not stand, as the agent tells an error."""
    text = "\n".join(["Error:", *(f"{call.name}: {text}" for call, text in turn.answers)])
    return ChatMessage(MessageRole.TOOL_RESPONSE, [{"type": "text", "text": text}])


def _tool(tool: Tool) -> JsonDict:
    properties = {name: _parameter(each) for name, each in tool.inputs.items()}
    parameters = get_tool_json_schema(tool)["function"]["parameters"]
    parameters |= {"properties": properties, "additionalProperties": False}
    more = {"effect": "read_only"} if tool.name == "final_answer" else {}
    return tool_of(tool.name, tool.description, parameters, **more)


def _parameter(schema: JsonDict) -> JsonDict:
    """Return JSON Schema: smolagents has types and a key of its own."""
    own = {key: item for key, item in schema.items() if item not in ("any", "image", "audio")}
    return {"anyOf": [own, {"type": "null"}]} if schema.get("nullable") else own
