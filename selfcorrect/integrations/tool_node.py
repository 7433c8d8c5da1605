"""`SelfCorrectingToolNode`: a drop-in for LangGraph's `ToolNode`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Unpack

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime

from selfcorrect.forms.names import usable_name
from selfcorrect.hints import switch
from selfcorrect.integrations.chat import (
    finish_reason,
    note_of,
    rewritten,
    written_calls,
)
from selfcorrect.integrations.handled import AsyncHandler, Handler, Response
from selfcorrect.integrations.history import messages_of
from selfcorrect.integrations.tool_calls import IN_TURN, ToolCalls, Turn
from selfcorrect.integrations.toolbox import (
    Toolboxes,
    as_tools,
)
from selfcorrect.kernel.requests import is_refusal
from selfcorrect.loop.options import OptionKeywords, Options
from selfcorrect.model import JSON


class SelfCorrectingToolNode(ToolNode):
    """Runs the tool calls of the last message, as `ToolNode` does, and mends those that fail.

    Takes what `ToolNode` takes and gives what it gives: messages in, one `ToolMessage` per call in
    the order of the calls, `Command`s passed through, state, store and runtime injected. Calls that
    LangChain could not parse are mended too; `calls_condition` routes to them, where
    `tools_condition` ends the run in silence.

    Not the right tool inside `create_agent`: see `SelfCorrection`.

    Args:
        tools: LangChain tools, or functions.
        ask_person: Whether a person may be asked, by an interrupt; needs a checkpointer.
        on_trail: Gets the record of every call, those that were simply done too, as plain JSON.
        name: The node's name.
        tags: The node's tags.
        messages_key: Where the state has its messages.
        options: What the loop is made of: `strategies`, `model`, `limits`, `policy`, `ledger`,
            `on_error`, `on_failure` and all others of `build_graph`, but for `checkpointer`.

    Raises:
        GraphSetupError: If a setting or a tool is unusable.
        MapError: If the error-strategy map is unusable.

    >>> from langchain_core.messages import AIMessage
    >>> from langgraph.graph import END, START, MessagesState, StateGraph
    >>> def double(number: int) -> int:
    ...     '''Double a number.'''
    ...     return number * 2
    >>> builder = StateGraph(MessagesState)
    >>> _ = builder.add_node("tools", SelfCorrectingToolNode([double]))
    >>> _ = builder.add_edge(START, "tools")
    >>> call = {"name": "Double", "args": {"number": "twenty-one"}, "id": "1"}
    >>> out = builder.compile().invoke({"messages": [AIMessage("", tool_calls=[call])]})
    >>> out["messages"][-1].content
    '42'
    """

    def __init__(
        self,
        tools: Sequence[BaseTool | Callable[..., Any]],
        *,
        ask_person: bool = False,
        on_trail: Callable[[Mapping[str, JSON]], None] | None = None,
        name: str = "tools",
        tags: list[str] | None = None,
        messages_key: str = "messages",
        **options: Unpack[OptionKeywords],
    ) -> None:
        chosen = Options.of(options)
        switch("SelfCorrectingToolNode", "ask_person", ask_person)
        boxes = Toolboxes(chosen)
        self._asks = ask_person
        own = as_tools(tools)
        boxes.of(own)
        calls = ToolCalls(
            chosen,
            boxes,
            ask_person=ask_person,
            on_trail=on_trail,
        )
        super().__init__(
            own,
            name=name,
            tags=tags,
            # What the wrappers let through is meant to be raised.
            handle_tool_errors=False,
            messages_key=messages_key,
            wrap_tool_call=partial(_called, calls, boxes),
            awrap_tool_call=partial(_acalled, calls, boxes),
        )

    def _func(self, input: Any, config: RunnableConfig, runtime: Runtime) -> Any:  # noqa: A002
        if self._asks:
            # LangGraph gives answers to the questions of one step in their order: it has to stay.
            config = {**config, "max_concurrency": 1}
        return self._with_history(input, super()._func(input, config, runtime))

    async def _afunc(self, input: Any, config: RunnableConfig, runtime: Runtime) -> Any:  # noqa: A002
        if self._asks:
            IN_TURN.set(Turn())
        return self._with_history(input, await super()._afunc(input, config, runtime))

    def _with_history(self, given: Any, output: Any) -> Any:
        """The output, with the assistant's message renewed where no provider would take it."""
        is_message_list = isinstance(given, list)
        if is_message_list or (isinstance(given, dict) and "__type" in given):
            return output
        message = _last(messages_of(given, self._messages_key))
        if message.id is None or not _is_unusable(message):
            return output
        parts = output if isinstance(output, list) else [output]
        answers = {
            answer.tool_call_id: answer
            for part in parts
            if isinstance(part, dict)
            for answer in part[self._messages_key]
        }
        renewed = _renewed(message, answers)
        if isinstance(output, list):
            return [{self._messages_key: [renewed]}, *output]
        return {self._messages_key: [renewed, *output[self._messages_key]]}

    def _parse_input(
        self,
        input: Any,  # noqa: A002
    ) -> tuple[list[ToolCall], Literal["list", "dict", "tool_calls"]]:
        """The calls, with those that LangChain could not parse as `raw` text."""
        calls, kind = super()._parse_input(input)
        if kind == "tool_calls":
            return calls, kind
        return _all_calls(_last(messages_of(input, self._messages_key))), kind


def _called(
    calls: ToolCalls, boxes: Toolboxes, request: ToolCallRequest, handler: Handler
) -> Response:
    return calls.call(_without_key(boxes, request), handler)


async def _acalled(
    calls: ToolCalls, boxes: Toolboxes, request: ToolCallRequest, handler: AsyncHandler
) -> Response:
    return await calls.acall(_without_key(boxes, request), handler)


def _without_key(boxes: Toolboxes, request: ToolCallRequest) -> ToolCallRequest:
    """The request without the idempotency key that a model may see here, and is not to choose."""
    call = request.tool_call
    spec = boxes.ready(call["name"], request.tool)
    if spec is None or spec.takes_key is None or spec.takes_key not in call["args"]:
        return request
    args = {name: value for name, value in call["args"].items() if name != spec.takes_key}
    return request.override(tool_call={**call, "args": args})


def calls_condition(state: Any, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """Route like `tools_condition`, and also where the calls of the last message are broken.

    >>> from langchain_core.messages import AIMessage
    >>> broken = {"name": "f", "args": "{'x': 1}", "id": "1", "error": "not JSON"}
    >>> calls_condition([AIMessage("", invalid_tool_calls=[broken])])
    'tools'
    """
    messages = messages_of(state, messages_key)
    last = messages[-1] if messages else None
    if isinstance(last, AIMessage) and (last.tool_calls or last.invalid_tool_calls):
        return "tools"
    return "__end__"


def _last(messages: Sequence[BaseMessage]) -> AIMessage:
    return next(each for each in reversed(messages) if isinstance(each, AIMessage))


def _is_unusable(message: AIMessage) -> bool:
    ids = [call["id"] for call in message.tool_calls]
    return bool(message.invalid_tool_calls) or not all(ids) or len(set(ids)) < len(ids)


def _renewed(message: AIMessage, answers: Mapping[str, ToolMessage]) -> AIMessage:
    """The message with the calls that were made; an empty object stands for what was not."""
    pairs: list[tuple[str | None, dict[str, Any]]] = []
    for written in written_calls(message):
        answer = answers.get(written.id)
        made = note_of(answer).get("call") if answer is not None else None
        is_object = isinstance(written.args, dict)
        args = written.args if is_object else (made or {}).get("args", {})
        name = (made or {}).get("name") or usable_name(written.name)
        pairs.append((written.given_id, {"name": name, "args": args, "id": written.id}))
    return rewritten(message, pairs)


def _all_calls(message: AIMessage) -> list[ToolCall]:
    reason = finish_reason(message)
    found: list[ToolCall] = []
    for written in written_calls(message):
        is_object = isinstance(written.args, dict)
        call: dict[str, Any] = {
            "name": written.name,
            "args": written.args if is_object else {},
            "id": written.id,
            "type": "tool_call",
        }
        if not is_object:
            call["raw"] = written.args if isinstance(written.args, str) else str(written.args)
        if written.cut:
            call["cut"] = True
        if written.invalid:
            call["invalid"] = True
        if is_refusal(reason) or (reason is not None and "raw" in call):
            call["finish_reason"] = reason
        found.append(call)  # type: ignore[arg-type]
    return found
