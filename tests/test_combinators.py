"""The combinators, alone and as nodes of a bigger graph."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from selfcorrect import ToolSpec, build_graph
from selfcorrect.combinators import first_of, loop_until, speculative
from selfcorrect.errors import GraphSetupError

GOOD = {"result": 1}


def failing(reason: str, log: list[str], name: str = "") -> Any:
    def run(_: Any) -> Any:
        log.append(name or reason)
        return {"failure": {"reason": reason, "from": name}}

    return RunnableLambda(run)


def good(log: list[str]) -> Any:
    def run(_: Any) -> Any:
        log.append("good")
        return GOOD

    return RunnableLambda(run)


@pytest.mark.parametrize("is_async", [True, False])
def test_the_first_that_succeeds_is_the_last_that_runs(*, is_async: bool) -> None:
    log: list[str] = []
    chosen = first_of(failing("attempts_exhausted", log), good(log), good(log))
    out = asyncio.run(chosen.ainvoke({})) if is_async else chosen.invoke({})
    assert out == GOOD
    assert log == ["attempts_exhausted", "good"]


def test_nothing_follows_what_may_have_acted() -> None:
    log: list[str] = []
    out = first_of(failing("unknown_outcome", log), good(log)).invoke({})
    assert out["failure"]["reason"] == "unknown_outcome"
    assert log == ["unknown_outcome"]


def test_where_all_fail_the_last_failure_counts() -> None:
    log: list[str] = []
    branches = [failing("no_strategy", log, name) for name in "ab"]
    assert first_of(*branches).invoke({})["failure"]["from"] == "b"

    def raising(_: Any) -> Any:
        raise OSError("down")

    with pytest.raises(OSError, match="down"):
        first_of(branches[0], RunnableLambda(raising)).invoke({})
    assert first_of(RunnableLambda(raising), good(log)).invoke({}) == GOOD


def test_first_of_two_graphs() -> None:
    def near(place: str) -> str:
        """Near."""
        raise PermissionError("forbidden")

    def far(place: str) -> str:
        """Far."""
        return f"far {place}"

    tools = [ToolSpec.from_function(each, effect="read_only", name="look") for each in (near, far)]
    both = first_of(*(build_graph([tool]) for tool in tools))
    assert both.invoke({"call": {"name": "Look", "args": {"Place": "CDG"}}})["result"] == "far CDG"


def test_the_first_success_wins_and_the_others_are_cancelled() -> None:
    ended: list[str] = []

    def slow(name: str, *, fails: bool, gate: asyncio.Event | None = None) -> Any:
        async def run(_: Any) -> Any:
            try:
                if gate is None:
                    await asyncio.Event().wait()
                return {"failure": {"reason": "no_strategy"}} if fails else {"result": name}
            except asyncio.CancelledError:
                ended.append(name)
                raise

        return RunnableLambda(lambda _: None, run)

    async def work() -> Any:
        gate = asyncio.Event()
        branches = [
            slow("never", fails=False),
            slow("fails", fails=True, gate=gate),
            slow("wins", fails=False, gate=gate),
        ]
        return await speculative(*branches, may_repeat=True).ainvoke({})

    assert asyncio.run(work()) == {"result": "wins"}
    assert ended == ["never"]


def test_speculation_needs_leave_and_runs_in_sync_code_too() -> None:
    log: list[str] = []
    with pytest.raises(GraphSetupError, match="may_repeat"):
        speculative(good(log))
    assert speculative(good(log), n=3, may_repeat=True).invoke({}) == GOOD
    out = speculative(failing("no_strategy", log), n=2, may_repeat=True).invoke({})
    assert out["failure"]["reason"] == "no_strategy"


def test_until_the_check_holds_with_feedback() -> None:
    seen: list[int] = []

    def add(given: Any) -> Any:
        seen.append(given["x"])
        return {"result": given["x"] + 1}

    async def check(out: Any) -> bool:
        return bool(out["result"] >= 3)

    until = loop_until(
        RunnableLambda(add),
        check,
        max_iterations=5,
        feedback=lambda _, out: {"x": out["result"]},
    )
    assert asyncio.run(until.ainvoke({"x": 0})) == {"result": 3}
    assert seen == [0, 1, 2]
    out = loop_until(RunnableLambda(add), lambda _: False, max_iterations=2).invoke({"x": 0})
    assert out["failure"]["reason"] == "limit_reached"
    assert "result" not in out


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, 10**9])
def test_bounds_are_bounds(bad: Any) -> None:
    with pytest.raises(GraphSetupError):
        loop_until(RunnableLambda(lambda _: GOOD), bool, max_iterations=bad)


@pytest.mark.parametrize("make", [first_of, speculative])
def test_nothing_to_run_is_said_at_once(make: Any) -> None:
    with pytest.raises(GraphSetupError):
        make()
    with pytest.raises(GraphSetupError):
        make(lambda _: None)


class Outer(TypedDict, total=False):
    call: Any
    result: Any
    failure: Any


def test_as_a_node_whose_graph_asks_a_person() -> None:
    booked: list[int] = []

    def book(seats: int) -> str:
        """Book."""
        booked.append(seats)
        return f"{seats}"

    builder: Any = StateGraph(Outer)
    builder.add_node("fix", first_of(build_graph([book])))
    builder.add_edge(START, "fix")
    builder.add_edge("fix", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    out = graph.invoke({"call": {"name": "book", "args": {"seats": "2.5"}}}, config)
    assert "__interrupt__" in out
    out = graph.invoke(Command(resume=3), config)
    assert out["result"] == "3"
    assert booked == [3]
