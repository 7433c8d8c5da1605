"""Whether a model took a value from an error's words; loaded where a model has answered."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from typing import Final, TypeAlias
from urllib.parse import unquote

from selfcorrect.model import JSON, Change
from selfcorrect.schema.slot import Slot
from selfcorrect.text import clean
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
        plain = _plain(text).strip()
        self.words = _WORD.findall(plain)
        whole = _NUMBER.fullmatch(plain)
        self.meaning: set[_Meaning] = {*(_numbers(whole) if whole else ()), *_moments(plain)}
        if not self.meaning:
            moments = [{*_moments(part)} for part in re.split("[t ]", plain, maxsplit=1)]
            self.meaning = set().union(*moments) if all(moments) else set()


class _Text:
    """The words of several texts, and the numbers, days and times in them."""

    def __init__(self, texts: Iterable[str], *, strict: bool = False) -> None:
        self._plain = " \0 ".join(_plain(unquote(text[:_LONGEST])) for text in texts)
        self._line = f" {' '.join(_WORD.findall(self._plain))} "
        lone = _LONE_NUMBER.finditer(_DAY.sub(" ", self._plain))
        numbers = lone if strict else _NUMBER.finditer(self._plain)
        self._meanings: set[_Meaning] = {*_windows(self._plain)}.union(*map(_numbers, numbers))
        this_year = datetime.now(UTC).year
        said = {each.year for each in self._meanings if isinstance(each, date)}
        self._years = {this_year, this_year + 1, *said}

    def says(self, value: _Value) -> bool:
        """Say whether a value stands here: its number, day or time, or else its words in a row.

        A number inside a date or a code, such as the 27 of `B-27`, is not said.
        """
        if value.meaning:
            return all(map(self._means, value.meaning))
        return f" {' '.join(value.words)} " in self._line

    def _means(self, meaning: _Meaning) -> bool:
        if meaning in self._meanings or not isinstance(meaning, date):
            return meaning in self._meanings
        # A day without its year is one of this year or the next, or of a year that is said.
        return meaning.year in self._years and (meaning.month, meaning.day) in self._meanings

    def hints_at(self, value: _Value) -> bool:
        """Say whether words hold the letters of a value, all its words, or what it means.

        >>> told = _Text(["pay acct-99 11, 500"])
        >>> [told.hints_at(_Value(each)) for each in ("acct9911", "50")]
        [True, False]
        """
        letters = r"[\W_]*".join("".join(value.words)[:_LONGEST_VALUE])
        if letters and re.search(rf"(?<![^\W_]){letters}(?![^\W_])", self._plain):
            return True
        days = {(each.month, each.day) for each in value.meaning if isinstance(each, date)}
        return not self._meanings.isdisjoint(value.meaning | days) or (
            len(value.words) > 1 and {*self._line.split()}.issuperset(value.words)
        )


_LONGEST: Final = 20_000
_LONGEST_VALUE: Final = 1_000


def _parts(value: str) -> Iterator[str]:
    """Yield a value, the codes and numbers in it, and each two words that a sign joins in it."""
    yield value
    yield from (code.strip(_SIGNS) for code in _CODE.findall(value))
    yield from map(" ".join, _PAIR.findall(value))


_CODE: Final = re.compile(r"(?<!\S)(?=\S{4})\S*\d\S*")
_PAIR: Final = re.compile(r"(?<![^\W\d_])(?=([^\W\d_]+)(?:(?!\s)[\W_])+([^\W\d_]+))")
_SIGNS: Final = ".,;:!?()[]\"'"


def _plain(text: str) -> str:
    """Return small letters without accents, and digits where a number is in words."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", clean(text))
        # A digit of any script is that digit, and an accent is part of a letter.
        text = "".join(
            str(unicodedata.digit(each, each)) for each in text if not unicodedata.combining(each)
        )
    return _NUMBER_WORD.sub(lambda found: str(number_word(found[0])), text.casefold())


def _numbers(found: re.Match[str]) -> Iterator[Decimal]:
    """Yield what a number may mean: 1,000 and `1 k` are 1000, and 1.000 is that or one."""
    for marks in (_GROUPS, _DOTTED):
        plain = marks.sub("", found["digits"]).replace(",", ".")
        if plain.count(".") < 2:
            yield Decimal(plain) * _SCALES.get(found["scale"], 1)


def _windows(text: str) -> Iterator[_Meaning]:
    """Yield the days and times that up to four words in a row may mean."""
    words = [word.strip(_SIGNS) for word in text.split()]
    for at, size in product(range(len(words)), range(1, 5)):
        window = " ".join(words[at : at + size])
        if re.search(r"\d", window):
            yield from _moments(window)
    yield from (day for found in _ISO.findall(text) for day, _ in days_in(found))
    for found in _DAY.finditer(text):
        # Every day is one of a leap year.
        texts = (f"{found[0]}{mark}2028" for mark in " /" if not found["year"])
        yield from ((day.month, day.day) for each in texts for day, _ in days_in(each))


def _moments(text: str) -> Iterator[_Meaning]:
    yield from (day for day, _ in days_in(text))
    read = (each for each in read_date(text, _CLOCK) if each.strategy == "format-time")
    yield from (str(each.value) for each in read)


_CLOCK: Final = Slot({"type": "string", "format": "naive-time"})
# A mark that is no letter parts the words of two texts.
_WORD: Final = re.compile(r"[^\W_]+|\0")
_NUMBER_WORD: Final = re.compile(
    rf"\b(?:{'|'.join(word.replace(' ', '[- ]') for word in BELOW_HUNDRED[::-1])})\b"
)
_SCALES: Final = {"hundred": 100, "k": 1_000, "thousand": 1_000, "million": 1_000_000}
_DIGITS: Final = (
    r"(?P<digits>[+-]?(?:\d{1,20}(?:[,._' ]\d{3}(?!\d))*(?:[.,]\d{1,20})?|\.\d{1,20})"
    rf"(?:e[+-]?\d{{1,3}})?)(?: ?(?P<scale>{'|'.join(_SCALES)})\b)?"
)
_NUMBER: Final = re.compile(_DIGITS, re.ASCII)
_LONE_NUMBER: Final = re.compile(
    rf"(?<![\w.,:/#+-]){_DIGITS}(?!\w*\d|[-:/.,]\d|(?:st|nd|rd|th)\b)", re.ASCII
)
_GROUPS: Final = re.compile(r"[,_' ](?=\d{3})")
_DOTTED: Final = re.compile(r"[.,_' ](?=\d{3}(?!\d))")
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY_OF_MONTH: Final = r"\d{1,2}(?:st|nd|rd|th)?\b"
_DAY: Final = re.compile(
    rf"(?<!\d{{4}} )(?:\b{_DAY_OF_MONTH}\.?(?: of)? {_MONTH}|{_MONTH} (?:the )?{_DAY_OF_MONTH}"
    r"|(?<![\d/])\d{1,2}/\d{1,2}(?![\d/]))(?P<year>,? \d{4}\b)?"
)
"""A day that may lack its year."""
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def _leaves(value: JSON) -> list[str]:
    if isinstance(value, Mapping):
        return [*map(str, value), *(leaf for item in value.values() for leaf in _leaves(item))]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [str(value)]
