"""A worker's long life on PostgreSQL: what it holds after a few runs, and after all of them."""

from __future__ import annotations

import gc
import itertools
import os
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from selfcorrect import StrategyMap, ToolSpec
from selfcorrect.ledger import PostgresLedger
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk

THREADS = 4
_AT_ONCE = 1_000


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    megabytes: float
    threads: int
    files: int
    connections: int
    intents: int

    def __str__(self) -> str:
        return (
            f"{self.megabytes:.1f} MB, {self.threads} threads, {self.files} files, "
            f"{self.connections} connections, {self.intents:,} intents in the table"
        )


def held(rows: psycopg.Connection[Any]) -> Held:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    (connections,) = rows.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'selfcorrect'"
    ).fetchone() or (0,)
    (intents,) = rows.execute("SELECT count(*) FROM selfcorrect_intents").fetchone() or (0,)
    return Held(
        pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        threading.active_count(),
        len(list(Path("/proc/self/fd").iterdir())),
        connections,
        intents,
    )


def a_loop(ledger: PostgresLedger) -> Loop:
    """Two tools that break off and refuse now and then, behind budget and breaker."""
    count = itertools.count()

    def act(item: int, amount: int = 1) -> str:
        """Act."""
        turn = next(count) % 20
        if turn == 0:
            raise ConnectionError("broke off")
        if turn == 1:
            raise ValueError("no such item")
        return f"{amount} of {item}"

    limits = {"retry_ratio": 0.2, "wait": 0, "attempts": 2}
    strategies = StrategyMap(extends="default", breaker={"failures": 50}, limits=limits)
    tools = [
        ToolSpec.from_function(act, name="read_only_act", effect="read_only"),
        ToolSpec.from_function(act, name="mutating_act", effect="mutating"),
    ]
    return assemble(tools, Options(ledger=ledger, strategies=strategies))


def live(dsn: str, runs: int) -> tuple[Held, Held, float]:
    """Runs of every kind in four threads, with the table swept now and then.

    Returns:
        What is held after a tenth of the runs and after all, and runs a second.
    """
    ledger = PostgresLedger(dsn)
    loop = a_loop(ledger)

    def one(number: int) -> None:
        name = ("read_only_act", "mutating_act")[number % 2]
        call = {"name": name, "args": {"item": str(number)}, "id": "c"}
        walk(loop, {"call": call, "task_id": f"t{number}"})
        if number % 20_000 == 19_999:
            ledger.forget(older_than=5)

    def some(first: int, last: int) -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            for start in range(first, last, _AT_ONCE):
                deque(pool.map(one, range(start, min(start + _AT_ONCE, last))), maxlen=0)

    started = time.perf_counter()
    with psycopg.connect(dsn, autocommit=True) as rows:
        some(0, runs // 10)
        early = held(rows)
        some(runs // 10, runs)
        late = held(rows)
    ledger.close()
    return early, late, runs / (time.perf_counter() - started)
