"""Flight booking: three tools over a small world in memory, and the graph that repairs their calls.

`selfcorrect run` plays `EXAMPLES`. Each graph has a world of its own, so every run tells the same.
"""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from selfcorrect import ToolSpec, build_graph
from selfcorrect.testing import ScriptedModel
from selfcorrect.testing.flights import World

STRATEGIES = Path(__file__).parent.parent / "strategies"

Place = Annotated[str, Field(description="IATA code of an airport (LHR), or of a city (LON)")]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
OptionalDay = Annotated[str | None, WithJsonSchema({"type": ["string", "null"], "format": "date"})]


def make_tools(world: World) -> list[ToolSpec]:
    """Return the tools of a world with their effects; those that act are one transaction each."""

    def search_flights(origin: Place, destination: Place, departure_date: Day) -> Any:
        """List the flights of one day between two places, with prices and free seats."""
        return world.search(origin, destination, departure_date)

    def book_flight(
        origin: Place,
        destination: Place,
        departure_date: Day,
        passengers: Annotated[int, Field(ge=1, le=9, description="How many people fly")],
        cabin: Literal["economy", "business", "first"] = "economy",
        return_date: OptionalDay = None,
    ) -> Any:
        """Book seats on a flight, and on the flight back if a return date is given."""
        return world.book(origin, destination, departure_date, passengers, cabin, return_date)

    def cancel_booking(
        booking_id: Annotated[str, Field(description="As book_flight returned it: BK1001")],
    ) -> Any:
        """Cancel a booking and free its seats. This cannot be undone."""
        return world.cancel(booking_id)

    return [
        ToolSpec.from_function(search_flights, effect="read_only"),
        ToolSpec.from_function(book_flight, effect="mutating", atomic=True),
        ToolSpec.from_function(cancel_booking, effect="destructive", atomic=True),
    ]


def make_graph(
    strategies: Any = None, *, world: World | None = None, model: Any = None, **options: Any
) -> Any:
    """Return the graph over a world; `options` are those of `build_graph`.

    Without `strategies` it is the map that `SELFCORRECT_STRATEGIES` names, or else `travel`.
    """
    strategies = strategies or os.environ.get("SELFCORRECT_STRATEGIES") or "travel"
    # The folder beside this one wins, wherever the program was started.
    beside = STRATEGIES / f"{strategies}.toml"
    chosen = beside if isinstance(strategies, str) and beside.is_file() else strategies
    return build_graph(make_tools(world or World()), strategies=chosen, model=model, **options)


def make_model() -> ScriptedModel:
    """Return the model of the demonstration; it answers only the first example."""
    return ScriptedModel([{"passengers": 1}])


graph = make_graph()


def _search(origin: str, destination: str, day: str) -> dict[str, Any]:
    args = {"origin": origin, "destination": destination, "departure_date": day}
    return {"name": "search_flights", "args": args}


def _book(origin: str, destination: str, day: str, **more: Any) -> dict[str, Any]:
    return {"name": "book_flight", "args": _search(origin, destination, day)["args"] | more}


_TRIP = _search("NYC", "LAX", "2024-03-01")["args"]
_DAY = "2024-03-04"

EXAMPLES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "passengers is missing; a model infers it from 'for me'",
        "result",
        {
            "request": "Book a flight for me from New York to Los Angeles on 2024-01-15.",
            "call": _book("NYC", "LAX", "2024-01-15"),
        },
    ),
    (
        "a date in words, and a cabin by another name",
        "result",
        {
            "request": "I need to fly from London to Paris on October 26, 2024 for business class.",
            "call": _book(
                "LHR", "CDG", "Oct 26, 2024", passengers=1, **{"class": "business class"}
            ),
        },
    ),
    (
        "a tool that does not exist",
        "failure",
        {
            "request": "Find me a hotel in New York.",
            "call": {"name": "find_hotel", "args": {"city": "New York"}},
        },
    ),
    ("a misspelt tool name", "result", {"call": {"name": "serach_flights", "args": _TRIP}}),
    (
        "a number as text, under another name",
        "result",
        {"call": _book("LHR", "CDG", "2024-03-02", pax="2")},
    ),
    (
        "arguments wrapped in arguments",
        "result",
        {"call": {"name": "search_flights", "args": {"arguments": _TRIP}}},
    ),
    ("cities instead of airports", "result", {"call": _search("Seattle", "Denver", "2024-03-05")}),
    (
        "a city with several airports",
        "question",
        {"call": _book("London", "CDG", _DAY, passengers=1)},
    ),
    ("a date that is March or April", "question", {"call": _search("LHR", "CDG", "03/04/2026")}),
    ("a date in the past", "question", {"call": _search("LHR", "CDG", "2023-05-01")}),
    (
        "no flight that day, to look at",
        "result",
        {"call": _search("LHR", "JFK", "2024-10-26")},
    ),
    (
        "no flight that day, to book",
        "question",
        {"call": _book("LHR", "JFK", "2024-10-26", passengers=1)},
    ),
    ("a service that is unavailable once", "result", {"call": _search("FRA", "MUC", _DAY)}),
    (
        "more seats than the cabin has",
        "question",
        {"call": _book("LHR", "CDG", _DAY, passengers=5, cabin="first")},
    ),
    ("too many passengers", "question", {"call": _book("LHR", "CDG", _DAY, passengers=12)}),
    (
        "a booking that does not exist",
        "failure",
        {"call": {"name": "cancel_booking", "args": {"booking_id": "BK9999"}}},
    ),
]
"""Title; how the call ends with `make_model()`: result, question or failure; the input."""
