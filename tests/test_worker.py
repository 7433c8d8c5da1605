"""Jobs of killed workers are done once, or told as unknown; each has an output in the end."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("pgqueuer")
psycopg = pytest.importorskip("psycopg")

WORKER = Path(__file__).parent.parent / "graphs" / "worker.py"
PAYING = """
import os, time
from selfcorrect import ToolSpec, build_graph

def pay(order: int) -> str:
    with open(os.environ["EFFECTS"], "a") as file:
        file.write(f"{order}\\n")
    time.sleep(0.1)
    return f"paid {order}"

def leave() -> str:
    raise SystemExit(3)

def make_graph(**options):
    tools = [ToolSpec.from_function(each, effect="mutating") for each in (pay, leave)]
    return build_graph(tools, **options)
"""
HOSTILE = [None, b"no json", b"[1]", b"[" * 100_000, b'{"call": "%s"}' % (b"x" * 10_000_000)]
DEAD = """
    update selfcorrect_holders set until = now();
    update pgqueuer set heartbeat = now() - interval '1 hour'
"""
COUNT = "select count(*) from selfcorrect_outputs where output is not null"


@pytest.fixture
def start(database, tmp_path):
    """Start a worker of the database, which pays into a file."""
    (tmp_path / "paying.py").write_text(PAYING)
    effects = tmp_path / "effects"
    effects.touch()
    graph = f"{tmp_path / 'paying.py'}:make_graph"
    more = {"PGQUEUER_DSN": database, "WORKER_GRAPH": graph, "EFFECTS": str(effects)}
    home, processes = str(WORKER.parents[1]), []
    env = {**os.environ, "PYTHONPATH": home, "WORKER_AT_ONCE": "4", **more}
    subprocess.run([sys.executable, "-m", "pgqueuer", "install"], env=env, check=True)

    def start_one():
        processes.append(subprocess.Popen([sys.executable, str(WORKER)], env=env))
        return processes[-1]

    yield start_one
    for process in processes:
        process.kill()
        process.wait()


def wait_for(reached, *workers):
    while not reached():
        assert [each.poll() for each in workers] == [None] * len(workers)
        time.sleep(0.05)


async def fill(database, calls, hostile=HOSTILE):
    import worker
    from pgqueuer import Queries

    ids = await worker.enqueue(database, calls)
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        queries = Queries(worker.Driver(connection))
        return ids, [await queries.enqueue(worker.QUEUE, each) for each in hostile]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed by a signal of POSIX")
def test_each_job_is_done_once_or_told_as_unknown(database, start, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(WORKER.parent)
    calls = [{"call": {"name": "pay", "args": {"order": str(n)}}} for n in range(24)]
    ids, hostile = asyncio.run(fill(database, calls))

    def paid():
        return (tmp_path / "effects").read_text().split()

    workers = [start(), start()]
    for least, worker in zip((5, 11), workers, strict=True):
        wait_for(lambda least=least: len(paid()) >= least, worker)
        worker.kill()
        worker.wait()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(DEAD)
        last = start()
        wait_for(lambda: connection.execute(COUNT).fetchone() == (29,), last)
        rows = connection.execute("select job, output from selfcorrect_outputs").fetchall()
        last.terminate()
        assert last.wait() == 0
        assert connection.execute("select count(*) from pgqueuer").fetchone() == (0,)
    outputs, counts = dict(rows), Counter(paid())
    assert [outputs[each]["failure"]["reason"] for (each,) in hostile] == ["invalid_input"] * 5
    for n, job in enumerate(ids):
        output, times = outputs[job], counts[str(n)]
        if "result" in output:
            assert (output["result"], times) == (f"paid {n}", 1)
        else:
            assert (output["failure"]["reason"], times <= 1) == ("unknown_outcome", True)


def test_a_tool_that_ends_its_worker_loses_no_job(database, start, monkeypatch):
    monkeypatch.syspath_prepend(WORKER.parent)
    calls = [("leave", {}), ("pay", {"order": 1}), ("pay", {"order": 2})]
    inputs = [{"call": {"name": name, "args": args}} for name, args in calls]
    asyncio.run(fill(database, inputs, hostile=[]))
    assert start().wait() == 3
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(DEAD)
        last = start()
        wait_for(lambda: connection.execute(COUNT).fetchone() == (3,), last)
        query = "select output from selfcorrect_outputs order by job"
        ((left,), *others) = connection.execute(query).fetchall()
    assert left["failure"]["reason"] == "unknown_outcome"
    for (output,) in others:
        assert "result" in output or output["failure"]["reason"] == "unknown_outcome"


def test_a_missing_extra_is_named():
    program = "import runpy, sys; sys.modules['pgqueuer'] = None; runpy.run_path(sys.argv[1])"
    command = [sys.executable, "-c", program, str(WORKER)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "pip install 'selfcorrect[workers]'" in done.stderr
