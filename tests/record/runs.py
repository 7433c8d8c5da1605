"""Runs of tools that fail: every effect with every way to fail, once and for good."""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from selfcorrect import NotDone, StrategyMap, ToolSpec
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.testing import VirtualTime

EFFECTS = ("read_only", "idempotent", "mutating", "destructive", None)
MAPS = ("default", "strict")


class Refusal(Exception):
    """An error of the tool's own."""


class ApiError(Exception):
    """What a server answered."""

    def __init__(self, text: str, status: int | None = None, code: str | None = None) -> None:
        super().__init__(text)
        self.status_code = status
        self.code = code


def _raises(error: BaseException, cause: BaseException | None = None) -> Callable[[], Any]:
    """Raises such an error, a new one every time: one that was raised before remembers it."""

    def fail() -> Any:
        raise copy.copy(error) from copy.copy(cause)

    return fail


def _doubled() -> None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("create table t (id integer primary key)")
        connection.execute("insert into t values (1)")
        connection.execute("insert into t values (1)")
    finally:
        connection.close()


def _group() -> None:
    raise ExceptionGroup("two", [ValueError("age is required"), TimeoutError("timed out")])


FAILURES: dict[str, Callable[[], Any]] = {
    "a value that it refuses": _raises(ValueError("page_size must be at most 100")),
    "a name that it refuses": _raises(ValueError("cabin must be one of: economy, business")),
    "a date that it refuses": _raises(ValueError("ship_date is not a date, use DD/MM/YYYY")),
    "an argument that it misses": _raises(TypeError("missing required argument: 'customer'")),
    "something unknown": _raises(LookupError("no such customer")),
    "a key": _raises(KeyError("BA117")),
    "a right": _raises(PermissionError("not for you")),
    "a class of its own": _raises(Refusal("sold out")),
    "its author's word": _raises(NotDone("closed today")),
    "its author's word on a timeout": _raises(NotDone("away"), TimeoutError("late")),
    "a timeout": _raises(TimeoutError("read timed out")),
    "a reset": _raises(ConnectionResetError(104, "reset by peer")),
    "a refused connection": _raises(ConnectionRefusedError(111, "refused")),
    "a full disk": _raises(OSError(28, "No space left on device")),
    "a refusal over a timeout": _raises(Refusal("no"), TimeoutError("late")),
    "its own fault": lambda: 1 / 0,
    "its own number": lambda: int("abc"),
    "its own key": lambda: {}["price"],
    "its own assertion": _raises(AssertionError("never")),
    "an answer that is no JSON": lambda: json.loads("<html>"),
    "a row that is there": _doubled,
    "two errors": _group,
    "a recursion": _raises(RecursionError("too deep")),
    **{
        f"status {status}": _raises(ApiError("it did not work", status))
        for status in (400, 401, 403, 404, 408, 409, 422, 423, 429, 499, 500, 502, 503)
    },
    "a wait": _raises(ApiError("too many requests, retry after 7 seconds", 429)),
    "a code": _raises(ApiError("no", code="FAILED_PRECONDITION")),
    "a code of a break": _raises(ApiError("late", code="DEADLINE_EXCEEDED")),
    "an error as its value": lambda: {"isError": True, "content": [{"type": "text", "text": "no"}]},
    "nothing as its value": lambda: None,
}
GIVEN: dict[str, Any] = {
    "fits": {"customer": "ann", "page_size": 20, "cabin": "economy"},
    "mended": {"customer": "ann", "pageSize": "20", "cabin": "economy"},
}


class Run(NamedTuple):
    """One run: how its tool is declared, how often it fails, and what it is called with."""

    effect: str | None
    atomic: bool
    failure: str
    times: int
    args: str
    strategies: str


def runs() -> Iterator[tuple[str, Run]]:
    """Every effect with every failure, once and for good; the rest in turns."""
    for effect in EFFECTS:
        for number, failure in enumerate(FAILURES):
            for times in (1, 99):
                args = "fits" if times == 1 or number % 3 else "mended"
                made = [Run(effect, False, failure, times, args, MAPS[number % 4 == 3])]
                if effect in ("mutating", "destructive"):
                    made.append(Run(effect, True, failure, times, args, "default"))
                for run in made:
                    told = "atomic, " if run.atomic else ""
                    yield f"run {effect}, {told}{failure} x{times}", run


class _Tool:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.entered = 0

    def place_order(
        self, customer: str, page_size: int = 10, cabin: str = "economy", ship_date: str = ""
    ) -> Any:
        """Place an order."""
        self.entered += 1
        if self.entered <= self.run.times:
            return FAILURES[self.run.failure]()
        return {"customer": customer, "page_size": page_size, "cabin": cabin, "day": ship_date}


def ran(run: Run) -> tuple[dict[str, Any], int]:
    """What a run came to, and how often its tool was entered."""
    tool = _Tool(run)
    effect: Any = run.effect
    spec = ToolSpec.from_function(tool.place_order, effect=effect, atomic=run.atomic)
    loop: Loop = assemble([spec], Options(strategies=_map(run.strategies), time=VirtualTime()))
    out = walk(loop, {"call": {"name": "place_order", "args": GIVEN[run.args], "id": "c1"}})
    return out, tool.entered


@cache
def _map(name: str) -> StrategyMap:
    return StrategyMap.load(name)
