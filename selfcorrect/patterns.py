r"""Patterns over untrusted text, in time linear in the text; hides the engine, google-re2.

Only both ends of a text are read. `\d`, `\w` and `\s` are ASCII. RE2 has neither look-around
nor back-references, because no linear-time automaton has them.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

WINDOW = 32 * 1024
"""Characters that are read at each end of a text."""
_LONGEST_CAPTURE = 2_000
_MEMORY = 64 << 20


class PatternSet:
    """Many patterns that one pass over a text searches at once."""

    def __init__(self, patterns: Sequence[str]) -> None:
        import re2

        self._set = re2.Set.SearchSet(_options())
        for pattern in patterns:
            self._set.Add(pattern)
        self._set.Compile()

    def matching(self, text: str) -> Iterable[int]:
        """Return the positions of the patterns that match, in any order."""
        return self._set.Match(window(text)) or () if text else ()


def captures_of(pattern: str, text: str) -> dict[str, str]:
    """Return the named groups of a pattern in a text that it matches."""
    match = compile_pattern(pattern).search(window(text))
    groups = match.groupdict() if match else {}
    return {key: item for key, item in groups.items() if item and len(item) < _LONGEST_CAPTURE}


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> Any:
    """Return a pattern as RE2 runs it.

    Raises:
        ValueError: If RE2 refuses it; the message shows the part at fault.
    """
    import re2

    try:
        return re2.compile(pattern, _options())
    except re2.error as error:
        (reason, *_) = error.args
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        what, _, part = text.partition(": ")
        raise ValueError(
            f"{part or pattern!r:.80} is not possible ({what}); patterns run on RE2, "
            "without look-around and back-references"
        ) from None


def window(text: str) -> str:
    """Return what is read of a text: all of it, or both ends.

    >>> len(window("x" * 10_000_000))
    65539
    """
    ends = text if len(text) <= 2 * WINDOW else f"{text[:WINDOW]}\n…\n{text[-WINDOW:]}"
    # Half a character (a lone surrogate) has no UTF-8, and RE2 reads nothing else.
    return ends if ends.isascii() else ends.encode("utf-8", "replace").decode("utf-8")


def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return options
