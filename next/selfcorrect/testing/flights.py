"""A small world of flights on SQLite, for demonstrations and tests.

It behaves like a real backend: errors in its own words, limits that the database enforces, and a
service that breaks now and then. The timetable is computed, so nothing is fetched.
"""

import sqlite3
import weakref
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from importlib.resources import files
from threading import Lock
from typing import Any
from zlib import crc32

from selfcorrect.errors import NotDone
from selfcorrect.model import frozen

FIRST_DAY = date(2024, 1, 1)
LAST_DAY = date(2027, 12, 31)
SEATS = {"economy": 60, "business": 12, "first": 4}
DAILY = {"CDG-LHR", "JFK-LAX"}


class MissingItem(NotDone, LookupError):
    """What the backend raises, before it begins, where a call names something that is not there."""


class InvalidDay(NotDone, ValueError):
    """What the backend raises, before it begins, for a day on which nothing can be booked."""


class ServiceError(Exception):
    """What an HTTP client raises for an error status.

    Attributes:
        status_code: The HTTP status.
    """

    def __init__(self, status_code: int, text: str) -> None:
        super().__init__(text)
        self.status_code = status_code


@frozen
class Flight:
    """One departure: everything about it follows from the route and the day."""

    origin: str
    destination: str
    day: date

    @property
    def key(self) -> tuple[str, str, str]:
        """Where its seats are counted."""
        return self.origin, self.destination, str(self.day)

    @property
    def _route(self) -> str:
        return "-".join(sorted((self.origin, self.destination)))

    @property
    def _hash(self) -> int:
        return crc32(self._route.encode())

    def exists(self) -> bool:
        """Return whether the route is flown on this day; it is the same for the way back."""
        is_day = self._hash % 4 > 0 and bool(self._hash >> (8 + self.day.weekday()) & 1)
        return self._route in DAILY or is_day

    def price(self, cabin: str) -> int:
        """Return what one seat costs, in euros."""
        return (60 + self._hash % 400) * {"economy": 1, "business": 3}.get(cabin, 6)

    def shift(self, days: int) -> "Flight":
        """Return the flight of the same route so many days later."""
        return Flight(self.origin, self.destination, self.day + timedelta(days))

    def describe(self) -> dict[str, Any]:
        """Return what a passenger reads."""
        number = 1000 + crc32(f"{self.origin}>{self.destination}".encode()) % 9000
        route = {"origin": self.origin, "destination": self.destination}
        return {"flight": f"SC{number}", **route, "date": str(self.day)}


class World:
    """Airports, timetable, seats and bookings in one SQLite database; safe to use from threads.

    A place is the code of an airport (LHR) or of a city with several (LON).

    Args:
        path: The database file; `:memory:` for a database that ends with the world.
        clock: Returns today; earlier days cannot be booked.
        flaky: One of so many routes fails the first time that it is searched; 0: none fails.

    Attributes:
        close: Closes the database; so does the end of the world.
    """

    def __init__(
        self,
        path: str = ":memory:",
        *,
        clock: Callable[[], date] = lambda: FIRST_DAY,
        flaky: int = 3,
    ) -> None:
        self.clock = clock
        self.flaky = flaky
        self._routes: set[str] = set()
        self._lock = Lock()
        self._database = sqlite3.connect(
            path, timeout=30, isolation_level=None, check_same_thread=False
        )
        self.close = weakref.finalize(self, self._database.close)
        self._database.execute("PRAGMA foreign_keys = ON")
        tables = files("selfcorrect.testing").joinpath("flights.sql").read_text("utf-8")
        self._database.executescript(tables)

    def search(self, origin: str, destination: str, departure_date: str) -> list[dict[str, Any]]:
        """Return the flights of one day, with prices and free seats by cabin."""
        with self._lock:
            flights = self._flights(origin, destination, departure_date)
            self._break_once(f"{origin}/{destination}")
            return [
                flight.describe()
                | {"price": {cabin: flight.price(cabin) for cabin in SEATS}}
                | {"seats": {cabin: self._free(flight, cabin) for cabin in SEATS}}
                for flight in flights
            ]

    def book(
        self,
        origin: str,
        destination: str,
        departure_date: str,
        passengers: int,
        cabin: str = "economy",
        return_date: str | None = None,
    ) -> dict[str, Any]:
        """Take seats on one or two flights: all of them or none."""
        with self._lock, self._database as database:
            database.execute("BEGIN IMMEDIATE")
            flights = [
                self._roomy(self._flights(origin, destination, departure_date), cabin, passengers)
            ]
            if return_date is not None:
                back = self._flights(
                    flights[0].destination, flights[0].origin, return_date, "return_date"
                )
                flights += [self._roomy(back, cabin, passengers)]
            booking = database.execute(
                "INSERT INTO bookings (departure_date, return_date, passengers, cabin)"
                " VALUES (?, ?, ?, ?)",
                (departure_date, return_date, passengers, cabin),
            ).lastrowid
            database.executemany(
                "INSERT INTO legs VALUES (?, ?, ?, ?, ?, ?)",
                [(*each.key, cabin, passengers, booking) for each in flights],
            )
        return {
            "booking_id": f"BK{1000 + (booking or 0)}",
            "flights": [flight.describe() for flight in flights],
            "passengers": passengers,
            "cabin": cabin,
            "price": sum(flight.price(cabin) for flight in flights) * passengers,
        }

    def cancel(self, booking_id: str) -> dict[str, Any]:
        """Cancel a booking and free its seats; the booking stays on record."""
        with self._lock, self._database as database:
            database.execute("BEGIN IMMEDIATE")
            found = database.execute(
                "SELECT id, passengers, cancelled FROM bookings WHERE 'BK' || (1000 + id) = ?",
                (booking_id,),
            ).fetchone()
            if found is None:
                raise MissingItem(f"there is no booking {booking_id!r:.42}")
            booking, passengers, cancelled = found
            if cancelled:
                raise ServiceError(409, f"booking {booking_id} is already cancelled")
            database.execute("UPDATE bookings SET cancelled = 1 WHERE id = ?", (booking,))
            legs = database.execute("DELETE FROM legs WHERE booking = ?", (booking,)).rowcount
        freed = legs * passengers
        return {"booking_id": booking_id, "status": "cancelled", "seats_freed": freed}

    def _flights(
        self, origin: str, destination: str, text: str, name: str = "departure_date"
    ) -> list[Flight]:
        """Return the flights of one day; raise what a backend would, where there is none."""
        starts, ends = self._airports(origin, "origin"), self._airports(destination, "destination")
        day = self._day(text, name)
        flights = [Flight(a, b, day) for a in starts for b in ends if starts[a] != ends[b]]
        if found := [flight for flight in flights if flight.exists()]:
            return found
        steps = [
            step for step in range(-7, 8) if any(each.shift(step).exists() for each in flights)
        ]
        if not steps:
            raise MissingItem("route unavailable")
        # What is flown at all is flown every week, so there is a day on either side.
        nearest = min(step for step in steps if step > 0), max(step for step in steps if step < 0)
        days = [day + timedelta(step) for step in sorted(nearest, key=abs)]
        dates = ", ".join(str(each) for each in days if self.clock() <= each <= LAST_DAY)
        way = "return flight" if name == "return_date" else "flight"
        raise MissingItem(f"no {way} from {origin} to {destination} on {day}; nearest: {dates}")

    def _airports(self, code: str, name: str) -> dict[str, str]:
        """Return the airports that a code stands for, each with its city."""
        rows = self._database.execute("SELECT code, airport, city FROM places").fetchall()
        if found := {airport: city for known, airport, city in rows if known == code}:
            return found
        meant = str(code)[:40].partition(",")[0].strip().casefold()
        codes = [
            airport
            for known, airport, city in rows
            if known == airport and meant in (airport.casefold(), city.casefold())
        ]
        hint = f"; did you mean {', '.join(codes)}?" if codes else ""
        raise MissingItem(f"unknown airport code {str(code)!r:.42} for {name}{hint}")

    def _day(self, text: str, name: str) -> date:
        try:
            day = date.fromisoformat(text)
        except (TypeError, ValueError):
            day = None
        if day is None or str(day) != text:
            raise InvalidDay(f"{name} must be a date as YYYY-MM-DD, got {str(text)!r:.42}")
        if day < self.clock():
            raise InvalidDay(f"{name} {day} is in the past, today is {self.clock()}")
        if day > LAST_DAY:
            raise InvalidDay(f"{name} {day} is outside the timetable, which ends {LAST_DAY}")
        return day

    def _break_once(self, route: str) -> None:
        number = crc32(route.encode())
        if not self.flaky or number % self.flaky or route in self._routes:
            return
        self._routes.add(route)
        if number >> 8 & 1:
            raise ServiceError(503, "Service Unavailable: the timetable is being refreshed")
        raise ConnectionResetError(104, "Connection reset by peer")

    def _roomy(self, flights: Sequence[Flight], cabin: str, passengers: int) -> Flight:
        """Return the first flight with room for all, or the first, which the database refuses."""
        room = (each for each in flights if self._free(each, cabin) >= passengers)
        return next(room, flights[0])

    def _free(self, flight: Flight, cabin: str) -> int:
        sold = self._database.execute(
            "SELECT seats FROM sold WHERE (origin, destination, day, cabin) = (?, ?, ?, ?)",
            (*flight.key, cabin),
        ).fetchone()
        return SEATS.get(cabin, 0) - (sold[0] if sold else 0)
