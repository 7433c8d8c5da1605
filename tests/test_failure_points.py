"""Every point at which a model, a fixer or a person fails: the run ends, honest and bounded."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from textwrap import dedent
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import Escalation, Fix, HardFailure, Retry, ToolSpec, build_graph, on_error
from selfcorrect.report import REASONS
from selfcorrect.testing import ScriptedModel, tool_call

BROKEN = {"call": {"name": "book", "args": {"to": "CDG", "cabin": "comfy"}}, "request": "for two"}
ENDINGS = ("invalid_input", "no_strategy", "needs_person", "limit_reached", "no_call")
GOOD = {"seats": 2, "cabin": "business"}
SCHEMA = {
    "name": "book",
    "description": "Book seats.",
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "seats": {"type": "integer", "minimum": 1},
            "cabin": {"enum": ["economy", "business"]},
        },
        "required": ["to", "seats", "cabin"],
    },
}


class World:
    """A tool that writes down what reached it."""

    def __init__(self, error: Exception | None = None) -> None:
        self.booked: list[dict[str, Any]] = []
        self.error = error

    def book(self, **args: Any) -> str:
        self.booked.append(args)
        if self.error is not None:
            raise self.error
        return "booked"

    def spec(self, handler: Any = None, effect: Any = "mutating") -> ToolSpec:
        return ToolSpec.from_schema(SCHEMA, call=self.book, effect=effect, on_error=handler)


def check(out: dict[str, Any], world: World, most_model_calls: int = 4) -> dict[str, Any]:
    """What holds for every ending; the report, or an empty one."""
    assert ("result" in out) != ("failure" in out)
    tool = world.spec()
    assert all(tool.is_valid(args) for args in world.booked)
    assert len(world.booked) <= 1
    paid = sum(event.get("model_calls", 0) for event in out["trail"])
    assert paid <= most_model_calls
    failure = out.get("failure") or {}
    if failure:
        assert failure["reason"] in REASONS
        assert failure["detail"]
        assert failure["for_model"]
        assert failure["counts"].get("model_calls", 0) == paid
    return failure


MODELS: dict[str, list[Any]] = {
    "raises": [RuntimeError("down")] * 9,
    "times out": [TimeoutError("late")] * 9,
    "loses the connection": [ConnectionError("reset")] * 9,
    "answers prose": ["Sure! You should fly business."] * 9,
    "answers nothing": [""] * 9,
    "refuses": ["I cannot help with that."] * 9,
    "answers another tool's call": [tool_call("cancel", booking="all")] * 9,
    "answers too much": [{**GOOD, "to": "LHR"}] * 9,
    "answers too little": [{"seats": 2}] * 9,
    "answers what does not fit": [{"seats": "some", "cabin": "luxury"}] * 9,
    "repeats what failed": [{"seats": 2, "cabin": "comfy"}] * 9,
    "answers hugely": ["x" * 1_000_000, '{"seats": ' + "9" * 100_000 + "}"] * 5,
    "answers deeply": ["[" * 200_000, '{"seats": ' * 50_000] * 5,
    "answers half an object": ['{"seats": 2, "cabin": "busi'] * 9,
    "answers a list": [[GOOD]] * 9,
    "does not know": [{"unknown": True}] * 9,
    "answers with a secret's place": [{"seats": 2, "cabin": "[secret]"}] * 9,
    "tells odd numbers of tokens": [{"unknown": True}] * 9,
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("person", [False, True], ids=["alone", "with a person"])
def test_a_model_that_fails(kind, person):
    world = World()
    model = ScriptedModel(MODELS[kind])
    saver = InMemorySaver() if person else None
    graph = build_graph([world.spec()], model=model, checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    out = graph.invoke(BROKEN, config)
    if not person:
        assert check(out, world)["reason"] in ("needs_person", "no_strategy")
        assert world.booked == []
        return
    paid = len(model.prompts)
    while "__interrupt__" in out:
        answer = {"action": "edit", "args": {"to": "CDG", **GOOD}}
        out = graph.invoke(Command(resume=answer), config)
    check(out, world)
    assert (out["result"], world.booked) == ("booked", [{"to": "CDG", **GOOD}])
    assert len(model.prompts) == paid  # what was paid for is not paid for again


def test_a_model_that_never_answers_is_not_waited_for():
    import threading

    world, go = World(), threading.Event()

    def hang(messages):
        go.wait(20)
        return GOOD

    model = ScriptedModel([hang] * 9)
    graph = build_graph([world.spec()], model=model, limits={"seconds": 0.3})
    try:
        failure = check(graph.invoke(BROKEN), world)
    finally:
        go.set()
    assert failure["reason"] in ("limit_reached", "needs_person", "no_strategy")


@pytest.mark.parametrize("kind", MODELS)
def test_a_planning_model_that_fails(kind):
    world = World()
    out = build_graph([world.spec()], model=ScriptedModel(MODELS[kind])).invoke({"request": "fly"})
    assert check(out, world)["reason"] in ENDINGS
    assert world.booked == []


FIXERS: dict[str, tuple[Any, str]] = {
    "raises": (OSError("broke"), "attempts_exhausted"),
    "escalates": (Escalation("seats is missing", "low"), "escalated"),
    "gives up for good": (HardFailure("nothing helps"), "terminal_kind"),
    "answers nothing": (None, "attempts_exhausted"),
    "runs out of budget": ("model", "attempts_exhausted"),
}


@pytest.mark.parametrize("kind", FIXERS)
def test_a_fixer_that_fails_after_the_tool_failed(kind):
    answer, reason = FIXERS[kind]

    def fixer(request):
        if isinstance(answer, Exception):
            raise answer
        return answer

    used = ScriptedModel([RuntimeError("down")] * 20) if answer == "model" else fixer
    world = World(error=ValueError("no seats"))
    handler = on_error(execution_error=lambda error: Fix(used, 7))
    graph = build_graph([world.spec(handler)], limits={"model_calls": 3})
    out = graph.invoke({"call": {"name": "book", "args": {"to": "CDG", **GOOD}}})
    assert check(out, world)["reason"] == reason


@pytest.mark.parametrize("answer", ["nonsense", 5, [], {}, {"seats": "x"}, {"wings": 2}, None])
def test_a_fixer_of_arguments_that_answers_nonsense(answer):
    world, asked = World(), []

    def fixer(request):
        asked.append(1)
        return answer

    handler = on_error(invalid_args=Fix(fixer, 3))
    out = build_graph([world.spec(handler)]).invoke(BROKEN)
    assert check(out, world)["reason"] in ("needs_person", "no_strategy", "limit_reached")
    assert len(asked) <= 4


PEOPLE: dict[str, tuple[list[Any], str | None]] = {
    "rejects": ([{"action": "reject", "reason": "no"}], "rejected"),
    "says no in another way": ([{"type": "reject"}], "rejected"),
    "edits into something invalid, for ever": ([{"action": "edit", "args": {"to": 5}}] * 40, "*"),
    "answers beside the point, for ever": ([{"action": "fly"}] * 40, "*"),
    "answers what does not fit, for ever": ([{"action": "answer", "value": "x"}] * 40, "*"),
    "approves what was never proposed": ([{"action": "approve"}] * 40, "*"),
    "chooses what was never offered": ([{"action": "choose", "choice": 99}] * 40, "*"),
    "edits hugely": ([{"action": "edit", "args": {"to": "x" * 1_000_000}}] * 40, "*"),
    "edits well": ([{"action": "edit", "args": {"to": "CDG", **GOOD}}], None),
}


@pytest.mark.parametrize("kind", PEOPLE)
def test_a_person_who_fails(kind):
    answers, reason = PEOPLE[kind]
    world = World()
    graph = build_graph([world.spec()], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    out, given = graph.invoke(BROKEN, config), list(answers)
    while "__interrupt__" in out:
        assert given, "asked for ever"
        out = graph.invoke(Command(resume=given.pop(0)), config)
    failure = check(out, world)
    if reason is None:
        assert out["result"] == "booked"
        return
    assert world.booked == []
    assert failure["reason"] == reason or reason == "*"
    if reason == "*":
        assert failure["reason"] in ("limit_reached", "no_strategy", "needs_person")


def test_a_person_who_never_answers_leaves_a_run_that_can_go_on():
    world = World()
    graph = build_graph([world.spec()], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    assert "__interrupt__" in graph.invoke(BROKEN, config)
    assert graph.get_state(config).next == ("repair",)
    out = graph.invoke(Command(resume={"action": "edit", "args": {"to": "CDG", **GOOD}}), config)
    assert check(out, world) == {}


OTHER_PROCESS = """
    import sqlite3, sys
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.types import Command
    from selfcorrect import ToolSpec, build_graph
    from selfcorrect.testing import ScriptedModel

    booked = []

    def book(to: str, seats: int) -> str:
        "Book seats."
        booked.append(seats)
        return f"{seats} to {to}"

    where, what = sys.argv[1:]
    saver = SqliteSaver(sqlite3.connect(where, check_same_thread=False))
    # The model answers once, in the process that starts; a second call would raise.
    model = ScriptedModel([{"unknown": True}] if what == "start" else [])
    graph = build_graph([ToolSpec.from_function(book)], model=model, checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    given = {"call": {"name": "book", "args": {"to": "CDG", "seats": "2.5"}}, "request": "book"}
    out = graph.invoke(Command(resume=3) if what == "resume" else given, config)
    print(out.get("result", "asked"), len(model.prompts), booked)
"""


def test_resumed_in_another_process_nothing_is_paid_twice(tmp_path, monkeypatch):
    pytest.importorskip("langgraph.checkpoint.sqlite", reason="needs the extra sqlite")
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
    told = []
    for what in ("start", "resume"):
        done = subprocess.run(
            [sys.executable, "-c", dedent(OTHER_PROCESS), str(tmp_path / "runs.db"), what],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2_000:]
        told.append(done.stdout.strip())
    assert told == ["asked 1 []", "3 to CDG 0 [3]"]


def test_resumed_from_postgres_nothing_is_paid_twice(postgres):
    saving = pytest.importorskip("langgraph.checkpoint.postgres", reason="needs its checkpointer")
    world, paid, out = World(), [], {}
    for given in (BROKEN, Command(resume={"action": "edit", "args": {"to": "CDG", **GOOD}})):
        model = ScriptedModel([{"unknown": True}] * 2 if given is BROKEN else [])
        with saving.PostgresSaver.from_conn_string(postgres) as saver:
            saver.setup()
            graph = build_graph([world.spec()], model=model, checkpointer=saver)
            out = graph.invoke(given, {"configurable": {"thread_id": "t"}})
        paid.append(len(model.prompts))
        assert ("__interrupt__" in out) == (given is BROKEN)
    assert (out["result"], world.booked) == ("booked", [{"to": "CDG", **GOOD}])
    assert paid[1] == 0


class TestPrice:
    """One model call for a call that only a model can mend, none where rules suffice."""

    @pytest.mark.parametrize(
        ("args", "answer"),
        [
            ({"to": "CDG", "cabin": "business"}, {"seats": 2}),
            ({"to": "CDG", "cabin": "comfy", "seats": 2}, {"cabin": "business"}),
            ({"to": "CDG", "cabin": "comfy"}, GOOD),
            ({"cabin": "comfy"}, {**GOOD, "to": "CDG"}),
        ],
    )
    def test_one_model_call(self, args, answer):
        world, model = World(), ScriptedModel([answer])
        given = {"call": {"name": "book", "args": args}, "request": "to CDG for two, in comfort"}
        out = build_graph([world.spec()], model=model).invoke(given)
        assert check(out, world, 1) == {}
        assert world.booked == [{"to": "CDG", **GOOD}]

    @pytest.mark.parametrize(
        "args",
        [
            {"to": "CDG", "seats": "2", "cabin": "business"},
            {"to": "CDG", "seats": 2, "cabin": " Business"},
            {"arguments": {"to": "CDG", "seats": 2, "cabin": "business"}},
            {"TO": "CDG", "Seats": "2", "cabin": "business class"},
        ],
    )
    def test_no_model_call_where_rules_suffice(self, args):
        world, model = World(), ScriptedModel([])
        out = build_graph([world.spec()], model=model).invoke(
            {"call": {"name": "book", "args": args}, "request": "two"}
        )
        assert check(out, world, 0) == {}

    def test_none_where_policy_would_refuse_the_answer(self):
        world, model = World(), ScriptedModel([])
        out = build_graph([world.spec(effect="destructive")], model=model).invoke(BROKEN)
        assert check(out, world, 0)["reason"] == "needs_person"

    def test_async_is_the_same(self):
        world, model = World(), ScriptedModel([GOOD])
        out = asyncio.run(build_graph([world.spec()], model=model).ainvoke(BROKEN))
        assert check(out, world, 1) == {}


def test_a_handlers_retry_never_repeats_what_may_have_happened():
    world = World(error=TimeoutError("late"))
    handler = on_error(execution_error=Retry(9))
    out = build_graph([world.spec(handler)]).invoke(
        {"call": {"name": "book", "args": {"to": "CDG", **GOOD}}}
    )
    assert check(out, world)["reason"] == "unknown_outcome"
    assert len(world.booked) == 1
