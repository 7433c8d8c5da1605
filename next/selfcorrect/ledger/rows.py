"""Calls as rows of a table: one order of columns for all databases."""

import json
from collections.abc import Sequence
from typing import Any, Final

from selfcorrect.effects.again import BEGUN, HELD, Record, Run, Verdict

COLUMNS: Final = (
    *("key", "doubt", "tool", "status", "value", "about", "by", "holder", "theme", "time"),
    *("thread", "call_id", "request"),
)

_TOLD: Final = ("tool", "about", "thread", "call_id", "request")


def row_of(intent: Record, verdict: Verdict, holder: str, time: float) -> dict[str, Any]:
    """Return the row of a call that is made, or held, from now on."""
    told = {name: plain(getattr(intent, name)) for name in _TOLD}
    return {
        "key": intent.key,
        "doubt": intent.doubt,
        "status": BEGUN if isinstance(verdict, Run) else HELD,
        "value": None,
        "by": None,
        "holder": holder,
        "theme": intent.theme,
        "time": time,
        **told,
    }


def record_of(row: Sequence[Any], *, is_alive: bool) -> Record:
    """Return the record of a row, in the order of `COLUMNS`."""
    found = dict(zip(COLUMNS, row, strict=True))
    return Record(
        **{name: found[name] for name in COLUMNS if name not in ("value", "holder")},
        value=json.loads(found["value"] or "null"),
        alive=is_alive and found["status"] == BEGUN,
    )


def plain(text: str) -> str:
    """Return a text that a database takes: without halves of characters and zero bytes."""
    return text.encode(errors="replace").decode().replace("\0", "")
