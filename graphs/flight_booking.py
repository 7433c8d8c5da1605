"""Flight booking: three tools, and the graph that mends their calls under the map `travel`.

The world behind them is `selfcorrect.testing.flights`: in memory, so that every process tells the
same story, unless `FLIGHT_BOOKING_DB` names a file. The first call opens it.
"""

from copy import deepcopy
from itertools import zip_longest
from typing import Annotated, Any, Final, Literal

from pydantic import Field, WithJsonSchema

from selfcorrect import ToolSpec, build_graph
from selfcorrect.model import JSON
from selfcorrect.testing.flights import World

Place = Annotated[
    str, Field(description="IATA code of an airport (LHR) or of a city with several (LON)")
]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
OptionalDay = Annotated[str | None, WithJsonSchema({"type": ["string", "null"], "format": "date"})]


def tools(world: World) -> list[ToolSpec]:
    """The three tools of a world, each with its effect; those that act are one transaction."""

    def search_flights(origin: Place, destination: Place, departure_date: Day) -> Any:
        """List the flights of one day between two places, with fares and free seats."""
        return world.search(origin, destination, departure_date)

    def book_flight(
        origin: Place,
        destination: Place,
        departure_date: Day,
        passengers: Annotated[int, Field(ge=1, le=9, description="How many people fly")],
        cabin: Literal["economy", "business", "first"] = "economy",
        return_date: OptionalDay = None,
    ) -> Any:
        """Book seats on a flight, and on the flight back where a return date is given."""
        return world.book(origin, destination, departure_date, passengers, cabin, return_date)

    def cancel_booking(
        booking_id: Annotated[str, Field(description="As book_flight returned it: BK1001")],
    ) -> Any:
        """Cancel a booking and give its seats back. This cannot be undone."""
        return world.cancel(booking_id)

    return [
        ToolSpec.from_function(search_flights, effect="read_only"),
        ToolSpec.from_function(book_flight, effect="mutating", atomic=True),
        ToolSpec.from_function(cancel_booking, effect="destructive", atomic=True),
    ]


def make_graph(strategies: Any = "travel", *, world: World | None = None, **wiring: Any) -> Any:
    """The graph over a world of its own, or over yours; `wiring` is handed to `build_graph`."""
    return build_graph(tools(world or World.default()), strategies=strategies, **wiring)


graph = make_graph()


def _call(name: str, **args: JSON) -> JSON:
    return {"name": name, "args": args}


def _search(origin: JSON, destination: JSON, day: str) -> JSON:
    return _call("search_flights", origin=origin, destination=destination, departure_date=day)


def _book(origin: str, destination: str, day: str, **more: JSON) -> JSON:
    return {"name": "book_flight", "args": _search(origin, destination, day)["args"] | more}


_TRIP: Final = _search("NYC", "LAX", "2024-03-01")["args"]
_DAY: Final = "2024-03-04"

BROKEN_CALLS: Final[dict[str, tuple[str, JSON]]] = {
    "how many passengers is missing": ("asked", _book("NYC", "LAX", "2024-01-15")),
    "a date in words, a cabin by another name": (
        "mended",
        _book("LHR", "CDG", "Oct 26, 2024", passengers=1, **{"class": "business class"}),
    ),
    "a tool that does not exist": ("reported", _call("find_hotel", city="New York")),
    "a slip in the tool's name": ("mended", _call("serach_flights", **_TRIP)),
    "a number as text, under another name; a code in small letters": (
        "mended",
        _book("lhr", "CDG", "2024-03-02", pax="2"),
    ),
    "cities instead of airports": ("mended", _search("Seattle", "Denver", "2024-03-05")),
    "a city with several airports": ("asked", _book("London", "CDG", _DAY, passengers=1)),
    "a place that nobody knows": ("asked", _search("XQZ", "CDG", _DAY)),
    "a date in the past": ("asked", _search("LHR", "CDG", "2023-05-01")),
    "a date that is March or April": ("asked", _search("LHR", "CDG", "03/04/2026")),
    "no flight that day, to look at": ("mended", _search("LHR", "JFK", "2024-10-26")),
    "no flight that day, to book": ("asked", _book("LHR", "JFK", "2024-10-26", passengers=1)),
    "a route that is not flown": ("mended", _search("LTN", "ORY", _DAY)),
    "too many passengers": ("asked", _book("LHR", "CDG", _DAY, passengers=12)),
    "a list where one value belongs": ("mended", _search(["NYC"], "LAX", "2024/03/01")),
    "arguments inside arguments": ("mended", _call("search_flights", arguments=_TRIP)),
    "a destination is missing": (
        "asked",
        _call("search_flights", origin="LHR", departure_date=_DAY),
    ),
    "a connection that breaks once": ("mended", _search("LHR", "CDG", _DAY)),
    "more seats than the cabin has": (
        "asked",
        _book("LHR", "CDG", _DAY, passengers=5, cabin="first"),
    ),
    "a booking that does not exist": ("reported", _call("cancel_booking", booking_id="BK9999")),
    "a call written as Python": ("mended", f"{{'name': 'search_flights', 'arguments': {_TRIP}}}"),
}
"""What is wrong; what comes of it without a model: a result, a question, a report; the call."""

REQUESTS: Final = (
    "Book a flight for me from New York to Los Angeles on 2024-01-15.",
    "I need to fly from London to Paris on October 26, 2024 for business class.",
    "Find me a hotel in New York.",
)
"""What the user had asked for, for the first of the broken calls."""


def examples() -> list[dict[str, JSON]]:
    """The broken calls as inputs of the graph: `{"title", "input", "expect"}` each."""
    found = []
    for (title, (expect, call)), request in zip_longest(BROKEN_CALLS.items(), REQUESTS):
        given = {"raw" if isinstance(call, str) else "call": deepcopy(call)}
        given |= {"request": request} if request else {}
        found.append({"title": title, "input": given, "expect": expect})
    return found
