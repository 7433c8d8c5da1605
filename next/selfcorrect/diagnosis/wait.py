"""Waits: how long the fields of a body, or the error's own sentence, ask to wait."""

import re
from collections.abc import Iterable
from typing import Any, Final

from selfcorrect.diagnosis.facts import seconds_of

_LONGEST: Final = 31 * 86_400


def wait_in_fields(fields: Iterable[tuple[str, Any]]) -> float | None:
    """Return the wait that a field asks for, in seconds, or None.

    >>> wait_in_fields([("code", 7), ("retryAfterMs", 1500)])
    1.5
    """
    found = (_field(name, value) for name, value in fields)
    return next((wait for wait in found if wait is not None and 0 <= wait <= _LONGEST), None)


def _field(name: str, value: Any) -> float | None:
    asks = _FIELD.fullmatch(re.sub(r"[^a-z]", "", name.lower()))
    if asks is None or isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if duration := _DURATION.fullmatch(str(value).strip()):
        return _seconds(duration[1], duration[2] or asks[1] or "s")
    return seconds_of(value)


_FIELD: Final = re.compile(
    r"x?(?:ms)?(?:ratelimit)?(?:retry(?:after|delay|in)|reset(?:after|in)|backoff|wait)"
    r"(?:s|secs?|seconds|(ms|millis|milliseconds))?"
)


def wait_in_words(text: str) -> float | None:
    """Return the wait that a sentence asks for, in seconds, or None.

    >>> wait_in_words("slow down, try again in 1m 30s")
    90.0
    """
    if asks := _ASKS.search(text):
        parts = _DURATION.findall(asks[1])
        wait = round(sum(_seconds(number, unit or "s") for number, unit in parts), 3)
        return wait if wait <= _LONGEST else None
    abroad = _ABROAD.search(text)
    return float(abroad[1] or abroad[2]) if abroad else None


_DURATION: Final = re.compile(
    r"(?i)(\d{1,9}(?:\.\d{1,9})?) ?(ms|milli\w+|s(?:ec\w*)?|m(?:in\w*)?|h(?:ours?)?|days?)?\b"
)
_ASKS: Final = re.compile(
    r"(?i)(?:re-?try(?:ing|[- _]after| again)?|try(?:ing)? again|again|wait(?:ing)?|available"
    r"|resets?|back ?off|unlock(?:ed)?|expires?)\b"
    r"[\w ,'’\"]{0,40}?(?:\b(?:in|after|for|within|of|about|at least|until)|[:=]|wait(?:ing)?)"
    r" *[\"']?(?:about |another )?"
    r"((?:\d{1,9}(?:\.\d{1,9})? ?[a-zA-Z]{0,12}(?![\d.])(?:,? (?:and )?)?){1,3})"
)
_ABROAD: Final = re.compile(
    r"\b(?:dans|em|en|in|через|خلال) (\d{1,6}) ?(?:secondes?|segundos?|sekunden|сек|ثو)"
    r"|(\d{1,6}) ?秒"
)
_UNITS: Final = {"ms": 0.001, "mi": 60, "s": 1, "m": 60, "h": 3600, "d": 86_400}
"""Seconds in a unit, by the beginning of its name."""


def _seconds(number: str, unit: str) -> float:
    name = "ms" if unit.lower().startswith(("ms", "mil")) else unit.lower()
    return float(number) * _UNITS[name[:2] if name[:2] in _UNITS else name[:1]]
