"""Reads what an exception carries as structure: its classes, status, code and wait."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar

from selfcorrect.effects.outcome import chain, field_of, status_of
from selfcorrect.model import Finding
from selfcorrect.text import release, text_of

T = TypeVar("T")
MAX_TEXT: Final = 64_000
_CODE_FIELDS: Final = ("sqlstate", "pgcode", "error_code", "code")


def finding_of(error: BaseException) -> Finding:
    """Return what an exception shows, its causes included; secrets are cut out of its text."""
    layers = list(chain(error))
    names = dict.fromkeys(name for each in layers for name in _class_names(type(each)))
    # A wrapper often carries less than its cause: the first layer that has something speaks.
    return {
        "text": release(text_of(error) or type(error).__name__, MAX_TEXT),
        "types": list(names),
        "status": _first(layers, status_of),
        "code": _first(layers, _code_of),
        "paths": [],
        "constraint": {},
        "retry_after": _first(layers, _wait_of),
    }


def _first(layers: Iterable[BaseException], read: Callable[[BaseException], T | None]) -> T | None:
    return next((found for each in layers if (found := read(each)) is not None), None)


def _class_names(kind: type) -> list[str]:
    skipped = (object, BaseException, Exception)
    return [
        f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__ if base not in skipped
    ]


def _code_of(error: BaseException) -> str | None:
    for name in _CODE_FIELDS:
        value = field_of(error, name)
        if isinstance(value, str) and 0 < len(value) <= 200:
            return value
    return None


def _wait_of(error: BaseException) -> float | None:
    value = field_of(error, "retry_after")
    if value is None:
        value = field_of(field_of(field_of(error, "response"), "headers"), "retry-after")
    return None if value is None else seconds_of(value)


def seconds_of(value: Any) -> float | None:
    """Read `Retry-After` (RFC 9110 §10.2.3): seconds, or an HTTP date.

    >>> seconds_of("120"), seconds_of("soon")
    (120.0, None)
    """
    try:
        seconds = _seconds_in(value)
    except Exception:  # a foreign object may raise anything, and a date may be too far off
        return None
    return max(0.0, seconds) if seconds < float("inf") else None


def _seconds_in(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        at = parsedate_to_datetime(str(value))
        return (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
