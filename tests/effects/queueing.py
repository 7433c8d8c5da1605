"""Workers of one queue that are killed while they work; what became of every job."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
from effects import queue_worker

WORKER = Path(queue_worker.__file__)


@dataclass(frozen=True)
class Ended:
    """What became of a campaign.

    Attributes:
        ended: Jobs with an answer.
        said: How often which answer.
        doubled: Effects that happened more than once, by kind.
        missing: Jobs that say done, and have no effect.
        seconds: From the first answer to the last.
        processor: Seconds of processor time of the workers that lived to the end.
        kills: Workers that were killed while they were at work.
        takeovers: Seconds from a kill until the last job of the dead was answered by another one.
    """

    ended: int
    said: dict[str, int]
    doubled: dict[str, int]
    missing: int
    seconds: float
    processor: float
    kills: int
    takeovers: list[float]

    def __str__(self) -> str:
        doubled = sum(n for kind, n in self.doubled.items() if kind != "look")
        longest = f", taken over after {max(self.takeovers):.1f} s" if self.takeovers else ""
        return (
            f"{self.ended} jobs ended, {self.kills} workers killed: {self.said}, "
            f"{doubled} effects doubled, {self.missing} missing; {self.rate:.0f} jobs/s{longest}"
        )

    @property
    def rate(self) -> float:
        return self.ended / max(self.seconds, 1e-9)


def prepare(dsn: str, jobs: int) -> None:
    """The tables, and the jobs in the queue."""
    graph = queue_worker.graph_file()
    asyncio.run(graph.setup(dsn))
    with psycopg.connect(dsn, autocommit=True) as rows:
        rows.execute(queue_worker.EFFECTS)
    asyncio.run(graph.enqueue(dsn, map(queue_worker.job, range(jobs))))


def campaign(
    dsn: str,
    *,
    jobs: int,
    workers: int,
    kills: int,
    latency: float = 0.02,
    checkpoints: bool = True,
    patience: float = 60.0,
) -> Ended:
    """Run all jobs, and kill a random worker that is at work, every second or so."""
    prepare(dsn, jobs)
    drawn = random.Random(7)
    env = {"LATENCY": str(latency), "CHECKPOINTS": str(int(checkpoints))}
    lives = [_start(dsn, env) for _ in range(workers)]
    left, last, dead = kills, time.monotonic(), []
    rows = psycopg.connect(dsn, autocommit=True)
    try:
        moved, done = time.monotonic(), 0
        while done < jobs and time.monotonic() - moved < patience:
            found = rows.execute("SELECT count(*) FROM worker_answers").fetchone()
            assert found is not None
            if found[0] != done:
                moved, done = time.monotonic(), found[0]
            if left and done > jobs * 0.05 and time.monotonic() - last > 1.0:
                pids = {pid for (pid,) in rows.execute("SELECT DISTINCT pid FROM effects")}
                at_work = [life for life in lives if life.pid in pids]
                if not at_work:
                    continue
                left, last = left - 1, time.monotonic()
                victim = drawn.choice(at_work)
                victim.send_signal(signal.SIGKILL)
                victim.wait()
                dead.append((victim.pid, time.time()))
                lives.remove(victim)
                lives.append(_start(dsn, env))
            time.sleep(0.05)
        spent = sum(sum(psutil.Process(life.pid).cpu_times()[:2]) for life in lives)
        return _counted(rows, kills - left, spent, dead)
    finally:
        rows.close()
        for life in lives:
            life.kill()
            life.wait()


def _start(dsn: str, env: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), dsn],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **env},
    )


def _said(rows: psycopg.Connection) -> dict[str, int]:  # type: ignore[type-arg]
    found = rows.execute(
        "SELECT coalesce(answer->'failure'->>'reason', 'done'), count(*) "
        "FROM worker_answers GROUP BY 1"
    )
    return dict(found.fetchall())


def _counted(rows: psycopg.Connection, kills: int, spent: float, dead: list) -> Ended:  # type: ignore[type-arg]
    said = _said(rows)
    doubled = dict(
        rows.execute(
            "SELECT kind, count(*) FROM (SELECT kind, item FROM effects GROUP BY 1, 2 "
            "HAVING count(*) > 1) AS twice GROUP BY 1"
        ).fetchall()
    )
    missing = rows.execute(
        "SELECT count(*) FROM worker_answers WHERE answer ? 'result' AND NOT EXISTS "
        "(SELECT 1 FROM effects WHERE thread = 'job-' || item)"
    ).fetchone()
    span = rows.execute("SELECT extract(epoch FROM max(at) - min(at)) FROM worker_answers")
    seconds = span.fetchone()
    # A job that the dead had begun, and another one ended: when that was.
    takeovers = []
    for pid, when in dead:
        found = rows.execute(
            "SELECT extract(epoch FROM max(a.at)) FROM worker_answers a JOIN effects e "
            "ON a.thread = 'job-' || e.item WHERE e.pid = %s AND a.at > to_timestamp(%s)",
            (pid, when),
        ).fetchone()
        if found is not None and found[0] is not None:
            takeovers.append(float(found[0]) - when)
    assert missing is not None
    assert seconds is not None
    return Ended(
        sum(said.values()), said, doubled, missing[0], float(seconds[0] or 0), spent, kills,
        takeovers,
    )  # fmt: skip


def most_in_hand(dsn: str, jobs: int) -> tuple[int, int]:
    """The most jobs that one worker holds while more wait; and how many it ends in that time."""
    prepare(dsn, jobs)
    life = _start(dsn, {"LATENCY": "0.4", "CHECKPOINTS": "0"})
    most, done = 0, 0
    with psycopg.connect(dsn, autocommit=True) as rows:
        try:
            end = time.monotonic() + 60
            while done < jobs and time.monotonic() < end:
                held = rows.execute("SELECT count(*) FROM pgqueuer WHERE status = 'picked'")
                most = max(most, _one(held))
                done = _one(rows.execute("SELECT count(*) FROM worker_answers"))
                time.sleep(0.02)
        finally:
            life.kill()
            life.wait()
    return most, done


def at_once() -> int:
    """Jobs that one worker does at the same time."""
    return int(queue_worker.graph_file().AT_ONCE)


def silent_at_work(dsn: str) -> tuple[int, list[int], dict[str, int]]:
    """A worker that gives no sign of life for a while, and lives: its job is handed over.

    Returns:
        How many answers there were before it went on, who did the job, and what was answered.
    """
    prepare(dsn, 1)
    env = {"LATENCY": "2", "CHECKPOINTS": "0"}
    lives = [_start(dsn, env)]
    with psycopg.connect(dsn, autocommit=True) as rows:

        def holder() -> str | None:
            held = "SELECT queue_manager_id::text FROM pgqueuer WHERE status = 'picked'"
            found = rows.execute(held).fetchone()
            return found[0] if found else None

        def count(table: str) -> int:
            return _one(rows.execute(f"SELECT count(*) FROM {table}".encode()))

        try:
            _until(lambda: holder() and count("selfcorrect_intents"))
            old = holder()
            lives[0].send_signal(signal.SIGSTOP)
            lives.append(_start(dsn, env))
            _until(lambda: holder() != old)
            time.sleep(3)  # longer than the job takes
            early = count("worker_answers")
            lives[0].send_signal(signal.SIGCONT)
            _until(lambda: count("worker_answers"))
            _until(lambda: holder() is None)
            done = [pid for (pid,) in rows.execute("SELECT pid FROM effects")]
            return early, [[life.pid for life in lives].index(pid) for pid in done], _said(rows)
        finally:
            for life in lives:
                life.kill()
                life.wait()


def _one(found: Any) -> int:
    return int(found.fetchone()[0])


def _until(holds: Callable[[], Any], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
