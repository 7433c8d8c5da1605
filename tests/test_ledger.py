"""The three ledgers: one set of promises, and what each does when its store fails."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent

import pytest

from selfcorrect.errors import LedgerError
from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger
from selfcorrect.ledger.holders import Holder, is_dead, this_process
from selfcorrect.ledger.records import VERSION
from selfcorrect.testing import check_ledger

ROOT = Path(__file__).parents[1]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def opened(request, tmp_path):
    """Opens a ledger on one store; all are closed in the end."""
    ledgers = []
    memory = MemoryLedger()
    dsn = request.getfixturevalue("postgres") if request.param == "postgres" else ""

    def open_ledger(**options):
        if request.param == "memory":
            return memory
        if request.param == "sqlite":
            ledgers.append(SqliteLedger(tmp_path / "ledger.db", **options))
        else:
            ledgers.append(PostgresLedger(dsn, **options))
        return ledgers[-1]

    yield open_ledger
    for ledger in ledgers:
        ledger.close()


def test_keeps_the_promises_of_a_ledger(opened):
    check_ledger(opened)


def test_a_broken_ledger_is_found_out():
    class Forgetful(MemoryLedger):
        def settle(self, key, status, value=None):
            super().settle(key, "not_done", value)

    ledger = Forgetful()
    with pytest.raises(AssertionError, match="what is done is not told"):
        check_ledger(lambda: ledger)


def test_the_same_thread_that_asks_again_has_dropped_its_intent(opened):
    ledger = opened()
    assert ledger.begin("k") is None
    assert ledger.begin("k").status == "begun"


def test_a_thread_that_is_gone_holds_nothing(opened):
    ledger = opened()
    thread = threading.Thread(target=ledger.begin, args=("k",))
    thread.start()
    thread.join()
    found = ledger.begin("k")
    assert (found.status, found.lost) == ("begun", False)


def test_memory_is_bounded():
    ledger = MemoryLedger(capacity=3)
    for index in range(10):
        ledger.begin(str(index))
        ledger.settle(str(index), "done", index)
    assert len(ledger._settled) == 3
    assert ledger.begin("9").value == 9


BEGIN_AND_DIE = """
    import os, sys
    from selfcorrect.ledger import PostgresLedger, SqliteLedger
    kind, where, key = sys.argv[1:]
    ledger = {"sqlite": SqliteLedger, "postgres": PostgresLedger}[kind](where)
    assert ledger.begin(key) is None
    print("begun", flush=True)
    sys.stdin.readline()
    os.kill(os.getpid(), 9)
"""


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    if request.param == "sqlite":
        return "sqlite", str(tmp_path / "ledger.db"), SqliteLedger
    return "postgres", request.getfixturevalue("postgres"), PostgresLedger


def test_a_holder_that_was_killed_is_replaced_at_once(store):
    kind, where, make = store
    child = subprocess.Popen(
        [sys.executable, "-c", dedent(BEGIN_AND_DIE), kind, where, "k"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    ledger = make(where)
    try:
        assert child.stdout.readline() == "begun\n"
        assert ledger.begin("k").status == "held"
        child.stdin.write("\n")
        child.stdin.flush()
        # Not yet waited for: a zombie is dead, too.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        found = ledger.begin("k")
        assert (found.status, found.lost) == ("begun", False)
    finally:
        child.communicate()
        ledger.close()


def test_a_number_that_was_given_out_again_is_another_process():
    me = this_process()
    assert is_dead(me) is False
    assert is_dead(Holder(me.id, me.host, me.pid, "1")) is True
    assert is_dead(Holder(me.id, "another machine", me.pid, me.started)) is None
    assert is_dead(Holder(me.id, None, me.pid, None)) is None


def test_a_holder_elsewhere_is_lost_after_its_lease_and_its_truth_is_still_taken(
    store, monkeypatch
):
    _, where, make = store
    elsewhere, here = make(where), make(where, lease=4.5)
    elsewhere._me = Holder("e" * 32, "another machine", 1, "1")
    now = [100.0]
    monkeypatch.setattr("selfcorrect.ledger.sql.time.monotonic", lambda: now[0])
    monkeypatch.setattr(elsewhere, "_keep_alive", lambda: None)
    assert elsewhere.begin("k") is None
    assert here.begin("k").status == "held"
    now[0] += 4
    elsewhere._run(lambda cursor: cursor.execute("UPDATE selfcorrect_holders SET beat = beat + 1"))
    assert here.begin("k").status == "held"
    now[0] += 4
    assert here.begin("k").status == "held"
    now[0] += 1
    found = here.begin("k")
    assert (found.status, found.lost) == ("begun", True)
    elsewhere.settle("k", "not_done")
    elsewhere.settle("k", "done", "too late: it is held here")
    here.settle("k", "unknown", {"lost": True})
    elsewhere.settle("k", "done", "the truth")
    assert here.begin("k").value == "the truth"
    for ledger in (here, elsewhere):
        ledger.close()


def test_a_call_is_in_doubt_where_its_holder_elsewhere_is_dead(store):
    _, where, make = store
    elsewhere, here = make(where), make(where, lease=0.3)
    elsewhere._me = Holder("e" * 32, "another machine", 1, "1")
    elsewhere.begin("before")
    assert here.begin("before").status == "held"
    elsewhere.begin("ab:cd")
    elsewhere._closing.set()
    assert here.doubts("ab") == ["ab:cd"]
    for ledger in (here, elsewhere):
        ledger.close()


def test_a_call_that_a_living_holder_elsewhere_is_at_is_in_no_doubt(store):
    _, where, make = store
    elsewhere, here = make(where), make(where, lease=30)
    elsewhere._me = Holder("e" * 32, "another machine", 1, "1")
    elsewhere.begin("ab:cd")
    assert here.doubts("ab") == []
    for ledger in (here, elsewhere):
        ledger.close()


def test_a_holder_elsewhere_that_was_idle_is_not_taken_for_dead(store, monkeypatch):
    _, where, make = store
    elsewhere, here = make(where), make(where, lease=4.5)
    elsewhere._me = Holder("e" * 32, "another machine", 1, "1")
    monkeypatch.setattr(elsewhere, "_keep_alive", lambda: None)
    now = [100.0]
    monkeypatch.setattr("selfcorrect.ledger.sql.time.monotonic", lambda: now[0])
    for key in ("first", "second"):
        elsewhere.begin(key)
        assert here.begin(key).status == "held"
        elsewhere.settle(key, "done")
        now[0] += 60
    for ledger in (here, elsewhere):
        ledger.close()


def test_signs_of_life_are_given_while_something_is_held(store):
    _, where, make = store
    ledger = make(where)
    ledger.begin("k")
    assert ledger._keeper.is_alive()
    before = threading.active_count()
    ledger._closing.set()
    ledger._keeper.join(5)
    assert threading.active_count() == before - 1
    ledger.close()


def test_a_damaged_row_is_unknown(store):
    _, where, make = store
    ledger = make(where)
    ledger.begin("k")
    ledger.settle("k", "not_done")
    ledger._run(
        lambda cursor: cursor.execute("UPDATE selfcorrect_intents SET value = ?", ('{"a": 1}',))
    )
    found = ledger.begin("k")
    assert found.status == "unknown"
    assert "damaged" in found.detail
    ledger.close()


def test_a_row_of_a_later_version_is_not_guessed_at(store, monkeypatch):
    _, where, make = store
    ledger = make(where)
    ledger.begin("k")
    monkeypatch.setattr("selfcorrect.ledger.records.VERSION", VERSION + 1)
    ledger.settle("k", "not_done")
    monkeypatch.undo()
    found = ledger.begin("k")
    assert found.status == "unknown"
    assert "later version" in found.detail
    ledger.close()


def test_old_rows_are_forgotten_but_no_doubt(store):
    _, where, make = store
    ledger = make(where)
    for key, status in (("a", "done"), ("b", "unknown"), ("c", "not_done")):
        ledger.begin(key)
        ledger.settle(key, status)
    ledger.forget(-60)
    assert ledger.begin("a") is None
    assert ledger.begin("b").status == "unknown"
    ledger.close()


def test_a_child_process_holds_nothing_of_its_parent(tmp_path):
    code = """
        import os, sys
        from selfcorrect.ledger import SqliteLedger
        ledger = SqliteLedger(sys.argv[1])
        assert ledger.begin("k") is None
        pid = os.fork()
        if pid == 0:
            told = ledger.begin("k").status, ledger.begin("other")
            os._exit(0 if told == ("held", None) else 1)
        assert os.waitpid(pid, 0)[1] == 0
        ledger.settle("k", "done", 1)
        assert ledger.begin("k").value == 1
    """
    path = str(tmp_path / "ledger.db")
    subprocess.run([sys.executable, "-W", "ignore", "-c", dedent(code), path], cwd=ROOT, check=True)


def test_the_file_is_written_ahead_and_synced(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.db")
    ledger.begin("k")
    assert ledger._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert ledger._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    ledger.close()


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path):
    path = tmp_path / "ledger.db"
    path.write_bytes(b"not a database at all" * 1000)
    with pytest.raises(LedgerError, match="not a database"):
        SqliteLedger(path).begin("k")


def test_a_place_that_does_not_exist_is_a_clear_error(tmp_path):
    with pytest.raises(LedgerError, match="unable to open"):
        SqliteLedger(tmp_path / "no" / "ledger.db", patience=0).begin("k")


def test_a_lock_that_is_let_go_is_waited_for(tmp_path):
    path = tmp_path / "ledger.db"
    SqliteLedger(path).close()
    ledger = SqliteLedger(path)
    ledger.begin("k")
    blocker = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        settled = pool.submit(ledger.settle, "k", "done", 1)
        blocker.execute("COMMIT")
        settled.result(timeout=20)
    blocker.close()
    assert ledger.begin("k").value == 1
    ledger.close()


def test_an_address_that_cannot_be_read_is_never_repeated():
    pytest.importorskip("psycopg")
    ledger = PostgresLedger("host password=hunter2secret", patience=0)
    with pytest.raises(LedgerError) as raised:
        ledger.begin("k")
    assert "hunter2secret" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert "hunter2secret" not in repr(ledger)
