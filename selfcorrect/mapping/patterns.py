r"""Patterns over untrusted text, in time linear in the text. Hides the engine (google-re2).

Only the first and last 32 kB of a text are read. `\d`, `\w` and `\s` are ASCII. Look-around
and back-references do not exist here: no linear-time automaton has them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

WINDOW: Final = 32 * 1024
"""Bytes that are read at each end of a text."""

LONGEST_PATTERN: Final = 4_000
LARGEST_PROGRAM: Final = 4_000
"""Instructions of a compiled pattern; what one byte of text may cost at worst."""

LONGEST_CAPTURE: Final = 2_000
"""Bytes of a named group; a longer one is no evidence and is left out."""

_SHARD: Final = 2_000
_GAP: Final = "\n[\N{HORIZONTAL ELLIPSIS} "
_GROUP_NAMES: Final = re.compile(r"(?<!\\)\(\?P?<([A-Za-z_]\w*)>")


class PatternError(ValueError):
    """A pattern cannot be used; the message says why in one sentence."""


def window(text: str) -> bytes:
    """What is read of a text: all of it, or both ends with a note of how much lies between.

    >>> window("no such flight")
    b'no such flight'
    >>> len(window("x" * 10_000_000)) < 2 * WINDOW + 100
    True
    """
    if len(text) <= 2 * WINDOW:
        data = text.encode("utf-8", "replace")
        if len(data) <= 2 * WINDOW:
            return data
    head = text[:WINDOW].encode("utf-8", "replace")[:WINDOW].decode("utf-8", "ignore")
    tail = text[-WINDOW:].encode("utf-8", "replace")[-WINDOW:].decode("utf-8", "ignore")
    unread = len(text) - len(head) - len(tail)
    return f"{head}{_GAP}{unread} characters not read]\n{tail}".encode()


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """One pattern, compiled when it is first needed and then once for all maps.

    Attributes:
        source: The pattern as it was written.
        groups: The names of its groups.
    """

    source: str
    groups: tuple[str, ...]

    def captures(self, text: bytes) -> dict[str, str] | None:
        """The named groups that took part in the first match, or None where nothing matches."""
        match = _engine(self.source).search(text)
        if match is None:
            return None
        found = {}
        for name in self.groups:
            value = match.group(name)
            if value is not None and len(value) <= LONGEST_CAPTURE:
                decoded = value.decode("utf-8", "replace")
                if _GAP not in decoded:
                    found[name] = decoded
        return found


def compile_pattern(source: str, *, built_in: bool = False, tried: bool = False) -> Pattern:
    """Compile a pattern.

    Args:
        source: The pattern, in RE2's syntax.
        built_in: Whether it ships with selfcorrect. Only such a pattern may run on Python's own
            `re`, where google-re2 is not installed.
        tried: Whether it is known to compile, so that compiling it can wait until it is needed.

    Raises:
        PatternError: If it is no pattern, or not one that can be matched in linear time.
    """
    if not source:
        raise PatternError("an empty pattern matches everything; leave it out instead")
    if len(source) > LONGEST_PATTERN:
        raise PatternError(f"longer than {LONGEST_PATTERN} characters")
    names = _GROUP_NAMES.findall(source)
    for name in names:
        if names.count(name) > 1:
            raise PatternError(f"two groups are named {name!r}")
    if not has_linear_engine() and not built_in:
        raise PatternError("google-re2 is not installed, and without it only built-in maps run")
    if not tried:
        names = list(_engine(source).groupindex)
    return Pattern(source, tuple(names))


@lru_cache(maxsize=8192)
def _engine(source: str) -> Any:
    """The automaton of a pattern."""
    if not has_linear_engine():
        # Over bytes, Python's classes are ASCII as RE2's are.
        return re.compile(_as_python(source).encode())
    import re2

    try:
        compiled = re2.compile(source, _options())
    except UnicodeEncodeError:
        raise PatternError("holds a lone surrogate") from None
    except re2.error as error:
        raise PatternError(_reason(error)) from None
    if compiled.programsize > LARGEST_PROGRAM:
        raise PatternError("too large: shorten its repetitions and character classes")
    return compiled


class PatternSet:
    """Many patterns, matched in one pass over the text.

    Built on the patterns' literal parts, so that neither their number nor a text full of
    half-matches makes it slow.
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = tuple(patterns)
        self._shards: list[tuple[int, Any]] | None = None

    def matching(self, text: bytes) -> list[int]:
        """The positions of the patterns that match, in order."""
        if not has_linear_engine():
            return [n for n, p in enumerate(self._patterns) if p.captures(text) is not None]
        if self._shards is None:
            # Compiled when first needed, and by two threads at worst twice.
            self._shards = _shards(self._patterns)
        return [start + n for start, shard in self._shards for n in shard.Match(text) or ()]


@lru_cache(maxsize=1)
def has_linear_engine() -> bool:
    """Whether google-re2 is installed; it has no wheels for some systems (Alpine)."""
    return find_spec("re2") is not None


def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 16 << 20
    return options


def _shards(patterns: Sequence[Pattern]) -> list[tuple[int, Any]]:
    """Automata over consecutive patterns, each small enough to compile."""
    import re2

    todo = [
        (start, min(start + _SHARD, len(patterns))) for start in range(0, len(patterns), _SHARD)
    ]
    done = []
    while todo:
        start, end = todo.pop()
        shard = re2.Filter()
        for pattern in patterns[start:end]:
            shard.Add(pattern.source, _options())
        try:
            shard.Compile()
        except re2.error:
            if end - start == 1:
                raise
            middle = (start + end) // 2
            todo += [(start, middle), (middle, end)]
        else:
            done.append((start, shard))
    return sorted(done, key=lambda item: item[0])


def _as_python(source: str) -> str:
    """RE2 lets `(?i)` hold from where it stands to the end; Python wants it as a group."""
    head, flag, tail = source[1:].partition("(?i)")
    return f"{source[:1]}{head}(?i:{tail})" if flag else source


def _reason(error: Exception) -> str:
    detail = error.args[0] if error.args else ""
    text = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
    if text.startswith("invalid perl operator: (?") and text[-1] in "=!<":
        return "look-ahead and look-behind cannot be matched in linear time"
    if text.startswith("invalid escape sequence: \\") and text[-1].isdigit():
        return "back-references cannot be matched in linear time"
    return text or "not a pattern"
