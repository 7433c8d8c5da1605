"""Microsoft agent-framework: the calls of a model are repaired before middleware and tools."""

from collections.abc import AsyncIterator, Iterator, Sequence
from copy import copy
from itertools import chain
from typing import Any

from agent_framework import (
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    Content,
    FunctionTool,
    Message,
    ResponseStream,
    normalize_tools,
)

from selfcorrect.integrations.adapter import Adapter, Parts, Turn, answer_of, tool_of
from selfcorrect.model import Call, JsonDict

_REJECTED = "Error: Tool call invocation was rejected by user."
"""What the framework answers to a call that a person has refused."""


class MendingMiddleware(Adapter, ChatMiddleware):
    """Repairs calls: `Agent(client, middleware=[MendingMiddleware(), …])`; see `Adapter`."""

    async def process(self, context: ChatContext, call_next: Any) -> None:
        """Ask the model until all calls of its turn may run; hand on a stream when it is whole."""
        messages, options = context.messages, context.options or {}

        async def ask(objected: list[tuple[Any, Turn]]) -> tuple[ChatResponse[Any], Sequence[Any]]:
            more = [[*response.messages, _answers(turn)] for (response, _), turn in objected]
            if more:
                context.messages = [*messages, *chain(*more)]
            if more and (conversation := objected[-1][0][0].conversation_id):
                # The service holds the messages before.
                context.messages = more[-1][-1:]
                context.options = {**options, "conversation_id": conversation}
            await call_next()
            if isinstance(context.result, ResponseStream):
                updates = [update async for update in context.result]
                return await context.result.get_final_response(), updates
            response = context.result or ChatResponse()
            return response, response.messages

        thread = [*chain.from_iterable(map(_messages, messages))]
        tools = _tools(options.get("tools"))
        (response, parts), turn = await self.complete(ask, _message, thread, tools)
        if turn.is_changed:
            last = copy(parts[-1])
            last.contents = _PARTS.rewrite(_contents(parts), turn)
            parts = [last]
        if context.stream:
            context.result = ResponseStream(_each(parts), finalizer=ChatResponse.from_updates)
        elif turn.is_changed:
            response = context.result = copy(response)
            response.messages = parts


async def _each(updates: Sequence[Any]) -> AsyncIterator[Any]:
    for update in updates:
        yield update


def _tools(tools: Any) -> Iterator[JsonDict]:
    for tool in normalize_tools(tools):
        if isinstance(tool, FunctionTool):
            yield tool_of(tool.name, tool.description, tool.parameters())


def _messages(message: Message) -> Iterator[JsonDict]:
    for content in message.contents:
        if content.type == "function_result":
            status = "error" if content.exception else "success"
            status = "denied" if content.result == _REJECTED else status
            yield answer_of(content.call_id or "", str(content.result), status)
    if message.role == "assistant":
        yield _PARTS.message_of(message.contents)


def _message(asked: tuple[ChatResponse[Any], Any]) -> JsonDict:
    response, _ = asked
    contents = _contents(response.messages)
    return _PARTS.message_of(contents, finish_reason=response.finish_reason)


def _contents(parts: Sequence[Any]) -> list[Content]:
    return [content for part in parts for content in part.contents]


def _call_of(content: Content) -> tuple[str, Any, str] | None:
    if content.type != "function_call" or content.hosted or content.informational_only:
        return None
    return content.name or "", content.arguments or {}, content.call_id or ""


def _text_of(content: Content) -> str:
    return (content.type == "text" and content.text) or ""


def _write(call: Call, written: Content | None) -> Content:
    # Beside the call stands what its provider wants to see again.
    content = copy(written) or Content.from_function_call(call.id or "", call.name)
    content.name, content.arguments = call.name, dict(call.args)
    return content


def _answers(turn: Turn) -> Message:
    if turn.is_text:
        return Message("user", [turn.objection])
    results = [
        Content.from_function_result(call.id or "", result=text) for call, text in turn.answers
    ]
    return Message("tool", results)


_PARTS = Parts(_call_of, _text_of, Content.from_text, _write)
