"""What an SQL ledger remembers of what was learnt."""

from __future__ import annotations

from typing import Any

from selfcorrect.ledger.counts import COUNT, READ, READ_ALL, RecallCount
from selfcorrect.ledger.transactions import Transactions


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

        def work(cursor: Any) -> RecallCount | None:
            cursor.execute(READ, (entry,))
            found = cursor.fetchone()
            return None if found is None else RecallCount(*found)

        return self._done(work)

    def recall_counts(self) -> list[RecallCount]:
        """What became of all entries, those first that were done most often.

        Raises:
            LedgerError: If the database cannot be read.
        """

        def work(cursor: Any) -> list[RecallCount]:
            cursor.execute(READ_ALL)
            return [RecallCount(*found) for found in cursor.fetchall()]

        return self._done(work)
