"""The regular expressions of JSON Schema (ECMA-262), matched in bounded time.

jsonschema-rs reads them; it has an automaton for those that can be one. What needs look-around or
a back-reference goes to its backtracking engine, with a limit on the steps and on the text.
Where there is no wheel of jsonschema-rs, RE2 reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

_BACKTRACKS: Final = 100_000
_LONGEST_BACKTRACKED: Final = 10_000
_UNICODE_ESCAPE: Final = re.compile(r"\\(?:\\|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4}))")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    Attributes:
        search: Whether the pattern occurs in a text.
        linear: Whether that takes time linear in the text, whatever the text.
    """

    search: Callable[[str], bool]
    linear: bool


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Pattern:
    r"""The pattern, ready to be searched for. A text that would take too long does not match.

    >>> compiled(r"^\d+$").search("42"), compiled(r"^\d+$").search("42\n")
    (True, False)

    Raises:
        ValueError: If it is not a pattern, or not one that can be matched here.
    """
    try:
        import jsonschema_rs
    except ImportError:
        return Pattern(_re2(pattern), linear=True)
    try:
        search = _rust(pattern, jsonschema_rs.RegexOptions())
    except ValueError:
        try:
            search = _rust(pattern, jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS))
        except ValueError:
            raise ValueError(f"{pattern!r} is not a regular expression of ECMA-262") from None
        return Pattern(
            lambda text: len(text) <= _LONGEST_BACKTRACKED and search(text), linear=False
        )
    return Pattern(search, linear=True)


def _rust(pattern: str, options: Any) -> Callable[[str], bool]:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator({"pattern": pattern}, pattern_options=options).is_valid


def _re2(pattern: str) -> Callable[[str], bool]:
    try:
        import re2
    except ImportError:
        raise ValueError(
            f"the pattern {pattern!r} needs the package jsonschema-rs or google-re2"
        ) from None
    options = re2.Options()
    options.log_errors = False
    try:
        search = re2.compile(_UNICODE_ESCAPE.sub(_code_point, pattern), options).search
    except re2.error as error:
        raise ValueError(f"the pattern {pattern!r} cannot be matched here: {error}") from None
    return lambda text: search(text) is not None


def _code_point(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return rf"\x{{{digits}}}" if digits else match[0]
