"""A call that was made is known again, by its origin, its id and what it asks; nothing else is."""

from __future__ import annotations

import operator
from contextlib import suppress
from threading import Thread
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, RetryPolicy, Send

from selfcorrect import ToolSpec, build_graph, resume
from selfcorrect.errors import AnsweredBefore
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.ledger import MemoryLedger, SqliteLedger
from selfcorrect.loop.asking import naming
from selfcorrect.loop.context import AGAIN

TIMES = 3


class World:
    """A tool that pays; its first answers are lost, as many as it is told."""

    def __init__(
        self, losses: int = 0, effect: str = "mutating", ending: type[BaseException] = TimeoutError
    ) -> None:
        self.ending = ending
        self.paid: list[tuple[str, int]] = []
        self.losses = losses
        self.effect: Any = effect

    def pay(self, to: str, amount: int) -> int:
        """Pay."""
        self.paid.append((to, amount))
        if len(self.paid) <= self.losses:
            raise self.ending("no answer")
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


def test_again_for_what_is_done_lifts_no_doubt_of_another_call(ledger):
    world = World()
    graph = world.graph(ledger=ledger)
    graph.invoke(call("c1"), on("t"))
    world.losses = 2
    assert graph.invoke(call("c2"), on("t"))["failure"]["reason"] == "unknown_outcome"
    assert resume(graph, call("c1"), on("t"), again=True)["result"] == 1
    assert graph.invoke(call("c3"), on("t"))["failure"]["reason"] == "unknown_outcome"
    assert len(world.paid) == 2


@pytest.mark.parametrize("verdict", ["again", "not-done"])
def test_what_a_person_settled_is_no_doubt_of_a_thread_that_was_told_of_it(tmp_path, verdict):
    world = World(losses=1, ending=KeyboardInterrupt)
    kept = SqliteLedger(tmp_path / "ledger.db")
    graph = world.graph(ledger=kept, checkpointer=InMemorySaver())
    with pytest.raises(KeyboardInterrupt):
        graph.invoke(call("c1"), on("t"))
    assert graph.invoke(call("c2"), on("t"))["failure"]["reason"] == "unknown_outcome"
    (doubt,) = kept.intents(in_doubt=True)
    kept.settle_doubt(doubt.key, verdict, "ann")
    assert graph.invoke(call("c3"), on("t"))["result"] == 2


@pytest.mark.parametrize("ending", [TimeoutError, KeyboardInterrupt])
def test_what_was_lifted_stays_unknown_for_itself(ledger, ending):
    world = World(losses=1, ending=ending)
    graph = world.graph(ledger=ledger, checkpointer=InMemorySaver())
    with suppress(KeyboardInterrupt):
        graph.invoke(call("c1"), on("t"))
    anew = {"configurable": {"thread_id": "t", AGAIN: True}}
    assert graph.invoke(call("c2"), anew)["result"] == 2
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


# --- a question has one answer -------------------------------------------------------------------


class Tips:
    """A tool with two arguments that a person is asked for."""

    def __init__(self, **options: Any) -> None:
        self.paid: list[tuple[int, int]] = []
        tool = ToolSpec.from_function(self.pay, effect="mutating")
        self.graph = build_graph([tool], checkpointer=InMemorySaver(), **options)

    def pay(self, cents: int, tip: int) -> str:
        """Pay."""
        self.paid.append((cents, tip))
        return f"{cents}+{tip}"

    def asks(self, **args: int) -> dict[str, Any]:
        return self.shown(self.graph.invoke({"call": {"name": "pay", "args": args}}, on("t")))

    def gets(self, answer: Any) -> dict[str, Any]:
        return self.shown(self.graph.invoke(Command(resume=answer), on("t")))

    def shown(self, out: dict[str, Any]) -> dict[str, Any]:
        return out["__interrupt__"][0].value if "__interrupt__" in out else out


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("by", [{}, {"by": "ann"}])
def test_a_double_click_answers_one_question(ledger, named, by):
    tips = Tips(ledger=ledger)
    first = tips.asks()
    answer = {"action": "answer", "value": 5, **by}
    answer |= {"question": first["id"]} if named else {}
    second = tips.gets(answer)
    assert second["path"] == "/args/tip"
    for _ in range(TIMES):
        told = tips.gets(answer)
        assert (told["id"], told["path"]) == (second["id"], "/args/tip")
        assert (first["id"] if named else "names no question") in told["problem"]
        assert ("ann" in told["problem"]) is bool(named and by)
    assert tips.paid == []
    out = tips.gets({"action": "answer", "value": 1, "question": second["id"]})
    assert (out["result"], tips.paid) == ("5+1", [(5, 1)])


def test_an_answer_that_cannot_be_used_leaves_the_question_open(ledger):
    tips = Tips(ledger=ledger)
    first = tips.asks(tip=1)
    again = tips.gets({"action": "answer"})
    assert again["id"] == first["id"]
    assert "no value" in again["problem"]
    assert tips.gets(5)["result"] == "5+1"


@pytest.mark.parametrize("race", range(4))
def test_of_two_who_answer_at_once_one_is_told_of_the_other(ledger, race):
    tips = Tips(ledger=ledger)
    tips.asks(tip=1)
    told: list[Any] = []

    def answers(value: int) -> None:
        try:
            told.append(tips.gets({"action": "answer", "value": value, "by": f"p{value}"}))
        except AnsweredBefore as error:
            told.append(error)

    people = [Thread(target=answers, args=(value,)) for value in (5, 6, 7)]
    for each in people:
        each.start()
    for each in people:
        each.join()
    (paid,) = tips.paid
    for each in told:  # who comes too late is told the result, who comes at once of the other
        assert f"by p{paid[0]}" in str(each) or each["result"] == f"{paid[0]}+1"
    del race


def test_the_stepper_and_a_terminal_name_the_question():
    question = {"id": "2.ab", "answers": [], "question": "how many?"}
    assert naming(5, question) == {"question": "2.ab", "action": "answer", "value": 5}
    assert naming({"action": "reject"}, question)["question"] == "2.ab"
    assert naming(None, question)["action"] == "reject"
    assert naming(5, {"id": "of another graph"}) == 5
