"""Reads strict JSON, and refuses what has two readings or would be rounded."""

import json
from decimal import Decimal
from typing import Any

from selfcorrect.model import JSON, JsonDict


def decode_strictly(text: str) -> JSON:
    """Return the value of a strict JSON text.

    Raises:
        ValueError: If it is not strict, a key occurs twice, or a float would round a number.
        RecursionError: If it is nested too deeply.
    """
    value: JSON = json.loads(
        text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=real
    )
    return value


def real(digits: str) -> float:
    """Return the float that digits write.

    Raises:
        ValueError: If it is another number than the digits write.
    """
    if not holds(digits):
        raise ValueError(f"no float is the number {digits:.40}: it is too large or too long")
    return float(digits)


def holds(digits: str) -> bool:
    """Say whether Python's float holds every digit of a number."""
    try:
        return Decimal(repr(float(digits))) == Decimal(digits)
    except ArithmeticError:  # an exponent that no number has
        return False


def _unique(pairs: list[tuple[str, Any]]) -> JsonDict:
    """Return the object, and refuse two values for one key."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key occurs twice")
    return members


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
