"""The ledger of one process: safe for threads and tasks, gone with the process."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from selfcorrect.model import JSON
from selfcorrect.plain import copied
from selfcorrect.protocols import Record


class MemoryLedger:
    """Keeps the records of the last `capacity` intents in memory.

    Not the right ledger where effects must survive a crash of the process.

    >>> ledger = MemoryLedger()
    >>> ledger.begin("task/call/1") is None
    True
    >>> ledger.settle("task/call/1", "done", {"id": 7})
    >>> ledger.begin("task/call/1")
    Record(status='done', value={'id': 7})
    """

    def __init__(self, capacity: int = 100_000) -> None:
        self._capacity = capacity
        self._records: OrderedDict[str, Record] = OrderedDict()
        self._lock = Lock()

    def begin(self, key: str) -> Record | None:
        """Write an intent, or return the record that exists and is not `not_done`."""
        with self._lock:
            record = self._records.get(key)
            if record is not None and record.status != "not_done":
                return Record(record.status, copied(record.value))
            self._records[key] = Record("begun")
            self._records.move_to_end(key)
            self._forget_oldest_settled()
            return None

    def settle(self, key: str, status: str, value: JSON = None) -> None:
        """Write what came of an intent: `done` with the result, `not_done` or `unknown`."""
        with self._lock:
            self._records[key] = Record(status, copied(value))

    def _forget_oldest_settled(self) -> None:
        if len(self._records) <= self._capacity:
            return
        for key, record in self._records.items():
            if record.status != "begun":
                del self._records[key]
                return
