"""Whether a model took a value from an error's words; loaded where a model has answered."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Final

from selfcorrect.model import JSON, Change


def is_tainted(change: Change, untrusted: Iterable[str], trusted: Iterable[JSON]) -> bool:
    """Say whether a model took a value from an error's words and from nowhere else.

    Args:
        change: A change that a model made.
        untrusted: What errors and results said.
        trusted: The call, the schema and the user's words.
    """
    known = _Words(" ".join(leaf for each in trusted for leaf in _leaves(each)))
    told = _Words(" ".join(untrusted))
    parts = (part for leaf in _leaves(change.after) for part in _parts(leaf))
    return any(told.hold(part) and not known.hold(part) for part in parts)


class _Words:
    """The words of a text one behind the other, and where each begins and ends."""

    def __init__(self, text: str) -> None:
        words = _words(text)
        self.joined = "".join(words)
        self.edges = {0, *accumulate(map(len, words))}

    def hold(self, letters: str) -> bool:
        """Say whether whole words hold these letters: 50 does not stand in 500.

        >>> _Words("pay acct-99 11").hold("acct9911"), _Words("500").hold("50")
        (True, False)
        """
        at = self.joined.find(letters)
        while at >= 0:
            if {at, at + len(letters)} <= self.edges:
                return True
            at = self.joined.find(letters, at + 1)
        return False


def _parts(value: str) -> Iterator[str]:
    """Yield the letters of a value, and of each two words that a sign joins, as in an address."""
    yield from filter(None, ["".join(_words(value))])
    for chunk in value.split():
        words = _words(chunk)
        yield from (a + b for a, b in pairwise(words) if a.isalpha() and b.isalpha())


def _words(text: str) -> list[str]:
    # Other spellings of one value are equal, such as 1,000 and 1000.
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    return _WORD.findall(folded)


_WORD: Final = re.compile(r"[^\W_]+")
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")


def _leaves(value: JSON) -> list[str]:
    if isinstance(value, Mapping):
        return [*map(str, value), *(leaf for item in value.values() for leaf in _leaves(item))]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [str(value)]
