"""The ledger in a file, for the processes of one machine: survives kill -9 and power cuts."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from selfcorrect.errors import LedgerError
from selfcorrect.ledger.sql import LEASE, Cursor, SqlLedger
from selfcorrect.ledger.tables import ADDED, INDEXES, TABLES, add_column

T = TypeVar("T")

_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_LOCKED_SECONDS: Final = 5.0


class SqliteLedger(SqlLedger):
    """Keeps intents in an SQLite file: write-ahead log, synced to disk before each effect.

    Not the right ledger for a file on a network share: SQLite cannot lock there.

    >>> ledger = SqliteLedger(":memory:")
    >>> ledger.begin("task/call/1") is None
    True
    >>> ledger.settle("task/call/1", "done", {"id": 7})
    >>> ledger.begin("task/call/1").value
    {'id': 7}
    >>> ledger.close()

    Args:
        path: The file; it is made where there is none.
        patience: Seconds in which a file that is locked may come free.
        lease: Seconds without a sign of life after which a holder in another container is given up.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, patience: float = 10.0, lease: float = LEASE
    ) -> None:
        super().__init__(patience=patience, lease=lease)
        self._path = os.fspath(path)
        self._file: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"<SqliteLedger {self._path}>"

    def _transaction(self, work: Callable[[Cursor], T]) -> T:
        self._check_file()
        connection = self._connection or self._connect()
        cursor = connection.cursor()
        try:
            cursor.execute("BEGIN IMMEDIATE")
            value = work(cursor)
            cursor.execute("COMMIT")
            return value
        except BaseException:
            if connection.in_transaction:
                connection.rollback()
            raise
        finally:
            cursor.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_LOCKED_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in TABLES:
                connection.execute(statement)
            columns = connection.execute("PRAGMA table_info(selfcorrect_intents)").fetchall()
            for name in ADDED:
                if name not in {column[1] for column in columns}:
                    connection.execute(add_column(name))
            for statement in INDEXES:
                connection.execute(statement)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self._check_file()
        return connection

    def _check_file(self) -> None:
        """What one ledger wrote must not be looked for in another, nor in a new one."""
        if self._path == ":memory:":
            return
        with suppress(OSError):
            found = Path(self._path).stat()
            self._file = self._file or (found.st_dev, found.st_ino)
            if self._file == (found.st_dev, found.st_ino):
                return
        if self._file is not None:
            raise LedgerError(f"the ledger's file {self._path} is gone, or is another file now")

    def _may_pass(self, error: Exception) -> bool:
        code = getattr(error, "sqlite_errorcode", None)
        return code is not None and (code & 0xFF) in _BUSY

    def _disconnect(self) -> None:
        if self._path != ":memory:" or self._closing.is_set():  # else it would lose what it holds
            super()._disconnect()

    def _drop_after_fork(self) -> None:
        if self._path == ":memory:":
            raise LedgerError("a ledger in memory does not outlive a fork: give it a file")
        super()._drop_after_fork()  # closing it would drop the locks of the parent process
