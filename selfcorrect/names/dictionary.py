"""The words of the language: what is one, and what is short for one.

`words.bin` holds them, and `rare.bin` those of longer lists that look like a slip of one of them;
they are read when a rename is considered, never for a healthy call.
"""

import re
import zlib
from functools import cache, lru_cache
from pathlib import Path

from selfcorrect.lazy import load_table

MAX_TEXT = 2_000
"""Characters of a description that are read for its words."""
_LONGEST = 32
_WORD = re.compile(r"[^\W_]+")
_BEFORE = re.compile(
    r"^(?:anti|down|inter|over|under|dis|max|min|mis|non|out|pre|sub|de|en|ex|im|in|re|un|up)(.{4,})$"
)
_BEHIND = re.compile(r"^(.{3,}?)(?:down|off|out|by|ed|ee|er|in|ly|on|or|to|up)$")
"""What makes another word of a word: `undelete`, `checkout`."""


@lru_cache(maxsize=4_096)
def is_word(word: str) -> bool:
    """Say whether a word is English, or is made of one and of what makes another word of it.

    >>> is_word("undelete"), is_word("checkout"), is_word("serach")
    (True, True, False)
    """
    if not (2 < len(word) <= _LONGEST and word.isascii() and word.isalpha()):
        return False
    if word in _ABBREVIATED:
        return True
    roots = [word, *_BEFORE.findall(word), *_BEHIND.findall(word)]
    return not _load("words.bin").isdisjoint(roots)


def is_rare(word: str) -> bool:
    """Say whether a word is a rare one, or a trade's own, though it looks like a slip.

    >>> is_rare("sulfite"), is_rare("sulfzte")
    (True, False)
    """
    return word in _load("rare.bin")


@cache
def _load(file: str) -> frozenset[str]:
    packed = Path(__file__).with_name(file).read_bytes()
    return frozenset(zlib.decompress(packed).decode().split())


def stem(word: str) -> str:
    """Return the singular of a word.

    >>> stem("categories"), stem("boxes"), stem("status")
    ('category', 'box', 'status')
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word


@lru_cache(maxsize=512)
def vocabulary(text: str) -> frozenset[str]:
    """Return the words of a description: none of them is a slip."""
    return frozenset(_WORD.findall(text[:MAX_TEXT].casefold()))


_SHORT = frozenset(map(frozenset, load_table("names/abbreviations.toml").items()))
_ABBREVIATED = frozenset[str]().union(*_SHORT)


def is_short_for(one: str, other: str) -> bool:
    """Say whether one of two words is the usual abbreviation of the other.

    >>> is_short_for("qty", "quantity"), is_short_for("amount", "quantity")
    (True, False)
    """
    return frozenset((one, other)) in _SHORT
