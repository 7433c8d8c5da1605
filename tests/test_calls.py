"""Several calls of one message: none loses, repeats or waits for another for good."""

from __future__ import annotations

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from selfcorrect import ToolSpec
from selfcorrect.batch.calls import arun_calls, run_calls
from selfcorrect.ledger import MemoryLedger, SqliteLedger
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.testing.crashes import Crash, Crashes, FragileLedger
from selfcorrect.testing.faults import Fault
from selfcorrect.testing.world import World


def call(item, id_=None, name="act", **more):
    return {"name": name, "args": {"item": item, **more}, "id": id_ or item}


def both(loop, calls, **options):
    return [run_calls(loop, calls, **options), asyncio.run(arun_calls(loop, calls, **options))]


def test_one_result_for_each_id_in_the_order_of_the_calls():
    world = World()
    loop = assemble([world.tool("act", effect="read_only")])
    calls = [call("b"), call("nothing", name="no_such"), call("a", count="2"), call("c", count=[])]
    for results in both(loop, calls):
        assert [result.id for result in results] == ["b", "nothing", "a", "c"]
        assert [result.ok for result in results] == [True, False, True, False]
        assert results[2].content == '{"item": "a", "count": 2}'
        assert "no such tool" in results[1].content
    assert world.executions


def test_what_is_quick_does_not_wait_and_what_is_slow_does_not_lose_its_place():
    order = []

    async def act(item: str) -> str:
        """Act."""
        if item == "slow":
            await asyncio.sleep(0.05)
        order.append(item)
        return item

    loop = assemble([ToolSpec.from_function(act, effect="read_only")])
    results = asyncio.run(arun_calls(loop, [call("slow"), call("quick")]))
    assert order == ["quick", "slow"]
    assert [result.content for result in results] == ["slow", "quick"]


@pytest.mark.parametrize("on_failure", ["report", "raise"])
def test_a_call_that_fails_loses_no_sibling(on_failure):
    world = World()
    bad = world.tool("bad", effect="read_only", faults=iter([Fault.AUTH] * 9))
    loop = assemble([world.tool("act"), bad], Options(on_failure=on_failure))
    for results in both(loop, [call("a"), call("x", name="bad"), call("b")]):
        assert [result.ok for result in results] == [True, False, True]
        assert (results[1].error is not None) is (on_failure == "raise")
        assert results[1].content
    assert world.done("act", "a") == 2


def test_two_calls_with_one_id_get_one_answer():
    world = World()
    loop = assemble([world.tool("act")])
    same = run_calls(loop, [call("a", "1"), call("a", "1")], task_id="t")
    other = run_calls(loop, [call("a", "1"), call("b", "1")], task_id="u")
    assert len(same) == len(other) == 1
    assert "was not done" not in same[0].content
    assert "same id, and was not done" in other[0].content
    assert world.done("act", "a") == 2
    assert world.done("act", "b") == 0


def test_calls_without_ids_get_the_same_ones_each_time():
    world = World()
    loop = assemble([world.tool("act")])
    calls = [{"name": "act", "args": {"item": "a"}}] * 2
    first, second = (run_calls(loop, calls, task_id="t") for _ in range(2))
    assert [result.id for result in first] == [result.id for result in second]
    assert world.done("act", "a") == 2


@pytest.mark.parametrize("point", ["tool.before", "tool.after", "ledger.settle.after"])
def test_a_crash_among_siblings(point):
    ledger, crashes = MemoryLedger(), Crashes()
    world = World(crashes=crashes)
    loop = assemble([world.tool("act")], Options(ledger=FragileLedger(ledger, crashes)))
    calls = [call("a"), call("b"), call("c")]
    crashes.revive(point, 2)
    with pytest.raises(Crash):
        run_calls(loop, calls, task_id="t")
    crashes.revive()
    results = run_calls(loop, calls, task_id="t")
    assert [result.id for result in results] == ["a", "b", "c"]
    assert results[0].ok
    assert results[2].ok
    assert results[1].ok is (point == "ledger.settle.after")
    if not results[1].ok:
        assert results[1].output["failure"]["reason"] == "unknown_outcome"
    assert max(world.effects.values()) == 1


def test_cancelled_together_nothing_is_left_running():
    started, both_started = [], asyncio.Event()

    async def act(item: str) -> str:
        """Act."""
        started.append(item)
        if len(started) == 2:
            both_started.set()
        await asyncio.sleep(60)
        return item

    loop = assemble([ToolSpec.from_function(act)])

    async def main():
        running = asyncio.create_task(arun_calls(loop, [call("a"), call("b")], task_id="t"))
        await both_started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return await arun_calls(loop, [call("a"), call("b")], task_id="t")

    results = asyncio.run(main())
    assert [r.output["failure"]["reason"] for r in results] == ["unknown_outcome"] * 2


def in_a_graph(loop, calls, answers, is_async=False):
    """A host that runs the calls in one node and re-enters it for each answer."""
    seen = []

    def node(state):
        results = run_calls(loop, calls, task_id="t", ask=interrupt)
        seen[:] = results
        return {}

    async def anode(state):
        seen[:] = await arun_calls(loop, calls, task_id="t", ask=interrupt)
        return {}

    builder = StateGraph(MessagesState)
    builder.add_node("tools", anode if is_async else node)
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    questions = []

    def step(given):
        if is_async:
            return asyncio.run(graph.ainvoke(given, config))
        return graph.invoke(given, config)

    out = step({"messages": []})
    for answer in answers:
        questions += [item.value["question"] for item in out["__interrupt__"]]
        out = step(Command(resume=answer))
    assert "__interrupt__" not in out
    return seen, questions


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("durable", [False, True])
def test_questions_come_one_by_one_and_nothing_is_repeated(tmp_path, is_async, durable):
    world, executed = World(), []

    def order(item: str) -> str:
        """Order an item."""
        executed.append(item)
        if item == "nothing":
            raise ValueError("invalid item: nothing")
        return item

    ledger = SqliteLedger(tmp_path / "ledger.db") if durable else None
    tools = [world.tool("act"), ToolSpec.from_function(order, effect="mutating")]
    loop = assemble(tools, Options(ledger=ledger))
    calls = [
        call("a"),
        call("b", count="2.5"),
        call("nothing", name="order"),
        call("c", count="3.5"),
        call("d"),
    ]
    edit = {"action": "edit", "args": {"item": "something"}}
    results, questions = in_a_graph(loop, calls, [2, edit, "reject"], is_async)
    assert [result.id for result in results] == ["a", "b", "nothing", "c", "d"]
    assert len(questions) == 3
    assert "2.5" in questions[0]
    assert "3.5" in questions[2]
    assert results[1].content == '{"item": "b", "count": 2}'
    assert results[2].content == "something"
    assert results[3].output["failure"]["reason"] == "rejected"
    assert executed == ["nothing", "something"]
    assert world.effects == {("act", "a"): 1, ("act", "b"): 1, ("act", "d"): 1}
    if ledger is not None:
        ledger.close()


def test_the_same_calls_in_another_turn_are_asked_anew():
    world = World()
    loop = assemble([world.tool("act")])
    asked = []

    def ask(question):
        asked.append(question["question"])
        return "reject"

    for turn in ("one", "two"):
        run_calls(loop, [call("b", count="2.5")], task_id=turn, ask=ask)
    assert len(asked) == 2
    assert not world.executions
