"""Whether what a user asked for speaks of a value: its words or numbers stand in the request.

Judged generously: better to see a likeness where there is none than to lose what was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.text import plain_letters, tokens
from selfcorrect.values.quantities import currencies_in, unit_of
from selfcorrect.words import number_word, singular

_LONGEST: Final = 40_000
_LONGEST_VALUE: Final = 10_000
_MOST: Final = 200
_SHORTEST_STEM: Final = 4
_ENDINGS: Final = ("est", "er", "ed", "ing", "ly")
_SMALL_WORDS: Final = frozenset(
    {"a", "all", "am", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "do"}
    | {"for", "from", "get", "give", "has", "have", "how", "i", "if", "in", "include", "is", "it"}
    | {"its", "me", "my", "need", "no", "not", "of", "on", "only", "or", "our", "please", "return"}
    | {"s", "should", "show", "so", "some", "that", "the", "their", "them", "then", "these", "they"}
    | {"this", "those", "to", "us", "use", "user", "want", "was", "we", "what", "which", "will"}
    | {"with", "would", "you", "your"}
)
_NUMBER: Final = re.compile(
    r"(?P<digits>\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,8}(?!\d)|\d{1,30}(?:[.,]\d{1,30})*)"
    r"[ \u00a0]?(?P<scale>%|(?:k|m|thousand|million|mio|billion)\b)?",
    re.IGNORECASE,
)
_SCALES: Final = {
    "%": Decimal("0.01"),
    **dict.fromkeys(("k", "thousand"), Decimal(1_000)),
    **dict.fromkeys(("m", "million", "mio"), Decimal(1_000_000)),
    "billion": Decimal(1_000_000_000),
}
_MONTH_NAMES: Final = """
january february march april may june july august september october november december
"""
_MONTHS: Final = tuple(_MONTH_NAMES.split())
_AMOUNTS: Final = {
    "couple": Decimal(2),
    "double": Decimal(2),
    "dozen": Decimal(12),
    "half": Decimal("0.5"),
    "hundred": Decimal(100),
    "million": Decimal(1_000_000),
    "pair": Decimal(2),
    "quarter": Decimal("0.25"),
    "thousand": Decimal(1_000),
    "twice": Decimal(2),
}


def is_asked(request: str, key: str, value: JSON, known: Collection[str] = ()) -> bool:
    """Whether a request speaks of a value, or of the name of what is only true or false.

    What is too much to be compared counts as spoken of.

    Args:
        request: What the user asked for.
        key: The name under which the value stands.
        value: The value.
        known: Words that say nothing here, such as those of the tool's name.

    >>> is_asked("transactions from Lidl only", "merchant", "Lidl")
    True
    >>> is_asked("laptops below 1,000", "max_price", 1000.0), is_asked("laptops", "page", 2)
    (True, False)
    >>> is_asked("only what is in stock", "in_stock", True)
    True
    """
    if len(request) > _LONGEST:
        return True
    leaves = list(islice(_leaves(key, value), _MOST + 1))
    if len(leaves) > _MOST or sum(map(len, leaves)) > _LONGEST_VALUE:
        return True
    said = _said(request)
    idle = {singular(word) for word in known} | _SMALL_WORDS
    return any(said.speaks_of(text, idle) for text in leaves)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a request says.

    Attributes:
        words: Its words, in the singular and without accents.
        stems: What its words begin with.
        units: Its words, by one name for all spellings of a unit.
        currencies: The currencies that it speaks of.
        numbers: Its numbers, in every reading.
        text: All of it, for scripts that put no space between words.
    """

    words: frozenset[str]
    stems: frozenset[str]
    units: frozenset[str]
    currencies: frozenset[str]
    numbers: frozenset[Decimal]
    text: str

    def speaks_of(self, text: str, idle: Collection[str]) -> bool:
        if not self.numbers.isdisjoint(_numbers(text)):
            return True
        if self.currencies and not self.currencies.isdisjoint(currencies_in(text)):
            return True
        return any(self._has(word) for word in _words(text) if word not in idle)

    def _has(self, word: str) -> bool:
        if word in self.words or word in self.stems or unit_of(word) in self.units:
            return True
        if not word.isascii() and len(word) > 1 and word in self.text:
            return True
        return not self.words.isdisjoint(_beginnings(word))


@lru_cache(maxsize=4)
def _said(request: str) -> _Said:
    words = frozenset(_words(request))
    stems = {stem for word in words for stem in (*_beginnings(word), word[:2], word[:3])}
    return _Said(
        words=words,
        stems=frozenset(stems),
        units=frozenset(map(unit_of, words)),
        currencies=currencies_in(request),
        numbers=frozenset(_numbers(request)),
        text=request.casefold(),
    )


def _beginnings(word: str) -> Iterator[str]:
    """What a word may be a form of: its first letters, and the word without a usual ending."""
    yield from (word[:end] for end in range(_SHORTEST_STEM, min(len(word), 30)))
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) == _SHORTEST_STEM - 1:
            yield word.removesuffix(ending)


def _words(text: str) -> list[str]:
    words = [singular(word) for piece in text.split() for word in tokens(piece)]
    return [
        word if word.isascii() else plain_letters(word) or word
        for word in words
        if not word.isdigit()
    ]


def _numbers(text: str) -> Iterator[Decimal]:
    """The numbers of a text in every reading, and the numbers of the months that it names."""
    for found in _NUMBER.finditer(text):
        digits = "".join(found["digits"].split())
        scale = _SCALES.get((found["scale"] or "").lower(), Decimal(1))
        for reading in {digits.replace(",", ""), _as_fraction(digits), re.sub("[.,]", "", digits)}:
            if reading.count(".") <= 1:
                yield from {Decimal(reading), Decimal(reading) * scale}
        yield from (Decimal(part) for part in re.split("[.,\\s]", found["digits"]))
    for piece in text.split():
        bare = piece.strip(".,;:!?()'\"")
        if (number := number_word(bare)) is not None:
            yield Decimal(number)
        word = bare.lower()
        if word in _AMOUNTS:
            yield _AMOUNTS[word]
        if len(word) > 2 and bare != "may":
            months = enumerate(_MONTHS, 1)
            yield from (Decimal(n) for n, month in months if month.startswith(word))


def _as_fraction(digits: str) -> str:
    """The reading in which a comma begins the fraction."""
    return digits.replace(".", "").replace(",", ".")


def _leaves(key: str, value: JSON) -> Iterator[str]:
    """All that a value says, as texts; what is true or false says its name."""
    left: list[tuple[str, JSON]] = [(key, value)]
    while left:
        name, here = left.pop()
        if isinstance(here, bool):
            yield name
        elif isinstance(here, str):
            yield here
        elif isinstance(here, int | float):
            yield _plain(here)
        elif isinstance(here, Mapping):
            left += list(islice(here.items(), _MOST + 1))
        elif isinstance(here, list | tuple):
            left += [(name, item) for item in here[: _MOST + 1]]


def _plain(number: float) -> str:
    """The digits of a number, without the fraction where it is whole."""
    if isinstance(number, float) and abs(number) < 1e15:
        return format(Decimal(repr(number)).normalize(), "f")
    return str(number) if abs(number) < 1e30 else ""
