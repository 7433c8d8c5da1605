"""smolagents: the calls of a model are repaired before a `ToolCallingAgent` runs them."""

import json
from ast import literal_eval
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from smolagents import Tool
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    Model,
    get_tool_json_schema,
    parse_json_if_needed,
)

from selfcorrect.context import run_sync
from selfcorrect.integrations.adapter import Adapter, Turn, answer_of, message_of
from selfcorrect.model import JsonDict
from selfcorrect.reading.call_object import strict_json

_NO_TYPES = ("any", "image", "audio")
"""Types that JSON Schema does not know."""


class MendedModel(Adapter, Model):  # type: ignore[misc]  # smolagents is untyped
    """A model whose calls are repaired: `ToolCallingAgent(tools=…, model=MendedModel(model))`.

    Args:
        wrapped: The model.
        **options: Those of `Adapter`.
    """

    def __init__(self, wrapped: Model, **options: Any) -> None:
        Model.__init__(self, model_id=wrapped.model_id)
        Adapter.__init__(self, **options)
        self._wrapped = wrapped

    def generate(self, messages: Any, *args: Any, **more: Any) -> ChatMessage:
        """Ask the model until all calls of its turn may run."""

        def ask(errors: list[Any]) -> ChatMessage:
            message = self._wrapped.generate([*messages, *errors], *args, **more)
            action = strict_json(str(message.content).strip().removeprefix("Action:").strip())
            # A text that is a call alone is one, as in smolagents' own prompt.
            if tools and isinstance(action, dict) and self._wrapped.tool_name_key in action:
                message = self._wrapped.parse_tool_calls(message)
            return message

        tools = more.get("tools_to_call_from")
        if not tools:
            # A plan, or the code of a `CodeAgent`.
            return ask([])
        thread = _thread(messages)
        message, turn = run_sync(
            self.complete(ask, ChatMessage.dict, _reply, thread, map(_tool, tools))
        )
        if turn.is_changed:
            calls = message_of("", [(call.name, dict(call.args), call.id) for call in turn.ready])
            content = turn.objection or message.content
            message = replace(message, content=content, tool_calls=calls["tool_calls"])
        return message

    def generate_stream(self, *request: Any, **more: Any) -> Iterator[ChatMessageStreamDelta]:
        """Stream a turn when it is whole: one that is not cannot be judged."""
        message = self.generate(*request, **more)
        deltas = []
        for index, call in enumerate(message.tool_calls or ()):
            text = json.dumps(parse_json_if_needed(call.function.arguments))
            function = replace(call.function, arguments=text)
            deltas.append(ChatMessageToolCallStreamDelta(index, call.id, call.type, function))
        yield ChatMessageStreamDelta(message.content, deltas, message.token_usage)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Refuse a text: `generate` has made a call of each that may run.

        Raises:
            ValueError: Always; the agent tells the model.
        """
        raise ValueError(f"this is not a call of a tool: {message.content}")


def _thread(messages: Iterable[ChatMessage]) -> Iterator[JsonDict]:
    """Yield a thread as messages of a chat; a step of which it shows the calls has returned."""
    for message in messages:
        if message.role != MessageRole.TOOL_CALL:
            yield {"role": message.role, "content": message.content}
            continue
        try:
            calls = literal_eval(message.content[0]["text"].removeprefix("Calling tools:\n"))
        except (ValueError, SyntaxError, RecursionError):
            # An argument such as NaN: the calls count as lost.
            continue
        yield {"role": "assistant", "content": "", "tool_calls": calls}
        yield from (answer_of(call["id"], "") for call in calls)


def _reply(_: ChatMessage, turn: Turn) -> list[ChatMessage]:
    """Return what the model reads of a turn that may not stand, as the agent tells an error."""
    text = "\n".join(["Error:", *(f"{call.name}: {text}" for call, text in turn.answers)])
    return [ChatMessage(MessageRole.TOOL_RESPONSE, [{"type": "text", "text": text}])]


def _tool(tool: Tool) -> JsonDict:
    shown = get_tool_json_schema(tool)["function"]
    shown["parameters"]["properties"] = {
        name: {} if schema.get("type") in _NO_TYPES else schema
        for name, schema in tool.inputs.items()
    }
    return {**shown, "effect": "read_only"} if tool.name == "final_answer" else shown
