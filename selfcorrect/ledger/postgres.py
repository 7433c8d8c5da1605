"""The ledger in PostgreSQL, for processes on any number of machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from selfcorrect.errors import LedgerError, MissingExtra
from selfcorrect.ledger.intents import READ
from selfcorrect.ledger.sql import LEASE, Cursor, SqlLedger
from selfcorrect.ledger.tables import ADDED, INDEXES, TABLES, add_column

T = TypeVar("T")

_AWAY: Final = ("08", "57P", "53300", "40001", "40P01", "55P03")
"""SQLSTATEs of a server that is restarting, full, or asks to try again."""
_FOR_THIS_ONE: Final = "SET LOCAL synchronous_commit = on; SET LOCAL statement_timeout = '30s'"
_ONE_AT_A_TIME: Final = 7_301_957_042_118_311
"""Number of the lock under which tables are made."""


class PostgresLedger(SqlLedger):
    """Keeps intents in tables of a PostgreSQL database; needs the extra `postgres`.

    It uses one connection at a time, whatever the number of threads: its own, which is opened at
    the first intent and again after it was lost, or one of a pool that the process has anyway.

    Args:
        dsn: Where the database is: `postgresql://user:password@host/database`, never shown; or an
            open `psycopg_pool.ConnectionPool`, which stays the caller's.
        patience: Seconds in which a server that is away may come back.
        lease: Seconds without a sign of life after which a holder elsewhere is given up.
    """

    def __init__(self, dsn: str | Any, *, patience: float = 10.0, lease: float = LEASE) -> None:
        try:
            import psycopg
            import psycopg.rows
        except ImportError as error:
            raise MissingExtra("postgres", "PostgresLedger") from error
        super().__init__(patience=patience, lease=lease)
        self._dsn = dsn if isinstance(dsn, str) else ""
        self._pool = None if isinstance(dsn, str) else _pool(dsn)
        self._is_made = False
        self._psycopg = psycopg

    def __repr__(self) -> str:
        return "<PostgresLedger>"

    def _transaction(self, work: Callable[[Cursor], T]) -> T:
        if self._pool is not None:
            with self._pool.connection() as connection:
                if not self._is_made:
                    self._make_tables(connection)
                return self._in_one(connection, work, settings=True)
        return self._in_one(self._connection or self._connect(), work, settings=False)

    def _in_one(self, connection: Any, work: Callable[[Cursor], T], *, settings: bool) -> T:
        rows = self._psycopg.rows.tuple_row
        with connection.transaction(), connection.cursor(row_factory=rows) as cursor:
            if settings:  # what others do with a connection of the pool is theirs
                cursor.execute(_FOR_THIS_ONE, prepare=False)
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
            self._make_tables(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _make_tables(self, connection: Any) -> None:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ONE_AT_A_TIME,))
            added = [add_column(f"IF NOT EXISTS {name}") for name in ADDED]
            for statement in (*TABLES, *added, *INDEXES):
                connection.execute(statement)
        self._is_made = True

    def _may_pass(self, error: Exception) -> bool:
        if not isinstance(error, self._psycopg.Error):
            return False
        state = error.sqlstate
        if state is not None:
            return state.startswith(_AWAY)
        return isinstance(error, self._psycopg.OperationalError | self._psycopg.InterfaceError)

    def _drop_after_fork(self) -> None:
        if self._pool is not None:
            raise LedgerError("a pool does not outlive a fork: open pool and ledger in the child")
        super()._drop_after_fork()  # closing it would end the parent's session on the server


def _pool(given: Any) -> Any:
    if not callable(getattr(given, "connection", None)):
        raise LedgerError(
            "a ledger is given its database's address as text, or an open "
            f"psycopg_pool.ConnectionPool; not {type(given).__name__}"
        )
    return given


class _Statements:
    """A cursor that takes `?`, and locks the key of an intent before it is read."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        if statement == READ:
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
