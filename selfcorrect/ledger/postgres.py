"""Remembers calls in a PostgreSQL database, for all processes of all machines.

An intent is durable before its tool is called. What shows that a process lives is a lease in the
database, by the database's own clock: its holder renews it, and once it has lapsed, what the holder
began is a doubt.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from typing import Any
from uuid import uuid4

from selfcorrect.effects.again import Record
from selfcorrect.errors import LedgerError
from selfcorrect.lazy import name_extra
from selfcorrect.ledger.sql import COLUMNS, TABLE, SqlLedger
from selfcorrect.model import T

_FORMAT = 1
_LEASE = "interval '30 seconds'"
_RENEW = 5.0
"""Seconds between two renewals of a lease."""
_RENEWAL = f"""
    insert into selfcorrect_holders values (%s, clock_timestamp() + {_LEASE})
    on conflict (holder) do update set until = excluded.until
"""
_NAMES = ", ".join(COLUMNS)
_LONGEST = 30.0
"""Seconds for which a database that restarts is waited for."""


class PostgresLedger(SqlLedger):
    """Remembers calls in a PostgreSQL database, for all processes of all machines.

    Args:
        dsn: The address: `postgresql://user@host/database`.

    Raises:
        LedgerError: If the database cannot be reached, or holds a ledger of another format.
    """

    _table = "selfcorrect_calls"
    _select = f"""
        select {_NAMES}, coalesce(until > clock_timestamp(), false)
        from selfcorrect_calls c left join selfcorrect_holders using (holder)
    """
    _insert = f"""
        insert into selfcorrect_calls ({_NAMES}) values (%({")s, %(".join(COLUMNS)})s)
        on conflict (key) do update set ({_NAMES}, place) = row(excluded.*)
    """
    _mark = "%s"

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._start()
        try:
            self._transact(self._create, wait=0.0)
        except LedgerError:
            self._drop()
            raise

    def close(self) -> None:
        """End the lease; a call that is still begun becomes a doubt."""
        with self._lock:
            self._attempts = {}
            self._let_go()
            self._drop()

    def _start(self) -> None:
        super()._start()
        self._ended = threading.Event()

    def _create(self, database: Any) -> None:
        database.execute("select pg_advisory_xact_lock(hashtextextended('selfcorrect', 0))")
        ((is_new,),) = database.execute("select to_regclass('selfcorrect_format') is null")
        if is_new:
            tables = files("selfcorrect.ledger").joinpath("postgres.sql").read_text("utf-8")
            database.execute(tables.format(format=_FORMAT, columns=TABLE))
        ((version,),) = database.execute("select max(version) from selfcorrect_format").fetchall()
        if version != _FORMAT:
            raise LedgerError(
                f"the database holds a ledger of format {version}, and this version reads format "
                f"{_FORMAT}; it was not changed. Give the ledger another database"
            )

    def _transact(self, work: Callable[[Any], T], wait: float = _LONGEST) -> T:
        """Do work in a transaction; where the connection breaks, do it again for a while."""
        with name_extra():
            import psycopg

        until = time.monotonic() + wait
        while True:
            try:
                with self._transaction() as database:
                    return work(database)
            except psycopg.Error as error:
                is_passing = isinstance(error, psycopg.OperationalError)
                if is_passing:
                    self._drop()
                if not is_passing or time.monotonic() >= until:
                    # What could not be written is a doubt, though this process lives.
                    self._let_go()
                    raise LedgerError(f"the database of the ledger: {error}") from error
                time.sleep(0.2)

    def _exclude_others(self, database: Any, intent: Record) -> None:
        for key in sorted({intent.key, intent.doubt, intent.theme} - {""}):
            database.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        if self._database is None:
            self._database = _connect(self._dsn)
        with self._database.transaction():
            yield self._database

    def _own_holder(self, database: Any) -> Any:
        if self._holder is None:
            self._holder = uuid4().hex
            ended = self._ended
            threading.Thread(
                target=_renew, args=(self._dsn, self._holder, ended), daemon=True
            ).start()
        # A process that was stopped for a while lives again.
        database.execute(_RENEWAL, [self._holder])
        return self._holder

    def _let_go(self) -> None:
        """End the lease, or let it lapse where the database cannot be reached."""
        self._ended.set()
        if self._holder is not None:
            with suppress(Exception), self._transaction() as database:
                query = "delete from selfcorrect_holders where holder = %s"
                database.execute(query, [self._holder])
        self._ended, self._holder = threading.Event(), None

    def _drop(self) -> None:
        if self._database is not None:
            with suppress(Exception):
                self._database.close()
        self._database = None


def _connect(dsn: str) -> Any:
    import psycopg

    _check_address(dsn)
    database = psycopg.connect(dsn, autocommit=True, connect_timeout=5)
    # An intent must be durable before the effect, whatever the server's default says.
    database.execute("set synchronous_commit = on")
    # A process that is stopped while it decides must not stop all others.
    database.execute("set idle_in_transaction_session_timeout = '10s'")
    database.execute("set lock_timeout = '15s'")
    return database


def _check_address(dsn: str) -> None:
    """Refuse an address that cannot be read: errors of the client would repeat its password."""
    from psycopg import Error
    from psycopg.conninfo import conninfo_to_dict

    try:
        address = conninfo_to_dict(dsn)
    except Error:
        address = {"host": "@"}
    places = [str(address.get(name) or "") for name in ("host", "port", "dbname")]
    # A sign of a password that is not encoded moves the rest of it into another place.
    if any("@" in place for place in places) or not re.fullmatch(r"[\d,]*", places[1]):
        raise LedgerError(
            "the address of the ledger cannot be read; write postgresql://user:password@host/name, "
            "and signs of the password as %XX"
        )


def _renew(dsn: str, holder: str, ended: threading.Event) -> None:
    """Renew a lease until its ledger is closed, or the process ends."""
    while not ended.is_set():
        # The database may restart: then it is connected anew.
        with suppress(Exception), _connect(dsn) as database:
            while not ended.wait(_RENEW):
                database.execute(_RENEWAL, [holder])
        ended.wait(0.2)
