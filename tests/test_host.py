"""The loop inside its host: checkpoints, questions, nesting, logs."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any, TypedDict

import pytest
import structlog
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from selfcorrect import ToolSpec, build_graph

BROKEN = {"call": {"name": "book", "args": {"to": "CDG", "seats": "2.5"}}}


class World:
    """A tool whose effects are counted."""

    def __init__(self) -> None:
        self.booked: list[int] = []

    def book(self, to: str, seats: int) -> str:
        """Book seats."""
        self.booked.append(seats)
        return f"{seats} to {to}"

    def spec(self) -> ToolSpec:
        return ToolSpec.from_function(self.book, effect="mutating")


def thread(name: str = "t") -> Any:
    return {"configurable": {"thread_id": name}}


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (3, "3 to CDG"),
        ({"action": "answer", "value": 4}, "4 to CDG"),
        ({"action": "edit", "args": {"to": "LHR", "seats": 5}}, "5 to LHR"),
    ],
)
def test_a_person_answers_and_the_call_runs_once(answer: Any, result: str) -> None:
    world = World()
    graph = build_graph([world.spec()], checkpointer=InMemorySaver())
    asked = graph.invoke(BROKEN, thread())
    assert world.booked == []
    assert "seats" in asked["__interrupt__"][0].value["question"]
    out = graph.invoke(Command(resume=answer), thread())
    assert out["result"] == result
    assert len(world.booked) == 1


def test_a_rejected_call_is_reported_and_never_runs() -> None:
    world = World()
    graph = build_graph([world.spec()], checkpointer=InMemorySaver())
    graph.invoke(BROKEN, thread())
    out = graph.invoke(Command(resume={"action": "reject", "reason": "not today"}), thread())
    assert out["failure"]["reason"] == "rejected"
    assert "not today" in out["failure"]["detail"]
    assert world.booked == []


def test_an_invalid_answer_is_asked_about_again_within_the_bounds() -> None:
    world = World()
    graph = build_graph([world.spec()], checkpointer=InMemorySaver())
    out = graph.invoke(BROKEN, thread())
    answers = 0
    while "__interrupt__" in out:
        answers += 1
        assert answers < 20
        asked = out["__interrupt__"][0].value["id"]
        answer = {"action": "answer", "value": f"{answers}.5", "question": asked}
        out = graph.invoke(Command(resume=answer), thread())
    assert out["failure"]["reason"] in ("limit_reached", "no_strategy")
    assert world.booked == []


RESUME = """
    import sqlite3, sys
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.types import Command
    from selfcorrect import build_graph

    def book(to: str, seats: int) -> str:
        "Book seats."
        return f"{seats} to {to}"

    saver = SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False))
    graph = build_graph([book], checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    given = {"call": {"name": "book", "args": {"to": "CDG", "seats": "2.5"}}}
    out = graph.invoke(Command(resume=3) if sys.argv[2] == "resume" else given, config)
    print(out.get("result", "asked"))
"""


def test_a_question_outlives_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite", reason="needs the extra sqlite")
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
    told = [
        subprocess.run(
            [sys.executable, "-c", dedent(RESUME), str(tmp_path / "runs.sqlite"), what],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for what in ("start", "resume")
    ]
    assert told == ["asked", "3 to CDG"]


def test_every_state_is_plain_json_for_a_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    graph = build_graph([World().spec()], checkpointer=saver)
    graph.invoke(BROKEN, thread())
    graph.invoke(Command(resume=3), thread())
    kinds = {
        type(value) for state in graph.get_state_history(thread()) for value in walk(state.values)
    }
    assert kinds <= {dict, list, str, int, float, bool, type(None)}


def walk(value: Any) -> Any:
    yield value
    if isinstance(value, dict):
        for item in value.values():
            yield from walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from walk(item)


class Outer(TypedDict, total=False):
    call: Any
    result: Any
    failure: Any


def nested(world: World, saver: Any = None) -> Any:
    builder: Any = StateGraph(Outer)
    builder.add_node("fix", build_graph([world.spec()]))
    builder.add_edge(START, "fix")
    builder.add_edge("fix", END)
    return builder.compile(checkpointer=saver)


def test_nested_in_a_graph_without_a_checkpointer_nobody_is_asked() -> None:
    out = nested(World()).invoke(BROKEN, {"recursion_limit": 25})
    assert out["failure"]["reason"] == "needs_person"
    assert "seats" in out["failure"]["question"]["question"]


def test_nested_in_a_graph_with_a_checkpointer_a_person_is_asked() -> None:
    world = World()
    graph = nested(world, InMemorySaver())
    config = thread() | {"recursion_limit": 25}
    assert "seats" in graph.invoke(BROKEN, config)["__interrupt__"][0].value["question"]
    assert graph.invoke(Command(resume=4), config)["result"] == "4 to CDG"
    assert world.booked == [4]


def test_nothing_is_logged_or_printed_unasked(capfd: pytest.CaptureFixture[str]) -> None:
    build_graph([World().spec()]).invoke(BROKEN)
    assert capfd.readouterr() == ("", "")


def test_the_stdlib_logger_gets_one_event_per_node(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="selfcorrect")
    out = build_graph([World().spec()]).invoke(BROKEN)
    events = [record for record in caplog.records if record.levelno == logging.INFO]
    told = [record.getMessage().split()[0] for record in events]
    nodes = [f"selfcorrect.{event['node']}" for event in out["trail"]]
    assert [event for event in told if "undeclared" not in event] == nodes
    assert "2.5" not in caplog.text


def test_a_structlog_that_was_configured_gets_the_events() -> None:
    with structlog.testing.capture_logs() as events:
        structlog.configure(processors=structlog.get_config()["processors"])
        build_graph([World().spec()]).invoke(BROKEN)
    structlog.reset_defaults()
    assert "selfcorrect.diagnose" in [event["event"] for event in events]
