"""Workers on one queue, killed while they work: every job ends, and no effect happens twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from effects.figures import show

from selfcorrect.errors import LedgerError
from selfcorrect.ledger import PostgresLedger
from selfcorrect.testing import check_ledger

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("jobs", "kills", "checkpoints"),
    [
        (45, 1, True),
        pytest.param(1_200, 10, True, marks=pytest.mark.nightly),
        pytest.param(1_200, 10, False, marks=pytest.mark.nightly),
    ],
)
def test_workers_that_are_killed(postgres, jobs, kills, checkpoints):
    pytest.importorskip("pgqueuer", reason="the extra workers is not installed")
    from effects import queueing

    ended = queueing.campaign(postgres, jobs=jobs, workers=2, kills=kills, checkpoints=checkpoints)
    show(str(ended))
    assert ended.ended == jobs
    assert ended.kills == kills
    assert not {kind for kind in ended.doubled if kind != "look"}
    assert ended.missing == 0
    assert ended.said.keys() <= {"done", "unknown_outcome"}
    assert ended.said.get("unknown_outcome", 0) <= 4 * kills


def test_a_worker_holds_as_many_jobs_as_it_runs(postgres):
    pytest.importorskip("pgqueuer", reason="the extra workers is not installed")
    from effects import queueing

    assert queueing.most_in_hand(postgres, 12) == (queueing.at_once(), 12)


def test_a_late_sign_of_life_makes_no_second_payment(postgres):
    """Whoever is handed the job of a living worker waits for it, and answers with what it did."""
    pytest.importorskip("pgqueuer", reason="the extra workers is not installed")
    from effects import queueing

    assert queueing.silent_at_work(postgres) == (0, [0], {"done": 1})


def test_the_worker_says_what_it_needs():
    env = {key: value for key, value in os.environ.items() if key != "WORKER_DSN"}
    done = subprocess.run(
        [sys.executable, ROOT / "graphs" / "worker.py", "work"],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("WORKER_DSN names no database")


def test_a_day_in_the_life_of_the_file(postgres, tmp_path):
    """Set up, filled and swept by its own command line; set up twice does no harm."""
    pytest.importorskip("pgqueuer", reason="the extra workers is not installed")
    calls = tmp_path / "calls.jsonl"
    job = {"thread": "t1", "call": {"name": "pay", "args": {"invoice": "INV-7", "cents": "5"}}}
    calls.write_text(json.dumps(job) + "\n")
    env = {**os.environ, "WORKER_DSN": postgres}
    for command in (["setup"], ["setup"], ["enqueue", str(calls)], ["forget", "30"]):
        done = subprocess.run(
            [sys.executable, ROOT / "graphs" / "worker.py", *command],
            capture_output=True,
            text=True,
            check=False,
            env=env,
        )
        assert done.returncode == 0, done.stderr
    calls.write_text(json.dumps({"call": job["call"]}) + "\n")
    done = subprocess.run(
        [sys.executable, ROOT / "graphs" / "worker.py", "enqueue", str(calls)],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert "a job names its thread" in done.stderr
    (tmp_path / "broken").write_text("{\n")
    for name, why in (("gone", "No such file"), ("broken", "broken:1: not JSON")):
        done = subprocess.run(
            [sys.executable, ROOT / "graphs" / "worker.py", "enqueue", str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=False,
            env=env,
        )
        assert done.returncode == 1
        assert why in done.stderr
        assert "Traceback" not in done.stderr


# --- a pool ---------------------------------------------------------------------------------------


@pytest.fixture
def pool(postgres):
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool

    kwargs = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with ConnectionPool(postgres, min_size=1, max_size=4, kwargs=kwargs) as opened:
        yield opened


def test_a_ledger_on_a_pool_keeps_every_promise(pool):
    check_ledger(lambda: PostgresLedger(pool))


def test_a_ledger_leaves_the_connections_of_a_pool_as_they_were(pool):
    ledger = PostgresLedger(pool)
    with pool.connection() as connection:
        before = connection.execute("SHOW statement_timeout").fetchone()
    for number in range(10):
        ledger.begin(f"k{number}")
        ledger.settle(f"k{number}", "done", number)
    ledger.close()
    with pool.connection() as connection:
        assert connection.execute("SHOW statement_timeout").fetchone() == before
    assert PostgresLedger(pool).begin("k3").value == 3


def test_a_ledger_on_a_pool_outlives_a_restart_of_the_server(pool, postgres_server):
    ledger = PostgresLedger(pool)
    ledger.begin("a")
    ledger.settle("a", "done", 1)
    postgres_server.restart()
    assert ledger.begin("a").value == 1


def test_what_is_no_pool_is_refused():
    with pytest.raises(LedgerError, match="not int"):
        PostgresLedger(3)
