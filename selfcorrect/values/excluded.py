"""Texts that say what is not meant: `not Paris`, `all but one`."""

from __future__ import annotations

import re
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
