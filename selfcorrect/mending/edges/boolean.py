"""True and false, as they are written in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from selfcorrect.kernel.spellings import TRUTH
from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.schema.places import Place
from selfcorrect.text import LONGEST, Unclear, tokens
from selfcorrect.words import NEGATIONS, WORDS

_SWITCH: Final = frozenset({"on", "off"})
_STATES: Final = frozenset({"active", "enabled", "mode", "on", "power", "powered", "switch"})
_SWITCHES: Final = frozenset({"activate", "enable", "turn", "use", "with"})


def boolean(value: JSON, want: Place) -> Iterator[Fit]:
    """Read `true`, `yes` and 1 as a boolean; `on` needs a name that says of what."""
    if "boolean" not in want.kinds:
        return
    if isinstance(value, int) and not isinstance(value, bool) and value in (0, 1):
        yield candidate(value == 1, "boolean-word", "0 or 1 for false or true")
    if not isinstance(value, str):
        return
    word = value[:50].strip().lower()
    if word in _SWITCH and not _is_switched(want.name):
        # `disable_cache: "on"` could say that the cache is on, or that it is disabled.
        raise Unclear("nothing in the name says what would be on or off")
    if word not in TRUTH:
        raise Unclear("it is not a word for true or false")
    cost = "boolean-text" if word in ("true", "false") else "boolean-word"
    yield candidate(TRUTH[word], cost, "a word for true or false")


def _is_switched(name: str) -> bool:
    """Whether a name says that something is on where it is true: `enabled`, not `disable_cache`."""
    words = tokens(name[:LONGEST])
    if not words or not (words[-1] in _STATES or words[0] in _SWITCHES):
        return False
    return (NEGATIONS | WORDS).isdisjoint(set(words) - _STATES - _SWITCHES)
