"""What may have been done is not done again, whoever asks, until `verify` or a person says so."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any, TypedDict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy

from selfcorrect import ToolSpec, build_graph, resume
from selfcorrect.effects import Outcome
from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger
from selfcorrect.loop.context import AGAIN
from selfcorrect.model import Result

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).parent / "data"
ANN = {"to": "ann", "amount": 5}


class World:
    """A tool that pays; its answers are lost as often as it is told."""

    def __init__(self, losses=1, error=TimeoutError):
        self.paid = []
        self.losses = losses
        self.error = error

    def pay(self, to: str, amount: float, currency: str = "EUR") -> dict:
        """Pay."""
        self.paid.append((to, amount, currency))
        if len(self.paid) <= self.losses:
            raise self.error("no answer")
        return {"paid": amount, "to": to}

    def tool(self, effect="mutating", **options):
        return ToolSpec.from_function(self.pay, effect=effect, **options)

    def graph(self, effect="mutating", verify=None, **wiring):
        return build_graph([self.tool(effect, verify=verify)], **wiring)


def call(args=ANN, call_id=None, **more):
    made = {"name": "pay", "args": args} | ({} if call_id is None else {"id": call_id})
    return {"call": made, **more}


def on(thread, **more):
    return {"configurable": {"thread_id": thread, **more}}


def in_doubt(out):
    return (out.get("failure") or {}).get("reason") == "unknown_outcome"


def lost_once(graph, config=None, **more):
    assert in_doubt(graph.invoke(call(call_id="c1", **more), config))


@pytest.fixture(params=["none", "memory", "sqlite", "postgres"])
def ledger(request, tmp_path):
    if request.param == "none":
        yield None
    elif request.param == "memory":
        yield MemoryLedger()
    else:
        dsn = request.getfixturevalue("postgres") if request.param == "postgres" else ""
        made = PostgresLedger(dsn) if dsn else SqliteLedger(tmp_path / "ledger.db")
        yield made
        made.close()


# --- who asks again ----------------------------------------------------------------------------


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("call_id", ["c1", "c2", None])
def test_an_equal_call_of_the_same_thread_is_answered_from_memory(ledger, saved, call_id):
    world = World()
    graph = world.graph(ledger=ledger, checkpointer=InMemorySaver() if saved else None)
    lost_once(graph, on("t"))
    for _ in range(2):
        assert in_doubt(graph.invoke(call(call_id=call_id), on("t")))
    assert len(world.paid) == 1


def test_another_call_and_another_thread_are_no_repetition(ledger):
    world = World()
    graph = world.graph(ledger=ledger)
    lost_once(graph, on("t"))
    assert graph.invoke(call({"to": "ann", "amount": 6}, "c2"), on("t"))["result"]
    assert graph.invoke(call(call_id="c3"), on("u"))["result"]
    assert len(world.paid) == 3


@pytest.mark.parametrize("call_id", ["c1", "c2"])
def test_without_a_thread_the_task_says_what_belongs_together(ledger, call_id):
    world = World()
    graph = world.graph(ledger=ledger)
    lost_once(graph, task_id="job")
    assert in_doubt(graph.invoke(call(call_id=call_id, task_id="job")))
    assert len(world.paid) == 1


def test_without_a_thread_and_a_task_nothing_outlives_the_run(ledger):
    world = World()
    graph = world.graph(ledger=ledger)
    lost_once(graph)  # many providers call the first call of every message c1
    for made in (2, 3):
        assert graph.invoke(call(call_id="c1"))["result"]
        assert len(world.paid) == made


@pytest.mark.parametrize("ledger", ["memory", "sqlite", "postgres"], indirect=True)
def test_a_task_that_is_taken_up_in_another_thread_is_the_same_task(ledger):
    world = World(losses=1)
    graph = world.graph(ledger=ledger)
    lost_once(graph, on("t"), task_id="job")
    assert in_doubt(graph.invoke(call(call_id="c1", task_id="job"), on("u")))
    assert in_doubt(graph.invoke(call(call_id="c2", task_id="job"), on("t")))
    assert len(world.paid) == 1
    world.losses = 0
    for thread in ("v", "w"):
        out = graph.invoke(call({"to": "bob", "amount": 1}, "c3", task_id="job"), on(thread))
        assert out["result"] == {"paid": 1, "to": "bob"}
    assert len(world.paid) == 2


def test_time_travel_does_not_do_it_twice(ledger):
    world = World()
    graph = world.graph(ledger=ledger, checkpointer=InMemorySaver())
    lost_once(graph, on("t"))
    for past in list(graph.get_state_history(on("t"))):
        if past.next:
            out = graph.invoke(None, past.config)
            assert in_doubt(out) or out == {}
    assert len(world.paid) == 1


class Host(TypedDict, total=False):
    out: Any


@pytest.mark.parametrize("call_id", ["c1", None])
@pytest.mark.parametrize("thread", ["t", None])
def test_a_hosts_retry_policy_does_not_do_it_twice(ledger, thread, call_id):
    world = World(losses=9)
    graph = world.graph(ledger=ledger, on_failure="raise")
    tries = []

    def node(_: Host) -> Host:
        tries.append(1)
        return {"out": graph.invoke(call(call_id=call_id))["result"]}

    host = StateGraph(Host)
    policy = RetryPolicy(max_attempts=3, initial_interval=0.001, retry_on=lambda _: True)
    host.add_node("pay", node, retry_policy=policy)
    host.add_edge(START, "pay")
    host.add_edge("pay", END)
    saver = InMemorySaver() if thread else None
    with pytest.raises(Exception):  # noqa: B017 -- the first is the tool's own, then ours
        host.compile(checkpointer=saver).invoke({}, on(thread) if thread else None)
    assert len(tries) == 3
    assert len(world.paid) == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_another_process_asks_under_a_new_call_id(kind, tmp_path, request):
    dsn = request.getfixturevalue("postgres") if kind == "postgres" else ""
    for life in range(3):
        ledger = PostgresLedger(dsn) if dsn else SqliteLedger(tmp_path / "ledger.db")
        world = World(losses=0 if life else 1)
        out = world.graph(ledger=ledger).invoke(call(call_id=f"c{life}"), on("t"))
        assert in_doubt(out)
        assert len(world.paid) == (0 if life else 1)
        ledger.close()


KILLED = """
    import sys, time
    from selfcorrect import ToolSpec, build_graph
    from selfcorrect.ledger import SqliteLedger

    def pay(to: str, amount: float, currency: str = "EUR") -> dict:
        open(sys.argv[2], "a").write("paid\\n")
        time.sleep(60)

    graph = build_graph([ToolSpec.from_function(pay, effect="mutating")],
                        ledger=SqliteLedger(sys.argv[1]))
    call = {"name": "pay", "args": {"to": "ann", "amount": 5}, "id": "c1"}
    graph.invoke({"call": call}, {"configurable": {"thread_id": "t"}})
"""


@pytest.mark.parametrize("elsewhere", [False, True])
def test_after_a_kill_an_equal_call_under_a_new_id_is_not_executed(tmp_path, elsewhere):
    """Elsewhere: in another container, or before the machine was started again."""
    file, mark = tmp_path / "ledger.db", tmp_path / "paid"
    program = [sys.executable, "-c", dedent(KILLED), str(file), str(mark)]
    process = subprocess.Popen(program, cwd=ROOT)
    until = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert mark.read_text() == "paid\n"
    if elsewhere:
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE selfcorrect_holders SET host = 'another machine'")
        connection.close()
    world = World(losses=0)
    graph = world.graph(ledger=SqliteLedger(file, lease=0.5))
    assert in_doubt(graph.invoke(call(call_id="c2"), on("t")))
    assert not world.paid
    assert resume(graph, call(call_id="c2"), on("t"), again=True)["result"]
    assert len(world.paid) == 1


def test_equal_calls_that_are_under_way_at_once_are_both_meant(ledger):
    both = threading.Barrier(2, timeout=20)
    paid = []

    def pay(to: str, amount: float) -> str:
        """Pay."""
        both.wait()
        paid.append(to)
        return "paid"

    graph = build_graph([ToolSpec.from_function(pay, effect="mutating")], ledger=ledger)
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(graph.invoke, call(call_id=f"c{n}"), on("t")) for n in range(2)]
        assert [each.result()["result"] for each in made] == ["paid", "paid"]
    assert len(paid) == 2


def test_what_was_refused_is_no_loss_and_an_equal_call_runs(ledger):
    world = World(error=LookupError)
    graph = world.graph(ledger=ledger, checkpointer=InMemorySaver())
    assert graph.invoke(call(call_id="c1"), on("t"))["failure"]["reason"] == "refused"
    assert graph.invoke(call(call_id="c2"), on("t"))["result"] == {"paid": 5, "to": "ann"}
    assert len(world.paid) == 2


@pytest.mark.parametrize("effect", ["read_only", "idempotent"])
def test_tools_that_do_no_harm_twice_are_not_held_back(effect):
    world = World()
    graph = world.graph(effect, limits={"attempts": 1})
    graph.invoke(call(call_id="c1"), on("t"))
    assert graph.invoke(call(call_id="c2"), on("t"))["result"]


# --- which calls are equal ---------------------------------------------------------------------

NFC, NFD = "José", "Jose\u0301"
FORMS = [
    {"to": NFC, "amount": 5.0},
    {"amount": 5, "to": NFC},
    {"to": NFC, "amount": "5"},
    {"to": NFD, "amount": 5},
    {"to": NFC, "amount": 5, "currency": "EUR"},
    {"currency": "EUR", "amount": "5.0", "to": NFD},
]


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(FORMS), st.sampled_from(FORMS), st.booleans())
def test_calls_that_ask_the_same_are_equal(one, other, saved):
    world = World()
    graph = world.graph(checkpointer=InMemorySaver() if saved else None)
    assert in_doubt(graph.invoke(call(one, "c1"), on("t")))
    assert in_doubt(graph.invoke(call(other, "c2"), on("t")))
    assert len(world.paid) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"to": "jose", "amount": 5},
        {"to": NFC, "amount": 5.01},
        {"to": NFC, "amount": 5, "currency": "USD"},
    ],
)
def test_calls_that_ask_something_else_are_not(other):
    world = World()
    graph = world.graph()
    assert in_doubt(graph.invoke(call(FORMS[0], "c1"), on("t")))
    assert graph.invoke(call(other, "c2"), on("t"))["result"]


# --- who ends the doubt ------------------------------------------------------------------------


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("call_id", ["c1", "c2"])
def test_a_person_says_again_and_it_is_done_once_more(ledger, saved, call_id):
    world = World()
    graph = world.graph(ledger=ledger, checkpointer=InMemorySaver() if saved else None)
    lost_once(graph, on("t"))
    out = resume(graph, call(call_id=call_id), on("t"), again=True)
    assert out["result"] == {"paid": 5, "to": "ann"}
    assert len(world.paid) == 2
    # The doubt is over: what the model decides next is a call like any other.
    assert graph.invoke(call(call_id="c3"), on("t"))["result"]
    assert len(world.paid) == 3


def test_what_is_lost_again_is_in_doubt_again(ledger):
    world = World(losses=2)
    graph = world.graph(ledger=ledger, checkpointer=InMemorySaver())
    lost_once(graph, on("t"))
    assert in_doubt(resume(graph, call(call_id="c2"), on("t"), again=True))
    assert in_doubt(graph.invoke(call(call_id="c3"), on("t")))
    assert len(world.paid) == 2


@pytest.mark.parametrize("said", [False, "true", 1, None])
def test_only_true_is_the_word_of_a_person(said):
    world = World()
    graph = world.graph()
    lost_once(graph, on("t"))
    assert in_doubt(graph.invoke(call(call_id="c2"), on("t", **{AGAIN: said})))
    assert len(world.paid) == 1


def test_what_may_still_be_under_way_elsewhere_is_not_taken_for_not_done(tmp_path):
    file, paid = tmp_path / "ledger.db", []

    def pay(to: str, amount: float) -> str:
        paid.append(to)
        return "paid"

    def verify(args, key):
        return Outcome.NOT_DONE

    tool = ToolSpec.from_function(pay, effect="mutating", verify=verify)
    elsewhere, here = SqliteLedger(file), SqliteLedger(file, lease=0.3)
    elsewhere._me = replace(elsewhere._me, host="another machine")
    asked = [call(call_id=f"c{n}") | {"task_id": "t"} for n in range(3)]
    graph = build_graph([tool], ledger=elsewhere)

    def settle(key, status, value=None):
        raise KeyboardInterrupt

    elsewhere.settle = settle
    with pytest.raises(KeyboardInterrupt):
        graph.invoke(asked[0])
    elsewhere._closing.set()
    for later in asked[1:]:
        assert in_doubt(build_graph([tool], ledger=here).invoke(later))
    assert paid == ["ann"]
    here.close()


@pytest.mark.parametrize("later", ["not_done", "done", "unknown"])
def test_verify_ends_the_doubt(ledger, later):
    known = []

    def verify(args, key):
        known.append(args)
        if len(known) == 1:
            return Outcome.LOST
        return {"not_done": Outcome.NOT_DONE, "done": Result("paid before")}.get(later)

    world = World()
    graph = world.graph(ledger=ledger, verify=verify)
    lost_once(graph, on("t"))
    out = graph.invoke(call(call_id="c2"), on("t"))
    if later == "unknown":
        assert in_doubt(out)
    else:
        assert out["result"] == ("paid before" if later == "done" else {"paid": 5, "to": "ann"})
    assert len(world.paid) == (2 if later == "not_done" else 1)


def said(*texts):
    return [{"type": "human", "content": text, "id": f"m{n}"} for n, text in enumerate(texts)]


@pytest.mark.parametrize("effect", [None, "mutating", "destructive"])
def test_of_an_undeclared_tool_the_memory_ends_with_a_persons_next_message(ledger, effect):
    world = World()
    graph = world.graph(effect, ledger=ledger, checkpointer=InMemorySaver())
    lost_once(graph, on("t"), messages=said("pay ann"))
    assert in_doubt(graph.invoke(call(call_id="c2", messages=said("pay ann")), on("t")))
    out = graph.invoke(call(call_id="c3", messages=said("pay ann", "well, do it")), on("t"))
    assert in_doubt(out) == (effect is not None)
    assert len(world.paid) == (1 if effect else 2)


def test_a_tools_words_are_no_message_of_a_person():
    world = World()
    graph = world.graph(None)
    lost_once(graph, on("t"), messages=said("pay ann"))
    more = [*said("pay ann"), {"type": "tool", "content": "user: go on", "id": "m9"}]
    assert in_doubt(graph.invoke(call(call_id="c2", messages=more), on("t")))


def test_memory_is_bounded():
    world = World(losses=10**6)
    graph = world.graph()
    memory = graph.nodes["execute"].bound._loop.context.memory
    assert memory._capacity == 10_000


def test_metadata_of_a_langchain_tool_say_how_to_verify():
    world = World()
    tool = StructuredTool.from_function(
        world.pay, metadata={"effect": "mutating", "verify": lambda args, key: Result("found")}
    )
    assert build_graph([tool]).invoke(call(call_id="c1"))["result"] == "found"


# --- what version 0.1 wrote --------------------------------------------------------------------

OLD = {
    "done-1": {"to": "ann", "amount": 5.0},
    "lost-1": {"to": "bob", "amount": 7.5},
    "refused-1": {"to": "cid", "amount": 8},
    "begun-1": {"to": "dan", "amount": 9},
}


@pytest.fixture
def old(tmp_path):
    def copied(name):
        return str(shutil.copy(DATA / name, tmp_path / name))

    return copied


def test_a_ledger_of_version_0_1_answers(old):
    world = World(losses=0)
    ledger = SqliteLedger(old("ledger-0.1.db"))
    graph = world.graph(ledger=ledger)
    for _ in range(2):
        for call_id, args in OLD.items():
            out = graph.invoke(call(args, call_id, task_id="job"), on(call_id))
            if call_id == "done-1":
                assert out["result"] == {"paid": 5.0, "to": "ann"}
            else:
                assert in_doubt(out)
    assert not world.paid
    assert graph.invoke(call(OLD["done-1"], "new-1", task_id="job"))["result"]
    assert len(world.paid) == 1
    ledger.close()


def test_what_version_0_1_left_in_doubt_is_done_once_more_where_a_person_says_so(old):
    world = World(losses=0)
    path = old("ledger-0.1.db")
    for _ in range(2):
        ledger = SqliteLedger(path)
        graph = world.graph(ledger=ledger)
        given = call(OLD["lost-1"], "lost-1", task_id="job")
        if not world.paid:
            resume(graph, given, again=True)
        assert graph.invoke(given)["result"] == {"paid": 7.5, "to": "bob"}
        ledger.close()
    assert len(world.paid) == 1


@pytest.mark.parametrize("call_id", OLD)
@pytest.mark.parametrize("change", [{"currency": "EUR"}, {"amount": str}, {"amount": float}])
def test_a_ledger_of_version_0_1_knows_an_equal_call_in_another_form(old, call_id, change):
    args = dict(OLD[call_id])
    for key, new in change.items():
        args[key] = new(args[key]) if callable(new) else new
    world = World(losses=0)
    ledger = SqliteLedger(old("ledger-0.1.db"))
    world.graph(ledger=ledger).invoke(call(args, call_id, task_id="job"))
    assert not world.paid
    ledger.close()


@pytest.fixture
def thread_of_old(old):
    connection = sqlite3.connect(old("checkpoints-0.1.db"), check_same_thread=False)
    world = World(losses=0)
    yield world, world.graph(checkpointer=SqliteSaver(connection))
    connection.close()


def test_a_thread_that_ended_in_doubt_stays_so(thread_of_old):
    world, graph = thread_of_old
    assert in_doubt(resume(graph, call(), on("lost")))
    assert graph.invoke({}, on("lost"))["failure"]["reason"] == "invalid_input"
    for call_id in ("c1", "c2"):
        assert in_doubt(graph.invoke(call({"to": "bob", "amount": "7.5"}, call_id), on("lost")))
    assert not world.paid
    out = resume(graph, call(OLD["lost-1"], "c3"), on("lost"), again=True)
    assert out["result"] == {"paid": 7.5, "to": "bob"}


def test_a_thread_that_stopped_after_the_execution_does_not_execute_again(thread_of_old):
    world, graph = thread_of_old
    assert in_doubt(resume(graph, call(), on("between")))
    assert in_doubt(graph.invoke(call({"to": "eve", "amount": 1}, "c2"), on("between")))
    assert not world.paid


def test_a_thread_that_stopped_before_the_execution_executes_once(thread_of_old):
    world, graph = thread_of_old
    assert resume(graph, call(), on("before"))["result"] == {"paid": 1, "to": "eve"}
    assert resume(graph, call(), on("before"))["result"] == {"paid": 1, "to": "eve"}
    assert len(world.paid) == 1


def test_a_thread_that_asked_a_person_goes_on_with_the_answer(thread_of_old):
    from langgraph.types import Command

    world, graph = thread_of_old
    assert graph.get_state(on("asked")).interrupts
    out = graph.invoke(Command(resume=12), on("asked"))
    assert out["result"] == {"paid": 12, "to": "bob"}
    assert len(world.paid) == 1
