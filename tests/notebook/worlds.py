"""Graphs to step through: tools that count what they did, and graphs that are not ours."""

from __future__ import annotations

import operator
import threading
from functools import cache
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt

from selfcorrect import ErrorRule, StrategyMap, ToolSpec, build_graph

BROKEN = {"name": "book", "args": {"to": "CDG", "day": "Oct 26, 2026", "seats": "two"}}


class World:
    """Tools whose effects are counted."""

    def __init__(self, error: Exception | None = None) -> None:
        self.booked: list[dict[str, Any]] = []
        self.searched = 0
        self.error = error

    def book(self, to: str, day: Annotated[str, "date"], seats: int) -> str:
        """Book seats."""
        self.booked.append({"to": to, "day": day, "seats": seats})
        if self.error is not None:
            raise self.error
        return f"{seats} to {to} on {day}"

    def search(self, to: str, limit: int = 3) -> str:
        """Search flights."""
        self.searched += 1
        return f"{limit} flights to {to}"

    def graph(self, **wiring: Any) -> Any:
        book = ToolSpec.from_schema(
            {
                "name": "book",
                "description": "Book seats.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "to": {"type": "string"},
                        "day": {"type": "string", "format": "date"},
                        "seats": {"type": "integer", "minimum": 1},
                        "password": {"type": "string"},
                    },
                    "required": ["to", "day", "seats"],
                },
            },
            call=lambda to, day, seats, password="": self.book(to, day, seats),
            effect="mutating",
        )
        search = ToolSpec.from_function(self.search, effect="read_only")
        return build_graph([book, search], **{"strategies": default_map(), **wiring})


@cache
def default_map() -> StrategyMap:
    """The default map, read once."""
    return StrategyMap.load("default")


def matching_map() -> StrategyMap:
    """A map with one rule whose pattern has named groups."""
    return StrategyMap(
        [
            ErrorRule(
                id="no-flight",
                match=r"no flight to (?P<place>[A-Z]{3}) on (?P<got>\d{4}-\d\d-\d\d)",
                kind="not_found",
                repair=["ask-human"],
            )
        ]
    )


class Letters(TypedDict, total=False):
    seen: Annotated[list[str], operator.add]
    word: str
    answer: Any


def letters(checkpointer: Any = None, *, node: Any = None) -> Any:
    """a → b, c, d side by side → join: a graph that is not ours."""
    builder = StateGraph(Letters)
    builder.add_node("a", node or (lambda _: {"seen": ["a"], "word": "first"}))
    for name in "bcd":
        builder.add_node(name, lambda _, name=name: {"seen": [name]})
        builder.add_edge("a", name)
    builder.add_node("join", lambda state: {"word": "".join(sorted(state["seen"]))})
    builder.add_edge(START, "a")
    builder.add_edge(["b", "c", "d"], "join")
    builder.add_edge("join", END)
    return builder.compile(checkpointer=checkpointer)


def line(*nodes: Any, checkpointer: Any = None) -> Any:
    """Nodes one after the other, named n0, n1, …"""
    builder = StateGraph(Letters)
    for number, node in enumerate(nodes):
        builder.add_node(f"n{number}", node)
        builder.add_edge(f"n{number - 1}" if number else START, f"n{number}")
    builder.add_edge(f"n{len(nodes) - 1}", END)
    return builder.compile(checkpointer=checkpointer)


def sends() -> Any:
    """One node sends three tasks to another."""
    builder = StateGraph(Letters)
    builder.add_node("split", lambda _: {})
    builder.add_node("work", lambda state: {"seen": [state["word"]]})
    builder.add_edge(START, "split")
    builder.add_conditional_edges(
        "split", lambda _: [Send("work", {"word": w}) for w in "xyz"], ["work"]
    )
    builder.add_edge("work", END)
    return builder.compile()


def nested() -> Any:
    """A graph inside a graph."""
    inner = line(lambda _: {"seen": ["inside"]}, lambda _: {"word": "deep"})
    builder = StateGraph(Letters)
    builder.add_node("outer", inner)
    builder.add_node("after", lambda _: {"seen": ["after"]})
    builder.add_edge(START, "outer")
    builder.add_edge("outer", "after")
    builder.add_edge("after", END)
    return builder.compile()


def asks() -> Any:
    """A node that asks a person."""
    return line(lambda _: {"answer": interrupt("how many?")}, lambda s: {"word": str(s["answer"])})


def endless() -> Any:
    """A graph that never ends."""
    builder = StateGraph(Letters)
    builder.add_node("again", lambda _: {"word": "x"})
    builder.add_edge(START, "again")
    builder.add_edge("again", "again")
    return builder.compile()


class Gate:
    """A node that waits until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def __call__(self, _: Any) -> dict[str, Any]:
        self.entered.set()
        assert self.open.wait(30)
        return {"seen": ["gate"]}


class Flaky:
    """A node that raises as often as it is told to."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.runs = 0

    def __call__(self, _: Any) -> dict[str, Any]:
        self.runs += 1
        if self.left:
            self.left -= 1
            raise RuntimeError("the node broke")
        return {"seen": ["flaky"]}


def agent(*script: Any, **options: Any) -> Any:
    """An agent that can book seats, whose model says what a script tells it to say."""
    from langchain.agents import create_agent
    from langchain_core.tools import tool

    from selfcorrect import SelfCorrection
    from selfcorrect.testing import ScriptedModel

    @tool
    def book(to: str, seats: int) -> str:
        """Book seats."""
        if to == "XXX":
            raise ValueError("no such airport")
        return f"{seats} to {to}"

    return create_agent(ScriptedModel([*script]), [book], middleware=[SelfCorrection(**options)])
