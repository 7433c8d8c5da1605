"""Reads strictly valid JSON, and nothing else."""

from __future__ import annotations

import json
import math
from typing import Final, NoReturn

from selfcorrect.model import JSON
from selfcorrect.plain import DEPTH, problem
from selfcorrect.reading.contract import JsonRead


def strict_json(text: str) -> JsonRead | None:
    """Read a text that is one strictly valid JSON value, or answer None.

    Stricter than `json.loads`: keys written twice, NaN, Infinity, numbers beyond the range of a
    float, lone surrogates and nesting beyond 100 levels are no strict JSON.

    >>> strict_json('{"a": 1}').value
    {'a': 1}
    >>> strict_json('{"a": 1, "a": 1}') is None
    True
    """
    try:
        value = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return None
    suspect = text.count("{") + text.count("[") > DEPTH or "\\u" in text or not text.isascii()
    if suspect and problem(value) is not None:
        return None
    return JsonRead(value, 0, len(text))


def _once(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is written twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number beyond the range of a float")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_STRICT: Final = json.JSONDecoder(
    object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite
)
