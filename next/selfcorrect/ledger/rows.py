"""Calls as rows of a table: one order of columns for all databases."""

import json
from collections.abc import Sequence
from typing import Any, Final

from selfcorrect.effects.again import BEGUN, HELD, Record, Run, Verdict

COLUMNS: Final = (
    *("key", "doubt", "tool", "status", "value", "about", "by", "holder", "theme", "time"),
    *("thread", "call_id", "request"),
)


def row_of(intent: Record, verdict: Verdict, holder: str, time: float) -> dict[str, Any]:
    """Return the row of a call that is made, or held, from now on."""
    told = {name: getattr(intent, name) for name in ("about", "thread", "call_id", "request")}
    return {
        "key": intent.key,
        "doubt": intent.doubt,
        "tool": intent.tool,
        "status": BEGUN if isinstance(verdict, Run) else HELD,
        "value": None,
        "by": None,
        "holder": holder,
        "theme": intent.theme,
        "time": time,
        # Halves of characters are none of a database's texts, and neither is a zero byte.
        **{name: _plain(text) for name, text in told.items()},
    }


def record_of(row: Sequence[Any], *, is_alive: bool) -> Record:
    """Return the record of a row, in the order of `COLUMNS`."""
    found = dict(zip(COLUMNS, row, strict=True))
    return Record(
        **{name: found[name] for name in COLUMNS if name not in ("value", "holder")},
        value=json.loads(found["value"] or "null"),
        alive=is_alive and found["status"] == BEGUN,
    )


def _plain(text: str) -> str:
    return text.encode(errors="replace").decode().replace("\0", "")
