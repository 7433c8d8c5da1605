"""Which declared argument an unknown key stands for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from selfcorrect.kernel.joint import Names
from selfcorrect.kernel.likeness import SAYS_NOTHING, form_of, has_same_letters, is_spelled
from selfcorrect.kernel.spellings import Words
from selfcorrect.protocols import Tool
from selfcorrect.schema.slots import slots_of
from selfcorrect.text import LONGEST, distance, tokens

_MOST_KEYS: Final = 200


def names_of(tool: Tool, words: Words | None = None, off: frozenset[str] = frozenset()) -> Names:
    """What is known of a tool's names, as the kernel compares keys with them."""
    told = f"{tool.name} {tool.description[:LONGEST]}"
    topic = frozenset(word for piece in told.split() for word in tokens(piece))
    return Names(slots_of(tool.schema), topic, tool.effect != "read_only", words or Words(), off)


def resembles(key: str, names: Iterable[str]) -> str | None:
    """The first name that a key may have something to do with, judged generously.

    For deciding what may be dropped: better to see a likeness where there is none.

    >>> resembles("retrun_date", ["origin", "return_date"]), resembles("colour", ["size"])
    ('return_date', None)
    """
    ours = set(form_of(key).words) - SAYS_NOTHING
    for name in list(names)[:_MOST_KEYS]:
        if is_spelled(key, name) or has_same_letters(key, name):
            return name
        if ours and _is_near(form_of(key[:LONGEST]).letters, form_of(name[:LONGEST]).letters):
            return name
        theirs = set(form_of(name).words) - SAYS_NOTHING
        if ours & theirs or any(_is_near(a, b) for a in ours for b in theirs):
            return name
    return None


def _is_near(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(long) <= 3:
        return sorted(short) == sorted(long) or (long.startswith(short) and len(long) > 1)
    if len(short) >= 3 and long.startswith(short):
        return True
    limit = 1 if len(long) < 5 else 2
    return len(long) >= 4 and distance(one, other, limit) is not None
