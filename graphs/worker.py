"""Calls as jobs for many machines: pgqueuer hands them out, and the ledger knows what was done.

    export PGQUEUER_DSN=postgresql://user:password@host/name
    pgq install              # once: the tables of the queue, in the ledger's database
    python graphs/worker.py  # a worker; start as many as you like, on any machine
    pgq queue selfcorrect '{"call": {"name": "search_flights", "args": {"origin": "LHR"}}}'

The outputs are rows of `selfcorrect_outputs`. A worker may die at any moment: others get its jobs.
What was done is answered from the ledger, what may have been done is told as `unknown_outcome`, and
what only reads runs again. On SIGTERM a worker finishes its jobs; after a restart of the database
it goes on. `WORKER_GRAPH=FILE.py:make_graph` names a graph, `WORKER_AT_ONCE` its jobs side by side.
"""

import asyncio
import importlib
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from selfcorrect.errors import LedgerError
from selfcorrect.ledger import PostgresLedger

try:
    from pgqueuer import PsycopgDriver, Queries, QueueManager, RetryRequested, run
    from psycopg import AsyncConnection, Error
except ImportError as missing:
    raise SystemExit(f"{missing}. Try: pip install 'selfcorrect[workers]'") from None

QUEUE: Final = "selfcorrect"
BESIDE: Final = Path(__file__).with_name("flight_booking.py")
LATER: Final = timedelta(seconds=5)
MOST_STARTS: Final = 5  # a job that so many workers did not survive is not begun again
TABLE: Final = """do $$ begin
    perform pg_advisory_xact_lock(hashtextextended('selfcorrect_outputs', 0));
    if to_regclass('selfcorrect_outputs') is null then create table selfcorrect_outputs (
        job bigint, created timestamptz, output jsonb, starts int not null default 1,
        primary key (job, created)); end if; end $$"""
START: Final = """insert into selfcorrect_outputs (job, created) values ($1, $2)
    on conflict (job, created) do update set starts = selfcorrect_outputs.starts + 1
    returning starts, output is not null as is_done"""
KEEP: Final = """update selfcorrect_outputs set output = {}
    where job = $1 and created = $2 and not coalesce(output ? 'result', false)"""


class Driver(PsycopgDriver):
    """Is asked, and listens to nothing: a connection that waits for notices answers no query."""

    async def add_listener(self, channel: str, callback: Any) -> None: ...


async def enqueue(dsn: str, inputs: Iterable[Any]) -> list[Any]:
    """Put inputs of the graph into the queue, and return the ids of their jobs."""
    payloads: list[bytes | None] = [json.dumps(each).encode() for each in inputs]
    async with await AsyncConnection.connect(dsn, autocommit=True) as database:
        count, queries = len(payloads), Queries(Driver(database))
        return [*await queries.enqueue([QUEUE] * count, payloads, [0] * count)]


async def work(dsn: str) -> None:
    """Do jobs until SIGTERM, through every restart of the database."""
    file, _, name = os.environ.get("WORKER_GRAPH", f"{BESIDE}:make_graph").rpartition(":")
    sys.path.insert(0, str(Path(file).parent))
    make_graph = getattr(importlib.import_module(Path(file).stem), name)
    at_once = int(os.environ.get("WORKER_AT_ONCE", "8"))

    @asynccontextmanager
    async def manage() -> AsyncIterator[QueueManager]:
        with closing(PostgresLedger(dsn)) as ledger:
            async with await AsyncConnection.connect(dsn, autocommit=True) as database:
                await database.execute(TABLE)
                manager = QueueManager(Queries(driver := Driver(database)))
                parts = driver, ledger, make_graph(ledger=ledger), asyncio.Semaphore(at_once)
                manager.entrypoint(QUEUE, on_failure="hold")(partial(do, *parts))
                yield manager

    # pgqueuer takes jobs in batches, and wants room for two of them.
    half, look = (at_once + 1) // 2, timedelta(seconds=1)
    room: Any = {"batch_size": half, "max_concurrent_tasks": 2 * half, "dequeue_timeout": look}
    await run(manage, restart_on_failure=True, **room)


async def do(driver: Any, ledger: Any, graph: Any, free: asyncio.Semaphore, job: Any) -> None:
    """Do a job, unless it is done, and keep its output: a result replaces a failure."""
    # Ids begin anew with a new queue, and its jobs are other ones.
    key = (job.id, job.created)
    try:
        async with free:
            (row,) = await driver.fetch(START, *key)
            if row["is_done"]:
                return
            text = json.dumps(await answer(ledger, graph, job, row["starts"] - job.attempts))
            try:
                await driver.execute(KEEP.format("$3::jsonb"), *key, text)
            except Error:
                # The database does not take every JSON, but every text.
                await driver.execute(KEEP.format("to_jsonb($3::text)"), *key, text)
    except asyncio.CancelledError as error:
        # The worker is ending. pgqueuer would forget the job as cancelled; others must get it.
        raise SystemExit("cancelled") from error
    except (Error, LedgerError) as error:
        raise RetryRequested(LATER, type(error).__name__) from error


async def answer(ledger: Any, graph: Any, job: Any, starts: int) -> dict[str, Any]:
    """Return the output of a job: the graph's, or what the ledger knows if it was begun before."""
    task = f"job {job.id} of {job.created.timestamp()}"
    given = None
    with suppress(TypeError, ValueError, RecursionError):
        given = json.loads(job.payload[:1_000_000])
    if not isinstance(given, dict):
        return fail("invalid_input", "The payload is not a JSON object of up to 1 MB.")
    records = await asyncio.to_thread(ledger.records) if starts > 1 else []
    # The graph is not asked: a model could write another call this time.
    for record in [each for each in records if each.thread == task]:
        if record.alive:
            raise RetryRequested(LATER, "A worker that lives is doing it.")
        if record.status in {"begun", "lost"}:
            return fail("unknown_outcome", "Its worker ended in the middle.", record=record.key)
        if record.status == "done" and given.keys() & {"call", "raw"}:
            return {"result": record.value}
    if starts > MOST_STARTS:
        return fail("attempts_exhausted", f"{starts - 1} workers ended while they did it.")
    try:
        out = await graph.ainvoke({**given, "task_id": task}, {"configurable": {"thread_id": task}})
        output = {name: out[name] for name in ("result", "failure") if name in out}
        output = json.loads(json.dumps(output, default=str))
    except Exception as error:
        return fail("raised", type(error).__name__)
    failure = output.get("failure") or {}
    if failure.get("reason") == "unknown_outcome" and "record" not in failure:
        raise RetryRequested(LATER, failure["detail"])
    return output or fail("needs_person", "The graph stopped to ask a person.")


def fail(reason: str, detail: str, **more: str) -> dict[str, Any]:
    """Return the output of a job of which the graph says nothing."""
    return {"failure": {"reason": reason, "detail": detail, **more}}


if __name__ == "__main__":
    logging.basicConfig()
    asyncio.run(work(os.environ.get("PGQUEUER_DSN") or sys.exit("PGQUEUER_DSN is not set.")))
