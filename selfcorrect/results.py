"""Errors that tools return as values: shapes that mean nothing else, at the top of the value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from selfcorrect.pointer import get

_LONGEST: Final = 256 * 1024
_MESSAGES: Final = ("message", "error", "errors", "reason", "detail")
_OF_THE_ERROR: Final = frozenset(
    {"code", "detail", "details", "message", "path", "status", "timestamp", "type"}
)
"""Keys that tell more of an error, as Express, Spring and Django REST write them."""


def is_error_value(value: Any) -> bool:
    """Whether a tool's value is an error: by its shape, never by words in it.

    The value itself, a text that is wholly such JSON, or the one text block of a message.
    What is empty, null or further down is left alone.

    >>> is_error_value({"error": "no such order", "order_id": 7}), is_error_value({"error": None})
    (True, False)
    >>> is_error_value('{"ok": false, "hint": "press the brake"}'), is_error_value("Error: no")
    (True, False)
    >>> is_error_value({"orders": [], "error": "one page is missing"})
    False
    """
    found = _object_in(value)
    return found is not None and any(holds(found) for holds in _SHAPES)


def has_error_at(
    value: Any,
    where: Mapping[str, Sequence[Any]],
    otherwise: Callable[[Any], bool] | None = is_error_value,
) -> bool:
    """Whether one of these values stands at its place, or the value is an error otherwise.

    >>> has_error_at({"job": {"state": "failed"}}, {"/job/state": ["failed", "dead"]})
    True
    """
    found = _object_in(value)
    named = found is not None and any(get(found, path) in values for path, values in where.items())
    return named or (otherwise is not None and otherwise(value))


def _object_in(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        block = value[0]
        value = block.get("text") if block.get("type") == "text" else None
    if isinstance(value, str):
        value = _parsed(value)
    return value if isinstance(value, Mapping) else None


def _parsed(text: str) -> Any:
    if len(text) > _LONGEST or not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _says_error(value: Mapping[str, Any]) -> bool:
    """`{"error": …}`, alone or beside ids, what tells more of the error, and false or null."""
    if not _tells(value.get("error")):
        return False
    return all(
        item is False
        or item is None
        or key in _OF_THE_ERROR
        or key == "id"
        or key.endswith(("_id", "Id", "ID"))
        for key, item in value.items()
        if key != "error"
    )


def _says_so(value: Mapping[str, Any]) -> bool:
    """`ok`, or MCP's `isError`."""
    return value.get("ok") is False or value.get("isError") is True


def _says_no_success(value: Mapping[str, Any]) -> bool:
    return value.get("success") is False and any(_tells(value.get(key)) for key in _MESSAGES)


def _is_graphql(value: Mapping[str, Any]) -> bool:
    """GraphQL (October 2021), section 7.1: errors, and no data beside them."""
    errors = value.get("errors")
    if not isinstance(errors, list) or not errors or value.get("data") is not None:
        return False
    return all(isinstance(each, Mapping) and "message" in each for each in errors)


def _is_problem(value: Mapping[str, Any]) -> bool:
    """RFC 9457: title and status, as problem+json has them."""
    status = value.get("status")
    named = isinstance(value.get("title"), str) and isinstance(value.get("type"), str)
    return named and type(status) is int and 400 <= status < 600


_SHAPES: Final = (
    _says_error,
    _says_so,
    _says_no_success,
    _is_graphql,
    _is_problem,
)


def _tells(item: Any) -> bool:
    """Whether this says something: a text, or an object or a list with something in it."""
    return isinstance(item, str | Mapping | list) and bool(item)
