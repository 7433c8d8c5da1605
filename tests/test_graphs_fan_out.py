"""The graph `fan_out`: branches side by side, each with its own end, none done twice."""

from __future__ import annotations

import asyncio
import importlib.util
import threading
from pathlib import Path
from typing import Annotated

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import Field

from selfcorrect import ToolSpec
from selfcorrect.cli.show import verdict
from selfcorrect.mapping.strategy_map import StrategyMap

FILE = Path(__file__).parents[1] / "graphs" / "fan_out.py"
CONFIG = {"configurable": {"thread_id": "1"}}


def load():
    spec = importlib.util.spec_from_file_location("graph_under_test", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fan = load()
STRATEGIES = StrategyMap.load("default")


class Hotel:
    """Rooms that are booked for real, a tool that fails, and one that waits for two others."""

    def __init__(self):
        self.booked = []
        self.barrier = threading.Barrier(3)

    def tools(self):
        def book(name: str, guests: Annotated[int, Field(ge=1, le=8)]) -> str:
            """Book a room."""
            self.booked.append(name)
            return f"{name}: {guests}"

        def fail(text: str) -> str:
            """Fail."""
            raise RuntimeError(text)

        def meet() -> int:
            """Wait for two others."""
            return self.barrier.wait(20)

        return [
            ToolSpec.from_function(book, effect="mutating"),
            ToolSpec.from_function(fail, effect="read_only"),
            ToolSpec.from_function(meet, effect="read_only"),
        ]


def book(name, guests):
    return {"name": "book", "args": {"name": name, "guests": guests}}


@pytest.fixture
def hotel():
    return Hotel()


def made(hotel, **wiring):
    return fan.make_graph(STRATEGIES, over=hotel.tools(), **wiring)


@pytest.mark.parametrize("example", fan.examples(), ids=lambda example: example["title"])
def test_what_becomes_of_the_examples_is_what_they_say(example):
    assert verdict(fan.graph.invoke(example["input"])) == example["expect"]


def test_each_call_has_its_own_end_in_its_own_place(hotel):
    calls = [
        book("Ann", "2"),
        {"name": "fail", "args": {"text": "broken"}},
        {"call": book("Bob", 3), "request": "a room for Bob"},
        "{'name': 'book', 'arguments': {'name': 'Cleo', 'guests': 1,}}",
        {"name": "nothing_like_it", "args": {}},
        {"raw": "no call at all"},
    ]
    out = made(hotel).invoke({"calls": calls})
    results = [one.get("result") for one in out["result"]]
    assert results == ["Ann: 2", None, "Bob: 3", "Cleo: 1", None, None]
    assert all(one["failure"]["reason"] for one in out["result"] if "result" not in one)
    assert sorted(hotel.booked) == ["Ann", "Bob", "Cleo"]
    assert [event["step"] for event in out["trail"]] == list(range(len(out["trail"])))
    assert {event["call_number"] for event in out["trail"]} == set(range(6))


def test_the_branches_run_side_by_side(hotel):
    out = made(hotel).invoke({"calls": [{"name": "meet", "args": {}}] * 3})
    assert sorted(one["result"] for one in out["result"]) == [0, 1, 2]


def test_the_branches_run_side_by_side_when_awaited(hotel):
    out = asyncio.run(made(hotel).ainvoke({"calls": [{"name": "meet", "args": {}}] * 3}))
    assert sorted(one["result"] for one in out["result"]) == [0, 1, 2]


def test_a_question_of_one_holds_up_no_other_and_nothing_is_done_twice(hotel):
    graph = made(hotel, checkpointer=InMemorySaver())
    calls = [book("Ann", 2), book("Bob", "many"), book("Cleo", 1), book("Dan", "a few")]
    out = graph.invoke({"calls": calls}, CONFIG)
    assert sorted(hotel.booked) == ["Ann", "Cleo"]
    answers = {
        asked.id: {"action": "answer", "value": 4 if "many" in asked.value["question"] else 3}
        for asked in out["__interrupt__"]
    }
    assert len(answers) == 2
    out = graph.invoke(Command(resume=answers), CONFIG)
    results = [one.get("result") for one in out["result"]]
    assert results == ["Ann: 2", "Bob: 4", "Cleo: 1", "Dan: 3"]
    assert sorted(hotel.booked) == ["Ann", "Bob", "Cleo", "Dan"]


def test_a_thread_that_is_used_again_starts_anew(hotel):
    graph = made(hotel, checkpointer=InMemorySaver())
    graph.invoke({"calls": [book("Ann", 2), book("Bob", "many")]}, CONFIG)
    out = graph.invoke({"calls": [book("Cleo", 1)]}, CONFIG)
    assert out["result"] == [{"result": "Cleo: 1"}]


@pytest.mark.parametrize("item", [None, 7, [], ["book"], {}, {"call": None}, {"raw": 5}, "", "\0"])
def test_what_is_no_call_harms_no_other(hotel, item):
    out = made(hotel).invoke({"calls": [item, book("Ann", 2)]})
    assert "failure" in out["result"][0]
    assert out["result"][1] == {"result": "Ann: 2"}


def test_more_calls_than_are_taken_at_once_are_reported(hotel):
    calls = [book(str(n), 1) for n in range(fan.MOST_CALLS + 2)]
    out = made(hotel).invoke({"calls": calls})
    assert len(hotel.booked) == fan.MOST_CALLS
    reasons = [one["failure"]["reason"] for one in out["result"] if "failure" in one]
    assert reasons == ["limit_reached"] * 2


@pytest.mark.parametrize("given", [{}, {"calls": []}, {"calls": None}])
def test_no_calls_are_no_results(hotel, given):
    graph = made(hotel)
    if not given:
        given = {"result": []}  # LangGraph refuses an input without any key
    assert graph.invoke(given)["result"] == []
