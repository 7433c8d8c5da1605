"""Microsoft agent-framework: the calls of a model are repaired before middleware and tools."""

from collections.abc import AsyncIterator, Iterator, Sequence
from copy import copy
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

from selfcorrect.integrations.adapter import Adapter, Parts, Turn, WrittenCall, answer_of, tool_of
from selfcorrect.model import Call, JsonDict

_REJECTED = "Error: Tool call invocation was rejected by user."
"""What the framework answers to a call that a person has refused."""


class MendingMiddleware(Adapter, ChatMiddleware):
    """Repairs calls: `Agent(client, middleware=[MendingMiddleware(), …])`; see `Adapter`."""

    async def process(self, context: ChatContext, call_next: Any) -> None:
        """Ask the model until all calls of its turn may run; hand on a stream when it is whole."""
        messages, options, last = context.messages, context.options or {}, ChatResponse()

        async def ask(more: list[Any]) -> ChatResponse[Any]:
            nonlocal last
            context.messages = [*messages, *more]
            if last.conversation_id:
                # The service holds the messages before.
                context.messages = more[-1:]
                context.options = {**options, "conversation_id": last.conversation_id}
            await call_next()
            last = context.result or last
            if isinstance(last, ResponseStream):
                last = await last.get_final_response()
            return last

        tools = _tools(options.get("tools"))
        response, turn = await self.complete(ask, _PARTS.read, _reply, _thread(messages), tools)
        if turn.is_changed:
            message = copy(response.messages[-1])
            message.contents = _PARTS.rewrite(response, turn)
            response = copy(response)
            response.messages = [message]
        context.result = response
        if context.stream:
            context.result = ResponseStream(_updates(response), finalizer=ChatResponse.from_updates)


async def _updates(response: ChatResponse[Any]) -> AsyncIterator[Any]:
    for update in response.to_updates():
        yield update


def _tools(tools: Any) -> Iterator[JsonDict]:
    for tool in normalize_tools(tools):
        if isinstance(tool, FunctionTool):
            yield tool_of(tool.name, tool.description, tool.parameters())


def _thread(messages: Sequence[Message]) -> Iterator[JsonDict]:
    for message in messages:
        for content in message.contents:
            if content.type == "function_result":
                status = "error" if content.exception else "success"
                status = "denied" if content.result == _REJECTED else status
                yield answer_of(content.call_id or "", content.result, status)
        if message.role == "assistant":
            yield _PARTS.read(ChatResponse(messages=message))


def _parts_of(response: ChatResponse[Any]) -> list[Content]:
    return [content for message in response.messages for content in message.contents]


def _reply(response: ChatResponse[Any], turn: Turn) -> list[Message]:
    if turn.is_text:
        return [*response.messages, Message("user", [turn.objection])]
    results = [
        Content.from_function_result(call.id or "", result=text) for call, text in turn.answers
    ]
    return [*response.messages, Message("tool", results)]


def _call_of(content: Content) -> WrittenCall | None:
    if content.type != "function_call" or content.hosted or content.informational_only:
        return None
    return content.name or "", content.arguments or {}, content.call_id or ""


def _text_of(content: Content) -> str:
    return (content.type == "text" and content.text) or ""


def _write(call: Call, written: Content) -> Content:
    # Beside the call stands what its provider wants to see again.
    content = copy(written)
    content.call_id, content.name, content.arguments = call.id, call.name, dict(call.args)
    return content


_BLANK = Content.from_function_call("", "")
_PARTS = Parts(_parts_of, _call_of, _text_of, Content.from_text, _write, _BLANK)
