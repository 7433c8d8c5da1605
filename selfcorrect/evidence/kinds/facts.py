"""Which kind of failure it is, from structured facts alone: codes, status, exception types.

Everything is data: `STATUS`, `CODES`, `SQLSTATES`, `TYPES`, `WORDS`. The order of trust is code,
then status, then type, then the words that codes and type names are made of. Nothing known is
`internal`.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterable
from typing import Final

from selfcorrect.evidence.kinds.codes import CODES, SQLSTATES, STATUS, TYPES, WORDS
from selfcorrect.model import ErrorKind, Finding
from selfcorrect.text import LONGEST, tokens

_SQLSTATE: Final = re.compile(r"[0-9A-Z]{5}\Z")
_BUGS: Final = frozenset({"TypeError", "AttributeError", "AssertionError", "RuntimeError"})
"""Classes that say no more than that something went wrong; what they wrap may say it."""
_BY_LAST_NAME: Final = {
    "JSONDecodeError": ErrorKind.VALIDATION,
    "CancelledError": ErrorKind.CANCELLED,
}
_REPLIES: Final = range(550, 560)
"""Replies of mail and file servers, which refuse for good; no HTTP server answers with these."""
_LONGEST: Final = 120
_MOST: Final = 12
_EMPTY: Final = frozenset({"error", "exception", "fault", "err"})


def kind_of(finding: Finding) -> ErrorKind:
    """The kind that a finding's code, status and types speak for; `internal` where none does.

    >>> kind_of(Finding("gone", status=410))
    <ErrorKind.NOT_FOUND: 'not_found'>
    """
    from_code = kind_of_code(finding.code)
    if from_code is not None and from_code is not ErrorKind.INTERNAL:
        return from_code
    from_status = kind_of_status(finding.status)
    if from_status is not None:
        return from_status
    return kind_of_types(finding.types) or ErrorKind.INTERNAL


def kind_of_status(status: int | str | None) -> ErrorKind | None:
    """The kind of an HTTP status, an SQLSTATE or a gRPC code name; None where it says nothing."""
    if isinstance(status, bool) or status is None:
        return None
    if isinstance(status, str):
        text = status.strip()
        if text.isascii() and text.isdigit() and len(text) == 3:
            return kind_of_status(int(text))
        return _kind_of_sqlstate(text) or kind_of_code(text)
    if (known := STATUS.get(str(status))) is not None:
        return known
    if 400 <= status < 500:
        return ErrorKind.PERMANENT
    return ErrorKind.TRANSIENT if 500 <= status < 600 and status not in _REPLIES else None


def kind_of_code(code: str | None) -> ErrorKind | None:
    """The kind of an emitter's error code, by table and then by its words."""
    if not code or len(code) > _LONGEST:
        return None
    exact = CODES.get("_".join(tokens(code)).upper())
    if exact is not None:
        return exact
    if code.startswith("SQLITE_"):
        return CODES.get("_".join(code.split("_")[:2]))
    return _kind_of_sqlstate(code) or kind_in(code)


def kind_of_types(types: Iterable[str]) -> ErrorKind | None:
    """The kind of an exception by its classes: each by its name, then by the words of its name."""
    bug = False
    for name in types:
        bug = bug or name in _BUGS
        last = name.replace("::", ".").rpartition(".")[2]
        known = TYPES.get(name) or _BY_LAST_NAME.get(last)
        if known is None and (last != name or _speaks(name)):
            known = kind_in(last)
        if known is not None:
            return known
    return ErrorKind.INTERNAL if bug else None


def _speaks(name: str) -> bool:
    """Whether a bare class name says something: words that somebody chose, no class of Python."""
    return len(set(tokens(name[:LONGEST])) - _EMPTY) > 1 and not hasattr(builtins, name)


def kind_in(name: str) -> ErrorKind | None:
    """The kind that the words of a name speak for."""
    spoken = f" {' '.join(tokens(name[:LONGEST])[:_MOST])} "
    return next((kind for phrase, kind in WORDS.items() if f" {phrase} " in spoken), None)


def speaks_of(text: str, kinds: Collection[ErrorKind]) -> bool:
    """Whether any phrase of these kinds stands in a text, whatever else it says."""
    spoken = f" {' '.join(tokens(text))} "
    return any(f" {phrase} " in spoken for phrase, kind in WORDS.items() if kind in kinds)


def _kind_of_sqlstate(state: str) -> ErrorKind | None:
    if not _SQLSTATE.match(state) or state.isalpha():
        return None
    return SQLSTATES.get(state) or SQLSTATES.get(state[:2])
