"""A call that was made is known again, by its origin, its id and what it asks; nothing else is."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import RetryPolicy, Send

from selfcorrect import ToolSpec, build_graph, resume
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.ledger import MemoryLedger, SqliteLedger

TIMES = 3


class World:
    """A tool that pays; its first answers are lost, as many as it is told."""

    def __init__(self, losses: int = 0, effect: str = "mutating") -> None:
        self.paid: list[tuple[str, int]] = []
        self.losses = losses
        self.effect: Any = effect

    def pay(self, to: str, amount: int) -> int:
        """Pay."""
        self.paid.append((to, amount))
        if len(self.paid) <= self.losses:
            raise TimeoutError("no answer")
        return len(self.paid)

    def graph(self, **options: Any) -> Any:
        return build_graph([ToolSpec.from_function(self.pay, effect=self.effect)], **options)

    def node(self, **options: Any) -> SelfCorrectingToolNode:
        tool = StructuredTool.from_function(self.pay, metadata={"effect": self.effect})
        return SelfCorrectingToolNode([tool], **options)


def call(call_id: str | None = "c1", amount: int = 5, **more: Any) -> dict[str, Any]:
    made = {"name": "pay", "args": {"to": "ann", "amount": amount}}
    return {"call": made | ({} if call_id is None else {"id": call_id}), **more}


def on(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


def travel(graph: Any, config: Any) -> None:
    """Every checkpoint of a thread, gone on with from there."""
    for past in list(graph.get_state_history(config)):
        graph.invoke(None, past.config)


@pytest.fixture(params=["none", "memory", "sqlite"])
def ledger(request: Any, tmp_path: Any) -> Any:
    kinds = {"memory": MemoryLedger, "sqlite": lambda: SqliteLedger(tmp_path / "ledger.db")}
    return kinds[request.param]() if request.param in kinds else None


# --- a call that is given once more --------------------------------------------------------------


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("call_id", ["c1", None])
def test_the_same_call_of_a_thread_is_answered_from_memory_and_says_so(ledger, saved, call_id):
    world = World()
    graph = world.graph(ledger=ledger, checkpointer=InMemorySaver() if saved else None)
    outs = [graph.invoke(call(call_id), on("t")) for _ in range(TIMES)]
    assert [out["result"] for out in outs] == [1] * TIMES
    assert [bool(out["trail"][-1].get("replayed")) for out in outs] == [False, True, True]
    if saved:
        travel(graph, on("t"))
    assert len(world.paid) == 1


def test_another_process_on_the_same_ledger_knows_it(tmp_path):
    world = World()
    for _ in range(TIMES):
        ledger = SqliteLedger(tmp_path / "ledger.db")
        assert world.graph(ledger=ledger).invoke(call(), on("t"))["result"] == 1
        ledger.close()


MEANT = [
    (call("c2"), on("t")),
    (call("c1", 6), on("t")),
    (call(), on("u")),
    (call(messages=[{"role": "ai", "content": "once more", "id": "m2"}]), on("t")),
    (call(messages=[{"role": "ai", "content": "once more"}]), on("t")),
]


@pytest.mark.parametrize(("given", "config"), MEANT)
def test_a_call_that_is_meant_anew_is_made(ledger, given, config):
    world = World()
    graph = world.graph(ledger=ledger)
    for each, place in ((call(), on("t")), (given, config), (call(), on("t")), (given, config)):
        assert graph.invoke(each, place)["result"]
    assert len(world.paid) == 2


def test_a_tool_that_reads_is_asked_again(ledger):
    world = World(effect="read_only")
    graph = world.graph(ledger=ledger)
    assert [graph.invoke(call(), on("t"))["result"] for _ in range(TIMES)] == [1, 2, 3]


def test_without_thread_and_task_two_runs_are_two_calls(ledger):
    world = World()
    graph = world.graph(ledger=ledger)
    assert [graph.invoke(call("call_0"))["result"] for _ in range(TIMES)] == [1, 2, 3]


# --- a person says again -------------------------------------------------------------------------


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("task", [{}, {"task_id": "job"}])
@pytest.mark.parametrize("call_id", ["c1", None])
def test_again_lifts_a_doubt_and_nothing_else(ledger, saved, task, call_id):
    world = World(losses=1)
    graph = world.graph(ledger=ledger, checkpointer=InMemorySaver() if saved else None)
    given = call(call_id, **task)
    assert graph.invoke(given, on("t"))["failure"]["reason"] == "unknown_outcome"
    for _ in range(TIMES):  # a double click
        assert resume(graph, given, on("t"), again=True)["result"] == 2
    assert graph.invoke(given, on("t"))["result"] == 2


def test_what_was_lifted_stays_unknown_for_itself(ledger):
    world = World(losses=1)
    graph = world.graph(ledger=ledger, checkpointer=InMemorySaver())
    graph.invoke(call("c1"), on("t"))
    assert resume(graph, call("c2"), on("t"), again=True)["result"] == 2
    assert graph.invoke(call("c1"), on("t"))["failure"]["reason"] == "unknown_outcome"
    assert graph.invoke(call("c3"), on("t"))["result"] == 3
    travel(graph, on("t"))
    assert len(world.paid) == 3


# --- in a graph of the user's --------------------------------------------------------------------


class Shop(TypedDict, total=False):
    call: Any
    result: Any
    failure: Any
    out: Annotated[list[Any], operator.add]


def shop(graph: Any, *, inside: bool, fails: int = 0, branches: int = 1, saved: bool = True) -> Any:
    """The loop as a node, or called in one that fails afterwards; in one branch or several."""
    tries: list[int] = []

    def pay(given: Shop) -> Shop:
        out = graph.invoke({"call": given["call"]})
        tries.append(1)
        if len(tries) <= fails:
            raise RuntimeError("the printer is out of paper")
        return {"out": [out["result"]]}

    builder = StateGraph(Shop)
    policy = RetryPolicy(max_attempts=9, initial_interval=0.001, retry_on=lambda _: True)
    builder.add_node("pay", pay if inside else graph, retry_policy=policy)
    sends = [Send("pay", call(None))] * branches
    builder.add_conditional_edges(START, lambda _: sends, ["pay"])
    builder.add_edge("pay", END)
    return builder.compile(checkpointer=InMemorySaver() if saved else None)


@pytest.mark.parametrize("saved", [True, False])
def test_a_retry_policy_around_a_call_that_was_made_pays_once(ledger, saved):
    world = World()
    host = shop(world.graph(ledger=ledger), inside=True, fails=2, saved=saved)
    for paid in (1, 1 if saved else 2):
        assert host.invoke({}, on("t") if saved else None)["out"][-1] == paid
    assert len(world.paid) == (1 if saved else 2)


@pytest.mark.parametrize("inside", [True, False])
def test_time_travel_and_forks_of_the_host_pay_once(ledger, inside):
    world = World()
    host = shop(world.graph(ledger=ledger), inside=inside)
    host.invoke({}, on("t"))
    travel(host, on("t"))
    past = next(each for each in host.get_state_history(on("t")) if each.next == ("pay",))
    host.invoke(None, host.update_state(past.config, {"out": [0]}, as_node="__start__"))
    assert len(world.paid) == 1


def test_branches_of_a_fan_out_are_told_apart_however_often_they_are_made(ledger):
    world = World()
    host = shop(world.graph(ledger=ledger), inside=True, fails=2, branches=TIMES)
    assert sorted(host.invoke({}, on("t"))["out"]) == [1, 2, 3]
    travel(host, on("t"))
    assert len(world.paid) == TIMES
    host.invoke({}, on("u"))
    assert len(world.paid) == 2 * TIMES


@pytest.mark.parametrize("ids", [("m1", "m2"), (None, None)])
@pytest.mark.parametrize("ledger", ["memory", "sqlite"], indirect=True)
def test_an_id_that_is_counted_anew_in_a_later_message_is_another_call(ledger, ids):
    class Said(TypedDict, total=False):
        messages: Annotated[list[Any], operator.add]

    world = World()
    builder = StateGraph(Said if ids[0] is None else MessagesState)
    builder.add_node("tools", world.node(ledger=ledger))
    builder.add_edge(START, "tools")
    host = builder.compile(checkpointer=InMemorySaver())
    made = {"name": "pay", "args": {"to": "ann", "amount": 5}, "id": "call_0"}
    for given in ids:
        messages = [HumanMessage("pay 5"), AIMessage("", tool_calls=[made], id=given)]
        host.invoke({"messages": messages}, on("t"))
        if given is not None:  # else LangGraph itself gives the message a new id
            travel(host, on("t"))
    assert len(world.paid) == len(ids)
