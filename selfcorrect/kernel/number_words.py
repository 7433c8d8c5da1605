"""Numbers that stand in words, beside plain ones: `one and a half`, `1.2 million`, `a dozen`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from selfcorrect.words import SCALES, number_word

_PARTS: Final = {
    "a half": Decimal("0.5"),
    "one half": Decimal("0.5"),
    "a quarter": Decimal("0.25"),
    "one quarter": Decimal("0.25"),
    "three quarters": Decimal("0.75"),
}
_DIGITS: Final = re.compile(r"\d{1,15}(?:\.\d{1,2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A number that was read from words.

    Attributes:
        value: The number.
        scale: Whether a word such as `million` told how it is counted.
    """

    value: Decimal
    scale: bool = False


def spoken(text: str) -> Spoken | None:
    """The one number that English words name, or None.

    >>> spoken("minus three").value, spoken("one and a half").value, spoken("a dozen").value
    (Decimal('-3'), Decimal('1.5'), Decimal('12'))
    >>> spoken("1.2 million")
    Spoken(value=Decimal('1200000.0'), scale=True)
    """
    words = " ".join(text.lower().split())
    sign, _, rest = words.partition(" ")
    if sign in ("minus", "negative"):
        found = _unsigned(rest)
        return None if found is None else Spoken(-found.value, found.scale)
    return None if _DIGITS.fullmatch(words) else _unsigned(words)


def _unsigned(words: str) -> Spoken | None:
    scale = not SCALES.keys().isdisjoint(words.replace("-", " ").split())
    if words == "a dozen":
        return Spoken(Decimal(12), scale=True)
    if (number := _count(words)) is not None:
        return Spoken(number, scale)
    most, _, last = words.rpartition(" ")
    if last in SCALES and (number := _count(most)) is not None:
        return Spoken(number * SCALES[last], scale)
    whole, _, part = words.rpartition(" and ")
    if not scale and part in _PARTS and (number := _count(whole)) is not None:
        return Spoken(number + _PARTS[part])
    return None


def _count(words: str) -> Decimal | None:
    if _DIGITS.fullmatch(words):
        return Decimal(words)
    number = number_word(words)
    return None if number is None else Decimal(number)
