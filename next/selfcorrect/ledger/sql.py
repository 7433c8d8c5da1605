"""Remembers calls as rows of a table: what all databases do alike."""

import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any, ClassVar, Final, TypeVar
from uuid import uuid4

from selfcorrect.effects.again import BEGUN, HELD, Record, Reworded, Run, Verdict, in_doubt
from selfcorrect.ledger.memory import outcome_named, unknown_key
from selfcorrect.model import JSON, JsonDict

T = TypeVar("T")
COLUMNS: Final = (
    *("key", "doubt", "tool", "status", "value", "about", "by", "holder", "theme", "time"),
    *("thread", "call_id", "request"),
)
_TYPES: Final = {
    "key": "text primary key",
    "value": "text",
    "by": "text",
    "time": "double precision not null",
}
_READ: Final = (*COLUMNS, "is_alive")
TABLE: Final = ", ".join(f"{name} {_TYPES.get(name, 'text not null')}" for name in COLUMNS)
"""The columns, as databases are told of them."""


class SqlLedger(ABC):
    """Remembers calls in a table; each database says how it is reached, read and written."""

    blocks = True
    _table: ClassVar[str]
    _select: ClassVar[str]
    """Selects the columns of `c`, the calls, in which `place` counts up, and whether they live."""
    _insert: ClassVar[str]
    _mark: ClassVar[str]
    """What stands for a value in a query."""

    def begin(self, intent: Record, decide: Callable[[Sequence[Record]], Verdict]) -> Verdict:
        attempt = uuid4().hex

        def begin(database: Any) -> Verdict:
            if self._is_begun(database, intent, attempt):
                return Run()
            mark, keys = self._mark, (intent.key, intent.doubt, intent.theme or None, intent.key)
            query = f"where c.key = {mark} or c.doubt = {mark} or c.theme = {mark}"
            query += f" order by c.key <> {mark}, c.place"
            verdict = decide(self._read(database, query, keys))
            if isinstance(verdict, Run | Reworded):
                row = _row_of(intent, verdict, self._own_holder(database))
                database.execute(self._insert, {**row, "attempt": attempt})
            return verdict

        return self._do(begin)

    def settle(self, key: str, status: str, value: JSON = None, by: str | None = None) -> None:
        row = (outcome_named(status), json.dumps(value, default=str), by, key)
        table, mark = self._table, self._mark
        query = (
            f"update {table} set status = {mark}, value = {mark}, by = {mark} where key = {mark}"
        )

        def write(database: Any) -> Any:
            if database.execute(query, row).rowcount:
                return None
            return database.execute(f"select key from {table}").fetchall()

        if (known := self._do(write)) is not None:
            raise unknown_key(key, (other for (other,) in known))

    def records(self, *, doubts: bool = False) -> list[Record]:
        found = self._do(lambda database: self._read(database, "order by c.place"))
        return [record for record in found if in_doubt(record) or not doubts]

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = RLock()
        self._database: Any = None
        self._holder: Any = None

    def _do(self, work: Callable[[Any], T]) -> T:
        """Do work in a transaction, one at a time."""
        if os.getpid() != self._process:
            # Connections do not survive a fork; closing them here would harm the parent.
            _INHERITED.append((self._database, self._holder))
            self._start()
        with self._lock:
            return self._transact(work)

    def _read(self, database: Any, rest: str, values: Sequence[Any] = ()) -> list[Record]:
        rows = database.execute(f"{self._select} {rest}", values).fetchall()
        return [self._record(dict(zip(_READ, row, strict=True))) for row in rows]

    def _record(self, row: JsonDict) -> Record:
        return Record(
            **{name: row[name] for name in COLUMNS if name not in ("value", "holder")},
            value=json.loads(row["value"] or "null"),
            alive=row["status"] == BEGUN and self._is_alive(row),
        )

    def _is_alive(self, row: JsonDict) -> bool:
        return bool(row["is_alive"])

    def _is_begun(self, _database: Any, _intent: Record, _attempt: str) -> bool:
        """Say whether this attempt was written already, and the connection broke behind it."""
        return False

    @abstractmethod
    def _transact(self, work: Callable[[Any], T]) -> T: ...

    @abstractmethod
    def _own_holder(self, database: Any) -> Any: ...


def _row_of(intent: Record, verdict: Verdict, holder: str) -> JsonDict:
    """Return the row of a call that is made, or held, from now on."""
    row = {
        **{name: getattr(intent, name, None) for name in COLUMNS},
        "status": BEGUN if isinstance(verdict, Run) else HELD,
        "value": None,
        "by": None,
        "holder": holder,
        "time": time.time(),
    }
    return {name: _plain(item) if isinstance(item, str) else item for name, item in row.items()}


def _plain(text: str) -> str:
    # Halves of characters are none of a database's texts, and neither is a zero byte.
    return text.encode(errors="replace").decode().replace("\0", "")


_INHERITED: Final[list[object]] = []
"""What a fork brought along, kept so that nothing closes it."""
