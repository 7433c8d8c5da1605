"""How an intent is written down, and what may happen to it next: shared by all ledgers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.plain import clean
from selfcorrect.protocols import Record

VERSION: Final = 3
"""Of the layout of a row; a row of a later version is refused, not guessed at. Rows of version 1
have no scope, and keys under which equal calls can differ; until 3 the checksum was over less."""
IN_DOUBT: Final = ("begun", "unknown")

HELD: Final = Record("held")
_DIGESTS: Final = re.compile("[0-9a-f]+:[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Row:
    """One intent as it is stored. `value` is JSON text; `checksum` is over all but itself.

    What is in doubt names its scope three times, the last time behind its checksum: damage to any
    two columns hides it from nobody.
    """

    key: str
    version: int
    status: str
    value: str | None
    holder: str
    checksum: str = ""
    written: float = 0.0
    scope: str | None = None
    answered_by: str | None = None
    doubt: str | None = None
    about: str | None = None

    @property
    def is_sound(self) -> bool:
        """Whether the row reads as it was written."""
        return self.checksum == _checksum(self)

    @property
    def is_open(self) -> bool:
        """Whether it was begun, or ended nobody knows how; of a damaged one that is not known."""
        return not self.is_sound or self.status in IN_DOUBT


def split(key: str) -> tuple[str, str]:
    """The scope of a key, the same for intents of equal calls in one thread, and its own part.

    The own part is the intent; one that is taken up in another thread stays the same intent.
    """
    scope, colon, own = key.partition(":")
    return (scope, own) if colon and _DIGESTS.fullmatch(key) else ("", key)


def row(key: str, status: str, value: JSON, holder: str, **more: Any) -> Row:
    """The row of an intent."""
    text = None if value is None else json.dumps(value, separators=(",", ":"))
    doubt = more.get("scope") if status in IN_DOUBT else None
    return sealed(Row(clean(key), VERSION, status, text, holder, doubt=doubt, **more))


def sealed(made: Row) -> Row:
    """A row with its checksum."""
    return replace(made, checksum=_checksum(made))


def judge(
    found: Row | None, holder: str, *, is_active: bool, sight: Callable[[str], str]
) -> tuple[bool, Record | None]:
    """Whether whoever asks may hold the intent now, and what is to be told.

    Args:
        found: The row that exists.
        holder: Who asks.
        is_active: Whether another task or thread of the same holder is at it.
        sight: Says of another holder whether it is `there`, `gone`, `lost` sight of, or `unseen`
            so far: then it may be there.
    """
    if found is None:
        return True, None
    if not found.is_sound:
        return True, Record("unknown", detail="the ledger's record of this call is damaged")
    if found.version > VERSION:
        return True, Record("unknown", detail="a later version of the library wrote this record")
    value = json.loads(found.value) if found.value is not None else None
    if found.status == "not_done":
        return True, None
    if found.status == "done":
        return False, Record("done", value)
    if found.status != "begun":
        lost = isinstance(value, dict) and value.get("lost") is True
        return True, Record(found.status, value, lost=found.status == "unknown" and lost)
    seen = "there" if is_active else "gone"
    if found.holder != holder:
        seen = sight(found.holder)
    if seen in ("there", "unseen"):
        return False, HELD
    return True, Record("begun", lost=seen == "lost")


def _checksum(made: Row) -> str:
    fields = asdict(made)
    del fields["checksum"]
    known = [*fields.values()]
    # What is damaged may be anything that a database can hold.
    text = json.dumps(known[:4] if made.version in (1, 2) else known, default=repr)
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}{made.doubt or ''}"
