"""Disk full, read-only, damaged, away, and clocks that jump: an error that says so, or recovery."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import pytest
from effects.figures import show

from selfcorrect.errors import LedgerError
from selfcorrect.ledger import PostgresLedger, SqliteLedger
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.testing import VirtualTime
from selfcorrect.testing.faults import Fault
from selfcorrect.testing.world import World

ROOT = Path(__file__).parents[1]


def call(item, task="t"):
    return {"call": {"name": "act", "args": {"item": item}, "id": item}, "task_id": task}


def test_disk_full(tmp_path):
    """In a process of its own: a limit on the size of files cannot be lifted again."""
    code = f"""
        import resource, signal, sys
        from selfcorrect.loop.walk import walk
        from selfcorrect.errors import LedgerError
        from selfcorrect.ledger import SqliteLedger
        from selfcorrect.testing.world import World
        from selfcorrect.loop.options import Options
        from selfcorrect.loop.setup import assemble
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        world = World()
        ledger = SqliteLedger({str(tmp_path / "ledger.db")!r}, patience=0)
        loop = assemble([world.tool("act")], Options(ledger=ledger))
        def given(n):
            call = {{"name": "act", "args": {{"item": f"i{{n}}"}}, "id": str(n)}}
            return {{"call": call, "task_id": "t"}}
        walk(loop, given(0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        full = None
        for n in range(1, 2_000):
            try:
                out = walk(loop, given(n))
            except LedgerError as error:
                full = n, str(error)
                break
            assert out["result"], out
        assert full, "the disk never got full"
        print(*full)
        assert "full" in full[1] or "disk" in full[1].lower(), full
        assert max(world.effects.values()) == 1
        assert world.done("act", f"i{{full[0]}}") == 0, "called without an intent"
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    full_at = int(done.stdout.split()[0])
    # With room again, everything is there, and goes on where it stood.
    ledger, world = SqliteLedger(tmp_path / "ledger.db"), World()
    loop = assemble([world.tool("act")], Options(ledger=ledger))
    # Around the full disk it is a matter of bytes whether a call or its end was still written:
    # whatever is not known is told as not known, and nothing is done twice.
    for number in range(full_at + 1):
        given = {"name": "act", "args": {"item": f"i{number}"}, "id": str(number)}
        out = walk(loop, {"call": given, "task_id": "t"})
        if "result" in out:
            assert out["result"]["item"] == f"i{number}"
        else:
            assert out["failure"]["reason"] == "unknown_outcome"
    assert set(world.effects) <= {("act", f"i{full_at}")}
    ledger.close()


def test_a_read_only_database(tmp_path):
    path = tmp_path / "ledger.db"
    ledger, world = SqliteLedger(path, patience=0), World()
    walk(assemble([world.tool("act")], Options(ledger=ledger)), call("a"))
    ledger._connection.execute("PRAGMA query_only = ON")
    loop = assemble([world.tool("act")], Options(ledger=ledger))
    with pytest.raises(LedgerError, match="readonly"):
        walk(loop, call("b"))
    assert world.done("act", "b") == 0
    # The connection that failed was dropped; the next one may write.
    assert walk(loop, call("b"))["result"]["item"] == "b"
    assert walk(loop, call("a"))["trail"][-1]["replayed"]
    ledger.close()


@pytest.mark.parametrize("status", ["begun", "done", "not_done", "unknown"])
def test_a_damaged_record_is_a_doubt(tmp_path, status):
    path = tmp_path / "ledger.db"
    ledger, world = SqliteLedger(path), World()
    loop = assemble([world.tool("act")], Options(ledger=ledger))
    walk(loop, call("a"))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE selfcorrect_intents SET status = ?, value = '[1'", (status,))
    connection.close()
    out = walk(loop, call("a"))
    assert out["failure"]["reason"] == "unknown_outcome"
    assert "damaged" in out["failure"]["detail"]
    assert world.done("act", "a") == 1
    ledger.close()


def test_a_date_that_jumps_back_changes_nothing(tmp_path, monkeypatch):
    class Jumping(VirtualTime):
        def now(self):
            return datetime(2026 - int(self.monotonic()), 1, 1, tzinfo=UTC)

        def monotonic(self):
            return super().monotonic()

    jumps = iter(range(2_000_000_000, 0, -1_000_000))
    monkeypatch.setattr("selfcorrect.ledger.sql.time.time", lambda: float(next(jumps)))
    ledger = SqliteLedger(tmp_path / "ledger.db")
    world = World(Jumping())
    faults = iter([Fault.RATE_LIMIT_WITH_HINT, Fault.NOT_DONE])
    loop = assemble(
        [world.tool("act", faults=faults, atomic=True)], Options(ledger=ledger, time=world.time)
    )
    assert walk(loop, call("a"))["result"]
    assert walk(loop, call("a"))["trail"][-1]["replayed"]
    assert world.done("act", "a") == 1
    assert world.executions[1].at >= 7
    ledger.close()


def test_a_monotonic_clock_that_jumps_back_gives_no_negative_times(tmp_path):
    class Backwards(VirtualTime):
        def monotonic(self):
            self._passed -= 5
            return self._passed

    world = World(Backwards())
    loop = assemble([world.tool("act", faults=iter([Fault.NOT_DONE]))], Options(time=world.time))
    out = walk(loop, {"call": {"name": "act", "args": {"item": "a"}}})
    assert out["result"]
    assert all(event.get("seconds", 0) >= 0 for event in out["trail"])


def test_postgres_that_is_away_and_comes_back(postgres, postgres_server):
    ledger, world = PostgresLedger(postgres, patience=60), World()
    loop = assemble([world.tool("act")], Options(ledger=ledger))
    walk(loop, call("a"))
    postgres_server.stop("immediate")
    starting = threading.Thread(target=postgres_server.start)
    starting.start()
    assert walk(loop, call("b"))["result"]["item"] == "b"
    starting.join()
    assert walk(loop, call("a"))["trail"][-1]["replayed"]
    assert world.effects == {("act", "a"): 1, ("act", "b"): 1}
    ledger.close()


def test_postgres_that_stays_away_is_a_clear_error(postgres, postgres_server):
    ledger, world = PostgresLedger(postgres, patience=0.1), World()
    loop = assemble([world.tool("act")], Options(ledger=ledger))
    postgres_server.stop()
    with pytest.raises(LedgerError) as raised:
        walk(loop, call("a"))
    assert postgres_server.password not in str(raised.value)
    assert not world.executions
    postgres_server.start()
    assert walk(loop, call("a"))["result"]
    ledger.close()


@pytest.mark.parametrize(
    ("runs", "restarts"), [(40, 1), pytest.param(2_000, 8, marks=pytest.mark.nightly)]
)
def test_postgres_restarted_under_load(postgres, postgres_server, runs, restarts):
    ledgers = [PostgresLedger(postgres, patience=60) for _ in range(4)]
    world = World()
    loops = [assemble([world.tool("act")], Options(ledger=ledger)) for ledger in ledgers]
    going = threading.Event()

    def one(number):
        outs = []
        for turn in range(2):
            outs.append(walk(loops[(number + turn) % 4], call(f"item-{number}")))
            going.set()
        return outs

    started = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        ended = [pool.submit(one, number) for number in range(runs)]
        going.wait(60)
        for _ in range(restarts):
            postgres_server.restart("immediate")
        outs = [out for each in ended for out in each.result(timeout=500)]
    seconds = time.monotonic() - started
    show(f"{len(outs)} runs over {restarts} crashes of the server in {seconds:.1f} s")
    assert all("result" in out for out in outs)
    assert len(world.effects) == runs
    assert set(world.effects.values()) == {1}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for ledger in ledgers:
        ledger.close()
