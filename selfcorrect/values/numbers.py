"""Numbers as people write them: digits, thousands, words, units that the place names."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from selfcorrect.model import JSON, Safety
from selfcorrect.reading.strict_json import holds
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading
from selfcorrect.values.units import is_asked_for

_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.(?:000)+", re.ASCII)
"""1.000 is one in half of the world, and a thousand in the other."""
_DOTTED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.ASCII)
"""Beside a unit, which people write, and not JSON, 1.500 may be fifteen hundred."""
_MORE = re.compile(r"\+|-?0\d\d", re.ASCII)
_GROUPED = re.compile(
    r"[+-]?[1-9]\d{0,2}(?P<mark>[,_])\d{3}(?:(?P=mark)\d{3})*(?:\.\d+)?", re.ASCII
)
_RUN = re.compile(r"(?<!\.)[+-]?\d[\d,]*(?:\.\d+)?", re.ASCII)
_UNIT = re.compile(r"[^\d.,+\-*/^=~<>]{1,20}(?:/h)?\.?")
_LARGEST = 30
_LONGEST = 200


def read_number(value: JSON, place: Place) -> Iterator[Reading]:
    """Read a text as the number that it writes, without rounding."""
    if isinstance(value, str) and len(value) <= _LONGEST:
        yield from _in_text(value.strip().replace("\N{MINUS SIGN}", "-"), place)


def _in_text(text: str, place: Place) -> Iterator[Reading]:
    if _PLAIN.fullmatch(text):
        if not _THOUSANDS.fullmatch(text):
            yield from _number(text, Safety.EXACT)
    elif grouped := _GROUPED.fullmatch(text):
        # One comma before three digits may begin a fraction: 1,250 is 1.25 in half of the world.
        mark = grouped["mark"]
        if "number" not in place.types or text.count(mark) > 1 or "." in text or mark == "_":
            yield from _number(text.replace(mark, ""), Safety.INFERRED)
    elif (number := number_word(text)) is not None:
        yield Reading(number, Safety.INFERRED, "convert-type")
    elif run := _RUN.search(text):
        yield from _with_unit(text, run, place)


def _with_unit(text: str, run: re.Match[str], place: Place) -> Iterator[Reading]:
    units = [each.strip() for each in (text[: run.start()], text[run.end() :]) if each.strip()]
    digits = run[0]
    if ("," in digits and not _GROUPED.fullmatch(digits)) or _DOTTED.fullmatch(digits):
        return
    if all(
        _UNIT.fullmatch(each) and is_asked_for(each, place.name, place.description)
        for each in units
    ):
        is_sure = "," not in digits or "number" not in place.types or digits.count(",") > 1
        safety = Safety.INFERRED if "," in digits else Safety.EXACT
        yield from _number(digits.replace(",", ""), safety) if is_sure else ()


def _number(digits: str, safety: Safety) -> Iterator[Reading]:
    """Yield the number where Python's number says exactly what the digits say."""
    exact = Decimal(digits)
    # A plus may mean so much more, and zeros a code: `+5`, `0755`.
    is_guess = _MORE.match(digits) is not None
    if exact == exact.to_integral_value() and exact.adjusted() < _LARGEST:
        yield Reading(int(exact), safety, "convert-type", is_guess)
    elif holds(digits):
        yield Reading(float(exact), safety, "convert-type", is_guess)


def number_word(text: str) -> int | None:
    """Return the number below a hundred that words name.

    >>> number_word("five"), number_word("Twenty-one"), number_word("a"), number_word("-one")
    (5, 21, None, None)
    """
    return _WORDS.get(_JOINTS.sub(" ", text.lower()))


# A hyphen that joins no two words may be a sign.
_JOINTS = re.compile(r"(?<=[a-z])-(?=[a-z])|\s+")
BELOW_HUNDRED = Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()
"""The words for the numbers from zero up."""
_WORDS = {word: at for at, word in enumerate(BELOW_HUNDRED)}
