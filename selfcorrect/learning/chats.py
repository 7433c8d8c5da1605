"""Chat logs as recorded calls: messages of LangChain and LangGraph, of OpenAI, of Anthropic.

A line is a conversation: a list of messages, or an object that holds one (`messages`, or a
`request` or `body` with them, beside a `response`). What a log repeats, since each request carries
the whole conversation, is read once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.forms.calls import copies, slots
from selfcorrect.learning.calls import RecordedCall
from selfcorrect.model import JSON
from selfcorrect.plain import digest
from selfcorrect.results import is_error_value
from selfcorrect.tools.declarations import schema_parts

_AROUND: Final = ("request", "body", "input", "inputs", "kwargs", "outputs", "values")
_TASK: Final = ("task_id", "thread_id", "conversation_id", "session_id")
_SAID: Final = ("Error: ", "Error executing tool ", "Error invoking tool ")
"""How frameworks begin the answer of a tool that failed, where no field says so."""


def is_chat(value: Any) -> bool:
    """Whether this holds a conversation."""
    return _messages(value) is not None


def of_chat(value: Any, start: int, known: set[str]) -> Iterator[RecordedCall]:
    """The calls of a conversation that were answered, in order.

    Args:
        value: A line of the log.
        start: The place of its first call.
        known: Marks of the calls that were read before; those of this line are added.
    """
    messages = [_plain(each) for each in _messages(value) or () if isinstance(each, Mapping)]
    messages += _responded(value)
    tools = dict(_tools(value))
    answers = {key: answer for each in messages for key, answer in _answers(each)}
    task = _task(value) or digest(next(requests_in(messages), None) or start)
    tokens = _tokens(value)
    request: str | None = None
    for message in messages:
        if message["role"] == "user" and (text := _text(message.get("content"))):
            request = text
        for key, name, args in _calls(message):
            mark = digest(key, name, args)
            if key not in answers or mark in known or not isinstance(args, Mapping):
                continue
            known.add(mark)
            text, error = answers[key]
            yield RecordedCall(
                task, start, name, args, text if error else None, None, tools.get(name), request,
                None if error else text, tokens,
            )  # fmt: skip
            start += 1


def _messages(value: Any) -> Sequence[Any] | None:
    if isinstance(value, list):
        return value if value and all(map(_is_message, value)) else None
    if not isinstance(value, Mapping):
        return None
    inner = (value.get(key) for key in ("messages", *_AROUND))
    return next((found for each in inner if (found := _messages(each)) is not None), None)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and (
        "role" in value or "type" in value or isinstance(value.get("kwargs"), Mapping)
    )


_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "AIMessage": "assistant",
    "HumanMessage": "user",
    "ToolMessage": "tool",
    "function": "tool",
}


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in one form: its role, its content, and what else it holds."""
    inner = message.get("data") or message.get("kwargs")
    body = dict(inner) if isinstance(inner, Mapping) else dict(message)
    path = message.get("id")
    kind = path[-1] if isinstance(path, list) and path else None
    role = body.get("role") or message.get("type") or kind or body.get("type")
    role = kind if role == "constructor" else role
    return {**body, "role": _ROLES.get(str(role), str(role))}


def _responded(value: Any) -> list[dict[str, Any]]:
    """The message that answered a request, where a log keeps it beside."""
    response = value.get("response") if isinstance(value, Mapping) else None
    body = response.get("body", response) if isinstance(response, Mapping) else None
    choices = body.get("choices") if isinstance(body, Mapping) else None
    found = [each.get("message") for each in choices or () if isinstance(each, Mapping)]
    return [_plain(each) for each in found if isinstance(each, Mapping)]


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The calls of a message: id, name and arguments, each once."""
    older = message.get("additional_kwargs")  # where LangChain kept them before it parsed them
    for first, *_ in copies(slots(message) or slots(older)):
        if first.name and isinstance(first.id, str):
            yield first.id, first.name, _parsed(first.arguments)


def _answers(message: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, bool]]]:
    """What tools answered, by the id of the call, and whether it is an error."""
    if message["role"] == "tool" and isinstance(key := message.get("tool_call_id"), str):
        text = _text(message.get("content"))
        is_error = message.get("status") == "error" or text.startswith(_SAID)
        yield key, (text, is_error or is_error_value(text))
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and block.get("type") == "tool_result":
            text = _text(block.get("content"))
            yield str(block.get("tool_use_id")), (text, bool(block.get("is_error")))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        found = (each for each in content if isinstance(each, Mapping))
        # OpenTelemetry has a text under `content`.
        texts = [
            each.get("text", each.get("content") if each.get("type") == "text" else None)
            for each in found
        ]
        return "\n".join(text for text in texts if isinstance(text, str))
    return "" if content is None else json.dumps(content, default=str)


def _parsed(args: Any) -> JSON:
    if not isinstance(args, str):
        return args
    try:
        return json.loads(args or "{}")
    except (ValueError, RecursionError):
        return None


def _tools(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, Mapping):
        return
    for holder in (value, *(value.get(key) for key in _AROUND)):
        listed = holder.get("tools") if isinstance(holder, Mapping) else None
        for each in listed if isinstance(listed, list) else ():
            with suppress(ToolDefinitionError):
                name, _, schema = schema_parts(each)
                yield str(name), schema


def _task(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return None
    found = next((value[key] for key in _TASK if isinstance(value.get(key), str | int)), None)
    if found is None:
        inner = value.get("metadata") or value.get("config")
        found = _task(inner) if isinstance(inner, Mapping) else None
    return None if found is None else str(found)


def requests_in(messages: Iterable[Any]) -> Iterator[str]:
    """What the user said in a conversation, message by message."""
    for each in messages:
        message = _plain(each) if isinstance(each, Mapping) else {}
        said = message.get("content") or message.get("parts")
        if message.get("role") == "user" and (text := _text(said)):
            yield text


def _tokens(value: Any) -> int | None:
    """Tokens of one turn, where the log has usage."""
    response = value.get("response") if isinstance(value, Mapping) else None
    for holder in (value, response):
        usage = holder.get("usage") if isinstance(holder, Mapping) else None
        total = usage.get("total_tokens") if isinstance(usage, Mapping) else None
        if isinstance(total, int):
            return total
    return None
