"""A small world of flights on SQLite, for demonstrations and tests.

Small but real: every IATA airport (package `airportsdata`), metropolitan codes such as NYC or LON
as bookable places, a timetable that a rule computes instead of a table, and seats and bookings
whose limits are constraints of the database. Nothing is fetched.
"""

from __future__ import annotations

import json
import operator
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal
from zlib import crc32

TODAY: Final = date(2024, 1, 1)
TIMETABLE: Final = (date(2024, 1, 1), date(2027, 12, 31))
SEATS: Final = {"economy": 60, "business": 12, "first": 4}
FARE: Final = {"economy": 1, "business": 3, "first": 6}
DAILY: Final = frozenset({("CDG", "LHR"), ("JFK", "LAX")})
_DATA: Final = files("selfcorrect.testing")
HUBS: Final = tuple(_DATA.joinpath("hubs.txt").read_text("utf-8").split())
NUMBERS: Final = {code: index for index, code in enumerate(HUBS)}

SCHEMA_VERSION: Final = 1


class ServiceError(Exception):
    """What an HTTP client raises for an error status."""

    def __init__(self, status_code: int, text: str) -> None:
        self.status_code = status_code
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class Flight:
    """One departure of the timetable."""

    origin: str
    destination: str
    day: date

    @property
    def number(self) -> str:
        """What the flight is called; the same every day."""
        return f"SC{1000 + NUMBERS[self.origin] * len(HUBS) + NUMBERS[self.destination]}"

    @property
    def departs(self) -> str:
        """When it leaves, in local time."""
        minutes = 360 + crc32(f"{self.origin}>{self.destination}".encode()) % 192 * 5
        return f"{self.day}T{minutes // 60:02}:{minutes % 60:02}"

    def fare(self, cabin: str) -> int:
        """What one seat costs, in euros."""
        pair = "-".join(sorted((self.origin, self.destination)))
        return (60 + crc32(pair.encode()) % 400) * FARE[cabin]


def weekdays(origin: str, destination: str) -> tuple[int, ...]:
    """The days on which a route is flown (Monday is 0), the same both ways; none: no such route.

    >>> weekdays("LHR", "CDG")
    (0, 1, 2, 3, 4, 5, 6)
    >>> weekdays("LHR", "LHR"), weekdays("LHR", "LCA")
    ((), ())
    """
    pair = tuple(sorted((origin, destination)))
    if origin == destination or not {origin, destination} <= NUMBERS.keys():
        return ()
    if pair in DAILY:
        return tuple(range(7))
    drawn = crc32("-".join(pair).encode())
    return () if drawn % 4 == 0 else tuple(d for d in range(7) if drawn >> (8 + d) & 1)


class World:
    """Airports, timetable, seats and bookings on one SQLite database; safe to use from threads.

    Args:
        path: Where the database lives; `:memory:` for one that ends with the process.
        clock: Says which day it is; days before it cannot be booked.
        flaky: Of so many routes, one breaks when it is searched for the first time; 0: none does.
    """

    def __init__(
        self, path: str = ":memory:", *, clock: Callable[[], date] = lambda: TODAY, flaky: int = 3
    ) -> None:
        self.path = path
        self.clock = clock
        self.flaky = flaky
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        self._searched: set[tuple[str, str]] = set()

    @classmethod
    def default(cls) -> World:
        """The world that `FLIGHT_BOOKING_DB` names, or a fresh one in memory."""
        return cls(os.environ.get("FLIGHT_BOOKING_DB") or ":memory:")

    def close(self) -> None:
        """Close the database; the next call opens it again (a world in memory starts afresh)."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def search(self, origin: str, destination: str, departure_date: str) -> list[dict[str, Any]]:
        """The flights of one day, with fares and free seats per cabin."""
        with self._transaction() as database:
            flights = self._flights(database, origin, destination, departure_date)
            self._break_once(origin, destination)
            return [
                _described(flight)
                | {"fares": {cabin: flight.fare(cabin) for cabin in SEATS}}
                | {"seats": {cabin: len(_free(database, flight, cabin)) for cabin in SEATS}}
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
        """Take the seats of one or two flights, all or none."""
        with self._transaction() as database:
            legs = [self._flights(database, origin, destination, departure_date)]
            if return_date is not None:
                there = _pick(database, legs[0], cabin, passengers)
                back = (there.destination, there.origin, return_date)
                legs.append(self._flights(database, *back, leg="return "))
            chosen = [_pick(database, leg, cabin, passengers) for leg in legs]
            booking = database.execute(
                "INSERT INTO bookings (origin, destination, departure_date, return_date,"
                " passengers, cabin, booked_on) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(chosen[0].origin, chosen[0].destination, departure_date, return_date),
                    *(passengers, cabin, self.clock().isoformat()),
                ),
            ).lastrowid
            seats = [_take(database, flight, cabin, passengers, booking) for flight in chosen]
            return {
                "booking_id": f"BK{1000 + (booking or 0)}",
                "status": "confirmed",
                "flights": [
                    _described(flight) | {"seats": taken}
                    for flight, taken in zip(chosen, seats, strict=True)
                ],
                "passengers": passengers,
                "cabin": cabin,
                "price": sum(flight.fare(cabin) for flight in chosen) * passengers,
            }

    def cancel(self, booking_id: str) -> dict[str, Any]:
        """Give the seats of a booking back; the booking stays on record."""
        digits = booking_id.removeprefix("BK")
        known = digits.isascii() and digits.isdigit() and len(digits) < 10
        with self._transaction() as database:
            key = int(digits) - 1000 if known and booking_id != digits else 0
            row = database.execute(
                "SELECT cancelled_on FROM bookings WHERE id = ?", (key,)
            ).fetchone()
            if row is None:
                raise LookupError(f"there is no booking {_shown(booking_id)}")
            if row[0] is not None:
                raise ServiceError(409, f"booking {booking_id} is already cancelled")
            today = self.clock().isoformat()
            database.execute("UPDATE bookings SET cancelled_on = ? WHERE id = ?", (today, key))
            freed = database.execute("DELETE FROM seats WHERE booking = ?", (key,)).rowcount
        return {"booking_id": booking_id, "status": "cancelled", "seats_released": freed}

    def _flights(
        self,
        database: sqlite3.Connection,
        origin: str,
        destination: str,
        day: str,
        leg: Literal["", "return "] = "",
    ) -> list[Flight]:
        routes = [
            (a, b, weekdays(a, b))
            for a in _airports(database, origin, "origin")
            for b in _airports(database, destination, "destination")
            if not _same_city(database, a, b)
        ]
        when = self._day(day, "return_date" if leg else "departure_date")
        if not any(days for *_, days in routes):
            raise LookupError("route unavailable")
        flown = {day for *_, days in routes for day in days}
        found = [Flight(a, b, when) for a, b, days in routes if when.weekday() in days]
        if not found:
            near = ", ".join(str(d) for d in self._nearest(when, flown))
            raise LookupError(
                f"no {leg}flight from {origin} to {destination} on {when}; nearest: {near}"
            )
        return found

    def _day(self, text: str, name: str) -> date:
        try:
            day = date.fromisoformat(text)
        except (TypeError, ValueError):
            day = None
        if day is None or day.isoformat() != text:
            raise ValueError(f"{name} must be a date as YYYY-MM-DD, got {_shown(text)}")
        if day < self.clock():
            raise ValueError(f"{name} {day} is in the past, today is {self.clock()}")
        if not TIMETABLE[0] <= day <= TIMETABLE[1]:
            raise ValueError(f"{name} {day} is outside the timetable, which ends {TIMETABLE[1]}")
        return day

    def _nearest(self, when: date, flown: set[int]) -> list[date]:
        """The flown day before and the one after, the nearer first."""
        first, last = max(self.clock(), TIMETABLE[0]), TIMETABLE[1]
        days = [when + timedelta(step) for step in range(-7, 8)]
        near = [day for day in days if first <= day <= last and day.weekday() in flown]
        before = [day for day in near if day < when][-1:]
        after = [day for day in near if day > when][:1]
        return sorted(before + after, key=lambda day: abs(day - when))

    def _break_once(self, origin: str, destination: str) -> None:
        route = (origin, destination)
        drawn = crc32("/".join(route).encode())
        if not self.flaky or drawn % self.flaky or route in self._searched:
            return
        self._searched.add(route)
        if drawn >> 8 & 1:
            raise ServiceError(503, "Service Unavailable: the timetable is being refreshed")
        raise ConnectionResetError(104, "Connection reset by peer")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._connection is None:
                self._connection = _opened(self.path)
            database = self._connection
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            finally:
                if database.in_transaction:
                    database.execute("ROLLBACK")


def _opened(path: str) -> sqlite3.Connection:
    """The database at a path, with its tables and airports."""
    if path != ":memory:":
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("BEGIN IMMEDIATE")
        _fill(database)
        database.execute("COMMIT")
    except BaseException:
        database.close()
        raise
    return database


@cache
def _airport_data() -> tuple[Sequence[tuple[str, ...]], Sequence[tuple[str, ...]]]:
    """Rows of the tables airports and metros."""
    import airportsdata

    airports = airportsdata.load("IATA")
    # Where a code names both an airport and its city (MEL, IST), it means the airport.
    metros = [
        (code, metro["name"], airport)
        for code, metro in airportsdata.load_iata_macs().items()
        if code not in airports
        for airport in metro["airports"]
    ]
    rows = [(row["iata"], row["name"], row["city"], row["country"]) for row in airports.values()]
    return rows, metros


def _fill(database: sqlite3.Connection) -> None:
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version == SCHEMA_VERSION:
        return
    if version != 0:
        raise RuntimeError(f"the database holds a flight booking of another version: {version}")
    schema = _DATA.joinpath("flights.sql").read_text("utf-8")
    for statement in schema.split(";\n"):
        database.execute(statement)
    airports, metros = _airport_data()
    database.executemany("INSERT INTO airports VALUES (?, ?, ?, ?)", airports)
    database.executemany("INSERT INTO metros VALUES (?, ?, ?)", metros)
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _airports(database: sqlite3.Connection, code: str, name: str) -> list[str]:
    """The airports that a code stands for: itself, or those of a city.

    Raises:
        LookupError: If nobody knows the code; names what may have been meant.
    """
    rows = database.execute(
        "SELECT iata FROM airports WHERE iata = ?1"
        " UNION SELECT airport FROM metros WHERE code = ?1",
        (code,),
    ).fetchall()
    if rows:
        return [row[0] for row in rows]
    meant = _meant(database, code)
    hint = f"; did you mean {', '.join(meant)}?" if meant else ""
    raise LookupError(f"unknown airport code {_shown(code)} for {name}{hint}")


def _meant(database: sqlite3.Connection, text: str) -> list[str]:
    """Bookable places that a text may stand for, the likeliest first, at most five."""
    rows = database.execute(
        "SELECT code, city, city FROM metros UNION SELECT iata, city, name FROM airports"
        " WHERE iata IN (SELECT value FROM json_each(?)) ORDER BY 1",
        (json.dumps(HUBS),),
    ).fetchall()
    cities: dict[str, list[str]] = {}
    for code, city, _ in rows:
        cities.setdefault(city.casefold(), []).append(code)
    name = text[:40].partition(",")[0].strip().casefold()
    if len(name) == 3:
        apart = {code: sum(map(operator.ne, code, name.upper())) for code, *_ in rows}
        return sorted((code for code, n in apart.items() if n < 2), key=apart.__getitem__)[:5]
    near = get_close_matches(name, cities, 1, 0.85)
    found = [code for city in near for code in cities[city]]
    if len(name) > 3:
        found += [code for code, _, full in rows if name in full.casefold()]
    return list(dict.fromkeys(found))[:5]


def _same_city(database: sqlite3.Connection, a: str, b: str) -> bool:
    query = "SELECT count(DISTINCT city || country) FROM airports WHERE iata IN (?, ?)"
    return bool(database.execute(query, (a, b)).fetchone()[0] == 1)


def _free(database: sqlite3.Connection, flight: Flight, cabin: str) -> list[int]:
    taken = database.execute(
        "SELECT number FROM seats WHERE origin = ? AND destination = ? AND day = ? AND cabin = ?",
        (flight.origin, flight.destination, str(flight.day), cabin),
    ).fetchall()
    return sorted(set(range(1, SEATS.get(cabin, 0) + 1)) - {row[0] for row in taken})


def _pick(
    database: sqlite3.Connection, flights: Sequence[Flight], cabin: str, passengers: int
) -> Flight:
    """The first flight with room for all; where none has, the first: the database then refuses."""
    room = (f for f in flights if len(_free(database, f, cabin)) >= passengers)
    return next(room, flights[0])


def _take(
    database: sqlite3.Connection,
    flight: Flight,
    cabin: str,
    passengers: int,
    booking: int | None,
) -> list[int]:
    beyond = SEATS[cabin] + 1
    numbers = [*_free(database, flight, cabin), *range(beyond, beyond + passengers)][:passengers]
    key = (flight.origin, flight.destination, str(flight.day), cabin)
    database.executemany(
        "INSERT INTO seats VALUES (?, ?, ?, ?, ?, ?)", [(*key, n, booking) for n in numbers]
    )
    return numbers


def _described(flight: Flight) -> dict[str, Any]:
    return {
        "flight": flight.number,
        "origin": flight.origin,
        "destination": flight.destination,
        "departs": flight.departs,
    }


def _shown(value: object) -> str:
    return repr(value if isinstance(value, str) and len(value) <= 40 else str(value)[:40] + "…")
