"""The ledger in PostgreSQL, for processes on any number of machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from selfcorrect.errors import LedgerError, MissingExtra
from selfcorrect.ledger.sql import ADD_SCOPE, INDEXES, LEASE, TABLES, Cursor, SqlLedger

T = TypeVar("T")

_AWAY: Final = ("08", "57P", "53300", "40001", "40P01", "55P03")
"""SQLSTATEs of a server that is restarting, full, or asks to try again."""
_ONE_AT_A_TIME: Final = 7_301_957_042_118_311
"""Number of the lock under which tables are made."""


class PostgresLedger(SqlLedger):
    """Keeps intents in two tables of a PostgreSQL database; needs the extra `postgres`.

    The connection is opened at the first intent, and again after it was lost.

    Args:
        dsn: Where the database is: `postgresql://user:password@host/database`; never shown.
        patience: Seconds in which a server that is away may come back.
        lease: Seconds without a sign of life after which a holder elsewhere is given up.
    """

    def __init__(self, dsn: str, *, patience: float = 10.0, lease: float = LEASE) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra("postgres", "PostgresLedger") from error
        super().__init__(patience=patience, lease=lease)
        self._dsn = dsn
        self._psycopg = psycopg
        self._connection: Any = None

    def __repr__(self) -> str:
        return "<PostgresLedger>"

    def _transaction(self, work: Callable[[Cursor], T]) -> T:
        connection = self._connection or self._connect()
        with connection.transaction(), connection.cursor() as cursor:
            return work(_Statements(cursor))

    def _clock(self, cursor: Cursor) -> float:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(cursor.fetchone()[0])

    def _connect(self) -> Any:
        psycopg = self._psycopg
        try:
            connection = psycopg.connect(
                self._dsn, autocommit=True, connect_timeout=5, application_name="selfcorrect"
            )
        except psycopg.ProgrammingError:
            # Its text may repeat the address, password and all.
            raise LedgerError("the address of the ledger's database cannot be read") from None
        try:
            connection.execute("SET synchronous_commit = on")
            connection.execute("SET statement_timeout = '30s'")
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ONE_AT_A_TIME,))
                added = ADD_SCOPE.replace("ADD COLUMN", "ADD COLUMN IF NOT EXISTS")
                for statement in (*TABLES, added, *INDEXES):
                    connection.execute(statement)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _may_pass(self, error: Exception) -> bool:
        if not isinstance(error, self._psycopg.Error):
            return False
        state = error.sqlstate
        if state is not None:
            return state.startswith(_AWAY)
        return isinstance(error, self._psycopg.OperationalError | self._psycopg.InterfaceError)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except self._psycopg.Error:
                return

    def _drop_after_fork(self) -> None:
        # Closing it would end the parent's session on the server.
        _INHERITED.append(self._connection)
        self._connection = None


class _Statements:
    """A cursor that takes `?`, and locks the key of an intent before it is read."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        if statement.startswith("SELECT key, version"):
            # A row that does not exist yet cannot be locked: its key can.
            self._cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", values)
        return self._cursor.execute(statement.replace("?", "%s"), values)

    @property
    def rowcount(self) -> int:
        return int(self._cursor.rowcount)

    def fetchone(self) -> Any:
        return self._cursor.fetchone()

    def fetchall(self) -> Any:
        return self._cursor.fetchall()


_INHERITED: Final[list[Any]] = []
