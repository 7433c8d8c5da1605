"""What a ledger holds, for the person who runs it: never a result, which may be anybody's data."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields, replace
from typing import Any, Final

from selfcorrect.errors import LedgerError
from selfcorrect.ledger.holders import Holder
from selfcorrect.ledger.owners import owner
from selfcorrect.ledger.records import Row, row, sealed, split
from selfcorrect.ledger.transactions import Transactions
from selfcorrect.plain import clean

GLANCE: Final = 0.1
_NAMES: Final = [each.name for each in fields(Row)]
LIST: Final = f"SELECT {', '.join(_NAMES)} FROM selfcorrect_intents"  # noqa: S608 -- our own names
READ: Final = f"{LIST} WHERE key = ?"
WRITE: Final = (
    f"INSERT INTO selfcorrect_intents ({', '.join(_NAMES)}) "  # noqa: S608
    f"VALUES ({', '.join('?' * len(_NAMES))}) ON CONFLICT (key) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _NAMES[1:])
)
_NEWEST: Final = " ORDER BY written DESC, key LIMIT ?"
_IN_DOUBT: Final = (
    " WHERE status IN ('begun', 'unknown') OR doubt IS NOT NULL OR length(checksum) > 16"
)
VERDICTS: Final = {"done": "done", "not-done": "not_done", "again": "not_done"}
"""What a person may say of a call in doubt, and what the ledger then holds."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One intent as a ledger holds it.

    Attributes:
        key: Names it; the end of what the tool got as its idempotency key.
        status: `begun`, `done`, `not_done`, `unknown`, what was settled, or `damaged`.
        by: Who answered a question on the way to it, where the answer said so.
        written: When that was, in seconds since 1970; None where no time is kept.
        about: The tool, the thread or task, and the id of the call; never its arguments.
    """

    key: str
    status: str
    by: str | None = None
    written: float | None = None
    about: str | None = None


class Intents(Transactions):
    """Intents and who answered for them, in the transactions of a ledger that has these parts."""

    _clock: Callable[[Any], float]
    _me: Holder
    _seen: Callable[..., str]
    _sight: Callable[..., Any]

    def sign(self, key: str, by: str) -> None:
        """Keep who answered a question on the way to an intent that is begun.

        Raises:
            LedgerError: If the database cannot be written.
        """

        def work(cursor: Any) -> None:
            found = self._found(cursor, split(clean(key))[1])
            if found is not None and found.status == "begun" and found.is_sound:
                cursor.execute(WRITE, astuple(sealed(replace(found, answered_by=_name(by)))))

        self._done(work)

    def status_of(self, key: str) -> str | None:
        """What is written of an intent; None where nothing is, or nothing that is sound.

        Raises:
            LedgerError: If the database cannot be read.
        """
        found = self._done(lambda cursor: self._found(cursor, split(clean(key))[1]))
        return found.status if found and found.is_sound else None

    def settle_doubt(self, key: str, verdict: str, by: str) -> None:
        """Write what a person found out of a call in doubt; from now on that is so.

        Args:
            key: Of the intent, as `intents` tells it.
            verdict: `done`, `not-done`, or `again`: the call may be made once more.
            by: Who says so.

        Raises:
            LedgerError: If nothing is in doubt under this key, or somebody is still at it.
        """
        asking, own = owner(), split(clean(key))[1]
        beats: dict[str, Any] = {}

        def work(cursor: Any) -> str:
            found = self._found(cursor, own)
            if found is None or not found.is_open:
                raise LedgerError(f"nothing is in doubt under {key!r}")
            seen = self._seen(found, asking, self._sight(cursor, beats))
            if seen not in ("there", "unseen"):
                more = {"scope": found.scope, "about": found.about, "answered_by": _name(by)}
                status, now = VERDICTS[verdict], self._clock(cursor)
                new = row(own, status, None, self._me.id, written=now, **more)
                cursor.execute(WRITE, astuple(new))
            return seen

        while (seen := self._done(work)) == "unseen":
            time.sleep(GLANCE)
        if seen == "there":
            raise LedgerError(f"{key!r} is under way: whoever is at it settles it")

    def intents(self, most: int = 20, *, in_doubt: bool = False) -> list[Intent]:
        """The intents that were written last, the newest first.

        Args:
            most: How many.
            in_doubt: Only those that were begun or whose outcome is unknown.

        Raises:
            LedgerError: If the database cannot be read.
        """
        rows = self._read(Row, LIST + (_IN_DOUBT if in_doubt else "") + _NEWEST, most)
        return [
            Intent(
                each.key,
                each.status if each.is_sound else "damaged",
                each.answered_by,
                each.written,
                each.about,
            )
            for each in rows
        ]

    def _found(self, cursor: Any, key: str) -> Row | None:
        cursor.execute(READ, (key,))
        values = cursor.fetchone()
        return values and Row(*values)


def _name(by: str) -> str:
    return clean(by).replace("\0", "")  # which PostgreSQL cannot store
