"""A long life in one process: memory, threads, tasks and files stay as they are."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import threading
from pathlib import Path

import pytest
from effects.figures import show

from selfcorrect import ToolSpec
from selfcorrect.ledger import MemoryLedger, SqliteLedger
from selfcorrect.loop.failures import FailureMemory, LiveErrors
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import awalk, walk
from selfcorrect.testing import VirtualTime
from selfcorrect.testing.faults import Fault, stream
from selfcorrect.testing.world import World


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


class Mixed:
    """Runs of every kind, sync and async, mended, failing, replayed and in doubt."""

    def __init__(self, folder):
        self.disk = SqliteLedger(folder / "ledger.db")
        time = VirtualTime()
        faults = stream(1, calm=0.6)
        world = World(time)
        tools = [
            world.tool(effect, effect=effect, faults=faults)
            for effect in ("read_only", "idempotent", "mutating")
        ]

        async def slow(item: str, count: int = 1) -> str:
            """Be slow."""
            await asyncio.sleep(0)
            return item * count

        async def late(item: str, count: int = 1) -> str:
            """Be late."""
            await asyncio.Event().wait()
            return item * count

        tools += [
            ToolSpec.from_function(slow, effect="mutating"),
            ToolSpec.from_function(late, effect="read_only", timeout=0.001),
        ]
        limits = {"retry_ratio": 0.5, "seconds": None}
        memory = MemoryLedger(capacity=500)
        self.loops = [
            assemble(tools, Options(ledger=ledger, time=time, limits=limits))
            for ledger in (None, memory, memory, memory, memory)
        ]
        self.on_disk = assemble(tools, Options(ledger=self.disk, time=time, limits=limits))
        for loop in (*self.loops, self.on_disk):
            # What is kept on purpose is bounded: bounds that are soon reached show what is not.
            loop.context.memory = MemoryLedger(capacity=200)
            loop.context.failures = FailureMemory(capacity=50)
            loop.context.errors = LiveErrors(capacity=50)
        self.world, self.time = world, time
        self.drawn = random.Random(7)

    async def some(self, number: int) -> None:
        """About ten runs."""
        drawn = self.drawn
        loop = self.on_disk if number % 50 == 0 else drawn.choice(self.loops)
        calls = [self.call(drawn, number, place) for place in range(4)]
        await asyncio.gather(*(awalk(loop, given) for given in calls))
        inner = [given["call"] for given in calls if "call" in given]
        of_one = [{"call": each, "task_id": f"m{number}"} for each in inner]
        await asyncio.gather(*(awalk(loop, given) for given in of_one))
        if number % 50 == 0:
            cut = asyncio.create_task(awalk(loop, calls[0]))
            await asyncio.sleep(0)
            cut.cancel()
            await asyncio.wait([cut])
            self.disk.forget(-60)
        self.world.executions.clear()
        self.world.effects.clear()
        self.time.slept.clear()

    def call(self, drawn, number, place):
        name = drawn.choice(
            ["read_only", "idempotent", "mutating", "slow"] * 4
            + ["late", "Read-Only", "no_such_tool"]
        )
        item = drawn.choice(["a", "b", f"item-{number}-{place}", "x" * 500])
        args = {"item": item, "count": drawn.choice([1] * 12 + ["2", 2.5, "three", None, []])}
        if drawn.random() < 0.1:
            return {"raw": f'{{"name": "{name}", "args": {{"item": "{item}", "count": 1'}
        given = {"call": {"name": name, "args": args, "id": f"{number}-{place}"}}
        return {**given, "task_id": f"t{number}"} if drawn.random() < 0.5 else given


def soak(mixed: Mixed, numbers: range) -> None:
    async def main():
        for number in numbers:
            await mixed.some(number)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left

    asyncio.run(main())


@pytest.mark.parametrize("rounds", [12, pytest.param(12_500, marks=pytest.mark.nightly)])
def test_nothing_grows(tmp_path, rounds):
    mixed = Mixed(tmp_path)
    warm = max(4, rounds // 10)
    soak(mixed, range(warm))
    gc.collect()
    threads, files = threading.active_count(), open_files()
    figures = []
    for part in range(4):
        start = warm + part * rounds // 4
        soak(mixed, range(start, start + rounds // 4))
        gc.collect()
        figures.append((resident(), len(gc.get_objects())))
        runs = (warm + (part + 1) * rounds // 4) * 8
        show(f"{runs} runs; MiB resident, live objects: {figures[-1]}")
    assert threading.active_count() <= threads + 1
    assert open_files() <= files + 2
    mixed.disk.close()
    if rounds > 1_000:
        (early, objects), (end, at_end) = figures[1], figures[3]
        assert end - early <= max(8, early * 0.05)
        assert at_end - objects <= objects * 0.05


def test_a_sync_loop_leaves_no_thread_either():
    world = World()
    loop = assemble([world.tool("act", timeout=5)])
    before = threading.active_count()
    for number in range(30):
        walk(loop, {"call": {"name": "act", "args": {"item": str(number)}}})
    assert threading.active_count() == before
    assert world.executions[0].fault == Fault.NONE
