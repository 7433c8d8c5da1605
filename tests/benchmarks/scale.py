"""Past one process: lines a second, jobs a second, and how long a killed worker's job waits.

    python tests/benchmarks/scale.py [LINES] [JOBS]

Lines: recorded calls through `selfcorrect.batch.repair`, in processes of its own and, where it is
installed, in Ray. Jobs: one call of a tool each, with something to mend, through the loop alone,
with a ledger, and from a queue (the extra `workers`). The tool takes no time, so that what is left
is ours and the database's. PostgreSQL is a server of its own, with fsync off.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import psutil
from effects import queue_worker, queueing
from postgres import Server, binaries

from selfcorrect import batch
from selfcorrect.ledger import PostgresLedger, SqliteLedger
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk

ROOT = Path(__file__).resolve().parents[2]
RAY = """
import json, sys, time, ray
from selfcorrect.batch import repair
def mended(part):
    return {"answer": [json.dumps(answer) for answer in repair(part["text"])]}
source, out, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False,
         object_store_memory=200_000_000)
ray.data.DataContext.get_current().enable_progress_bars = False
started = time.perf_counter()
lines = ray.data.read_text(source).repartition(workers * 4)
lines.map_batches(mended, batch_size=500).write_parquet(out)
print(time.perf_counter() - started)
"""


def recorded(count: int) -> Iterator[str]:
    """Lines as agents leave them: one in four healthy, the others with a usual slip."""
    tool = {
        "name": "book_table",
        "parameters": {
            "type": "object",
            "properties": {
                "day": {"type": "string", "format": "date"},
                "guests": {"type": "integer", "minimum": 1},
                "room": {"type": "string", "enum": ["garden", "hall", "bar"]},
            },
            "required": ["day", "guests"],
        },
    }
    slips = (
        {"day": "2026-10-26", "guests": 2, "room": "hall"},
        {"day": "2026-10-26", "guests": "2", "room": "Hall"},
        {"day": "Oct 26, 2026", "guests": 4},
        {"date": "2026-10-26", "guests": 4, "rom": "bar"},
    )
    for number in range(count):
        call = {"name": "book_table", "arguments": slips[number % 4]}
        yield json.dumps({"id": number, "tools": [tool], "call": call})


def lines(count: int) -> None:
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    given = list(recorded(count))
    list(batch.repair(given[:200]))
    print(f"{count:,} lines, {cores} cores")
    for workers in (n for n in (1, 2, 4, 8) if n <= cores):
        started, before = time.perf_counter(), time.process_time()
        answered = sum(1 for _ in batch.repair(given, processes=workers))
        seconds, used = time.perf_counter() - started, time.process_time() - before
        shown = f"{used / answered * 1e6:7,.0f} µs of processor a line" if workers == 1 else ""
        rate = f"{answered / seconds:8,.0f} lines/s"
        print(f"  own, {workers} process{'es' * (workers > 1):2} {rate} {shown}", flush=True)
    if find_spec("ray") is None:
        print("  Ray is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "calls"
        source.mkdir()
        for part in range(8):
            text = "".join(f"{line}\n" for line in given[part::8])
            (source / f"{part}.jsonl").write_text(text)
        for workers in (n for n in (1, 2, 4, 8) if n <= cores):
            arguments = [str(source), str(Path(folder) / f"out{workers}"), str(workers)]
            done = subprocess.run(
                [sys.executable, "-c", RAY, *arguments],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            if done.returncode:
                print(f"  Ray, {workers}: {(done.stderr.strip().splitlines() or ['?'])[-1][:90]}")
                continue
            rate = count / float(done.stdout.split()[-1])
            print(
                f"  Ray, {workers} process{'es' * (workers > 1):2} {rate:8,.0f} lines/s", flush=True
            )


def jobs(count: int, server: Server) -> None:
    print(f"{count:,} jobs")
    with tempfile.TemporaryDirectory() as folder:
        for name, ledger in (
            ("loop alone", None),
            ("with SqliteLedger", SqliteLedger(Path(folder) / "ledger.db")),
            ("with PostgresLedger", PostgresLedger(server.dsn(server.create()))),
        ):
            before = _database(server)
            print(f"  {name:28} {_in_one_process(count, ledger)}", flush=True)
            if isinstance(ledger, PostgresLedger):
                used = (_database(server) - before) / count
                print(
                    f"  {'':28} and {used * 1e3:.1f} ms of the database's own processor", flush=True
                )
    if find_spec("pgqueuer") is None:
        print("  the extra workers is not installed")
        return
    for checkpoints, workers in ((True, 1), (True, 2), (False, 1), (False, 2)):
        ended = queueing.campaign(
            server.dsn(server.create()),
            jobs=count,
            workers=workers,
            kills=0,
            latency=0,
            checkpoints=checkpoints,
        )
        what = f"queue{' and checkpoints' * checkpoints}, {workers} worker{'s' * (workers > 1)}"
        print(
            f"  {what:32} {ended.rate:8,.0f} jobs/s "
            f"{ended.processor / count * 1e3:7.1f} ms of processor a job, start included",
            flush=True,
        )
    took = []
    for _ in range(3):
        dsn = server.dsn(server.create())
        took += queueing.campaign(dsn, jobs=max(count // 3, 150), workers=2, kills=1).takeovers
    shown = ", ".join(f"{seconds:.1f}" for seconds in took) or "none"
    print(f"  last job of a killed worker answered after {shown} s (taken for dead after 3 s)")


def _database(server: Server) -> float:
    """Processor seconds of the sessions that are open, and of what works for all of them."""
    pid = int((server.root / "data" / "postmaster.pid").read_text().split()[0])
    times = [child.cpu_times() for child in psutil.Process(pid).children()]
    return sum(each.user + each.system for each in times)


def _in_one_process(count: int, ledger: object) -> str:
    """Three tools without effects: what is measured is the loop and the ledger."""

    class Nothing(queue_worker.Effects):
        def _act(self, kind: str, item: int, key: str = "") -> str:
            return f"{kind} {item}"

    loop = assemble(Nothing("").tools(), Options(ledger=ledger))  # type: ignore[arg-type]
    given = [queue_worker.job(number) for number in range(count)]
    times, before = [], psutil.Process().cpu_times()
    for job in given:
        started = time.perf_counter()
        walk(loop, {"call": job["call"], "task_id": job["thread"]})
        times.append(time.perf_counter() - started)
    after = psutil.Process().cpu_times()
    used = after.user + after.system - before.user - before.system
    return (
        f"{count / sum(times):8,.0f} jobs/s {used / count * 1e3:7.1f} ms of processor a job, "
        f"median {statistics.median(times) * 1e3:.2f} ms"
    )


def main(count_lines: int, count_jobs: int) -> None:
    lines(count_lines)
    place = binaries()
    if place is None:
        raise SystemExit("no PostgreSQL server is installed")
    server = Server(place)
    try:
        server.start()
        jobs(count_jobs, server)
    finally:
        server.remove()


if __name__ == "__main__":
    main(*(int(each) for each in (*sys.argv[1:], 20_000, 1_000)[:2]))
