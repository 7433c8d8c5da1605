"""Whether a model took a value from an error's words; loaded where a model has answered."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Final, TypeAlias
from urllib.parse import unquote

from selfcorrect.model import JSON, Change
from selfcorrect.schema.slot import Slot
from selfcorrect.values.dates import days_in, read_date
from selfcorrect.values.numbers import BELOW_HUNDRED, number_word

_Meaning: TypeAlias = Decimal | date | str | tuple[int, int]
"""A number, a day, a time of day, or the month and day where no year is said."""


def is_tainted(change: Change, untrusted: Iterable[str], trusted: Iterable[JSON]) -> bool:
    """Say whether a model took a value from an error's words and from nowhere else.

    Args:
        change: A change that a model made.
        untrusted: What errors and results said.
        trusted: The call, the schema and the user's words.
    """
    told = _Text(untrusted)
    known = _Text((leaf for each in trusted for leaf in _leaves(each)), strict=True)
    leaves = (leaf for leaf in _leaves(change.after) if not known.says(_Value(leaf)))
    values = [_Value(part) for leaf in leaves for part in _parts(leaf)]
    # Who plants a value may split its letters; what the user said has to be said in one piece.
    return any(told.hints_at(each) and not known.says(each) for each in values)


class _Value:
    """A value as words, and as the number, the day or the time that the whole of it is."""

    def __init__(self, text: str) -> None:
        self.words = _words(text)
        plain = _plain(text).strip()
        whole = _NUMBER.fullmatch(plain)
        self.meaning: set[_Meaning] = {*(_numbers(whole) if whole else ()), *_moments(plain)}
        if not self.meaning:
            day, _, clock = plain.replace("t", " ", 1).partition(" ")
            moments = [{*_moments(day)}, {*_moments(clock)}]
            self.meaning = set().union(*moments) if all(moments) else set()


class _Text:
    """The words of several texts, and the numbers, days and times in them."""

    def __init__(self, texts: Iterable[str], *, strict: bool = False) -> None:
        parts = [_plain(unquote(text[:_LONGEST])) for text in texts]
        words = [word for part in parts for word in (*_words(part), "")]
        self._words = {*words}
        self._line = f" {' '.join(words)} "
        self._joined = "".join(words)
        self._edges = {0, *accumulate(map(len, words))}
        self._meanings: set[_Meaning] = set()
        for part in parts:
            found = _LONE_NUMBER.finditer(_DAY.sub(" ", part)) if strict else _NUMBER.finditer(part)
            self._meanings.update(*map(_numbers, found))
            self._meanings.update(_windows(part))
        self._years = {each.year for each in self._meanings if isinstance(each, date)}

    def says(self, value: _Value) -> bool:
        """Say whether a value stands here: its number, day or time, or else its words in a row.

        A number inside a date or a code, such as the 27 of `B-27`, is not said.
        """
        if value.meaning:
            return all(each in self._meanings or self._says_day(each) for each in value.meaning)
        return f" {' '.join(value.words)} " in self._line

    def _says_day(self, day: _Meaning) -> bool:
        """Say whether a day is said without its year, and the year is another day's or near."""
        if not isinstance(day, date):
            return False
        is_near = abs(day.year - datetime.now(UTC).year) < 2 or day.year in self._years
        return is_near and (day.month, day.day) in self._meanings

    def hints_at(self, value: _Value) -> bool:
        """Say whether words hold the letters of a value, all its words, or what it means.

        >>> told = _Text(["pay acct-99 11, 500"])
        >>> [told.hints_at(_Value(each)) for each in ("acct9911", "50")]
        [True, False]
        """
        letters = "".join(value.words)
        at = self._joined.find(letters)
        while at >= 0 and letters:
            if {at, at + len(letters)} <= self._edges:
                return True
            at = self._joined.find(letters, at + 1)
        days = {(each.month, each.day) for each in value.meaning if isinstance(each, date)}
        means = {*value.meaning, *days} & self._meanings
        return bool(means) or (len(value.words) > 1 and self._words.issuperset(value.words))


_LONGEST: Final = 20_000


def _parts(value: str) -> Iterator[str]:
    """Yield a value, the codes and numbers in it, and each two words that a sign joins in it."""
    yield value
    for chunk in value.split():
        words = _words(chunk)
        if any(map(str.isdigit, chunk)) and len("".join(words)) > _SHORT:
            yield chunk.strip(_SIGNS)
        yield from (f"{a} {b}" for a, b in pairwise(words) if a.isalpha() and b.isalpha())


_SHORT: Final = 3
_SIGNS: Final = ".,;:!?()[]\"'"


def _words(text: str) -> list[str]:
    return _WORD.findall(_plain(text))


def _plain(text: str) -> str:
    """Return small letters without accents, and digits where a number is in words."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", _INVISIBLE.sub("", text))
        # A digit of any script is that digit, and an accent is part of a letter.
        text = "".join(
            str(unicodedata.digit(each, each)) for each in text if not unicodedata.combining(each)
        )
    return _NUMBER_WORD.sub(lambda found: str(number_word(found[0])), text.casefold())


def _numbers(found: re.Match[str]) -> Iterator[Decimal]:
    """Yield what a number may mean: 1,000 and `1 k` are 1000, and 1.000 is that or one."""
    digits, power, scale = found["digits"], found["power"] or "", found["scale"]
    for marks in (_GROUPS, _DOTTED):
        plain = marks.sub("", digits).replace(",", ".")
        if plain.count(".") < 2:
            yield Decimal(plain + power) * _SCALES.get(scale, 1)
    if " " in digits:
        yield from (Decimal(part) for part in digits.split() if part.lstrip("+-").isdecimal())


def _windows(text: str) -> Iterator[_Meaning]:
    """Yield the days and times that up to four words in a row may mean."""
    words = [word.strip(_SIGNS) for word in text.split()]
    for at in range(len(words)):
        if not any(any(map(str.isdigit, word)) for word in words[at : at + 4]):
            continue
        for size in range(1, 5):
            window = words[at : at + size]
            yield from _moments(" ".join(window))
            around = [*words[max(at - 1, 0) : at], *words[at + size : at + size + 1]]
            if size < 4 and not any(map(_YEAR.match, around)):
                yield from _yearless(" ".join(window))
    yield from (day for found in _ISO.findall(text) for day, _ in days_in(found))


def _moments(text: str) -> Iterator[_Meaning]:
    yield from (day for day, _ in days_in(text))
    read = (each for each in read_date(text, _CLOCK) if each.strategy == "format-time")
    yield from (str(each.value) for each in read)


def _yearless(text: str) -> Iterator[_Meaning]:
    for mark in (" ", "/", "."):
        yield from ((day.month, day.day) for day, _ in days_in(f"{text}{mark}{_LEAP_YEAR}"))


_LEAP_YEAR: Final = 2028
_CLOCK: Final = Slot({"type": "string", "format": "naive-time"})
_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER_WORD: Final = re.compile(
    rf"\b(?:{'|'.join(word.replace(' ', '[- ]') for word in BELOW_HUNDRED[::-1])})\b"
)
_SCALES: Final = {"hundred": 100, "k": 1_000, "thousand": 1_000, "million": 1_000_000}
_DIGITS: Final = (
    r"(?P<digits>[+-]?(?:\d{1,20}(?:[,._' ]\d{3}(?!\d))*(?:[.,]\d{1,20})?|\.\d{1,20}))"
    rf"(?P<power>e[+-]?\d{{1,3}})?(?: ?(?P<scale>{'|'.join(_SCALES)})\b)?"
)
_NUMBER: Final = re.compile(_DIGITS, re.ASCII)
_LONE_NUMBER: Final = re.compile(
    rf"(?<![\w.,:/#+-]){_DIGITS}(?!\w*\d|[-:/.,]\d|(?:st|nd|rd|th)\b)", re.ASCII
)
_GROUPS: Final = re.compile(r"[,_' ](?=\d{3})")
_DOTTED: Final = re.compile(r"[.,_' ](?=\d{3}(?!\d))")
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY: Final = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.?(?: of)? {_MONTH}|{_MONTH}\.? (?:the )?\d{{1,2}}\b"
)
_YEAR: Final = re.compile(r"\d{4}\b")
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")


def _leaves(value: JSON) -> list[str]:
    if isinstance(value, Mapping):
        return [*map(str, value), *(leaf for item in value.values() for leaf in _leaves(item))]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [str(value)]
