"""A small world of flights in SQLite's memory, for demonstrations and tests.

It behaves like a real backend: errors in its own words, limits that the database enforces, and a
service that breaks now and then. The timetable is computed, so nothing is fetched.
"""

import json
import sqlite3
import weakref
from datetime import date
from importlib.resources import files
from threading import Lock
from zlib import crc32

from selfcorrect.errors import NotDone
from selfcorrect.model import JsonDict


def _sql(name: str) -> str:
    return files("selfcorrect.testing").joinpath(name).read_text("utf-8")


FIRST_DAY = date(2024, 1, 1)
LAST_DAY = date(2027, 12, 31)
_FLOWN = _sql("flown.sql")
"""Flights of a route up to a week from a day, as JSON, the nearest first."""
_MEANT = _sql("meant.sql")
"""The place of a code, and the airports that a text names, by their code or their city."""
_BOOKED = ("flight", "origin", "destination", "date")


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


class World:
    """Airports, timetable, seats and bookings in one SQLite database; safe to use from threads.

    A place is the code of an airport (LHR) or of a city with several (LON).

    Args:
        flaky: One of so many routes fails the first time that it is searched; 0: none fails.

    Attributes:
        close: Closes the database; so does the end of the world.
    """

    def __init__(self, *, flaky: int = 3) -> None:
        self.flaky = flaky
        self._routes: set[str] = set()
        self._lock = Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self.close = weakref.finalize(self, self._database.close)
        self._database.create_function("crc32", 1, lambda text: crc32(text.encode()))
        self._database.create_function("casefold", 1, str.casefold)
        self._database.executescript(_sql("flights.sql"))

    def search(self, origin: str, destination: str, departure_date: str) -> list[JsonDict]:
        """Return the flights of one day, with prices and free seats by cabin."""
        with self._lock:
            flights = self._flights(origin, destination, departure_date)
            self._break_once(f"{origin}/{destination}")
            return flights

    def book(
        self,
        origin: str,
        destination: str,
        departure_date: str,
        passengers: int,
        cabin: str = "economy",
        return_date: str | None = None,
    ) -> JsonDict:
        """Take seats on one or two flights: all of them or none."""
        with self._lock, self._database as database:
            flights = self._flights(origin, destination, departure_date)[:1]
            if return_date is not None:
                way_back = flights[0]["destination"], flights[0]["origin"]
                flights += self._flights(*way_back, return_date, "return_date")[:1]
            seats = {"passengers": passengers, "cabin": cabin}
            booking = database.execute(
                "INSERT INTO bookings (departure_date, return_date, passengers, cabin)"
                " VALUES (:leaves, :returns, :passengers, :cabin)",
                {**seats, "leaves": departure_date, "returns": return_date},
            ).lastrowid
            database.executemany(
                "INSERT INTO legs VALUES"
                " (:origin, :destination, :date, :cabin, :passengers, :booking)",
                [{**flight, **seats, "booking": booking} for flight in flights],
            )
        return {
            "booking_id": f"BK{1000 + (booking or 0)}",
            "flights": [{name: flight[name] for name in _BOOKED} for flight in flights],
            **seats,
            "price": sum(flight["price"][cabin] for flight in flights) * passengers,
        }

    def cancel(self, booking_id: str) -> JsonDict:
        """Cancel a booking and free its seats; the booking stays on record."""
        with self._lock, self._database as database:
            row = database.execute(
                "SELECT id, passengers, cancelled FROM bookings WHERE 'BK' || (1000 + id) = ?",
                (booking_id,),
            ).fetchone()
            if row is None:
                raise MissingItem(f"there is no booking {booking_id!r:.42}")
            booking, passengers, cancelled = row
            if cancelled:
                raise ServiceError(409, f"booking {booking_id} is already cancelled")
            database.execute("UPDATE bookings SET cancelled = 1 WHERE id = ?", (booking,))
            legs = database.execute("DELETE FROM legs WHERE booking = ?", (booking,)).rowcount
        freed = legs * passengers
        return {"booking_id": booking_id, "status": "cancelled", "seats_freed": freed}

    def _flights(
        self, origin: str, destination: str, text: str, name: str = "departure_date"
    ) -> list[JsonDict]:
        """Return the flights of one day; raise a backend's error where there are none."""
        self._check_place(origin, "origin")
        self._check_place(destination, "destination")
        self._check_day(text, name)
        route = {"origin": origin, "destination": destination, "day": text}
        flown = [json.loads(flight) for (flight,) in self._database.execute(_FLOWN, route)]
        if flights := [flight for flight in flown if flight["date"] == text]:
            return flights
        if not flown:
            raise MissingItem("route unavailable")
        # What is flown at all is flown every week.
        days = dict.fromkeys(flight["date"] for flight in flown)
        nearest = [day for day in days if str(FIRST_DAY) <= day <= str(LAST_DAY)][:2]
        way = "return flight" if name == "return_date" else "flight"
        raise MissingItem(
            f"no {way} from {origin} to {destination} on {text}; nearest: {', '.join(nearest)}"
        )

    def _check_place(self, code: str, name: str) -> None:
        """Refuse an unknown code of an airport or city, and suggest the codes that may be meant."""
        meant = str(code)[:40].partition(",")[0].strip().casefold()
        codes = [place for (place,) in self._database.execute(_MEANT, [str(code), meant])]
        if code in codes:
            return
        hint = f"; did you mean {', '.join(codes)}?" if codes else ""
        raise MissingItem(f"unknown airport code {str(code)!r:.42} for {name}{hint}")

    def _check_day(self, text: str, name: str) -> None:
        try:
            day = date.fromisoformat(text)
        except (TypeError, ValueError):
            day = None
        if day is None or str(day) != text:
            raise InvalidDay(f"{name} must be a date as YYYY-MM-DD, got {str(text)!r:.42}")
        if day < FIRST_DAY:
            raise InvalidDay(f"{name} {day} is in the past, today is {FIRST_DAY}")
        if day > LAST_DAY:
            raise InvalidDay(f"{name} {day} is outside the timetable, which ends {LAST_DAY}")

    def _break_once(self, route: str) -> None:
        number = crc32(route.encode())
        if not self.flaky or number % self.flaky or route in self._routes:
            return
        self._routes.add(route)
        raise ServiceError(503, "Service Unavailable: the timetable is being refreshed")
