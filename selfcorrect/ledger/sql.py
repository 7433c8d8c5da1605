"""A ledger in an SQL database: intents, who holds them, and signs of life of the holders."""

from __future__ import annotations

import json
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeVar

from selfcorrect.errors import LedgerError
from selfcorrect.kernel.texts import excerpt
from selfcorrect.ledger.counts import RecallCounting
from selfcorrect.ledger.holders import Holder, is_dead, this_process
from selfcorrect.ledger.intents import GLANCE, LIST, WRITE, Intents
from selfcorrect.ledger.owners import Owner, is_at_it, owner
from selfcorrect.ledger.records import Row, judge, row, split
from selfcorrect.model import JSON
from selfcorrect.plain import clean
from selfcorrect.protocols import Posted, Record

T = TypeVar("T")

LEASE: Final = 4.5
"""Seconds without a sign of life after which a holder on another machine is given up."""
_BEAT: Final = 1.0
_Beats: TypeAlias = dict[str, tuple[int, float, str]]
"""Of each holder elsewhere: its count, since when it stands there, and what that tells."""
_IDLE_BEATS: Final = 10

_MOST: Final = 100
_DOUBTS: Final = (
    f"{LIST} WHERE scope = ? AND status IN ('begun', 'unknown') UNION {LIST} WHERE doubt = ? "
    f"UNION {LIST} WHERE length(checksum) > 16 AND substr(checksum, 17) = ?"
)
_FIRST: Final = "SELECT 1 FROM selfcorrect_intents WHERE scope IS NULL LIMIT 1"
_HOLDER: Final = "SELECT id, host, pid, started, beat FROM selfcorrect_holders WHERE id = ?"
_ENTER: Final = (
    "INSERT INTO selfcorrect_holders (id, host, pid, started, beat) VALUES (?, ?, ?, ?, 0) "
    # Whoever saw it idle must not take its count, which stood still, for its end.
    "ON CONFLICT (id) DO UPDATE SET beat = selfcorrect_holders.beat + 1"
)
_ALIVE: Final = "UPDATE selfcorrect_holders SET beat = beat + 1 WHERE id = ?"
_LEAVE: Final = "DELETE FROM selfcorrect_holders WHERE id = ?"
_FORGET: Final = (
    "DELETE FROM selfcorrect_intents "
    "WHERE written < ? AND status NOT IN ('begun', 'unknown') AND doubt IS NULL "
    "AND length(checksum) = 16"
)
_LOOK: Final = "SELECT version, value FROM selfcorrect_board WHERE name = ?"
_POST: Final = (
    # In lower case: under a Turkish locale sqlite3 before Python 3.13 counts no row of an INSERT.
    "insert INTO selfcorrect_board (name, version, value, written) VALUES (?, 1, ?, ?) "
    "ON CONFLICT (name) DO NOTHING"
)
_SWAP: Final = (
    "UPDATE selfcorrect_board SET version = version + 1, value = ?, written = ? "
    "WHERE name = ? AND version = ?"
)
_CLEAR: Final = "DELETE FROM selfcorrect_board WHERE written < ?"


class Cursor(Protocol):
    """What a statement runs on, in a transaction that is under way."""

    @property
    def rowcount(self) -> int: ...
    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> Any: ...


class SqlLedger(RecallCounting, Intents, ABC):
    """What all SQL ledgers share. A backend says how a transaction is run.

    Args:
        patience: Seconds in which a database that is away or busy may come back.
        lease: Seconds without a sign of life after which a holder elsewhere is given up.
    """

    blocks: ClassVar[bool] = True

    def __init__(self, *, patience: float = 10.0, lease: float = LEASE) -> None:
        self._patience = patience
        self._lease = lease
        self._lock = threading.RLock()
        self._has_first: bool | None = None
        self._connection: Any = None
        self._start_afresh()

    # --- what a backend provides ------------------------------------------------------------------

    @abstractmethod
    def _transaction(self, work: Callable[[Cursor], T]) -> T:
        """Run the work in one transaction, durable when this returns."""

    @abstractmethod
    def _may_pass(self, error: Exception) -> bool:
        """Whether the database may be well again in a moment."""

    def _clock(self, cursor: Cursor) -> float:
        """Seconds by a clock that all who use this database share: here, that of the machine."""
        del cursor
        return time.time()

    # --- its connection, if it holds one --------------------------------------------------------

    def _disconnect(self) -> None:
        """Close the connection, if there is one; never raises."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    def _drop_after_fork(self) -> None:
        """Forget the connection without closing it: it belongs to the parent process."""
        _INHERITED.append(self._connection)
        self._connection = None

    # --- the ledger -------------------------------------------------------------------------------

    def begin(self, key: str, about: str | None = None) -> Record | None:
        """Write an intent, or return what is known of an earlier one.

        Args:
            key: The intent.
            about: Whose call it is, for the person who settles it, should nobody know its outcome.

        Raises:
            LedgerError: If the database cannot be read or written.
        """
        (scope, key), asking = split(clean(key)), owner()
        with self._lock:
            self._check_process()
            claimed = False
            answer: Record | None = None

            def work(cursor: Cursor) -> tuple[bool, Record | None]:
                nonlocal claimed, answer
                found, mine, told = self._judged(cursor, key, asking)
                if claimed and found is not None and found.holder == self._me.id:
                    # The transaction went through, but its answer was lost with the connection.
                    return True, answer
                if mine:
                    me = self._me
                    cursor.execute(_ENTER, (me.id, me.host, me.pid, me.started))
                    self._write(cursor, found, key, "begun", scope=scope, about=about)
                # Only now: what failed before it was written is judged anew.
                claimed, answer = mine, told
                return mine, told

            mine, told = self._run(work)
            if mine:
                self._held[key] = asking
                self._keep_alive()
            return told

    def settle(self, key: str, status: str, value: JSON = None) -> None:
        """Write what came of an intent, and let it go.

        Where another process has taken the intent over, only `done` is still written, and only
        over `unknown`.

        Raises:
            LedgerError: If the database cannot be written; the intent then counts as in doubt.
        """
        scope, key = split(clean(key))
        with self._lock:
            self._check_process()
            self._held.pop(key, None)

            def work(cursor: Cursor) -> None:
                found = self._found(cursor, key)
                is_ours = found is None or found.holder == self._me.id
                if is_ours or (found and found.status == "unknown" and status == "done"):
                    about = found.about if found else None
                    self._write(cursor, found, key, status, value, scope=scope, about=about)

            self._run(work)

    def doubts(self, scope: str) -> list[str]:
        """The keys of this scope that are in doubt.

        It may take as long as the lease: only then is it known whether a holder elsewhere lives.

        Raises:
            LedgerError: If the database cannot be read.
        """
        asking = owner()
        beats: _Beats = {}  # of now: what was seen before does not tell who died since

        def work(cursor: Cursor) -> dict[str, str]:
            cursor.execute(_DOUBTS, (scope,) * 3)
            found = [each for values in cursor.fetchall() if (each := Row(*values)).is_open]
            sight = self._sight(cursor, beats)
            return {each.key: self._seen(each, asking, sight) for each in found}

        while True:
            with self._lock:
                self._check_process()
                seen = self._run(work)
            # Taken for alive at a first look, the dead would let the call be made once more.
            if "unseen" not in seen.values():
                self._beats.update(beats)
                return [f"{scope}:{key}" for key, each in seen.items() if each != "there"][:_MOST]
            time.sleep(GLANCE)

    def _seen(self, found: Row, asking: Owner, sight: Callable[[str], str]) -> str:
        if found.status != "begun" or not found.is_sound:
            return "gone"
        if found.holder == self._me.id:
            return "there" if self._is_at_it(found.key, asking) else "gone"
        return sight(found.holder)

    def _judged(
        self, cursor: Cursor, key: str, asking: Owner
    ) -> tuple[Row | None, bool, Record | None]:
        """The row of an intent, whether who asks may hold it now, and what is to be told."""
        found = self._found(cursor, key)
        active, sight = self._is_at_it(key, asking), self._sight(cursor, self._beats)
        return found, *judge(found, self._me.id, is_active=active, sight=sight)

    def _is_at_it(self, key: str, asking: Owner) -> bool:
        """Whether another task or thread of this process is at an intent."""
        held = self._held.get(key)
        return held is not None and is_at_it(held, asking)

    def of_first_version(self, keys: Sequence[str]) -> Record | None:
        """What version 0.1 wrote under the first of these keys that it knows, without holding it.

        Raises:
            LedgerError: If the database cannot be read.
        """
        asking = owner()

        def work(cursor: Cursor) -> Record | None:
            for key in keys:
                found, _, told = self._judged(cursor, key, asking)
                if found is not None:
                    return told
            return None

        if self._has_first is None:
            self._has_first = self._done(_has_first)
        return self._done(work) if self._has_first else None

    def forget(self, older_than: float) -> None:
        """Delete what was settled more than so many seconds ago, but nothing that is in doubt.

        What is deleted is not remembered: a call that comes again after that is made again. A job
        for a quiet hour, with more seconds than any run is resumed after.

        Raises:
            LedgerError: If the database cannot be written.
        """

        def work(cursor: Cursor) -> None:
            before = self._clock(cursor) - older_than
            cursor.execute(_FORGET, (before,))
            cursor.execute(_CLEAR, (before,))

        self._done(work)

    # --- the board --------------------------------------------------------------------------------

    def look(self, name: str) -> Posted:
        """What stands on the board under this name.

        Raises:
            LedgerError: If the database cannot be read; at once, without patience.
        """

        def work(cursor: Cursor) -> Posted:
            cursor.execute(_LOOK, (clean(name),))
            version, text = cursor.fetchone() or (0, "null")
            with suppress(ValueError):
                return Posted(version, json.loads(text), self._clock(cursor))
            return Posted(version, text, self._clock(cursor))  # damaged: its reader says so

        return self._done(work, patience=0)

    def swap(self, name: str, version: int, value: JSON) -> bool:
        """Write a value, if what stands there is still of this version.

        Raises:
            LedgerError: If the database cannot be written; at once, without patience.
        """
        name, text = clean(name), json.dumps(value)

        def work(cursor: Cursor) -> bool:
            now = self._clock(cursor)
            if version:
                cursor.execute(_SWAP, (text, now, name, version))
            else:
                cursor.execute(_POST, (name, text, now))
            return cursor.rowcount == 1

        return self._done(work, patience=0)

    def close(self) -> None:
        """Close the connection; what is under way counts as in doubt from now on."""
        with self._lock:
            self._closing.set()
            if self._entered and not self._held:
                with suppress(LedgerError):
                    self._run(lambda cursor: cursor.execute(_LEAVE, (self._me.id,)), patience=0)
            self._disconnect()
            self._start_afresh()

    # --- transactions -----------------------------------------------------------------------------

    def _run(self, work: Callable[[Cursor], T], patience: float | None = None) -> T:
        end = time.monotonic() + (self._patience if patience is None else patience)
        pause = 0.02
        while True:
            try:
                return self._transaction(work)
            except LedgerError:
                raise
            except Exception as error:
                self._disconnect()
                if not self._may_pass(error) or time.monotonic() + pause > end:
                    raise LedgerError(f"the ledger cannot be used: {_said(error)}") from error
            time.sleep(pause)
            pause = min(pause * 2, 0.5)

    def _write(
        self,
        cursor: Cursor,
        found: Row | None,
        key: str,
        status: str,
        value: JSON = None,
        **more: Any,
    ) -> None:
        if found is not None and found.is_sound and found.is_open:
            # A doubt stays where it arose, also if another thread takes the intent up. Who answered
            # stays with what is not over; what is begun anew is answered for anew.
            more |= {"scope": found.scope, "answered_by": found.answered_by}
            more["about"] = more.get("about") or found.about
        new = row(key, status, value, self._me.id, written=self._clock(cursor), **more)
        cursor.execute(WRITE, astuple(new))

    # --- holders ----------------------------------------------------------------------------------

    def _start_afresh(self) -> None:
        self._me = this_process()
        self._pid = os.getpid()
        self._entered = False
        self._held: dict[str, Owner] = {}
        self._beats: _Beats = {}
        self._closing = threading.Event()
        self._keeper: threading.Thread | None = None

    def _check_process(self) -> None:
        """After a fork this is another process, and holds nothing of what its parent holds."""
        if os.getpid() != self._pid:
            self._drop_after_fork()
            self._start_afresh()

    def _sight(self, cursor: Cursor, beats: _Beats) -> Callable[[str], str]:
        def sight(holder: str) -> str:
            cursor.execute(_HOLDER, (holder,))
            found = cursor.fetchone()
            if found is None:
                return "lost"
            *who, beat = found
            dead = is_dead(Holder(*who))
            if dead is not None:
                return "gone" if dead else "there"
            return self._sight_of_beats(beats, holder, beat)

        return sight

    def _sight_of_beats(self, beats: _Beats, holder: str, beat: int) -> str:
        """By this process's own clock alone: clocks elsewhere, and jumps of the date, do not count.

        `unseen` until a sign of life is seen, or the lease has run out.
        """
        now = time.monotonic()
        last, since, seen = beats.get(holder, (beat, now, "unseen"))
        if last != beat:
            since, seen = now, "there"
        beats[holder] = (beat, since, seen)
        return seen if now - since < self._lease else "lost"

    def _keep_alive(self) -> None:
        """Let a thread give signs of life while something is held."""
        self._entered = True
        if self._keeper is None or not self._keeper.is_alive():
            self._keeper = threading.Thread(
                target=self._beat, args=(self._closing,), name="selfcorrect ledger", daemon=True
            )
            self._keeper.start()

    def _beat(self, closing: threading.Event) -> None:
        idle = 0
        while not closing.wait(_BEAT):
            with self._lock:
                if closing.is_set():
                    return
                if not self._held:
                    idle += 1
                    if idle >= _IDLE_BEATS:
                        self._keeper = None
                        return
                    continue
                idle = 0
                with suppress(LedgerError):
                    self._run(lambda cursor: cursor.execute(_ALIVE, (self._me.id,)), patience=0)


_INHERITED: Final[list[Any]] = []
"""Connections of parent processes, which must not be closed."""


def _has_first(cursor: Cursor) -> bool:
    cursor.execute(_FIRST)
    return cursor.fetchone() is not None


def _said(error: Exception) -> str:
    """What an error of a database says, in one line."""
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {excerpt(first, 200)}"
