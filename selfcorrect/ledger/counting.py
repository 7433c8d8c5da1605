"""What an SQL ledger remembers of what was learnt."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

from selfcorrect.ledger.counts import COUNT, READ, READ_ALL, RecallCount


class RecallCounting:
    """Counts of what was learnt, in the transactions of a ledger that has these parts."""

    _lock: RLock
    _check_process: Callable[[], None]
    _run: Callable[..., Any]

    def count_recall(self, entry: str, helped: bool) -> None:
        """Note that what was learnt was done, and whether it helped.

        Raises:
            LedgerError: If the database cannot be written.
        """
        failed = 0 if helped else 1
        with self._lock:
            self._check_process()
            self._run(lambda cursor: cursor.execute(COUNT, (entry, 1 - failed, failed, failed)))

    def recall_count(self, entry: str) -> RecallCount | None:
        """What became of an entry so far, or None.

        Raises:
            LedgerError: If the database cannot be read.
        """

        def work(cursor: Any) -> RecallCount | None:
            cursor.execute(READ, (entry,))
            found = cursor.fetchone()
            return None if found is None else RecallCount(*found)

        with self._lock:
            self._check_process()
            found: RecallCount | None = self._run(work)
        return found

    def recall_counts(self) -> list[RecallCount]:
        """What became of all entries, those first that were done most often.

        Raises:
            LedgerError: If the database cannot be read.
        """

        def work(cursor: Any) -> list[RecallCount]:
            cursor.execute(READ_ALL)
            return [RecallCount(*found) for found in cursor.fetchall()]

        with self._lock:
            self._check_process()
            found: list[RecallCount] = self._run(work)
        return found
