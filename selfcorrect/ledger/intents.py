"""What a ledger holds, for the person who runs it: never a result, which may be anybody's data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from selfcorrect.ledger.records import split
from selfcorrect.ledger.transactions import Transactions
from selfcorrect.plain import clean

_LIST: Final = "SELECT key, status, answered_by, written FROM selfcorrect_intents"
_NEWEST: Final = " ORDER BY written DESC, key LIMIT ?"
_SIGN: Final = "UPDATE selfcorrect_intents SET answered_by = ? WHERE key = ? AND status = 'begun'"
_IN_DOUBT: Final = " WHERE status IN ('begun', 'unknown')"
IN_DOUBT: Final = ("begun", "unknown")


@dataclass(frozen=True, slots=True)
class Intent:
    """One intent as a ledger holds it.

    Attributes:
        key: Names it; the end of what the tool got as its idempotency key.
        status: `begun`, `done`, `not_done`, `unknown`, or what was settled.
        by: Who answered a question on the way to it, where the answer said so.
        written: When that was, in seconds since 1970; None where no time is kept.
    """

    key: str
    status: str
    by: str | None = None
    written: float | None = None


class Intents(Transactions):
    """Intents and who answered for them, in the transactions of a ledger that has these parts."""

    def sign(self, key: str, by: str) -> None:
        """Keep who answered a question on the way to an intent that is begun.

        Raises:
            LedgerError: If the database cannot be written.
        """
        name = clean(by).replace("\0", "")  # which PostgreSQL cannot store
        self._done(lambda cursor: cursor.execute(_SIGN, (name, split(clean(key))[1])))

    def intents(self, most: int = 20, *, in_doubt: bool = False) -> list[Intent]:
        """The intents that were written last, the newest first.

        Args:
            most: How many.
            in_doubt: Only those that were begun or whose outcome is unknown.

        Raises:
            LedgerError: If the database cannot be read.
        """
        return self._read(Intent, _LIST + (_IN_DOUBT if in_doubt else "") + _NEWEST, most)
