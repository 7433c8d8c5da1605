"""Compares names of tools, arguments and options: same words, near letters, or neither."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

MAX_TYPOS: Final = 2
_WORD: Final = re.compile(r"[^\W_]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """Return the words of a name, in small letters.

    >>> words("bookFlight_v2"), words("book-flight")
    (('book', 'flight', 'v2'), ('book', 'flight'))
    """
    spaced = _CAMEL.sub(" ", unicodedata.normalize("NFKC", name[:200]))
    return tuple(word.casefold() for word in _WORD.findall(spaced))


def same_words(one: str, other: str) -> bool:
    """Say whether two names differ in case and separators only."""
    return "".join(words(one)) == "".join(words(other)) != ""


def near_letters(one: str, other: str) -> bool:
    """Say whether two names differ by a slip inside one word, never by a whole word.

    >>> near_letters("serach_flights", "search_flights"), near_letters("delete_x", "create_x")
    (True, False)
    """
    first, second = words(one), words(other)
    if len(first) != len(second):
        return False
    differing = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    if len(differing) != 1:
        return not differing
    a, b = differing[0]
    # An added beginning makes another word (do, undo), an added end a plural or another form.
    is_longer = a in b or b in a
    return min(len(a), len(b)) > 2 * MAX_TYPOS and not is_longer and typos(a, b) <= MAX_TYPOS


def only_near(name: str, known: Iterable[str]) -> str | None:
    """Return the one known name that is equal in words, else the one that is near, else None."""
    names = list(known)
    for is_alike in (same_words, near_letters):
        found = [each for each in names if is_alike(name, each)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def typos(one: str, other: str) -> int:
    """Return the edit distance, where a swap of two neighbours counts as one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
