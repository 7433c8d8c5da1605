"""Calls as jobs for many workers: a queue hands them out, and no effect happens twice.

The queue (pgqueuer), the checkpoints and the ledger stand in one PostgreSQL database, `WORKER_DSN`.
A worker may be killed at any moment: another one gets its job, and takes the run up where it was.
Whatever nobody can know after that is told as `unknown_outcome`, and not tried again.

    python graphs/worker.py setup                # once: the tables
    python graphs/worker.py enqueue CALLS.jsonl  # one job per line: {"thread", "call"}
    python graphs/worker.py work                 # as many of these as you like, anywhere
    python graphs/worker.py forget 30            # nightly: what was settled so many days ago

Needs the extra `workers`. Without `WORKER_DSN` there is only the graph, over a desk in memory.
"""

import asyncio
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from selfcorrect import Result, ToolSpec, build_graph, resume
from selfcorrect.effects import Outcome
from selfcorrect.errors import LedgerError
from selfcorrect.model import JSON

QUEUE: Final = "selfcorrect"
AT_ONCE: Final = 4
"""Jobs that one worker does at the same time, and as many as it holds: what waits in the hands of a
worker that is killed waits until that is noticed."""
SIGN_OF_LIFE: Final = timedelta(seconds=10)
"""A worker that gave none for so long is taken for dead, and its jobs are handed out again."""
ANSWERS: Final = """
CREATE TABLE IF NOT EXISTS worker_answers (
    thread TEXT PRIMARY KEY, answer JSONB NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now()
)
"""
_DAY: Final = 86_400.0


class Desk:
    """Payments on SQLite: what the tools of this file stand on."""

    def __init__(self, path: str = ":memory:") -> None:
        self._lock = threading.Lock()
        self._rows = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._rows.execute("CREATE TABLE IF NOT EXISTS paid (key TEXT PRIMARY KEY, what TEXT)")

    def pay(self, invoice: str, cents: int, idempotency_key: str) -> str:
        """Pay an invoice."""
        with self._lock:
            self._rows.execute("INSERT INTO paid VALUES (?, ?)", (idempotency_key, invoice))
        return f"paid {cents} cents for {invoice}"

    def paid(self, args: Mapping[str, Any], key: str) -> Any:
        """What became of a payment that broke off."""
        with self._lock:
            found = self._rows.execute("SELECT 1 FROM paid WHERE key = ?", (key,)).fetchone()
        done = f"paid {args['cents']} cents for {args['invoice']}"
        return Result(done) if found else Outcome.NOT_DONE

    def payments(self, invoice: str) -> int:
        """Say how often an invoice was paid."""
        with self._lock:
            rows = self._rows.execute("SELECT count(*) FROM paid WHERE what = ?", (invoice,))
            return int(rows.fetchone()[0])


def tools(desk: Desk) -> list[ToolSpec]:
    """One tool that acts and can say afterwards whether it did, and one that only looks."""
    return [
        ToolSpec.from_function(desk.pay, effect="mutating", verify=desk.paid),
        ToolSpec.from_function(desk.payments, effect="read_only"),
    ]


def make_graph(
    strategies: Any = "default", *, over: Iterable[Any] | None = None, **wiring: Any
) -> Any:
    """The graph over tools (`over`, or those of this file); a worker builds it once."""
    given = (
        list(over) if over is not None else tools(Desk(os.environ.get("WORKER_DESK", ":memory:")))
    )
    return build_graph(given, strategies=strategies, **wiring)


graph = make_graph()


# --- the worker -----------------------------------------------------------------------------------


class Worker:
    """One process at work: a pool of connections, and a graph that was built once over it.

    Args:
        dsn: The database of queue, checkpoints and ledger.
        make: Makes the graph; it is given a ledger and a checkpointer.
    """

    def __init__(self, dsn: str, make: Callable[..., Any] = make_graph) -> None:
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool

        from selfcorrect.ledger import PostgresLedger

        kwargs = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        self.pool: Any = ConnectionPool(dsn, min_size=1, max_size=AT_ONCE + 2, kwargs=kwargs)
        self.ledger = PostgresLedger(self.pool)
        self.graph = make(ledger=self.ledger, checkpointer=PostgresSaver(self.pool))

    def do(self, job: Mapping[str, Any]) -> dict[str, JSON]:
        """Run a job to its end, or take it up where another worker was killed."""
        thread = str(job["thread"])
        given = {**{key: job[key] for key in ("call", "raw", "request") if key in job}}
        config = {"configurable": {"thread_id": thread}}
        out = resume(self.graph, {**given, "task_id": thread}, config)
        answer = {key: out[key] for key in ("result", "failure") if key in out}
        with self.pool.connection() as connection:
            connection.execute(
                "INSERT INTO worker_answers (thread, answer) VALUES (%s, %s) "
                "ON CONFLICT (thread) DO NOTHING",
                (thread, json.dumps(answer)),
            )
        return answer


async def work(dsn: str, make: Callable[..., Any] = make_graph, **limits: Any) -> None:
    """Do the jobs of the queue until this process is told to stop."""
    import asyncpg
    from pgqueuer import PgQueuer, RetryRequested

    worker = Worker(dsn, make)
    connections = await asyncpg.create_pool(dsn, min_size=2, max_size=AT_ONCE + 2)
    queue: Any = PgQueuer.from_asyncpg_pool(connections)

    async def one(job: Any) -> None:
        try:
            await asyncio.to_thread(worker.do, json.loads(job.payload))
        except LedgerError as error:  # nothing was done: the database is away
            raise RetryRequested(timedelta(seconds=5), str(error)) from error

    queue.entrypoint(QUEUE)(one)
    settings = {"heartbeat_timeout": SIGN_OF_LIFE, "dequeue_timeout": timedelta(seconds=5)}
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(AT_ONCE))
    # The queue wants at least two batches to fit into what a worker holds.
    await queue.run(batch_size=AT_ONCE // 2, max_concurrent_tasks=AT_ONCE, **{**settings, **limits})


async def enqueue(dsn: str, jobs: Iterable[Mapping[str, Any]]) -> int:
    """Put jobs into the queue; a job that comes twice is answered from its first run."""
    import asyncpg
    from pgqueuer import AsyncpgDriver, Queries

    payloads = [json.dumps(job).encode() for job in jobs]
    with_thread = [job for job in map(json.loads, payloads) if not str(job.get("thread") or "")]
    if with_thread:
        raise SystemExit(f"a job names its thread: {json.dumps(with_thread[0])[:200]}")
    connection = await asyncpg.connect(dsn)
    try:
        queries = Queries(AsyncpgDriver(connection))
        for start in range(0, len(payloads), 1_000):
            part = payloads[start : start + 1_000]
            await queries.enqueue([QUEUE] * len(part), list(part), [0] * len(part))
    finally:
        await connection.close()
    return len(payloads)


async def setup(dsn: str) -> None:
    """Make the tables of queue, checkpoints, ledger and answers, where they are not there yet."""
    import asyncpg
    from langgraph.checkpoint.postgres import PostgresSaver
    from pgqueuer import AsyncpgDriver, Queries

    from selfcorrect.ledger import PostgresLedger

    connection = await asyncpg.connect(dsn)
    try:
        with suppress(asyncpg.DuplicateObjectError, asyncpg.DuplicateTableError):
            await Queries(AsyncpgDriver(connection)).install()
        await connection.execute(ANSWERS)
    finally:
        await connection.close()
    with PostgresSaver.from_conn_string(dsn) as saver:
        saver.setup()
    with closing(PostgresLedger(dsn)) as ledger:
        ledger.doubts("")


def forget(dsn: str, days: float) -> None:
    """Delete what was settled so many days ago; nothing that is in doubt. For a nightly job."""
    from selfcorrect.ledger import PostgresLedger

    with closing(PostgresLedger(dsn)) as ledger:
        ledger.forget(older_than=days * _DAY)


def _jobs(path: str) -> list[Any]:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SystemExit(f"{path}: {error.strerror or error}") from None
    jobs = []
    for number, line in enumerate(lines, 1):
        try:
            jobs += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise SystemExit(f"{path}:{number}: not JSON: {error}") from None
    return jobs


def main(arguments: list[str]) -> None:
    """The command line of this file."""
    dsn = os.environ.get("WORKER_DSN", "")
    match arguments:
        case _ if not dsn:
            raise SystemExit("WORKER_DSN names no database: postgresql://user@host/database")
        case ["setup"]:
            asyncio.run(setup(dsn))
        case ["enqueue", path]:
            sys.stdout.write(f"{asyncio.run(enqueue(dsn, _jobs(path)))} jobs\n")
        case ["work"]:
            with suppress(KeyboardInterrupt):  # its jobs are handed out again, as after a kill
                asyncio.run(work(dsn))
        case ["forget", days]:
            forget(dsn, float(days))
        case _:
            raise SystemExit(__doc__)


def examples() -> list[dict[str, JSON]]:
    """Inputs of the graph: `{"title", "input", "expect"}` each."""
    pay: dict[str, JSON] = {"invoice": "INV-7", "cents": "12000"}
    look: dict[str, JSON] = {"Invoice": "INV-7"}
    return [
        {
            "title": "a job of the queue",
            "input": {"call": {"name": "pay", "args": pay, "id": "c1"}, "task_id": "job-1"},
            "expect": "mended",
        },
        {
            "title": "the same job, delivered again",
            "input": {"call": {"name": "pay", "args": pay, "id": "c1"}, "task_id": "job-1"},
            "expect": "mended",
        },
        {
            "title": "it was paid once",
            "input": {"call": {"name": "paiments", "args": look, "id": "c2"}},
            "expect": "mended",
        },
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
