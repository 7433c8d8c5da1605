"""What a model wrote: a value from an error's words, or another in the place of a written one."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import product
from urllib.parse import unquote

from selfcorrect.model import ABSENT, JSON, Change
from selfcorrect.names.letters import same_words
from selfcorrect.pointer import keys_of
from selfcorrect.schema.place import Place
from selfcorrect.text import clean
from selfcorrect.values.dates import read_date
from selfcorrect.values.nothing import is_empty
from selfcorrect.values.numbers import BELOW_HUNDRED, number_word
from selfcorrect.values.readings import Permission, readings

_ANY = Permission(acts=False)
"""What a written value may mean at all: a model may choose, where a rule may not guess."""


def replaces(change: Change, args: Place) -> bool:
    """Say whether a change puts another value in the place of a written one.

    To fill in what is missing, and to choose among the readings of what was written, is neither.

    Args:
        change: A change that a model made.
        args: The place of the tool's arguments.
    """
    keys = keys_of(change.path)
    if change.path == "/name" or not (keys or isinstance(change.before, Mapping)):
        # A text that nothing could read has no value that could be replaced.
        return False
    return _is_other(change.before, change.after, args.at(keys))


def _is_other(before: JSON, after: JSON, place: Place) -> bool:
    if before is ABSENT or is_empty(before):
        return False
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return any(
            _is_other(item, after.get(key, ABSENT), place.at([key])) for key, item in before.items()
        )
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = zip(before, after, strict=True)
        return any(_is_other(*pair, place.at([str(at)])) for at, pair in enumerate(pairs))
    is_text = isinstance(before, str) and isinstance(after, str)
    if is_text and same_words(str(before), str(after), strict=True):
        return False
    ways = [before, *(reading.value for reading in readings(before, place, _ANY))]
    return not any(way == after and type(way) is type(after) for way in ways)


def is_tainted(change: Change, untrusted: Iterable[str], trusted: Iterable[JSON]) -> bool:
    """Say whether a model took a value from an error's words and from nowhere else.

    Args:
        change: A change that a model made.
        untrusted: What errors and results said.
        trusted: The call, the schema and the user's words.
    """
    errors = _Text(untrusted)
    own = _Text((leaf for item in trusted for leaf in _leaves(item)), strict=True)
    leaves = (leaf for leaf in _leaves(change.after) if not own.says(_Value(leaf)))
    values = [_Value(part) for leaf in leaves for part in _parts(leaf)]
    # Who plants a value may split its letters; what the user said has to be said in one piece.
    return any(errors.hints_at(value) and not own.says(value) for value in values)


class _Value:
    """A value as words, and as the number, the day or the time that the whole of it is."""

    def __init__(self, text: str) -> None:
        plain = _plain(text).strip()
        self.words = _WORD.findall(plain)
        whole = _NUMBER.fullmatch(plain)
        self.meaning: set[Decimal | str] = {*(_numbers(whole) if whole else ()), *_moments(plain)}


class _Text:
    """The words of several texts, and the numbers, days and times in them."""

    def __init__(self, texts: Iterable[str], *, strict: bool = False) -> None:
        self._plain = " \0 ".join(_plain(unquote(text[:_LONGEST])) for text in texts)
        self._line = f" {' '.join(_WORD.findall(self._plain))} "
        number = _LONE_NUMBER if strict else _NUMBER
        numbers = number.finditer(_DAY.sub(" ", self._plain))
        moments: set[Decimal | str] = {*_windows(self._plain)}
        self._meanings = moments.union(*map(_numbers, numbers))

    def says(self, value: _Value) -> bool:
        """Say whether a value stands here: its number, day or time, or else its words in a row.

        A number inside a date or a code, such as the 27 of `B-27`, is not said.
        """
        if value.meaning:
            return value.meaning <= self._meanings
        return f" {' '.join(value.words)} " in self._line

    def hints_at(self, value: _Value) -> bool:
        """Say whether words hold the letters of a value, all its words, or what it means.

        >>> errors = _Text(["pay acct-99 11, 500"])
        >>> [errors.hints_at(_Value(text)) for text in ("acct9911", "50")]
        [True, False]
        """
        letters = r"[\W_]*".join("".join(value.words)[:_LONGEST_VALUE])
        if letters and re.search(rf"(?<![^\W_]){letters}(?![^\W_])", self._plain):
            return True
        moments = [meaning for meaning in value.meaning if isinstance(meaning, str)]
        # A day, the same without its year, and the time behind it.
        pieces = {piece for moment in moments for piece in (moment[:10], moment[5:10], moment[11:])}
        if not self._meanings.isdisjoint(value.meaning | pieces):
            return True
        return len(value.words) > 1 and {*self._line.split()}.issuperset(value.words)


_LONGEST = 20_000
_LONGEST_VALUE = 1_000


def _parts(value: str) -> Iterator[str]:
    """Yield a value, the codes and numbers in it, and each two words that a sign joins in it."""
    yield value
    yield from (code.strip(_SIGNS) for code in _CODE.findall(value))
    yield from map(" ".join, _PAIR.findall(value))


_CODE = re.compile(r"(?<!\S)(?=\S{4})\S*\d\S*")
_PAIR = re.compile(r"(?<![^\W\d_])(?=([^\W\d_]+)(?:(?!\s)[\W_])+([^\W\d_]+))")
_SIGNS = ".,;:!?()[]\"'"


def _plain(text: str) -> str:
    """Return small letters without accents, and digits where a number is in words."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", clean(text))
        # A digit of any script is that digit, and an accent is part of a letter.
        text = "".join(
            str(unicodedata.digit(char, char)) for char in text if not unicodedata.combining(char)
        )
    return _NUMBER_WORD.sub(lambda match: str(number_word(match[0])), text.casefold())


def _numbers(match: re.Match[str]) -> Iterator[Decimal]:
    """Yield what a number may mean: 1,000 and `1 k` are 1000, and 1.000 is that or one."""
    for marks in (_GROUPS, _DOTTED):
        plain = marks.sub("", match["digits"]).replace(",", ".")
        if plain.count(".") < 2:
            yield Decimal(plain) * _SCALES.get(match["scale"], 1)


def _windows(text: str) -> Iterator[str]:
    """Yield the days and times that up to six words in a row may mean, in ISO's form."""
    words = [word.strip(_SIGNS) for word in text.split()]
    for at, size in product(range(len(words)), range(1, 7)):
        window = " ".join(words[at : at + size])
        if re.search(r"\d", window):
            # A moment names its day too.
            yield from (part for moment in _moments(window) for part in (moment, moment[:10]))
    for match in _DAY.finditer(text):
        # Every day is one of a leap year.
        texts = (f"{match[0]}{mark}2028" for mark in " /" if not match["year"])
        yield from (day[5:] for day_text in texts for day in _moments(day_text))


def _moments(text: str) -> list[str]:
    return [str(reading.value) for reading in read_date(text, _CLOCK)]


_CLOCK = Place({"type": "string", "format": "naive-time"})
# The mark between two texts counts as a word.
_WORD = re.compile(r"[^\W_]+|\0")
_NUMBER_WORD = re.compile(
    rf"\b(?:{'|'.join(word.replace(' ', '[- ]') for word in BELOW_HUNDRED[::-1])})\b"
)
_SCALES = {"hundred": 100, "k": 1_000, "thousand": 1_000, "million": 1_000_000}
_DIGITS = (
    r"(?P<digits>[+-]?(?:\d{1,20}(?:[,._' ]\d{3}(?!\d))*(?:[.,]\d{1,20})?|\.\d{1,20})"
    rf"(?:e[+-]?\d{{1,3}})?)(?: ?(?P<scale>{'|'.join(_SCALES)})\b)?"
)
_NUMBER = re.compile(_DIGITS, re.ASCII)
_LONE_NUMBER = re.compile(
    rf"(?<![\w.,:/#+-]){_DIGITS}(?!\w*\d|[-:/.,]\d|(?:st|nd|rd|th)\b)", re.ASCII
)
_GROUPS = re.compile(r"[,_' ](?=\d{3})")
_DOTTED = re.compile(r"[.,_' ](?=\d{3}(?!\d))")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY_OF_MONTH = r"\d{1,2}(?:st|nd|rd|th)?\b"
_DAY = re.compile(
    rf"(?<!\d{{4}} )(?:\b{_DAY_OF_MONTH}\.?(?: of)? {_MONTH}|{_MONTH} (?:the )?{_DAY_OF_MONTH}"
    r"|(?<![\d/])\d{1,2}/\d{1,2}(?![\d/]))(?P<year>,? \d{4}\b)?"
)
"""A day that may lack its year."""


def _leaves(value: JSON) -> list[str]:
    if isinstance(value, Mapping):
        return [*map(str, value), *(leaf for item in value.values() for leaf in _leaves(item))]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [str(value)]
