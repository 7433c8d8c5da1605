"""How often what was learnt was done, and whether it helped: a row for each entry of a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from selfcorrect.ledger.transactions import Transactions

TABLE: Final = """
    CREATE TABLE IF NOT EXISTS selfcorrect_recalls (
        entry TEXT PRIMARY KEY, seen INTEGER NOT NULL, mended INTEGER NOT NULL,
        failed INTEGER NOT NULL, in_a_row INTEGER NOT NULL
    )
    """
COUNT: Final = (
    "INSERT INTO selfcorrect_recalls (entry, seen, mended, failed, in_a_row) "
    "VALUES (?, 1, ?, ?, ?) ON CONFLICT (entry) DO UPDATE SET "
    "seen = selfcorrect_recalls.seen + 1, "
    "mended = selfcorrect_recalls.mended + excluded.mended, "
    "failed = selfcorrect_recalls.failed + excluded.failed, "
    "in_a_row = CASE WHEN excluded.failed = 1 THEN selfcorrect_recalls.in_a_row + 1 ELSE 0 END"
)
_COLUMNS: Final = "SELECT entry, seen, mended, failed, in_a_row FROM selfcorrect_recalls"
READ: Final = f"{_COLUMNS} WHERE entry = ?"
READ_ALL: Final = f"{_COLUMNS} ORDER BY seen DESC, entry"


@dataclass(frozen=True, slots=True)
class RecallCount:
    """What became of one entry since it was learnt.

    Attributes:
        entry: Its id.
        seen: How often it was done.
        mended: How often the failing call then succeeded, or failed in another way.
        failed: How often it failed again in the same way.
        in_a_row: Failures since it last helped; after as many as the limits say, it retires.
    """

    entry: str
    seen: int = 0
    mended: int = 0
    failed: int = 0
    in_a_row: int = 0

    def after(self, *, helped: bool) -> RecallCount:
        """The count with one more use."""
        failed = 0 if helped else 1
        row = self.in_a_row + 1 if failed else 0
        more = (self.seen + 1, self.mended + 1 - failed, self.failed + failed, row)
        return RecallCount(self.entry, *more)


class RecallCounting(Transactions):
    """Counts of what was learnt, in the transactions of a ledger that has these parts."""

    def count_recall(self, entry: str, helped: bool) -> None:
        """Note that what was learnt was done, and whether it helped.

        Raises:
            LedgerError: If the database cannot be written.
        """
        failed = 0 if helped else 1
        self._done(lambda cursor: cursor.execute(COUNT, (entry, 1 - failed, failed, failed)))

    def recall_count(self, entry: str) -> RecallCount | None:
        """What became of an entry so far, or None.

        Raises:
            LedgerError: If the database cannot be read.
        """
        return next(iter(self._read(RecallCount, READ, entry)), None)

    def recall_counts(self) -> list[RecallCount]:
        """What became of all entries, those first that were done most often.

        Raises:
            LedgerError: If the database cannot be read.
        """
        return self._read(RecallCount, READ_ALL)
