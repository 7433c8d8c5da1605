"""How what an SQL ledger can do beside intents runs in the transactions of the ledger itself."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar

Found = TypeVar("Found")


class Transactions:
    """The parts of a ledger that have to be there."""

    _lock: RLock
    _check_process: Callable[[], None]
    _run: Callable[..., Any]

    def _done(self, work: Callable[[Any], Found], patience: float | None = None) -> Found:
        """What some work with a cursor comes to: one at a time, in the ledger's own process."""
        with self._lock:
            self._check_process()
            found: Found = self._run(work, patience)
        return found

    def _read(self, kind: Callable[..., Found], statement: str, *values: Any) -> list[Found]:
        """The rows that a statement finds."""

        def work(cursor: Any) -> list[Found]:
            cursor.execute(statement, values)
            return [kind(*found) for found in cursor.fetchall()]

        return self._done(work)
