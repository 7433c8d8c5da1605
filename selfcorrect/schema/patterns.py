"""The regular expressions of JSON Schema (ECMA-262), matched in bounded time.

jsonschema-rs reads them; it has an automaton for those that can be one. What needs look-around or
a back-reference goes to its backtracking engine, with a limit on the steps and on the text.
Where there is no wheel of jsonschema-rs, RE2 reads them. What none of them can answer within these
bounds is not checked here, which is said once: whoever hosts the tool checks it again anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

from selfcorrect.kernel.texts import quoted
from selfcorrect.log import sink

_BACKTRACKS: Final = 10_000
_TAME: Final = 2**20
"""Bytes of an automaton that is quick for any text; counted repeats in one another need more."""
_BACKTRACKED: Final = ((_TAME, 10_000), (10 * 2**20, 1_000))
"""Bytes of the automata between the look-arounds, and the characters of a text that may be gone
through at every one of the steps."""
_WILD: Final = ((2**21, 1_000), (2**22, 200), (2**23, 100))
"""Bytes of a larger one, and the characters of a text that it goes through in a fifth of a second:
what they cost together grows faster than either."""
_MOST_STATES: Final = 5_000
"""Instructions of a program of RE2 that is quick for any text."""
_UNICODE_ESCAPE: Final = re.compile(r"\\(?:\\|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4}))")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    Attributes:
        search: Whether the pattern occurs in a text, or may occur where that cannot be told in
            bounded time.
        linear: Whether that takes time linear in the text, whatever the text, and is always told.
    """

    search: Callable[[str], bool]
    linear: bool


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Pattern:
    r"""The pattern, ready to be searched for.

    >>> compiled(r"^\d+$").search("42"), compiled(r"^\d+$").search("42\n")
    (True, False)

    Raises:
        ValueError: If it is not a pattern.
    """
    try:
        import jsonschema_rs
    except ImportError:
        return _re2(pattern)
    for size, longest in ((_TAME, None), *_WILD):
        with suppress(ValueError):
            found = _rust(pattern, jsonschema_rs.RegexOptions(size_limit=size)).is_valid
            return _bounded(pattern, longest, found) if longest else Pattern(found, linear=True)
    for size, longest in _BACKTRACKED:
        options = jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS, size_limit=size)
        with suppress(ValueError):
            return _bounded(pattern, longest, partial(_backtracked, _rust(pattern, options)))
    return _unchecked(pattern)


def _bounded(pattern: str, longest: int, search: Callable[[str], bool | None]) -> Pattern:
    """A pattern that may take too long: what is longer, or not answered, is not checked."""
    search = lru_cache(maxsize=4)(search)  # one call asks several times of the same text

    def bounded(text: str) -> bool:
        found = search(text) if len(text) <= longest else None
        if found is None:
            _say_unchecked(pattern)
        return found is not False

    return Pattern(bounded, linear=False)


def _backtracked(validator: Any, text: str) -> bool | None:
    if validator.is_valid(text):
        return True
    kind = next(validator.iter_errors(text)).kind
    return None if isinstance(kind, kind.BacktrackLimitExceeded) else False


def _unchecked(pattern: str) -> Pattern:
    try:
        re.compile(pattern)  # only read, never matched: its engine has no bound
    except (re.error, RecursionError, OverflowError):
        raise ValueError(f"{pattern!r} is not a regular expression of ECMA-262") from None
    _say_unchecked(pattern)
    return Pattern(lambda _: True, linear=False)


@lru_cache(maxsize=1024)
def _say_unchecked(pattern: str) -> None:
    """Say it once."""
    if emit := sink():
        why = "cannot be answered in bounded time; the host's own validation decides"
        emit("selfcorrect.unchecked_pattern", {"pattern": quoted(pattern, 200), "why": why})


def _rust(pattern: str, options: Any) -> Any:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator({"pattern": pattern}, pattern_options=options)


def _re2(pattern: str) -> Pattern:
    try:
        import re2
    except ImportError:
        return _unchecked(pattern)
    options = re2.Options()
    options.log_errors = False
    try:
        found = re2.compile(_UNICODE_ESCAPE.sub(_code_point, pattern), options)
    except re2.error:
        return _unchecked(pattern)

    def search(text: str) -> bool:
        return found.search(text) is not None

    is_tame = found.programsize <= _MOST_STATES
    return Pattern(search, linear=True) if is_tame else _bounded(pattern, _WILD[-1][1], search)


def _code_point(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return rf"\x{{{digits}}}" if digits else match[0]
