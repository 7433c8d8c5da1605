"""Remembers calls in a SQLite file, for all processes of one machine.

An intent is on the disk before its tool is called, so a process that dies in between leaves a
doubt. What shows that a process lives is a lock on a small file of its own beside the ledger: the
operating system takes it away the moment that the process ends.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from selfcorrect.effects.again import Record
from selfcorrect.errors import LedgerError
from selfcorrect.ledger.holder import Holder, connect, is_held, sweep
from selfcorrect.ledger.sql import COLUMNS, TABLE, SqlLedger
from selfcorrect.model import JsonDict, T

_MARK = 0x53434C47
"""`application_id` of a ledger's file."""
_FORMAT = 3
_TABLE = (
    f"create table calls ({TABLE})",
    "create index calls_by_doubt on calls (doubt)",
    "create index calls_by_theme on calls (theme)",
    f"pragma application_id = {_MARK}",
    f"pragma user_version = {_FORMAT}",
)

_STATE = """
    select application_id, user_version, (select count(*) from sqlite_master)
    from pragma_application_id, pragma_user_version
"""


class SqliteLedger(SqlLedger):
    """Remembers calls in a SQLite file, for all processes of one machine.

    Args:
        path: The file, not on a network share: SQLite's locks do not hold there.

    Raises:
        LedgerError: If the file is not a ledger of this format; the file stays as it is.
    """

    _table = "calls"
    _select = f"select {', '.join(COLUMNS)}, null from (select *, rowid as place from calls) c"
    _insert = f"insert or replace into calls ({', '.join(COLUMNS)}) values (:{', :'.join(COLUMNS)})"
    _mark = "?"

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._start()
        self._do(lambda _: None)

    def close(self) -> None:
        """Close the files; a call that is still begun becomes a doubt."""
        with self._lock:
            self._attempts = {}
            self._drop()

    def _transact(self, work: Callable[[Any], T]) -> T:
        try:
            self._database = database = self._database or _open_ledger(self._path)
            database.execute("begin immediate")
            result = work(database)
            database.execute("commit")
        except BaseException as error:
            # A write may have failed half-way, so whatever this holder began is in doubt.
            self._drop()
            if isinstance(error, sqlite3.Error | OSError):
                raise LedgerError(f"{self._path}: {error}") from error
            raise
        return result

    def _exclude_others(self, database: Any, intent: Record) -> None:
        """A transaction that writes excludes all others here."""

    def _own_holder(self, database: Any) -> Any:  # noqa: ARG002
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

    def _is_alive(self, row: JsonDict) -> bool:
        # A holder that failed to write is dropped, so what the own one began is still being made.
        is_own = self._holder is not None and self._holder.id == row["holder"]
        return is_own or is_held(self._path, row["holder"])


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
        ((mark, version, tables),) = database.execute(_STATE)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        mark, version, tables = 0, 0, 1
    if (mark, version) == (_MARK, _FORMAT):
        return False
    if mark or tables:
        raise LedgerError(
            f"{path} is not a ledger of format {_FORMAT}; it was not changed. Give the ledger "
            "another path"
        )
    return True
