"""The numbers that a text may name, as people write them: thousands, currencies, units, words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final

from selfcorrect.kernel.number_words import spoken
from selfcorrect.kernel.spellings import Slot, Words, spelled
from selfcorrect.text import Unclear

_LONGEST: Final = 1_000
_MOST_DIGITS: Final = 30
_NUMBER: Final = re.compile(r"-?[\d.,]+(?:[eE][+-]?\d+)?", re.ASCII)


def read_number(text: str, slot: Slot) -> int | float:
    """The one number that a text names in a place; what may be one, the kernel says.

    Raises:
        Unclear: If it names no number, or could name several.

    >>> read_number("$1,250.00", Slot("amount_usd")), read_number("five", Slot())
    (1250, 5)
    >>> read_number("50.000", Slot(kinds=frozenset({"integer"})))
    Traceback (most recent call last):
        ...
    selfcorrect.text.Unclear: it is not a number in a form that has one meaning
    """
    found = {
        number: None
        for number in (_number(one, slot) for one in _readings(text[: _LONGEST + 1]))
        if number is not None and spelled(text, number, slot, Words()) is not None
    }
    if len(found) != 1:
        raise Unclear("it is not a number in a form that has one meaning")
    return next(iter(found))


def _readings(text: str) -> Iterator[Decimal]:
    """Every number that digits, points and commas can be read as, and the one in words."""
    text = text.replace("\u2212", "-")
    runs = _NUMBER.findall(text)
    sign = "-" if text.lstrip().startswith("-") else ""
    for run in runs if len(runs) == 1 else ():
        bare = sign + run.lstrip("-")
        # `5,5` may be two numbers; behind points that group, a comma begins the fraction.
        points = bare.replace(".", "").replace(",", ".") if "." in bare else bare
        for form in (bare, bare.replace(",", ""), points):
            try:
                yield Decimal(form)
            except InvalidOperation:
                continue
    for words in (text, text.rpartition(" ")[0]):
        if (said := spoken(words)) is not None:
            whole = said.value.to_integral_value()
            yield whole if whole == said.value else said.value


def _number(value: Decimal, slot: Slot) -> int | float | None:
    is_plain = value.as_tuple().exponent == 0
    if not is_plain and ("number" in slot.kinds or value != value.to_integral_value()):
        return float(value)
    return int(value) if is_plain or abs(value.adjusted()) <= _MOST_DIGITS else None
