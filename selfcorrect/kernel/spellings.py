"""Which value is another spelling of which, and how certain that is.

To check is simpler than to search: nothing here reads a date or a quantity. It says whether what
runs follows from what was written, by the letters, digits and words of both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from typing import Final

from selfcorrect.kernel.dates import same_date
from selfcorrect.kernel.likeness import meant_values
from selfcorrect.kernel.measures import (
    COINS,
    SCALES,
    asks_for,
    comma_groups,
    currency,
    measures_told,
    words_told,
)
from selfcorrect.kernel.number_words import spoken
from selfcorrect.model import JSON, Safety
from selfcorrect.plain import equal
from selfcorrect.text import is_spelling_of, spelling
from selfcorrect.words import is_no_value

EXACT, INFERRED = Safety.EXACT, Safety.INFERRED
_LONGEST_NUMBER: Final = 100
_MANY: Final = 100


@dataclass(frozen=True, slots=True)
class Slot:
    """What the schema says of one place, as far as a spelling hangs on it.

    Attributes:
        name: The nearest key on the way to it.
        said: What people are told of it.
        kinds: The JSON types that may stand there, without null; empty if nobody says.
        nullable: Whether null may stand there.
        required: Whether something must stand there.
        listed: The values that are listed as allowed, if only these are.
        formats: The formats that a text may have.
        patterned: Whether a pattern says which texts may stand there.
        given: What the schema itself gives: `const`, or the default.
        names: The declared keys of an object there.
        declared: Whether the schema knows the place.
        fits: Whether a value keeps what the schema says of this place alone.
    """

    name: str = ""
    said: str = ""
    kinds: frozenset[str] = frozenset()
    nullable: bool = False
    required: bool = False
    listed: Sequence[JSON] = ()
    formats: frozenset[str] = frozenset()
    patterned: bool = False
    given: Sequence[JSON] = ()
    names: Sequence[str] = ()
    declared: bool = False
    fits: Callable[[JSON], bool] = field(default=lambda _: True)

    def gives(self, value: JSON) -> bool:
        """Whether the schema itself gives this value."""
        return any(equal(value, one) for one in self.given)


@dataclass(frozen=True, slots=True)
class Words:
    """What a deployment declares to mean the same, by spelling: a synonym, a number word."""

    meanings: Mapping[str, JSON] = field(default_factory=dict)

    def mean(self, written: JSON, runs: JSON) -> bool:
        """Whether what runs is declared to be meant by what was written."""
        return isinstance(written, str) and any(
            spelling(word) == spelling(written) and equal(meant, runs)
            for word, meant in self.meanings.items()
        )


def spelled(written: JSON, runs: JSON, slot: Slot, words: Words) -> Safety | None:
    """How certain it is that two scalars, or a scalar and a list of one, say the same."""
    if words.mean(written, runs):
        return INFERRED
    if runs is None:
        return EXACT if _is_null(written, slot) else None
    if isinstance(runs, bool):
        return _boolean(written, runs)
    if isinstance(runs, int | float):
        return _number(written, runs, slot)
    if isinstance(runs, str):
        return _text(written, runs, slot)
    return None


def says_nothing(value: JSON) -> bool:
    """Whether a value is no content: null, an empty text or container."""
    if isinstance(value, str):
        return not value.strip() or value.strip() in NULLS
    return value is None or (isinstance(value, dict | list) and not value)


NULLS: Final = frozenset({"None", "null"})
"""What models write for nothing where a string is not asked for."""


def _is_null(written: JSON, slot: Slot) -> bool:
    # Where "none" is listed beside null, the word may be that value.
    listed = {spelling(one) for one in slot.listed if isinstance(one, str)}
    is_word = isinstance(written, str) and written.strip() in NULLS
    return slot.nullable and is_word and spelling(str(written)) not in listed


# --- booleans and numbers -------------------------------------------------------------------------

TRUTH: Final = {
    **dict.fromkeys(("true", "yes", "on", "y", "1"), True),
    **dict.fromkeys(("false", "no", "off", "n", "0"), False),
}
"""Words and digits for true and false."""


def _boolean(written: JSON, runs: bool) -> Safety | None:
    if isinstance(written, str):
        word = written.strip().lower()
        if TRUTH.get(word) is not runs:
            return None
        return EXACT if word == str(runs).lower() else INFERRED
    is_digit = isinstance(written, int | float) and not isinstance(written, bool)
    return INFERRED if is_digit and written == runs else None


_PLAIN: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_CODED: Final = re.compile(r"\+|-?0\d", re.ASCII)
_GROUPS: Final = re.compile(r"-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_POINTS: Final = re.compile(r"-?[1-9]\d{0,2}(?:\.\d{3})+,\d{1,2}", re.ASCII)
_COMMA: Final = re.compile(r"-?\d+,\d{1,2}", re.ASCII)
_BESIDE: Final = re.compile(
    r"(?P<sign>-?)(?P<before>[^\W\d_]{1,3}\$|[^\w\s.,+-]|[A-Z]{3})?\s?(?P<number>-?[\d.,]+)"
    r"\s{0,3}(?P<after>[^\d.,\s][^\d.,]{0,30})?",
    re.ASCII,
)
_AMBIGUOUS: Final = re.compile(r"-?[1-9]\d{0,2}\.\d{3}", re.ASCII)
_CENTS: Final = re.compile(r".*\.\d\d", re.ASCII)
_AMOUNTS: Final = frozenset(
    {"amount", "balance", "budget", "cost", "fee", "payment", "price", "salary", "wage"}
)
_SIGNED: Final = frozenset(
    {"adjustment", "change", "delta", "difference", "offset", "shift"}
    | {"lat", "latitude", "lng", "lon", "longitude"}
)
"""What has a sign of its own."""


def _number(written: JSON, runs: float, slot: Slot) -> Safety | None:
    if isinstance(written, int | float):
        return EXACT if _decimal(repr(written)) == _decimal(repr(runs)) else None
    if not isinstance(written, str):
        return None
    text, asked = written.strip().replace("\u2212", "-"), _decimal(repr(runs))
    if asked is None or not text:
        return None
    told = words_told(slot.name, slot.said)
    if text[0] == "+" and _SIGNED.isdisjoint(told):
        return None  # it could say that so much is to be added
    if (safety := _digits(text, asked, groups=_is_whole(slot))) is not None:
        return None if _may_be_another(text, asked, slot) else safety
    said = spoken(text)
    if said is not None and said.value == asked:
        return None if said.scale and not SCALES.isdisjoint(told) else INFERRED
    found = _BESIDE.fullmatch(text)
    return _words_beside(text, asked, slot) if found is None else _amount(found, asked, slot)


def _amount(found: re.Match[str], asked: Decimal, slot: Slot) -> Safety | None:
    """Digits with a unit or a currency on one side, if exactly that one is asked for."""
    beside = [part.strip() for part in (found["before"], found["after"]) if part]
    if len(beside) != 1 or not asks_for(beside[0], slot.name, slot.said):
        return None
    (mark,), number = beside, found["sign"] + found["number"]
    digits = _digits(number, asked, groups=_is_whole(slot) or comma_groups(mark))
    if digits is None or _may_be_another(number, asked, slot, is_money=currency(mark) is not None):
        return None
    if mark == "%" and asked <= 1 and not slot.fits(2):
        return None  # where nothing over 1 fits, 5 % is written 0.05
    # A sign or a code is part of an amount, a word (`dollars`) is read.
    return digits if currency(mark) is not None and len(mark) < 4 else INFERRED


def is_same_number(one: JSON, other: JSON) -> bool:
    """Whether `5.0` became 5: to Python two values, to everybody else one."""
    is_pair = {type(one), type(other)} == {int, float}
    return is_pair and float(one) == float(other) and abs(one) < 2**53


def _is_whole(slot: Slot) -> bool:
    return "integer" in slot.kinds and "number" not in slot.kinds


def _may_be_another(digits: str, asked: Decimal, slot: Slot, *, is_money: bool = False) -> bool:
    """Whether a point may group thousands (1.250), or begin what the schema counts in (cents)."""
    words, told = words_told(slot.name, slot.said), measures_told(slot.name, slot.said)
    is_measured = any(currency(one) is None for one in told)
    if _CENTS.fullmatch(digits) and not COINS.isdisjoint(words) and not is_measured:
        return True
    if not _AMBIGUOUS.fullmatch(digits):
        return False
    is_amount = bool(told) or not _AMOUNTS.isdisjoint(words)
    rounded = digits.endswith("0") or (is_amount and not is_measured)
    return is_money or _is_whole(slot) or (rounded and slot.fits(round(asked * 1_000)))


def _words_beside(text: str, asked: Decimal, slot: Slot) -> Safety | None:
    """A number in words with its unit, `five percent`."""
    number, _, unit = text.rpartition(" ")
    said = spoken(number)
    agrees = said is not None and said.value == asked and asks_for(unit, slot.name, slot.said)
    return INFERRED if agrees else None


def _digits(text: str, asked: Decimal, *, groups: bool) -> Safety | None:
    """How certain digits, with points and commas as people set them, are this number.

    `groups` says whether the comma of `1,234` can only group thousands.
    """
    if _PLAIN.fullmatch(text):
        is_padded = len(text.lstrip("+-")) > 1 and text.lstrip("+-")[0] == "0" and text.isdigit()
        return (INFERRED if is_padded else EXACT) if _decimal(text) == asked else None
    if _GROUPS.fullmatch(text):
        is_sure = groups or "." in text or text.count(",") > 1
        return EXACT if is_sure and _decimal(text.replace(",", "")) == asked else None
    if _POINTS.fullmatch(text):
        return EXACT if _decimal(text.replace(".", "").replace(",", ".")) == asked else None
    if _COMMA.fullmatch(text):
        return INFERRED if _decimal(text.replace(",", ".")) == asked else None
    return None


def _decimal(text: str) -> Decimal | None:
    if len(text) > _LONGEST_NUMBER:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


# --- texts ----------------------------------------------------------------------------------------


def _text(written: JSON, runs: str, slot: Slot) -> Safety | None:
    if isinstance(written, bool):
        return EXACT if runs == str(written).lower() else None
    if isinstance(written, int | float):
        asked = _decimal(repr(written))
        # `00451` and `+5` are codes: a number that was written has no such digits.
        is_plain = _PLAIN.fullmatch(runs) is not None and not _CODED.match(runs)
        if is_plain and _decimal(runs) == asked:
            return EXACT
        return same_date(str(written), runs) or _listed(str(written), runs, slot)
    if not isinstance(written, str):
        return None
    if any(one == runs for one in slot.listed):
        return _listed(written, runs, slot)
    if bare_text(written) == runs or unicodedata.normalize("NFC", written) == runs:
        return EXACT
    if (safety := same_date(written, runs)) is not None:
        return safety
    is_moment = not slot.formats.isdisjoint({"date", "date-time", "time"})
    # The digits of a day in the places of another are another day: 20261011 as 20/26/1011.
    is_moment = is_moment or _DAY.fullmatch(runs) is not None
    return None if is_moment else _same_signs(written, runs, slot)


_DAY: Final = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}", re.ASCII)


def bare_text(text: str) -> str:
    """A text without white space, quotes or angle brackets around it."""
    text = text.strip()
    for opening, closing in ("<>", '""', "''", "``"):
        if len(text) > 2 and text[0] == opening and text[-1] == closing:
            text = text[1:-1].strip()
    return text


def _listed(written: str, runs: str, slot: Slot) -> Safety | None:
    """Another spelling of a listed value, or words that say nothing beside it, without a rival."""
    # Where null may stand beside it, `None` may be either.
    if slot.nullable and written.strip().lower() in ("none", "null"):
        return None
    same = [one for one in slot.listed if isinstance(one, str) and is_spelling_of(written, one)]
    if runs in same and not _keeps_units(written, runs, slot.listed):
        return None
    if runs in same:
        # `ß` is folded to `ss`, a dotless `i` to `i`: near, but not the same letters.
        is_folded = any(one.lower() != one.casefold() or "\u0131" in one for one in (written, runs))
        return (INFERRED if is_folded else EXACT) if len(same) == 1 else None
    listed = [one for one in slot.listed if isinstance(one, str)]
    return INFERRED if meant_values(written, listed, slot.name, slot.said)[0] == [runs] else None


_UNIT: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,2}(?![^\W\d_])")


def _keeps_units(written: str, runs: str, listed: Sequence[JSON]) -> bool:
    """Whether short words keep their case where the listed values tell `5m` and `1M` apart."""
    units = {unit for one in listed for unit in _UNIT.findall(str(one))}
    telling = {unit for unit in units if unit.swapcase() in units}
    ours, theirs = ([u for u in _UNIT.findall(one) if u in telling] for one in (written, runs))
    return ours == theirs


_EMAILS: Final = frozenset({"email", "idn-email"})


_PART: Final = re.compile(r"[+-]?\d+[.,:/]\d+", re.ASCII)
_SAID: Final = re.compile(r"[^\w\s\-\u2010-\u2015./:()\[\]{}<>\"'`+]")


def _same_signs(written: str, runs: str, slot: Slot) -> Safety | None:
    """The same letters and digits in the same order, where format or pattern say how they stand."""
    if not slot.formats and not slot.patterned:
        return None
    ours, theirs = _signs_of(written), _signs_of(runs)
    if slot.formats & _EMAILS:
        bare = bare_text(written).removeprefix("mailto:").rstrip(".,;:!")
        inside = re.fullmatch(r"[^<>@]{1,100}<([^<>\s]{3,254})>", written.strip())
        return EXACT if bare == runs else INFERRED if inside and inside[1] == runs else None
    ours = ours.removeprefix("urnuuid") if "uuid" in slot.formats else ours.removeprefix("tel")
    if ours.casefold() != theirs.casefold() or not ours:
        return None
    is_marked = _marks(written) != _marks(runs)
    if is_marked and (_SAID.search(written) or _PART.fullmatch(written.strip())):
        return None  # `?` and its like are no separators, nor what parts two numbers: 10.5
    # No code has any number of signs, and in a text separators are content.
    is_text = _between(runs) != _between(written) and slot.fits(runs * _MANY)
    if _is_regrouped(written, runs, slot) or (not slot.formats and is_text):
        return None
    if written.strip()[:1] == "-" != runs[:1]:
        return None  # a sign of its own in front of digits is content
    # `Oslo` is a name; a code has no letters of its own kind.
    is_code = bool(slot.formats) or not written.strip().istitle()
    if theirs != ours and (is_no_value(ours) or (not is_code and runs.isupper())):
        return None  # `Ford` is no code `FORD`, and `any` is none at all
    is_lower = is_code and runs == runs.lower() and theirs == ours.lower()
    if is_marked and re.search(r"\d\s*[.,:/]\s*\d", written):
        return INFERRED
    # Separators that nobody wrote are read into it, but where the format itself has them.
    if not slot.formats and _between(runs) not in ("", _between(written)):
        return INFERRED
    return EXACT if theirs == ours or is_lower else INFERRED


def _signs_of(text: str) -> str:
    """Letters, digits, and `+`, which names a country."""
    return "".join(c for c in text if c.isalnum() or c == "+")


def _is_regrouped(written: str, runs: str, slot: Slot) -> bool:
    """Whether what stood apart would not: 12-3456 is no 123-456, and nobody dials +44 (0)20.

    The groups of a number may all be one, words may not: `NEW YORK`.
    """
    if runs[:1] == "+" and re.search(r"\(\s*0\s*\)", written):
        return True
    borders, apart = (
        {*accumulate(map(len, re.findall(r"[^\W_]+", one)[:-1]))} for one in (written, runs)
    )
    is_joined = not apart and any(map(str.isdigit, written))
    return not (slot.formats or is_joined or borders <= apart)


def _between(text: str) -> str:
    return "".join(c for c in text.strip().lstrip("+") if not c.isalnum())


def _marks(text: str) -> str:
    return "".join(c for c in text.strip() if not c.isalnum() and not c.isspace())
