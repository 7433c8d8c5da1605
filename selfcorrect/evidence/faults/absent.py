"""Parameters that a text says are not there."""

from __future__ import annotations

import re
from typing import Final

from selfcorrect.evidence.faults.names import CLOSE, COMMON, MARK, NO_NAMES, OPEN, WAYS, way
from selfcorrect.evidence.faults.place import HEADS, Places
from selfcorrect.model import ABSENT
from selfcorrect.pointer import join, split
from selfcorrect.text import normal

_OUTRIGHT: Final = (
    way(rf"\b{MARK} in (?P<w>[\w$@.\[\]]{{1,80}}): {OPEN}(?P<n>[\w$@.-]{{1,80}}){CLOSE}"),
    way(
        rf"(?:{OPEN}|\b{MARK} )(?P<n>[\w$@][\w$@.\[\]-]{{0,80}}){CLOSE}? (?:is|are|was) (?:an? )?",
        r"(?:required|missing|mandatory)\b",
    ),
    *(pattern for weight, pattern in WAYS if weight >= 2.6),
    way(r"constraint failed: \w{1,60}\.[\"']?(?P<n>\w{1,60})"),
    way(
        rf"(?:required|missing|lacks|following|provide|supply|specify|without)(?: {MARK})?",
        r"(?:\(s\))?(?: (?:is|are|the|an?|value|for|field))*: ",
        r"?(?P<n>[\w$@][\w$@.-]{0,60}(?:,? (?:and )?[\w$@][\w$@.-]{0,60}){0,9})",
    ),
)
"""Ways of naming that leave no doubt; the name need not be known."""
_SUBJECT: Final = way(
    r"(?:\A|\n|: )(?:The )?[\"'`]?(?P<n>[\w$@][\w$@.\[\]-]{0,60})[\"'`]?:?(?: \w{1,20})? ",
    r"(?:is|was|must|cannot|can['’]t|may not|should|are|required|missing|not provided)\b",
)
"""A way of naming that counts for uncommon words only, and for known names."""


def absent(text: str, place: Places) -> list[str]:
    """Pointers of what a text says is not there; the first way of naming that fits is taken."""
    text = text.split(" or (", maxsplit=1)[0]
    for pattern in _OUTRIGHT:
        if found := _places(pattern, text, place, common=True):
            return found
    return _places(_SUBJECT, text, place, common=False)


def _places(pattern: re.Pattern[str], text: str, place: Places, *, common: bool) -> list[str]:
    found: list[str] = []
    for match in list(pattern.finditer(text))[:20]:
        host = f"{match['w']}." if "w" in match.re.groupindex else ""
        for name in [*re.split(r",? and |, ", match["n"]), *_further(text, match.end())]:
            plain = name.strip("-. '\"")
            if _is_name(plain) and (common or _telling(plain, place)):
                found += _lacking(host + plain, place)
    return list(dict.fromkeys(path for path in found if not _filled(path, place)))


def _is_name(name: str) -> bool:
    return bool(name) and " " not in name and name.lower() not in NO_NAMES


def _telling(name: str, place: Places) -> bool:
    """Whether a name may stand for a parameter where nothing marks it as one."""
    blank = not (place.leaves or place.declared)
    return (
        blank
        or name.lower() not in COMMON
        or any(normal(name) == normal(split(path)[-1]) for path in place.declared)
    )


_MORE: Final = re.compile(rf",?(?: and| or)? ?{OPEN}([\w$@][\w$@.\[\]-]{{0,80}}){CLOSE}")


def _further(text: str, position: int) -> list[str]:
    """The rest of a list of quoted names that starts before `position`."""
    found: list[str] = []
    while len(found) < 20 and (match := _MORE.match(text, position)) is not None:
        found.append(match[1])
        position = match.end()
    return found


def _filled(path: str, place: Places) -> bool:
    value = place.value(path)
    return value not in (ABSENT, None, "", [], {})


_CLASS: Final = re.compile(r"\A[A-Z][A-Za-z0-9]{0,60}\.(?=[a-z_]\w{0,60}\Z)")
"""The model that a field is said to be of: `Order.city`."""


def _lacking(name: str, place: Places) -> list[str]:
    known = place.known(name)
    if known:
        return list(known)
    name = _CLASS.sub("", name)
    tokens = [token for token in re.split(r"[.\[\]]+", name.lstrip("$:")) if token]
    while len(tokens) > 1 and normal(tokens[0]) in HEADS:
        tokens = tokens[1:]
    return [join(*tokens)]
