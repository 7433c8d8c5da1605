"""How a number was spelled in the text that it was read from: `1.10` is a version, not 1.1."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from selfcorrect.text import Unclear

_NUMBER: Final = re.compile(
    r"(?<![\w.+-])[+-]?(?:0[xob][0-9a-f_]{1,80}|\d[\d_]{0,320}(?:\.[\d_]{0,320})?(?:e[+-]?\d{1,4})?"
    r"|\.\d[\d_]{0,320}(?:e[+-]?\d{1,4})?)(?![\w.])",
    re.ASCII | re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)


def as_spelled(number: float, text: str) -> str | None:
    """The spelling of a number in a text; None where it does not stand there.

    Not the right tool for text that people write: what looks like a number there may be none.

    Raises:
        Unclear: If it is spelled in several ways, or in one that says more than the digits.

    >>> as_spelled(1.1, '{"version": 1.10}')
    '1.10'
    >>> as_spelled(420, "chmod(mode=0o644)")
    Traceback (most recent call last):
    selfcorrect.text.Unclear: "0o644" is a number in a spelling that a text may have to keep
    """
    found = _spellings(text).get(number, ())
    if not found:
        return None
    if len(found) > 1:
        raise Unclear(f"the number is spelled in several ways: {', '.join(sorted(found)[:5])}")
    (spelling,) = found
    # 1e3 may be meant as it stands there, or as 1000: two readings.
    if _PLAIN.fullmatch(spelling) is None:
        raise Unclear(f'"{spelling}" is a number in a spelling that a text may have to keep')
    return spelling


@lru_cache(maxsize=8)
def _spellings(text: str) -> Mapping[float, frozenset[str]]:
    """Every number in a text, and how it is spelled there."""
    found: dict[float, set[str]] = {}
    for spelling in {match[0] for match in _NUMBER.finditer(text)}:
        try:
            found.setdefault(_value(spelling), set()).add(spelling)
        except (ValueError, OverflowError):
            continue
    return {number: frozenset(spellings) for number, spellings in found.items()}


def _value(spelling: str) -> float:
    digits = spelling.lstrip("+-").lower()
    if digits.startswith(("0x", "0o", "0b")):
        number: float = int(digits, 0)
    else:
        number = int(digits) if digits.replace("_", "").isdigit() else float(digits)
    return -number if spelling.startswith("-") else number
