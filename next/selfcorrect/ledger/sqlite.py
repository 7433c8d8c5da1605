"""Remembers calls in a SQLite file, for all processes of one machine.

An intent is on the disk before its tool is called, so a process that dies in between leaves a
doubt. What shows that a process lives is a lock on a small file of its own beside the ledger: the
operating system takes it away the moment that the process ends.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from time import time
from typing import Any, Final
from uuid import uuid4

from selfcorrect.effects.again import BEGUN, Record, Reworded, Run, Verdict, in_doubt
from selfcorrect.errors import LedgerError
from selfcorrect.ledger.holder import Holder, connect, is_held, sweep
from selfcorrect.ledger.memory import outcome_named, unknown_key
from selfcorrect.ledger.rows import COLUMNS, plain, record_of, row_of
from selfcorrect.model import JSON

_MARK: Final = 0x53434C47
"""`application_id` of a ledger's file."""
_FORMAT: Final = 2
_TABLE: Final = (
    """
    create table calls (
        key text primary key, doubt text not null, tool text not null, status text not null,
        value text, about text not null, by text, holder text not null, theme text not null,
        time real not null, thread text not null, call_id text not null, request text not null
    )
    """,
    "create index calls_by_doubt on calls (doubt)",
    "create index calls_by_theme on calls (theme)",
    f"pragma application_id = {_MARK}",
    f"pragma user_version = {_FORMAT}",
)
_READ: Final = f"select {', '.join(COLUMNS)} from calls"
_WRITE: Final = (
    f"insert or replace into calls ({', '.join(COLUMNS)}) values (:{', :'.join(COLUMNS)})"
)


class SqliteLedger:
    """Remembers calls in a SQLite file, for all processes of one machine.

    Args:
        path: The file, not on a network share: SQLite's locks do not hold there.

    Raises:
        LedgerError: If the file is no ledger of this format; it is left as it is.
    """

    blocks = True

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._start()
        with self._transaction():
            pass

    def begin(self, intent: Record, decide: Callable[[Sequence[Record]], Verdict]) -> Verdict:
        with self._transaction() as database:
            keys = (intent.key, intent.doubt, intent.theme or None)
            query = f"{_READ} where key = ? or doubt = ? or theme = ? order by key <> ?, rowid"
            rows = database.execute(query, (*keys, intent.key)).fetchall()
            verdict = decide([self._record(row) for row in rows])
            if isinstance(verdict, Run | Reworded):
                database.execute(_WRITE, row_of(intent, verdict, self._own_holder(), time()))
        return verdict

    def settle(self, key: str, status: str, value: JSON = None, by: str | None = None) -> None:
        status = outcome_named(status)
        with self._transaction() as database:
            query = "update calls set status = ?, value = ?, by = ? where key = ?"
            text = json.dumps(value, default=str)
            changed = database.execute(query, (status, text, by and plain(by), key)).rowcount
            known = () if changed else database.execute("select key from calls").fetchall()
        if not changed:
            raise unknown_key(key, (other for (other,) in known))

    def records(self, *, doubts: bool = False) -> list[Record]:
        with self._transaction() as database:
            rows = database.execute(f"{_READ} order by rowid").fetchall()
            found = [self._record(row) for row in rows]
        return [record for record in found if in_doubt(record) or not doubts]

    def close(self) -> None:
        """Close the files; a call that is still begun becomes a doubt."""
        with self._lock:
            self._drop()

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        self._holder: Holder | None = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if os.getpid() != self._process:
            # SQLite's connections do not survive a fork; closing them here would harm the parent.
            _INHERITED.append((self._database, self._holder))
            self._start()
        with self._lock:
            try:
                self._database = database = self._database or _open_ledger(self._path)
                database.execute("begin immediate")
                yield database
                database.execute("commit")
            except BaseException as error:
                # A write may have failed half-way, so whatever this holder began is in doubt.
                self._drop()
                if isinstance(error, sqlite3.Error | OSError):
                    raise LedgerError(f"{self._path}: {error}") from error
                raise

    def _own_holder(self) -> str:
        if self._holder is None:
            # Under the ledger's lock no file of a holder is without its lock.
            sweep(self._path)
            self._holder = Holder(self._path, uuid4().hex)
        return self._holder.id

    def _drop(self) -> None:
        if self._holder is not None:
            self._holder.close()
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
        self._holder = self._database = None

    def _record(self, row: Sequence[Any]) -> Record:
        holder, status = (row[COLUMNS.index(name)] for name in ("holder", "status"))
        return record_of(row, is_alive=status == BEGUN and self._is_alive(holder))

    def _is_alive(self, holder: str) -> bool:
        # A holder that failed to write is dropped, so what the own one began is still being made.
        is_own = self._holder is not None and self._holder.id == holder
        return is_own or is_held(self._path, holder)


_INHERITED: Final[list[object]] = []
"""What a fork brought along, kept so that nothing closes it."""


def _open_ledger(path: Path) -> sqlite3.Connection:
    database = connect(path)
    try:
        if _is_new(path, database):
            database.execute("begin immediate")
            # Another process may have been faster.
            for statement in _TABLE if _is_new(path, database) else ():
                database.execute(statement)
            database.execute("commit")
        with suppress(sqlite3.OperationalError):
            # While another process sets it, this fails; without it the ledger is slower, and safe.
            database.execute("pragma journal_mode = wal")
        # An intent must be on the disk before the effect: WAL alone does not promise that.
        database.execute("pragma synchronous = full")
    except BaseException:
        database.close()
        raise
    return database


def _is_new(path: Path, database: sqlite3.Connection) -> bool:
    try:
        ((mark,),) = database.execute("pragma application_id")
        ((version,),) = database.execute("pragma user_version")
        ((tables,),) = database.execute("select count(*) from sqlite_master")
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        mark, version, tables = 0, 0, 1
    if mark == _MARK and version == _FORMAT:
        return False
    if mark == _MARK:
        what = f"is a ledger of format {version}; this version reads format {_FORMAT}"
    elif mark or tables:
        what = "is not a ledger of this version"
    else:
        return True
    raise LedgerError(f"{path} {what}; it was not changed. Give the ledger another path")
