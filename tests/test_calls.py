"""Several calls of one message: none loses, repeats or waits for another for good."""

from __future__ import annotations

import asyncio
import json

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send

from selfcorrect.integrations.chat import OURS
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.ledger import MemoryLedger, SqliteLedger
from selfcorrect.loop.asking import naming
from selfcorrect.testing.crashes import Crash, Crashes, FragileLedger
from selfcorrect.testing.faults import Fault
from selfcorrect.testing.world import World

CONFIG = {"configurable": {"thread_id": "t"}, "max_concurrency": 1}


def call(item, id_=None, name="act", **more):
    return {"type": "tool_call", "name": name, "args": {"item": item, **more}, "id": id_ or item}


def acting(world, name="act", effect="mutating", faults=None):
    """A tool of a world, as LangChain has it."""
    spec = world.tool(name, effect=effect, faults=faults)

    def act(item: str, count: int = 1) -> str:
        """Act."""
        return json.dumps(spec.run({"item": item, "count": count}))

    return StructuredTool.from_function(act, name=name, metadata={"effect": effect})


def host_of(*tools, saver=None, **options):
    """A graph whose one node runs the calls of the last message."""
    builder = StateGraph(MessagesState)
    builder.add_node("tools", SelfCorrectingToolNode(tools, **options))
    builder.add_edge(START, "tools")
    return builder.compile(checkpointer=saver)


def asking(calls, turn="m"):
    return {"messages": [AIMessage("", id=turn, tool_calls=calls)]}


def answered(out):
    return [each for each in out["messages"] if isinstance(each, ToolMessage)]


def reasons(out):
    notes = (each.response_metadata.get(OURS) or {} for each in answered(out))
    return [note.get("reason") for note in notes]


def invoked(graph, given, is_async):
    return asyncio.run(graph.ainvoke(given, CONFIG)) if is_async else graph.invoke(given, CONFIG)


MANY = [
    call("a"),
    call("b", count="2.5"),
    call("nothing", name="order"),
    call("c", count="3.5"),
    call("d"),
]
both = pytest.mark.parametrize("is_async", [False, True])


@both
def test_one_result_for_each_id_in_the_order_of_the_calls(is_async):
    world = World()
    graph = host_of(acting(world, effect="read_only"))
    calls = [call("b"), call("nothing", name="no_such"), call("a", count="2"), call("c", count=[])]
    found = answered(invoked(graph, asking(calls), is_async))
    assert [each.tool_call_id for each in found] == ["b", "nothing", "a", "c"]
    assert [each.status for each in found] == ["success", "error", "success", "error"]
    assert found[2].content == '{"item": "a", "count": 2}'
    assert "no such tool" in found[1].content
    assert world.executions


def test_what_is_quick_does_not_wait_and_what_is_slow_does_not_lose_its_place():
    order = []

    async def act(item: str) -> str:
        """Act."""
        if item == "slow":
            await asyncio.sleep(0.05)
        order.append(item)
        return item

    tool = StructuredTool.from_function(coroutine=act, metadata={"effect": "read_only"})
    out = asyncio.run(host_of(tool).ainvoke(asking([call("slow"), call("quick")])))
    assert order == ["quick", "slow"]
    assert [each.content for each in answered(out)] == ["slow", "quick"]


@both
def test_a_call_that_fails_loses_no_sibling(is_async):
    world = World()
    bad = acting(world, "bad", "read_only", iter([Fault.AUTH] * 9))
    calls = [call("a"), call("x", name="bad"), call("b")]
    found = answered(invoked(host_of(acting(world), bad), asking(calls), is_async))
    assert [each.status for each in found] == ["success", "error", "success"]
    assert found[1].content
    assert world.done("act", "a") == world.done("act", "b") == 1


@pytest.mark.parametrize("point", ["tool.before", "tool.after", "ledger.settle.after"])
def test_a_crash_among_siblings(point):
    ledger, crashes = MemoryLedger(), Crashes()
    world = World(crashes=crashes)
    graph = host_of(acting(world), ledger=FragileLedger(ledger, crashes))
    given = asking([call("a"), call("b"), call("c")])
    crashes.revive(point, 2)
    with pytest.raises(Crash):
        graph.invoke(given, CONFIG)
    crashes.revive()
    out = graph.invoke(given, CONFIG)
    assert [each.tool_call_id for each in answered(out)] == ["a", "b", "c"]
    known = None if point == "ledger.settle.after" else "unknown_outcome"
    assert reasons(out) == [None, known, None]
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

    tool = StructuredTool.from_function(coroutine=act, metadata={"effect": "mutating"})
    graph = host_of(tool, ledger=MemoryLedger())
    given = asking([call("a"), call("b")])
    config = {"configurable": {"thread_id": "t"}}

    async def main():
        running = asyncio.create_task(graph.ainvoke(given, config))
        await both_started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return await graph.ainvoke(given, config)

    assert reasons(asyncio.run(main())) == ["unknown_outcome"] * 2


@both
@pytest.mark.parametrize("durable", [False, True])
def test_questions_stand_side_by_side_and_nothing_is_repeated(tmp_path, is_async, durable):
    world, executed = World(), []

    def order(item: str) -> str:
        """Order an item."""
        executed.append(item)
        if item == "nothing":
            raise ValueError("invalid item: nothing")
        return item

    ledger = SqliteLedger(tmp_path / "ledger.db") if durable else None
    ordering = StructuredTool.from_function(order, metadata={"effect": "mutating"})
    node = SelfCorrectingToolNode([acting(world), ordering], ask_person=True, ledger=ledger)
    builder = StateGraph(MessagesState)
    builder.add_node("tools", node)
    # As an agent of LangChain hands them out: each call is a task of its own.
    each_alone = [Send("tools", [one]) for one in MANY]
    builder.add_conditional_edges(START, lambda _: each_alone, ["tools"])
    graph = builder.compile(checkpointer=InMemorySaver())
    out = invoked(graph, asking(MANY), is_async)
    questions = {item.value["question"]: item.id for item in out["__interrupt__"]}
    edit = {"action": "edit", "args": {"item": "something"}}
    said = {"2.5": 2, "nothing": edit, "3.5": "reject"}
    assert len(questions) == len(said)
    answers = {
        questions[text]: answer
        for text in questions
        for word, answer in said.items()
        if word in text
    }
    out = invoked(graph, Command(resume=answers), is_async)
    assert "__interrupt__" not in out
    found = answered(out)
    assert [each.tool_call_id for each in found] == ["a", "b", "nothing", "c", "d"]
    assert found[1].content == '{"item": "b", "count": 2}'
    assert found[2].content == "something"
    assert reasons(out)[3] == "rejected"
    assert executed == ["nothing", "something"]
    assert world.effects == {("act", "a"): 1, ("act", "b"): 1, ("act", "d"): 1}
    if ledger is not None:
        ledger.close()


@both
def test_questions_of_one_step_are_answered_in_their_order_and_nothing_is_repeated(is_async):
    executed = []

    def order(item: str, count: int) -> str:
        """Order an item."""
        executed.append((item, count))
        if item.startswith("no"):
            raise ValueError(f"invalid item: {item}")
        return f"{count} {item}"

    ordering = StructuredTool.from_function(order, metadata={"effect": "mutating"})
    graph = host_of(ordering, saver=InMemorySaver(), ask_person=True)
    items = ("none", "north", "tea", "nowhere")
    given = asking(
        [
            {"name": "order", "args": {"item": item, "count": n}, "id": item}
            for n, item in enumerate(items)
        ]
    )
    out = invoked(graph, given, is_async)
    for item in ("none", "north", "nowhere"):
        (question,) = out["__interrupt__"]
        assert item in question.value["question"]
        edit = {"action": "edit", "args": {"item": f"for {item}", "count": items.index(item)}}
        out = invoked(graph, Command(resume=edit), is_async)
    assert "__interrupt__" not in out
    texts = [each.content for each in answered(out)]
    assert texts == ["0 for none", "1 for north", "2 tea", "3 for nowhere"]
    mended = [(f"for {item}", n) for n, item in enumerate(items) if item != "tea"]
    assert sorted(executed) == sorted([*((item, n) for n, item in enumerate(items)), *mended])


PAYMENT = {"name": "pay", "args": {"to": "ann", "amount": 5}, "id": "c1"}
ANSWERS = [
    (20, [("ann", 20)]),
    ({"action": "edit", "args": {"to": "bob", "amount": 30}}, [("bob", 30)]),
    ("reject", []),
    (7, [("ann", 7), ("ann", 20)]),
]


def paying(path, saver, executed):
    """A host as a process builds it that knows nothing of an earlier one but what was stored."""

    def pay(to: str, amount: int) -> str:
        """Pay somebody."""
        executed.append((to, amount))
        if amount < 10:
            raise ValueError(f"amount: must be at least 10, got {amount}")
        return f"paid {amount}"

    tool = StructuredTool.from_function(pay, metadata={"effect": "mutating"})
    ledger = SqliteLedger(path)
    return host_of(tool, saver=saver, ask_person=True, ledger=ledger), ledger


@both
@pytest.mark.parametrize(
    "more", [[], [{**PAYMENT, "args": {"to": "eve", "amount": 2}, "id": "c2"}]]
)
@pytest.mark.parametrize(("answer", "then"), ANSWERS)
def test_what_a_tool_refused_is_not_executed_again_after_a_restart(
    tmp_path, is_async, more, answer, then
):
    saver, executed, given = InMemorySaver(), [], asking([PAYMENT, *more])
    while given is not None and len(executed) < 9:
        graph, ledger = paying(tmp_path / "ledger.db", saver, executed)
        out = invoked(graph, given, is_async)
        ledger.close()
        asked = out.get("__interrupt__")
        given = Command(resume=naming(answer, asked[0].value)) if asked else None
        answer = 20 if answer == 7 else answer
    assert {("ann", 5), *then} <= set(executed)
    refused = [each for each in executed if each[1] < 10]
    assert len(set(refused)) == len(refused)
    assert [each.tool_call_id for each in answered(out)] == ["c1", *(one["id"] for one in more)]


def test_a_refusal_is_remembered_of_its_own_turn_alone(tmp_path):
    executed = []
    graph, ledger = paying(tmp_path / "ledger.db", None, executed)
    for turn in ("one", "one", "two"):
        graph.invoke(asking([PAYMENT], turn), CONFIG)
    ledger.close()
    assert executed == [("ann", 5)] * 2


def test_the_same_calls_in_another_turn_are_asked_anew():
    world = World()
    graph = host_of(acting(world), saver=InMemorySaver(), ask_person=True)
    for turn in ("one", "two"):
        out = graph.invoke(asking([call("b", turn, count="2.5")], turn), CONFIG)
        assert "2.5" in out["__interrupt__"][0].value["question"]
        graph.invoke(Command(resume="reject"), CONFIG)
    assert not world.executions


@pytest.mark.parametrize("items", [("a", "a"), ("a", "b")])
def test_two_calls_with_one_id_get_an_answer_each(items):
    world = World()
    out = host_of(acting(world)).invoke(asking([call(item, "1") for item in items]), CONFIG)
    ids = [each["id"] for each in out["messages"][0].tool_calls]
    assert len(set(ids)) == 2
    assert [each.tool_call_id for each in answered(out)] == ids
    assert world.effects.total() == 2


def test_calls_without_ids_get_the_same_ones_each_time():
    world = World()
    graph = host_of(acting(world), ledger=MemoryLedger())
    calls = [{"name": "act", "args": {"item": "a"}, "id": None}] * 2
    first, second = (answered(graph.invoke(asking(calls), CONFIG)) for _ in range(2))
    assert [each.tool_call_id for each in first] == [each.tool_call_id for each in second]
    assert world.done("act", "a") == 2
