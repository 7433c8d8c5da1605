"""The ledger of one process: safe for threads and tasks, gone with the process."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, ClassVar

from selfcorrect.ledger.owners import Owner, is_at_it, owner
from selfcorrect.ledger.records import HELD, IN_DOUBT, split
from selfcorrect.model import JSON
from selfcorrect.plain import copied
from selfcorrect.protocols import Posted, Record

if TYPE_CHECKING:
    from selfcorrect.ledger.counts import RecallCount
    from selfcorrect.ledger.intents import Intent


class MemoryLedger:
    """Keeps the last `capacity` settled intents in memory, and all that are under way.

    Not the right ledger where effects must survive a crash of the process.

    >>> ledger = MemoryLedger()
    >>> ledger.begin("task/call/1") is None
    True
    >>> ledger.settle("task/call/1", "done", {"id": 7})
    >>> ledger.begin("task/call/1")
    Record(status='done', value={'id': 7}, lost=False, detail=None)
    """

    blocks: ClassVar[bool] = False

    def __init__(self, capacity: int = 100_000) -> None:
        self._capacity = capacity
        self._open: dict[str, Owner] = {}
        self._settled: OrderedDict[str, Record] = OrderedDict()
        self._scopes: dict[str, dict[str, str]] = {}
        self._scope_in_doubt: dict[str, str] = {}
        self._by: dict[str, str] = {}
        self._recalls: dict[str, RecallCount] = {}
        self._board: OrderedDict[str, Posted] = OrderedDict()
        self._lock = Lock()

    def begin(self, key: str) -> Record | None:
        """Write an intent, or return what is known of an earlier one."""
        asking = owner()
        scope, key = split(key)
        with self._lock:
            held = self._open.get(key)
            if held is not None:
                if is_at_it(held, asking):
                    return HELD
                self._open[key] = asking
                return Record("begun")
            record = self._settled.get(key)
            if record is not None and record.status == "done":
                return Record("done", copied(record.value))
            self._settled.pop(key, None)
            self._open[key] = asking
            if record is not None and record.status != "unknown":
                self._by.pop(key, None)
            self._note(scope, key, in_doubt=True)
            if record is None or record.status == "not_done":
                return None
            return Record(record.status, copied(record.value))

    @property
    def is_sure(self) -> bool:
        """Whether nothing is in doubt or under way."""
        return not self._scopes

    def doubts(self, scope: str) -> list[str]:
        """The keys of this scope that are in doubt."""
        asking = owner()
        with self._lock:
            return [
                key
                for own, key in self._scopes.get(scope, {}).items()
                if not ((held := self._open.get(own)) and is_at_it(held, asking))
            ]

    def status_of(self, key: str) -> str | None:
        """How an intent ended; None where it did not, or nothing is known of it."""
        with self._lock:
            record = self._settled.get(split(key)[1])
        return record.status if record else None

    def settle(self, key: str, status: str, value: JSON = None) -> None:
        """Write what came of an intent, and let it go."""
        scope, key = split(key)
        with self._lock:
            self._note(scope, key, in_doubt=status == "unknown")
            self._open.pop(key, None)
            self._settled[key] = Record(status, copied(value))
            self._settled.move_to_end(key)
            while len(self._settled) > self._capacity:
                gone = self._settled.popitem(last=False)[0]
                self._note("", gone, in_doubt=False)
                if gone not in self._open:
                    self._by.pop(gone, None)

    def sign(self, key: str, by: str) -> None:
        """Keep who answered a question on the way to an intent that is begun."""
        own = split(key)[1]
        with self._lock:
            if own in self._open:
                self._by[own] = by

    def intents(self, most: int = 20, *, in_doubt: bool = False) -> list[Intent]:
        """What is under way, then what was settled, the newest first; only what is in doubt."""
        from selfcorrect.ledger.intents import Intent

        with self._lock:
            begun = [(key, "begun") for key in reversed(self._open)]
            ended = [(key, each.status) for key, each in reversed(self._settled.items())]
            known = [Intent(key, status, self._by.get(key)) for key, status in begun + ended]
        return [each for each in known if not in_doubt or each.status in IN_DOUBT][:most]

    def count_recall(self, entry: str, helped: bool) -> None:
        """Note that what was learnt was done, and whether it helped."""
        from selfcorrect.ledger.counts import RecallCount

        with self._lock:
            known = self._recalls.get(entry) or RecallCount(entry)
            self._recalls[entry] = known.after(helped=helped)

    def recall_count(self, entry: str) -> RecallCount | None:
        """What became of an entry so far, or None."""
        return self._recalls.get(entry)

    def recall_counts(self) -> list[RecallCount]:
        """What became of all entries, those first that were done most often."""
        with self._lock:
            return sorted(self._recalls.values(), key=lambda each: (-each.seen, each.entry))

    def look(self, name: str) -> Posted:
        """What stands on the board under this name."""
        with self._lock:
            return self._board.get(name, Posted())

    def swap(self, name: str, version: int, value: JSON) -> bool:
        """Write a value, if what stands there is still of this version."""
        with self._lock:
            if self._board.get(name, Posted()).version != version:
                return False
            self._board[name] = Posted(version + 1, copied(value))
            self._board.move_to_end(name)
            while len(self._board) > self._capacity:
                self._board.popitem(last=False)
            return True

    def _note(self, scope: str, key: str, *, in_doubt: bool) -> None:
        """Note a doubt under the scope that it arose in, or that there is none any more."""
        known = self._scope_in_doubt.pop(key, scope)
        if in_doubt and known:
            self._scope_in_doubt[key] = known
            self._scopes.setdefault(known, {})[key] = f"{known}:{key}"
        elif (keys := self._scopes.get(known)) is not None:
            keys.pop(key, None)
            if not keys:
                del self._scopes[known]
