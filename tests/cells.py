"""Steppers that the notebooks of the tests show, a function each."""

import threading
from datetime import date
from typing import TypedDict

from langgraph.graph import END, START, StateGraph

from selfcorrect import ErrorRule, NotDone, StrategyMap, ToolSpec, build_graph
from selfcorrect.notebook.stepper import Stepper

ran = []
gate = threading.Event()
CALL = {"name": "book", "args": {"to": "CDG", "day": "Oct 26, 2026", "seats": "two"}}
HOSTILE = "<script>window.pwn = 1</script>\"'&<img src=x onerror=window.pwn=2>\u202e" + "x" * 10_000


def book(to: str, day: date, seats: int = 1) -> str:
    """Book seats."""
    ran.append(to)
    return f"{seats} to {to} on {day}"


def stepper(call=CALL, tool=book, **options):
    graph = build_graph([ToolSpec.from_function(tool, effect="read_only")], **options)
    return Stepper(graph, {"call": call})


def mended():
    return stepper()


def matched():
    def full(to: str) -> str:
        """Fail."""
        raise LookupError(f"no flight to {to} on 2026-10-26, sorry")

    rule = ErrorRule(id="full", match=r"no flight to (?P<place>\w+) on (?P<day>[\d-]+)", repair=[])
    strategies = StrategyMap([rule], extends=["default"])
    return stepper({"name": "full", "args": {"to": "CDG"}}, full, strategies=strategies)


def fails():
    def down(to: str) -> str:
        """Fail."""
        raise NotDone("connection refused")

    return stepper({"name": "down", "args": {"to": "CDG"}}, down)


def asks():
    return stepper({"name": "book", "args": {"to": "CDG", "day": "03/04/2026"}})


def hostile():
    return stepper({"name": "book", "args": {"to": HOSTILE, "day": "2026-10-26", HOSTILE[:60]: 1}})


class Words(TypedDict):
    word: str


def line(first):
    builder = StateGraph(Words)
    builder.add_node("first", first)
    builder.add_node("second", lambda _: {"word": "done"})
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    builder.add_edge("second", END)
    return Stepper(builder.compile(), {"word": ""})


def slow():
    def wait(_):
        gate.wait(30)

    return line(wait)


def flaky():
    tries = []

    def fail(_):
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("the node broke")

    return line(fail)
