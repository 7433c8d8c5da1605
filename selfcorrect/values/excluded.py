"""Texts that say what is not meant, and what stands for something: `not Paris`, `<tags>`."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_EXCLUDES: Final = re.compile(
    r"(?:not|no|neither|except|excluding|without|other than"
    r"|(?:all|any|every)(?:body|one|thing|where)?\b[\w ]{0,40}?\b"
    r"(?:but|except|excluding|without|not|other than))(?:\s|\Z)",
    re.IGNORECASE | re.ASCII,
)


def excludes(text: str) -> bool:
    """Whether a text begins with what it leaves out.

    >>> excludes("not Paris"), excludes("everyone except Bob"), excludes("Notting Hill")
    (True, True, False)
    """
    return _EXCLUDES.match(text.lstrip()) is not None


_MAY_BEGIN: Final = frozenset("@#/~.+*_-\"'(&\u00bf\u00a1")
_MAY_END: Final = frozenset("_.!?)+*%\"'#/-@\u00b0")


def is_item(text: str) -> bool:
    """Whether a text can be one item of a list: it begins and ends as words, paths and names do.

    >>> is_item("red"), is_item("*.py"), is_item("C++"), is_item("$5")
    (True, True, True, True)
    >>> is_item("]"), is_item("red..."), is_item("<tags>"), is_item("$TAGS")
    (False, False, False, False)
    """
    bare = text.strip()
    if not any(map(_is_letter, bare)) or bare.endswith(".."):
        return False
    first = bare[1] if bare[0] == "$" else bare[0]
    begins = first.isdigit() if bare[0] == "$" else _is_letter(first) or first in _MAY_BEGIN
    return begins and (_is_letter(bare[-1]) or bare[-1] in _MAY_END)


def _is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"
