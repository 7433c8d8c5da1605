"""Whether a model took a value from an error's words; loaded where a model has answered."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Final

from selfcorrect.model import JSON, Change
from selfcorrect.values.dates import days_in
from selfcorrect.values.numbers import number_word


def is_tainted(change: Change, untrusted: Iterable[str], trusted: Iterable[JSON]) -> bool:
    """Say whether a model took a value from an error's words and from nowhere else.

    Args:
        change: A change that a model made.
        untrusted: What errors and results said.
        trusted: The call, the schema and the user's words.
    """
    told, known = _Text(untrusted), _Text(leaf for each in trusted for leaf in _leaves(each))
    values = [_Value(part) for leaf in _leaves(change.after) for part in _parts(leaf)]
    # Who plants a value may split its letters; what the user said has to be said in one piece.
    return any(told.hints_at(each) and not known.says(each) for each in values)


class _Value:
    """A value as words, and as the number or the day that the whole of it is."""

    def __init__(self, text: str) -> None:
        self.words = _words(text)
        found = _NUMBER.fullmatch(text.strip())
        self.meaning = {*(_numbers(text) if found or len(self.words) == 1 else ()), *_days(text)}


class _Text:
    """The words of several texts, and the numbers and days in them."""

    def __init__(self, texts: Iterable[str]) -> None:
        parts = [text[:_LONGEST] for text in texts]
        words = [word for part in parts for word in (*_words(part), "")]
        self._line = f" {' '.join(words)} "
        self._joined = "".join(words)
        self._edges = {0, *accumulate(map(len, words))}
        self._meanings = {each for part in parts for each in (*_numbers(part), *_days(part))}

    def says(self, value: _Value) -> bool:
        """Say whether a value stands here: its words in a row, or its number or day."""
        is_meant = bool(value.meaning) and value.meaning <= self._meanings
        return is_meant or f" {' '.join(value.words)} " in self._line

    def hints_at(self, value: _Value) -> bool:
        """Say whether whole words hold the letters of a value, or its number or day stands here.

        >>> [_Text(["pay acct-99 11, 500"]).hints_at(_Value(each)) for each in ("acct9911", "50")]
        [True, False]
        """
        letters = "".join(value.words)
        at = self._joined.find(letters)
        while at >= 0 and letters:
            if {at, at + len(letters)} <= self._edges:
                return True
            at = self._joined.find(letters, at + 1)
        return not value.meaning.isdisjoint(self._meanings)


_LONGEST: Final = 20_000


def _parts(value: str) -> Iterator[str]:
    """Yield a value, and each two words of it that a sign joins, as in an address."""
    yield value
    for chunk in value.split():
        words = _words(chunk)
        yield from (f"{a} {b}" for a, b in pairwise(words) if a.isalpha() and b.isalpha())


def _words(text: str) -> list[str]:
    return _WORD.findall(_fold(text))


def _numbers(text: str) -> Iterator[Decimal]:
    """Yield the numbers of a text, in digits or in words: 1,000 and 1000 are one."""
    folded = _fold(text)
    yield from (Decimal(_MARKS.sub("", found)) for found in _NUMBER.findall(folded))
    named = map(number_word, _WORD.findall(folded))
    yield from (Decimal(number) for number in named if number is not None)


def _days(text: str) -> Iterator[date]:
    """Yield the days that up to four words in a row may mean."""
    words = [word.strip(".,;:()[]'\"") for word in text.split()]
    for at in range(len(words)):
        if not any(any(map(str.isdigit, word)) for word in words[at : at + 4]):
            continue
        for size in range(1, 5):
            yield from (day for day, _ in days_in(" ".join(words[at : at + size])))
    yield from (date.fromisoformat(found) for found in _ISO.findall(text) if _is_day(found))


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()


_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"(?:(?<!\w)[+-])?\d{1,20}(?:[,_]\d{3})*(?:\.\d{1,20})?", re.ASCII)
_MARKS: Final = re.compile(r"[,_]")
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")


def _leaves(value: JSON) -> list[str]:
    if isinstance(value, Mapping):
        return [*map(str, value), *(leaf for item in value.values() for leaf in _leaves(item))]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [str(value)]
