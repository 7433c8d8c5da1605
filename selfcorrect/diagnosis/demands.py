"""Reads what an error demands: what the input must be, as JSON Schema, and how long to wait."""

import re
from collections.abc import Iterable
from typing import Any

from selfcorrect.diagnosis.body import plain_key
from selfcorrect.diagnosis.facts import seconds_of
from selfcorrect.lazy import load_table
from selfcorrect.model import JsonDict


def constraint_of(sentence: str) -> JsonDict:
    """Return what a sentence demands of a value; empty where it demands nothing readable.

    >>> constraint_of("seats must be between 1 and 9"), constraint_of("use one of 'a', 'b'")
    ({'minimum': 1, 'maximum': 9}, {'enum': ['a', 'b']})
    """
    if values := _listed(sentence):
        return {"enum": values}
    if pattern := _PATTERN.search(sentence):
        return {"pattern": pattern[1].rstrip("'\"`.,")}
    if bounds := _bounds(sentence):
        return bounds
    for word in _TYPE.findall(sentence):
        if name := _TYPES.get(word.lower()):
            return {"type": name}
    return {}


def _listed(text: str) -> list[str]:
    """Return the values of a list that a sentence allows."""
    listed = _LIST.search(text)
    if listed is None:
        return []
    quoted = _QUOTED.findall(listed[1])
    values = quoted or re.split(r"\s*(?:,|\||\bor\b|\band\b)\s*", listed[1].strip("[](){}. "))
    words = [value for value in values if quoted or len(value.split()) == 1]
    return words if len(words) > 1 and len(words) >= len(values) - 1 else []


_TABLE = load_table("diagnosis/words.toml")
_LIST = re.compile("".join(_TABLE["list"]))
_QUOTED = re.compile(r"[`'\"‘“]([^`'\"’”\n]{1,60})[`'\"’”]")
_PATTERN = re.compile(
    r"(?i)(?:pattern|regex|expression|matched by)\b[: ]{0,2}[`'\"/]?(\S{0,200}[\^$\[\\]\S{0,200})"
)
_TYPE = re.compile(
    r"(?i)(?:of type|expected|must be|should be|is not|not) (?:an? )?(?:valid )?[`'\"<]?(\w+)"
)

_TYPES = {word: name for name, words in _TABLE["types"].items() for word in words.split()}


def _bounds(text: str) -> JsonDict:
    """Return the bounds that a sentence sets."""
    if between := _BETWEEN.search(text):
        low, high = _number(between[1]), _number(between[2])
        unit = _unit(between[3] or "", text)
        return {f"min{unit}": low, f"max{unit}": high}
    bounds: JsonDict = {}
    for side, pattern in _BOUNDS.items():
        bound = pattern.search(text)
        # "greater than or equal to 1" is not an exclusive bound.
        if bound is None or (bounds and side.startswith("exclusive")):
            continue
        unit = _unit(bound[2] or "", text)
        # JSON Schema has exclusive bounds of numbers only.
        bounds[(side if unit == "imum" else side[-3:].lower()) + unit] = _number(bound[1])
    return bounds


_N = r"(-?\d+(?:[.,]\d+)?)(?![\d:-])"
_BOUNDS = {
    side: re.compile(rf"(?i)(?:{words}) ?{_N}( \w+)?") for side, words in _TABLE["bounds"].items()
}
_BETWEEN = re.compile(
    rf"(?i)(?:between|from|in(?: range)?) \[?{_N}(?: and | to |\.\.|, ?){_N}( \w+)?"
)


def _unit(word: str, text: str) -> str:
    """Return `Items` for items, `Length` for characters, `imum` for anything else."""
    if re.search("item|element|entr", word):
        return "Items"
    is_length = re.search(r"(?i)char|byte|digit|\blength\b|\blong|short", word + text)
    return "Length" if is_length else "imum"


def _number(text: str) -> int | float:
    value = float(text.replace(",", "."))
    return int(value) if value.is_integer() else value


# --- waits ---

_LONGEST = 31 * 86_400


def wait_in_fields(fields: Iterable[tuple[str, Any]]) -> float | None:
    """Return the wait that a field asks for, in seconds, or None.

    >>> wait_in_fields([("code", 7), ("retryAfterMs", 1500)])
    1.5
    """
    for name, value in fields:
        wait = _field(name, value)
        if wait is not None and 0 <= wait <= _LONGEST:
            return wait
    return None


def _field(name: str, value: Any) -> float | None:
    asks = _FIELD.fullmatch(plain_key(name))
    if asks is None or isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if duration := _DURATION.fullmatch(str(value).strip()):
        return _in_seconds(duration[1], duration[2] or asks[1] or "s")
    return seconds_of(value)


_FIELD = re.compile(
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
        wait = round(sum(_in_seconds(number, unit or "s") for number, unit in parts), 3)
        return wait if wait <= _LONGEST else None
    abroad = _ABROAD.search(text)
    return float(abroad[1]) if abroad else None


_DURATION = re.compile(
    r"(?i)(\d{1,9}(?:\.\d{1,9})?) ?(ms|milli\w+|s(?:ec\w*)?|m(?:in\w*)?|h(?:ours?)?|days?)?\b"
)
_ASKS = re.compile("".join(_TABLE["ask"]))
_ABROAD = re.compile("".join(_TABLE["abroad"]))
_UNITS: dict[str, float] = _TABLE["seconds"]
"""Seconds in a unit, by the beginning of its name."""


def _in_seconds(number: str, unit: str) -> float:
    name = "ms" if unit.lower().startswith(("ms", "mil")) else unit.lower()
    return float(number) * _UNITS[name[:2] if name[:2] in _UNITS else name[:1]]
