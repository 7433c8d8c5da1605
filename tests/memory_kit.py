"""What the state machines share: a ledger and checkpoints, deaths at every seam, a truth.

The truth is written from what is promised, and from the real counter of what the tool did: what was
done is never done again, what may have been done only if a person says so.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, settings
from langgraph.checkpoint.sqlite import SqliteSaver

from selfcorrect.ledger import PostgresLedger, SqliteLedger

DAY = 86_400
SEAMS = ["before begin", "after begin", "before the act", "after the act", "before settle"]
SEAMS += ["after settle", "before put", "before put_writes"]
"""Where a process dies: around what it writes in the ledger, what it does, what it checkpoints."""
VERDICTS = ["done", "not-done", "again"]
SKEWS = [0, 2 * DAY, -2 * DAY]
"""How far the clock of the machine is off."""


NUMBER = re.compile(r"as number (\d+)")


class Lost(TimeoutError):
    """An answer that never came."""


class Refused(ValueError):
    """The tool answered in order to refuse, and did nothing."""


class Store:
    """A folder, and perhaps a database, that outlive whatever process uses them.

    Args:
        dsn: Of a PostgreSQL database for the ledger; without one it is an SQLite file.
    """

    def __init__(self, dsn: str | None) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root, self.dsn = Path(self.folder.name), dsn
        self.log = self.root / "log"
        self.log.touch()
        self.ledger: Any = None
        self.saver: Any = None
        self.opens()
        if dsn is not None:
            self.statement("TRUNCATE selfcorrect_intents, selfcorrect_board, selfcorrect_holders")

    def opens(self) -> None:
        """As a new process would: its own ledger, its own connection to the checkpoints."""
        self.ledger = SqliteLedger(self.root / "l.db") if self.dsn is None else None
        self.ledger = self.ledger or PostgresLedger(self.dsn)
        self.ledger.intents()
        path = self.root / "checkpoints.db"
        self.saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))
        self.saver.conn.execute("PRAGMA synchronous = OFF")  # nobody pulls the plug

    def closes(self) -> None:
        self.ledger.close()
        self.saver.conn.close()

    def ends(self) -> None:
        self.closes()
        self.folder.cleanup()

    def statement(self, statement: str, values: tuple[Any, ...] = ()) -> int:
        """Done to the ledger's database behind its back; how many rows it changed."""
        if self.dsn is None:
            connection: Any = sqlite3.connect(self.root / "l.db", isolation_level=None)
        else:
            import psycopg

            connection = psycopg.connect(self.dsn, autocommit=True)
            statement = statement.replace("?", "%s")
        try:
            return int(connection.execute(statement, values).rowcount)
        finally:
            connection.close()

    def notes(self, **what: Any) -> None:
        """What happens is told to whoever is alive afterwards."""
        with self.log.open("a") as file:
            file.write(json.dumps(what) + "\n")

    def told(self, what: str | None = None) -> list[dict[str, Any]]:
        """All that happened, or all of one kind."""
        lines = map(json.loads, self.log.read_text().splitlines())
        return [line for line in lines if what is None or what in line]

    def act(self, amount: int) -> str:
        """The tool does what it does, and says how often it did so far."""
        self.notes(act=amount)
        return f"paid {amount} as number {self.count}"

    @property
    def count(self) -> int:
        return len(self.told("act"))

    def dies(self, seam: str, work: Callable[[], Any]) -> None:
        """Does the work in another process, which is killed at the seam, if it gets there."""
        self.closes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads that are not needed
            pid = os.fork()
        if pid == 0:
            with suppress(BaseException):
                self.opens()
                with dying(self, seam):
                    work()
            os._exit(0)
        until = time.monotonic() + 60
        while os.waitpid(pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise AssertionError(f"never ended: {seam}")
            time.sleep(0.002)
        self.opens()


def dead() -> None:
    """As `kill -9` would have it: nothing is tidied up."""
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def dying(store: Store, seam: str) -> Iterator[None]:
    """This process dies at the seam; what it settled before is noted."""

    def around(owner: Any, name: str) -> Any:
        known = getattr(owner, name)

        def seamed(*args: Any, **more: Any) -> Any:
            if seam == f"before {name}":
                dead()
            if name == "settle":  # noted first: another thread may die as soon as it is written
                numbers = [int(each) for each in NUMBER.findall(str(args[2:]))]
                store.notes(settled=numbers, status=args[1])
            found = known(*args, **more)
            if seam == f"after {name}":
                dead()
            return found

        return patch.object(owner, name, seamed)

    def acting(amount: int, known: Any = store.act) -> str:
        if seam == "before the act":
            dead()
        found = known(amount)
        if seam == "after the act":
            dead()
        return str(found)

    with (
        around(store.ledger, "begin"),
        around(store.ledger, "settle"),
        around(store.saver, "put"),
        around(store.saver, "put_writes"),
        patch.object(store, "act", acting),
    ):
        yield


@contextmanager
def skewed(seconds: float) -> Iterator[None]:
    """The clock of this machine is off."""
    real = time.time
    with patch("time.time", lambda: real() + seconds):
        yield


class Truth:
    """What was done, what may have been, and so what may be done now.

    `this` is one call: whoever gives it again means the same one. `equal` is what it has in common
    with all calls of its thread that ask the same.
    """

    def __init__(self) -> None:
        self.done: dict[Any, Any] = {}
        self.own: dict[Any, Any] = {}
        self.lost: set[Any] = set()
        self.unsure: set[Any] = set()
        self.is_damaged = False

    def may(self, this: Any, equal: Any, *, again: bool) -> bool:
        return this not in self.done and (
            again or not {this, equal} & (self.own.keys() | self.lost)
        )

    def must(self, this: Any, equal: Any, *, again: bool) -> bool:
        """Whether nothing stands against it; a process that died may have left a mere intent."""
        unsure = not again and {this, equal} & self.unsure
        return self.may(this, equal, again=again) and not unsure and not self.is_damaged

    def lifted(self, equal: Any) -> None:
        """What was lost itself stays so for itself."""
        self.lost.discard(equal)
        self.unsure.discard(equal)

    def was_done(self, this: Any, value: Any) -> None:
        self.own.pop(this, None)
        self.done[this] = value

    def was_lost(self, this: Any, equal: Any) -> None:
        self.lost.add(equal)
        self.own[this] = equal

    def is_settled(self, store: Store, verdict: str) -> None:
        """A person finds out what became of the one call that is in doubt, and says so."""
        listed = store.ledger.intents(most=100, in_doubt=True)
        if self.is_damaged or not len(listed) == len(self.own) == len(self.lost) == 1:
            return
        ((this, equal),) = self.own.items()
        if equal not in self.lost:
            return  # a person has let its equals be made: another one is listed
        store.ledger.settle_doubt(listed[0].key, verdict, "ann")
        self.own.clear()
        self.lost.clear()
        if verdict == "done":
            self.was_done(this, None)
            self.unsure.add(equal)  # who was told that nobody knows may be told so again
        else:
            self.unsure -= {this, equal}


def dose(examples: int, steps: int = 12) -> settings:
    """How much of it."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
