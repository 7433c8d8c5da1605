"""Remembers calls as rows of a table: what all databases do alike."""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from threading import RLock
from typing import Any, ClassVar

from selfcorrect.effects.again import BEGUN, HELD, Record, Reworded, Run, Verdict, in_doubt
from selfcorrect.ledger.memory import CLEARED, begun_record, outcome_named, unknown_key
from selfcorrect.model import JSON, JsonDict, T

COLUMNS = (*(part.name for part in fields(Record) if part.name != "alive"), "holder")
_TYPES = {
    "key": "text primary key",
    "value": "text",
    "by": "text",
    "time": "double precision not null",
}
_READ = (*COLUMNS, "is_alive")
TABLE = ", ".join(f"{name} {_TYPES.get(name, 'text not null')}" for name in COLUMNS)
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
        def begin(database: Any) -> Verdict:
            self._exclude_others(database, intent)
            mark, keys = self._mark, (intent.key, intent.doubt, intent.theme or None, intent.key)
            query = f"where c.key = {mark} or c.doubt = {mark} or c.theme = {mark}"
            query += f" order by c.key <> {mark}, c.place"
            rows = self._read(database, query, keys)
            if rows and rows[0]["attempt"] == intent.attempt:
                # It was written, and the connection broke before anybody said so.
                return Reworded() if rows[0]["status"] == HELD else Run()
            verdict = decide([self._record(row) for row in rows])
            if isinstance(verdict, Run | Reworded):
                record = begun_record(intent, verdict)
                database.execute(self._insert, _row_of(record, self._own_holder(database)))
                self._attempts[intent.key] = intent.attempt
            return verdict

        return self._do(begin)

    def settle(self, key: str, status: str, value: JSON = None, by: str | None = None) -> None:
        table, mark = self._table, self._mark
        row = [outcome_named(status), json.dumps(value, default=str), by and _plain(by), key]
        query = (
            f"update {table} set status = {mark}, value = {mark}, by = {mark} where key = {mark}"
        )
        attempt = "" if by else self._attempts.pop(key, "")
        may_be_late = not by and status in CLEARED
        if may_be_late:
            # A holder that was taken for dead does not know what others have done since.
            query += f" and attempt = {mark} and status = '{BEGUN}'"
            row.append(attempt)

        def write(database: Any) -> Any:
            if database.execute(query, row).rowcount:
                return [key]
            return [other for (other,) in database.execute(f"select key from {table}").fetchall()]

        if key not in (keys := self._do(write)):
            raise unknown_key(key, keys)

    def records(self, *, doubts: bool = False) -> list[Record]:
        rows = self._do(lambda database: self._read(database, "order by c.place"))
        return [record for record in map(self._record, rows) if in_doubt(record) or not doubts]

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = RLock()
        self._database: Any = None
        self._holder: Any = None
        self._attempts: dict[str, str] = {}

    def _do(self, work: Callable[[Any], T]) -> T:
        """Do work in a transaction, one at a time."""
        if os.getpid() != self._process:
            # Connections do not survive a fork; closing them here would harm the parent.
            _INHERITED.append((self._database, self._holder))
            self._start()
        with self._lock:
            return self._transact(work)

    def _read(self, database: Any, rest: str, values: Sequence[Any] = ()) -> list[JsonDict]:
        rows = database.execute(f"{self._select} {rest}", values).fetchall()
        return [dict(zip(_READ, row, strict=True)) for row in rows]

    def _record(self, row: JsonDict) -> Record:
        return Record(
            **{name: row[name] for name in COLUMNS if name not in ("value", "holder")},
            value=json.loads(row["value"] or "null"),
            alive=row["status"] == BEGUN and self._is_alive(row),
        )

    def _is_alive(self, row: JsonDict) -> bool:
        return bool(row["is_alive"])

    @abstractmethod
    def _exclude_others(self, database: Any, intent: Record) -> None:
        """Let nobody else decide about an equal call until the transaction ends."""

    @abstractmethod
    def _transact(self, work: Callable[[Any], T]) -> T: ...

    @abstractmethod
    def _own_holder(self, database: Any) -> Any: ...


def _row_of(record: Record, holder: str) -> JsonDict:
    row = {name: getattr(record, name, holder) for name in COLUMNS}
    return {name: _plain(item) if isinstance(item, str) else item for name, item in row.items()}


def _plain(text: str) -> str:
    # A database's texts hold neither halves of characters nor zero bytes.
    return text.encode(errors="replace").decode().replace("\0", "")


_INHERITED: list[object] = []
"""What a fork brought along, kept so that nothing closes it."""
