"""OpenTelemetry spans of generative AI as recorded calls: OTLP as JSON lines.

Read is what the conventions call `execute_tool`: `gen_ai.tool.name`, `gen_ai.tool.call.arguments`
and `.result`, the status, and what an exception event says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from selfcorrect.learning.calls import RecordedCall
from selfcorrect.learning.chats import requests_in
from selfcorrect.model import JSON

_ERROR: Final = (2, "STATUS_CODE_ERROR")


def is_spans(value: Any) -> bool:
    """Whether this is a line of an OTLP file of traces."""
    return isinstance(value, Mapping) and isinstance(value.get("resourceSpans"), list)


def of_spans(value: Mapping[str, Any]) -> Iterator[RecordedCall]:
    """The calls of tools among the spans; each at the time at which it began."""
    for resource in _each(value.get("resourceSpans")):
        for scope in _each(resource.get("scopeSpans")):
            for span in _each(scope.get("spans")):
                call = _call(span)
                if call is not None:
                    yield call


def _call(span: Mapping[str, Any]) -> RecordedCall | None:
    told = dict(_attributes(span))
    name = told.get("gen_ai.tool.name")
    if told.get("gen_ai.operation.name") != "execute_tool" or not isinstance(name, str):
        return None
    args = _parsed(told.get("gen_ai.tool.call.arguments"))
    if not isinstance(args, Mapping):
        return None
    task = told.get("gen_ai.conversation.id") or span.get("traceId") or ""
    return RecordedCall(
        str(task),
        int(span.get("startTimeUnixNano") or 0),
        name,
        args,
        _error(span, told),
        told.get("selfcorrect.effect"),
        None,
        _request(told.get("gen_ai.input.messages")),
        _parsed(told.get("gen_ai.tool.call.result")),
    )


def _error(span: Mapping[str, Any], told: Mapping[str, Any]) -> str | None:
    status = span.get("status")
    status = status if isinstance(status, Mapping) else {}
    if status.get("code") not in _ERROR and "error.type" not in told:
        return None
    for event in _each(span.get("events")):
        said = dict(_attributes(event))
        if isinstance(text := said.get("exception.message"), str):
            return text
    return str(status.get("message") or told.get("error.type") or "failed")


def _request(messages: Any) -> str | None:
    """What the user said last, where the span carries it."""
    found = _parsed(messages)
    return next(requests_in(reversed(found if isinstance(found, list) else [])), None)


def _attributes(holder: Mapping[str, Any]) -> Iterator[tuple[str, JSON]]:
    for each in _each(holder.get("attributes")):
        value = each.get("value")
        if isinstance(value, Mapping) and value:
            yield str(each.get("key")), next(iter(value.values()))


def _each(items: Any) -> Iterator[Mapping[str, Any]]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping):
            yield item


def _parsed(text: Any) -> JSON:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
