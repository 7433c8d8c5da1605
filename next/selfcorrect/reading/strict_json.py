"""Reads strict JSON, without rounding: what has two readings is none."""

import json
from decimal import Decimal
from math import isfinite
from typing import Any, Final

from selfcorrect.model import JSON


def decode_strictly(text: str) -> JSON:
    """Return the value of a strict JSON text.

    Raises:
        ValueError: If it is none, a key occurs twice, or a number is no float.
        RecursionError: If it is nested too deeply.
    """
    value: JSON = json.loads(
        text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=real
    )
    return value


def real(digits: str) -> float:
    """Return the float that digits write.

    Raises:
        ValueError: If it is infinite, zero or another whole number, unlike what the digits write.
    """
    number = float(digits)
    if not isfinite(number) or (not number and Decimal(digits)):
        raise ValueError(f"{digits:.30} is beyond any number")
    if abs(number) >= _MOST_WHOLE and Decimal(repr(number)) != Decimal(digits):
        raise ValueError(f"{digits:.30} is no float")
    return number


_MOST_WHOLE: Final = 2**53
"""From here on a float does not hold every whole number."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; two values for one key are not one reading."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
