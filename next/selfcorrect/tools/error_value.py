"""Says whether a returned value is an error, by structure alone."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from selfcorrect.errors import ToolReportedError
from selfcorrect.model import JSON, JsonObject


def error_in(value: JSON) -> str | None:
    """Return the text of an error that came as a value, or None where it is none.

    >>> error_in({"error": {"message": "no seat is left"}}), error_in({"error": None, "seats": 2})
    ('no seat is left', None)
    """
    if not isinstance(value, Mapping) or not any(is_error(value) for is_error in _SIGNS):
        return None
    for key in _TEXTS:
        if value.get(key):
            return _text(value[key])
    return _text(value)


def reported_error(value: JSON, text: str) -> ToolReportedError:
    """Return the exception that an error value stands for, so that one reader reads both."""
    if not isinstance(value, Mapping):
        return ToolReportedError(text)
    error = value.get("error")
    parts = [error, value] if isinstance(error, Mapping) else [value]
    details = [each for part in parts for each in part.values() if isinstance(each, list | dict)]
    if any(each is not error and each is not value.get("content") for each in details):
        # Which argument is meant stands in the details.
        text = f"{text}\n{json.dumps(dict(parts[0]), ensure_ascii=False, default=str)}"
    return ToolReportedError(
        text,
        _first(parts, ("status_code", "statusCode", "status", "code"), _is_status),
        _first(parts, ("code", "error_code", "errorCode", "type"), _is_code),
        _first(parts, ("retry_after", "retryAfter", "retry_after_seconds"), _is_seconds),
    )


def _first(parts: list[JsonObject], names: Sequence[str], fits: Callable[[JSON], bool]) -> Any:
    found = (part[name] for part in parts for name in names if fits(part.get(name)))
    return next(found, None)


_SIGNS: Final[tuple[Callable[[JsonObject], bool], ...]] = (
    lambda value: value.get("isError") is True or value.get("is_error") is True,
    lambda value: bool(value.get("error")),
    lambda value: value.get("status") == "error",
    lambda value: _is_status(value.get("status_code")),
)
_TEXTS: Final = ("error", "message", "detail", "content")
"""Where an error says what is wrong, in this order."""


def _is_status(value: JSON) -> bool:
    return type(value) is int and 400 <= value < 600


def _is_code(value: JSON) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200 and " " not in value


def _is_seconds(value: JSON) -> bool:
    return type(value) in (int, float) and value >= 0


def _text(value: JSON) -> str:
    if isinstance(value, list):
        return "\n".join(_text(item) for item in value)
    if isinstance(value, Mapping):
        found = next((value[key] for key in ("message", "text") if value.get(key)), dict(value))
        return str(found)
    return str(value)
