"""What says nothing: null, the word for it, an empty text, the default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from selfcorrect.kernel.spellings import NULLS
from selfcorrect.mending.choice import Contested, Fit, candidate
from selfcorrect.model import ABSENT, JSON
from selfcorrect.protocols import Tool
from selfcorrect.schema.places import Place
from selfcorrect.schema.subschema import same, strings
from selfcorrect.text import spelling, tokens

_UPDATES: Final = frozenset(
    {"change", "clear", "edit", "modify", "patch", "unset", "update", "upsert"}
)


def nothing(value: JSON, want: Place) -> Iterator[Fit]:
    """Leave out null and the words for it where nothing is asked for."""
    text = value if isinstance(value, str) else None
    if text is not None and want.declared and not want.required:
        if not text.strip():
            if _updates(want.tool):  # a tie: it may as well be left as it is
                raise Contested("an empty text may say that something is to be cleared")
            yield candidate(ABSENT, "empty", "an empty text for an optional argument")
            return
        # A default that is not among the values that are listed is not what the tool takes.
        if not want.members and any(same(text, s.get("default")) for s in want.schemas):
            reason = "the default, which need not be said"
            yield candidate(ABSENT, "empty", reason)
            return
    if value is not None and (text is None or text.strip() not in NULLS):
        return
    if text is not None and spelling(text) in map(spelling, strings(want.members)):
        return
    if want.nullable and value is not None and (want.required or _updates(want.tool)):
        yield candidate(None, "nothing", f"{value!r} stands for null")
    elif want.required:
        raise Contested("null stands where a value is required")
    else:
        reason = "null stands for an argument that may be absent"
        yield candidate(ABSENT, "nothing", reason)


def _updates(tool: Tool) -> bool:
    """Whether what is said and empty may mean something else than what is not said."""
    return tool.effect != "read_only" and not _UPDATES.isdisjoint(tokens(tool.name))
