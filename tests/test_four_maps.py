"""The same broken calls under four maps: the table of README.md is made here, and must be true.

`python tests/test_four_maps.py` writes the table anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal
from unittest import mock

import pytest
from pydantic import Field

from selfcorrect import Safety, ToolSpec, build_graph
from selfcorrect.loop.context import SystemTime

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- four-maps:start -->", "<!-- four-maps:end -->"
SECTION = re.compile(f"(?<={START}\n).*?(?={END})", re.DOTALL)
MAPS = ("default", "strict", "development", "travel")
OUTAGE = 5
"""How many times in a row the weather service breaks."""


def tools() -> list[ToolSpec]:
    """Four tools and a small world behind them, fresh for every run."""
    asked: list[str] = []

    def search_flights(
        origin: str,
        destination: str,
        departure_date: date,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> dict[str, Any]:
        """List the flights of one day."""
        if origin == "Seattle":
            raise LookupError("unknown airport code 'Seattle' for origin; did you mean SEA?")
        return {
            "route": f"{origin}-{destination}",
            "day": str(departure_date),
            "at most": limit,
        }

    def book_flight(
        origin: str,
        destination: str,
        departure_date: date,
        passengers: Annotated[int, Field(ge=1, le=9)],
        cabin: Literal["economy", "business", "first"] = "economy",
    ) -> str:
        """Book seats."""
        return f"{passengers} in {cabin}, {origin}-{destination} on {departure_date}"

    def weather(city: str) -> str:
        """Tell the weather."""
        asked.append(city)
        if len(asked) <= OUTAGE:
            raise ConnectionResetError("connection reset by peer")
        return "sunny"

    def lounge(code: str) -> str:
        """Find a lounge."""
        raise PermissionError(f"401 Unauthorized: the key for {code} has expired")

    return [
        ToolSpec.from_function(search_flights, effect="read_only"),
        ToolSpec.from_function(book_flight, effect="mutating"),
        ToolSpec.from_function(weather, effect="read_only"),
        ToolSpec.from_function(lounge, effect="read_only"),
    ]


def search(**changed: Any) -> dict[str, Any]:
    args = {"origin": "LHR", "destination": "CDG", "departure_date": "2026-10-26"}
    return {"name": "search_flights", "args": args | changed}


def book(**changed: Any) -> dict[str, Any]:
    args = search()["args"] | {"passengers": 1}
    return {"name": "book_flight", "args": args | changed}


CALLS: Mapping[str, dict[str, Any]] = {
    'book for `"2"` passengers': book(passengers="2"),
    "book for `Oct 26, 2026`": book(departure_date="Oct 26, 2026"),
    "`serach_flights`": search() | {"name": "serach_flights"},
    "search with `limit` 500, where 50 is the most": search(limit=500),
    "book with `class` for `cabin`": book(**{"class": "business"}),
    "search from `Seattle`": search(origin="Seattle"),
    "a service that is down for five calls": {"name": "weather", "args": {"city": "Paris"}},
    "a key that has expired": {"name": "lounge", "args": {"code": "CDG"}},
}
"""What is wrong with a call, in words, and the call."""


@contextmanager
def no_waiting() -> Iterator[None]:
    """Backoff is counted, but nobody sleeps through it."""
    with mock.patch.object(SystemTime, "sleep", return_value=None):
        yield


def run(strategies: str, call: dict[str, Any]) -> dict[str, Any]:
    with no_waiting():
        out: dict[str, Any] = build_graph(tools(), strategies=strategies).invoke({"call": call})
    return out


def attempts(out: Mapping[str, Any]) -> int:
    return max((event.get("attempt", 0) for event in out["trail"]), default=0)


def told(out: Mapping[str, Any]) -> str:
    """What became of a call, for one cell of the table."""
    if "failure" in out:
        reason = out["failure"]["reason"]
        if reason == "needs_person":
            return "asks a person"
        if reason == "attempts_exhausted":
            return f"reports after {attempts(out)} attempts"
        return f"reports `{reason}`"
    changes = [change for event in out["trail"] for change in event.get("changes", ())]
    if not changes:
        return f"succeeds at attempt {attempts(out)}"
    order = [safety.value for safety in Safety]
    worst = max((change["safety"] for change in changes), key=order.index)
    return f"mends, {worst}"


@cache
def outcomes() -> dict[str, tuple[str, ...]]:
    """Per map, what became of each call."""
    return {name: tuple(told(run(name, call)) for call in CALLS.values()) for name in MAPS}


def table() -> str:
    columns = outcomes()
    rows = [("", *(f"`{name}`" for name in MAPS)), ("---",) * (len(MAPS) + 1)]
    rows += [(call, *(columns[name][number] for name in MAPS)) for number, call in enumerate(CALLS)]
    return "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)


@pytest.mark.parametrize("pair", list(combinations(MAPS, 2)), ids="-".join)
def test_no_two_maps_come_to_the_same(pair):
    one, other = (outcomes()[name] for name in pair)
    assert one != other


def test_the_table_of_the_readme_is_what_happens():
    (shown,) = SECTION.findall(README.read_text(encoding="utf-8"))
    assert shown == f"\n{table()}\n", "run: python tests/test_four_maps.py"


def test_the_same_call_comes_to_the_same_each_time():
    again = tuple(told(run("travel", call)) for call in CALLS.values())
    assert again == outcomes()["travel"]


def test_strict_changes_nothing_but_the_spelling():
    cells = outcomes()["strict"]
    assert {cell for cell in cells if cell.startswith("mends")} == {"mends, exact"}


def test_no_map_lets_a_lossy_change_of_a_booking_run_unasked():
    for name in MAPS:
        for call, cell in zip(CALLS, outcomes()[name], strict=True):
            if call.startswith("book"):
                assert "lossy" not in cell, (name, call)


def test_a_question_says_what_it_is_about():
    out = run("strict", CALLS["book for `Oct 26, 2026`"])
    assert "2026-10-26" in json.dumps(out["failure"])


def main() -> None:
    """Write the table of README.md anew."""
    text = README.read_text(encoding="utf-8")
    README.write_text(SECTION.sub(lambda _: f"\n{table()}\n", text), encoding="utf-8")


if __name__ == "__main__":
    main()
