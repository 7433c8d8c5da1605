"""What a run waits for is cut when its seconds are over."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from selfcorrect import Fix, Limits, ToolSpec, build_graph, on_error
from selfcorrect.limits import remaining

SECONDS = 0.2
LONG = 60.0
PATIENCE = 10.0


def run(tool: ToolSpec, *, handler: Any = None) -> tuple[dict[str, Any], float]:
    limits = Limits(seconds=SECONDS, attempts=10)
    graph = build_graph([tool], limits=limits, on_error=handler)
    started = time.monotonic()
    out = asyncio.run(graph.ainvoke({"call": {"name": tool.name, "args": {}}}))
    return out, time.monotonic() - started


@pytest.mark.parametrize("effect", ["mutating", "destructive"])
def test_an_async_tool_without_a_timeout_does_not_outlast_the_run(effect: Any) -> None:
    async def pay() -> str:
        await asyncio.sleep(LONG)
        return "paid"

    out, took = run(ToolSpec.from_function(pay, effect=effect))
    assert out["failure"]["reason"] == "unknown_outcome"
    assert took < PATIENCE


def test_a_reading_tool_is_not_called_again_when_nothing_is_left() -> None:
    calls: list[int] = []

    async def find() -> str:
        calls.append(1)
        await asyncio.sleep(LONG)
        return "found"

    out, took = run(ToolSpec.from_function(find, effect="read_only"))
    assert out["failure"]["reason"] == "limit_reached"
    assert calls == [1]
    assert took < PATIENCE


def test_a_sync_tool_with_a_longer_timeout_is_left_when_the_run_ends() -> None:
    over = threading.Event()

    def find() -> str:
        over.wait(LONG)
        return "found"

    tool = ToolSpec.from_function(find, effect="read_only", timeout=LONG)
    graph = build_graph([tool], limits=Limits(seconds=SECONDS))
    started = time.monotonic()
    out = graph.invoke({"call": {"name": "find", "args": {}}})
    took = time.monotonic() - started
    over.set()
    assert out["failure"]["reason"] == "limit_reached"
    assert took < PATIENCE


def test_an_async_fixer_does_not_outlast_the_run() -> None:
    def find() -> str:
        raise ValueError("out of order")

    async def fixer(_: Any) -> str:
        await asyncio.sleep(LONG)
        return "fixed"

    out, took = run(
        ToolSpec.from_function(find, effect="read_only"),
        handler=on_error(execution_error=lambda _: Fix(fixer)),
    )
    assert out["failure"]["reason"] in {"attempts_exhausted", "limit_reached"}
    assert took < PATIENCE


def test_a_shorter_timeout_of_the_tool_stays() -> None:
    async def find() -> str:
        return "found"

    tool = ToolSpec.from_function(find, timeout=1)
    assert tool.within(5) is tool
    assert tool.within(None) is tool
    assert tool.within(0.5).timeout == 0.5
    assert tool.within(-3).timeout is not None

    def look() -> str:
        return "seen"

    alone = ToolSpec.from_function(look)
    assert alone.within(5) is alone


def test_what_is_left_of_a_run() -> None:
    assert remaining({}, Limits(seconds=None)) is None
    assert remaining({"seconds": 4.0}, Limits(seconds=10)) == 6
    assert remaining({"seconds": 14.0}, Limits(seconds=10)) == -4
