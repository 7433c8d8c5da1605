"""Which names a text uses as variables."""

from __future__ import annotations

import re
from typing import Final

_NAMES: Final = r"[^\W\d]\w{0,80}(?:[ \t]*,[ \t]*[^\W\d]\w{0,80}){0,8}"
_ASSIGNED: Final = re.compile(
    rf"(?:^|;)[ \t>]*(?:(?:const|let|var)[ \t]+)?({_NAMES})(?:[ \t]*:[^\n=]{{0,60}})?"
    r"[ \t]*=(?![=>])"
    rf"|(?:^[ \t]*(?:async[ \t]+)?|[)\]\w][ \t]*)for[ \t]+({_NAMES})[ \t]+in\b[^\n]{{0,200}}[:\])]"
    rf"|\bas[ \t]+({_NAMES})[ \t]*:|\b({_NAMES})[ \t]*:=|\blambda[ \t]+({_NAMES})[ \t]*:"
    rf"|\bdef[ \t]+\w{{1,80}}\(({_NAMES})",
    re.MULTILINE,
)


def assigned_names(text: str) -> frozenset[str]:
    r"""The names that a text assigns to, loops over or takes as parameters.

    >>> sorted(assigned_names("acct = 'A-7'\nfor a, b in pairs: pass"))
    ['a', 'acct', 'b']
    """
    names: set[str] = set()
    for found in _ASSIGNED.finditer(text):
        listed = next(filter(None, found.groups()))
        names.update(name.strip() for name in listed.split(","))
    return frozenset(names)
