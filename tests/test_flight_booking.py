"""The flight booking: the world behind it, its constraints and errors; its tools and its file."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.evidence.outcome import ending_of
from selfcorrect.testing import flights

ROOT = Path(__file__).parents[1]
FILE = ROOT / "graphs" / "flight_booking.py"

pytest.importorskip("airportsdata", reason="the extra `cli` is not installed")


def load(name="graph_under_test"):
    """Load the file as a server does: by path, under a made-up name, outside `sys.modules`."""
    spec = importlib.util.spec_from_file_location(name, FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


booking = load()
World = flights.World


@pytest.fixture(scope="module")
def shared():
    """A world for calls that only read, or that fail."""
    return World(flaky=0)


@pytest.fixture
def world():
    return World(flaky=0)


# The timetable


@pytest.mark.parametrize("pair", [("LHR", "CDG"), ("CDG", "LHR"), ("JFK", "LAX"), ("LAX", "JFK")])
def test_the_daily_routes_fly_every_day(pair):
    assert flights.weekdays(*pair) == tuple(range(7))


def test_the_texts_own_trips_can_be_booked(world):
    first = world.book("NYC", "LAX", "2024-01-15", 1)
    second = world.book("LHR", "CDG", "2024-10-26", 1, "business")
    assert first["flights"][0]["origin"] in {"JFK", "LGA"}
    assert second["cabin"] == "business"
    assert [first["booking_id"], second["booking_id"]] == ["BK1001", "BK1002"]


@given(st.sampled_from(flights.HUBS), st.sampled_from(flights.HUBS))
def test_routes_are_the_same_both_ways_and_every_flight_has_its_own_number(a, b):
    assert flights.weekdays(a, b) == flights.weekdays(b, a)
    assert (a != b) or flights.weekdays(a, b) == ()


def test_flight_numbers_are_unique():
    day = flights.TODAY
    hubs = flights.HUBS
    numbers = {flights.Flight(a, b, day).number for a in hubs for b in hubs if a != b}
    assert len(numbers) == len(hubs) * (len(hubs) - 1)


def test_there_are_routes_on_all_days_on_some_and_none():
    hubs = flights.HUBS
    counts = {len(flights.weekdays(a, b)) for a in hubs for b in hubs if a < b}
    assert {0, 1, 3, 7} <= counts


def test_the_world_is_the_same_in_every_process(shared):
    code = (
        "import json; from selfcorrect.testing.flights import World;"
        "print(json.dumps(World(flaky=0).search('LON', 'PAR', '2026-05-04')))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(said.stdout) == shared.search("LON", "PAR", "2026-05-04")


def test_a_city_code_stands_for_all_its_airports(shared):
    found = shared.search("LON", "PAR", "2024-10-26")
    assert {flight["origin"] for flight in found} <= {"LHR", "LGW", "LCY", "LTN", "STN"}
    assert len({flight["origin"] for flight in found}) > 1
    assert ("LHR", "CDG") in {(flight["origin"], flight["destination"]) for flight in found}


def test_a_code_of_an_airport_and_a_city_means_the_airport(shared):
    found = shared.search("MEL", "LHR", "2024-10-28")
    assert {flight["origin"] for flight in found} == {"MEL"}


@settings(max_examples=60)
@given(
    st.sampled_from(flights.HUBS),
    st.sampled_from(flights.HUBS),
    st.dates(date(2024, 1, 1), date(2027, 12, 31)),
)
def test_a_search_lists_the_days_flights_or_says_when_there_are_some(shared, a, b, day):
    days = flights.weekdays(a, b)
    try:
        found = shared.search(a, b, day.isoformat())
    except LookupError as error:
        text = str(error)
        if text == "route unavailable":
            return
        near = [date.fromisoformat(item) for item in text.partition("nearest: ")[2].split(", ")]
        assert day.weekday() not in days
        assert near
        assert all(item.weekday() in days for item in near)
        assert min(abs(item - day) for item in near) == min(
            timedelta(n)
            for n in range(1, 8)
            for s in (1, -1)
            if _flown(day + s * timedelta(n), days)
        )
    else:
        assert day.weekday() in days
        assert [flight["departs"][:10] for flight in found] == [day.isoformat()]


def _flown(day, days):
    return day.weekday() in days and date(2024, 1, 1) <= day <= date(2027, 12, 31)


# What it refuses, in its own words


@pytest.mark.parametrize(
    ("args", "kind", "text"),
    [
        (
            ("LONDON", "CDG", "2024-10-26"),
            LookupError,
            "unknown airport code 'LONDON' for origin; ",
        ),
        (("lhr", "CDG", "2024-10-26"), LookupError, "'lhr' for origin; did you mean LHR?"),
        (("LHX", "CDG", "2024-10-26"), LookupError, "did you mean LAX, LHR, PHX?"),
        (("Seatle", "CDG", "2024-10-26"), LookupError, "did you mean SEA?"),
        (("Vancouver", "CDG", "2024-10-26"), LookupError, "did you mean YVR?"),
        (("XQZ", "CDG", "2024-10-26"), LookupError, "unknown airport code 'XQZ' for origin"),
        (("CDG", "XQZ", "2024-10-26"), LookupError, "unknown airport code 'XQZ' for destination"),
        (("", "CDG", "2024-10-26"), LookupError, "unknown airport code ''"),
        (("LHR", "x" * 10**6, "2024-10-26"), LookupError, "xxx…' for destination"),
        (
            ("LHR", "JFK", "2024-10-26"),
            LookupError,
            "on 2024-10-26; nearest: 2024-10-28, 2024-10-2",
        ),
        (("LTN", "ORY", "2024-10-26"), LookupError, "route unavailable"),
        (("LHR", "LHR", "2024-10-26"), LookupError, "route unavailable"),
        (("LHR", "LGW", "2024-10-26"), LookupError, "route unavailable"),
        (
            ("LHR", "CDG", "2023-12-31"),
            ValueError,
            "2023-12-31 is in the past, today is 2024-01-01",
        ),
        (("LHR", "CDG", "2028-01-01"), ValueError, "outside the timetable, which ends 2027-12-31"),
        (("LHR", "CDG", "20241026"), ValueError, "departure_date must be a date as YYYY-MM-DD"),
        (("LHR", "CDG", "2024-02-30"), ValueError, "departure_date must be a date as YYYY-MM-DD"),
        (("LHR", "CDG", ""), ValueError, "departure_date must be a date as YYYY-MM-DD"),
    ],
)
def test_a_search_that_cannot_be_answered_says_why(shared, args, kind, text):
    with pytest.raises(kind) as caught:
        shared.search(*args)
    assert text in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("args", "constraint"),
    [
        (("LHR", "CDG", "2024-10-26", 0), "one_to_nine_passengers"),
        (("LHR", "CDG", "2024-10-26", 10), "one_to_nine_passengers"),
        (("LHR", "CDG", "2024-10-26", 1.5), "one_to_nine_passengers"),
        (("LHR", "CDG", "2024-10-26", 1, "eco"), "known_cabin"),
        (("LHR", "CDG", "2024-10-26", 1, "economy", "2024-10-25"), "return_after_departure"),
        (("LHR", "CDG", "2024-10-26", 5, "first"), "cabin_has_seats"),
    ],
)
def test_the_database_refuses_what_its_constraints_forbid_and_keeps_nothing(
    world, args, constraint
):
    with pytest.raises(sqlite3.IntegrityError, match=f"CHECK constraint failed: {constraint}"):
        world.book(*args)
    for table in ("bookings", "seats"):
        assert world._connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    assert world.search("LHR", "CDG", "2024-10-26")[0]["seats"] == flights.SEATS


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        ("INSERT INTO seats VALUES ('LHR', 'CDG', '2024-10-26', 'first', 2, 99)", "FOREIGN KEY"),
        ("INSERT INTO seats VALUES ('LHR', 'CDG', '2024-10-26', 'first', 1, 1)", "UNIQUE"),
        ("INSERT INTO seats VALUES ('LHR', 'CDG', '2024-10-26', 'first', 5, 1)", "cabin_has_seats"),
        ("INSERT INTO seats VALUES ('QQQ', 'CDG', '2024-10-26', 'first', 2, 1)", "FOREIGN KEY"),
        ("UPDATE bookings SET departure_date = '2023-12-31'", "not_in_the_past"),
        ("UPDATE bookings SET destination = origin", "two_places"),
        ("DELETE FROM bookings", "FOREIGN KEY"),
    ],
)
def test_the_constraints_hold_for_whoever_writes(world, statement, constraint):
    world.book("LHR", "CDG", "2024-10-26", 1, "first")
    with pytest.raises(sqlite3.IntegrityError, match=constraint):
        world._connection.execute(statement)


def test_seats_in_sql_and_in_python_are_the_same_number(world):
    for cabin, seats in flights.SEATS.items():
        for _ in range(seats):
            world.book("JFK", "LAX", "2025-06-02", 1, cabin)
        with pytest.raises(sqlite3.IntegrityError, match="cabin_has_seats"):
            world.book("JFK", "LAX", "2025-06-02", 1, cabin)
        assert world.search("JFK", "LAX", "2025-06-02")[0]["seats"][cabin] == 0


# Booking and cancelling


def test_a_return_trip_is_booked_whole_or_not_at_all(world):
    booked = world.book("NYC", "LAX", "2024-03-01", 2, "business", "2024-03-08")
    there, back = booked["flights"]
    assert (there["origin"], there["destination"]) == (back["destination"], back["origin"])
    assert there["seats"] == back["seats"] == [1, 2]
    with pytest.raises(LookupError, match="no return flight from JFK to LHR on 2024-10-26"):
        world.book("LHR", "JFK", "2024-10-22", 1, "economy", "2024-10-26")
    assert world.search("LHR", "JFK", "2024-10-22")[0]["seats"] == flights.SEATS


def test_a_city_is_booked_on_a_flight_with_room(world):
    seats = flights.SEATS["first"]
    picked = [world.book("LON", "PAR", "2024-10-26", seats, "first")["flights"][0] for _ in "12"]
    assert picked[0]["flight"] != picked[1]["flight"]


def test_a_cancelled_booking_gives_its_seats_back_once(world):
    booked = world.book("LHR", "CDG", "2024-10-26", 3, "first")["booking_id"]
    assert world.cancel(booked) == {
        "booking_id": booked,
        "status": "cancelled",
        "seats_released": 3,
    }
    assert world.search("LHR", "CDG", "2024-10-26")[0]["seats"]["first"] == 4
    with pytest.raises(flights.ServiceError, match="already cancelled") as caught:
        world.cancel(booked)
    assert caught.value.status_code == 409


@pytest.mark.parametrize("name", ["BK9999", "1001", "BK", "", "BK-1", "BK٣", "BK" + "9" * 99, "x"])
def test_an_unknown_booking_is_not_found(world, name):
    world.book("LHR", "CDG", "2024-10-26", 1)
    with pytest.raises(LookupError, match="there is no booking"):
        world.cancel(name)


# Threads, processes, time


def _sell_out(sellers):
    """Book single first class seats from many threads at once; what was sold, what was refused."""
    gate = threading.Barrier(len(sellers))

    def buy(seller):
        gate.wait()
        try:
            return seller.book("LHR", "CDG", "2024-10-26", 1, "first")["flights"][0]["seats"][0]
        except sqlite3.IntegrityError:
            return None

    with ThreadPoolExecutor(len(sellers)) as pool:
        got = list(pool.map(buy, sellers))
    return sorted(seat for seat in got if seat is not None), got.count(None)


def test_threads_that_share_a_world_never_oversell_it(world):
    assert _sell_out([world] * 12) == ([1, 2, 3, 4], 8)


def test_worlds_that_share_a_file_never_oversell_it(tmp_path):
    path = str(tmp_path / "new" / "bookings.db")
    worlds = [World(path, flaky=0) for _ in range(8)]
    try:
        assert _sell_out(worlds) == ([1, 2, 3, 4], 4)
        assert worlds[0].search("LHR", "CDG", "2024-10-26")[0]["seats"]["first"] == 0
    finally:
        for one in worlds:
            one.close()


def test_bookings_in_a_file_outlive_the_world(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIGHT_BOOKING_DB", str(tmp_path / "bookings.db"))
    first = World.default()
    booked = first.book("JFK", "LAX", "2024-03-01", 1)["booking_id"]
    first.close()
    second = World.default()
    assert second.cancel(booked)["seats_released"] == 1
    second.close()


def test_a_database_of_another_version_is_refused(tmp_path):
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 77")
    other.close()
    with pytest.raises(RuntimeError, match="another version: 77"):
        World(str(path)).search("LHR", "CDG", "2024-10-26")


def test_the_clock_decides_what_is_past():
    late = World(clock=lambda: date(2026, 5, 5), flaky=0)
    assert late.search("LHR", "CDG", "2026-05-05")
    with pytest.raises(ValueError, match="is in the past, today is 2026-05-05"):
        late.search("LHR", "CDG", "2026-05-04")
    with pytest.raises(LookupError) as caught:
        late.search("LHR", "JFK", "2026-05-06")
    assert "2026-05-04" not in str(caught.value)


def test_a_new_world_opens_fast_and_only_when_it_is_called():
    new = World()
    assert new._connection is None
    started = time.perf_counter()
    with pytest.raises(ConnectionResetError):
        new.search("LHR", "CDG", "2024-10-26")
    assert time.perf_counter() - started < 1.5


def test_a_flaky_search_breaks_on_the_first_call_of_some_routes():
    def tries(new):
        kinds = []
        for hub in flights.HUBS[:30]:
            try:
                new.search("LHR", hub, "2024-10-28")
            except (ConnectionResetError, flights.ServiceError) as error:
                kinds.append((hub, type(error).__name__, getattr(error, "status_code", None)))
            except LookupError:
                pass
        return kinds

    new = World(flaky=2)
    first = tries(new)
    assert {kind for _, kind, _ in first} == {"ConnectionResetError", "ServiceError"}
    assert {status for *_, status in first} == {None, 503}
    assert tries(new) == []
    assert tries(World(flaky=2)) == first
    assert tries(World(flaky=0)) == []


# The tools and the file


@pytest.fixture(scope="module")
def specs():
    return {spec.name: spec for spec in booking.tools(World(flaky=0))}


def test_the_tools_say_what_they_do(specs):
    assert {name: spec.effect for name, spec in specs.items()} == {
        "search_flights": "read_only",
        "book_flight": "mutating",
        "cancel_booking": "destructive",
    }
    assert all(spec.declared and spec.description for spec in specs.values())


def test_the_schemas_say_what_the_arguments_are(specs):
    schema = specs["book_flight"].schema
    properties = schema["properties"]
    assert list(properties) == [
        *("origin", "destination", "departure_date", "passengers", "cabin", "return_date")
    ]
    assert set(schema["required"]) == {"origin", "destination", "departure_date", "passengers"}
    assert properties["departure_date"]["format"] == "date"
    assert properties["return_date"]["format"] == "date"
    assert (properties["passengers"]["minimum"], properties["passengers"]["maximum"]) == (1, 9)
    assert properties["cabin"]["enum"] == ["economy", "business", "first"]
    assert properties["cabin"]["default"] == "economy"


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({}, set()),
        ({"return_date": "2024-10-28", "cabin": "first"}, set()),
        ({"return_date": None}, set()),
        ({"passengers": 10}, {"maximum"}),
        ({"passengers": "1"}, {"type"}),
        ({"passengers": True}, {"type"}),
        ({"departure_date": "2024-99-99"}, {"format"}),
        ({"return_date": "Oct 28"}, {"format"}),
        ({"cabin": "business class"}, {"enum"}),
        ({"class": "business"}, {"additionalProperties"}),
    ],
)
def test_bad_arguments_do_not_reach_the_tool(specs, change, codes):
    args = {"origin": "LHR", "destination": "CDG", "departure_date": "2024-10-26"}
    found = specs["book_flight"].violations(args | {"passengers": 1} | change)
    assert {finding.code for finding in found} == codes


def test_a_tool_works_on_its_world(specs):
    args = {"origin": "LHR", "destination": "CDG", "departure_date": "2024-10-26"}
    booked = specs["book_flight"].run(args | {"passengers": 1})
    assert specs["search_flights"].run(args)[0]["seats"]["economy"] == 59
    assert specs["cancel_booking"].run({"booking_id": booked["booking_id"]})["seats_released"] == 1


def test_the_world_stands_in_for_the_tools_own_code(specs):
    """What it raises on purpose is a refusal; what SQLite raises in it is not."""
    with pytest.raises(LookupError) as caught:
        specs["cancel_booking"].run({"booking_id": "BK9999"})
    ending = ending_of(caught.value, specs["cancel_booking"].home)
    assert ending.outcome == "refused"
    assert "flights.py" in str(ending.where)
    with pytest.raises(sqlite3.OperationalError) as broken:
        flights._airports(sqlite3.connect(":memory:"), "LHR", "origin")
    assert ending_of(broken.value).why != "its own code raised it in order to refuse"


def test_the_file_can_be_loaded_twice_and_opens_no_database():
    again = load("graph_again")
    assert again.graph is not booking.graph
    assert not [t for t in threading.enumerate() if "sqlite" in t.name]


def test_langgraph_json_names_the_graph():
    config = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    file, _, name = config["graphs"]["flight_booking"].partition(":")
    assert (ROOT / file).resolve() == FILE
    assert hasattr(booking, name)


def test_the_examples_are_inputs_with_a_title_and_an_outcome():
    found = booking.examples()
    assert len(found) >= 15
    assert len({item["title"] for item in found}) == len(found)
    for item in found:
        assert item["expect"] in {"mended", "asked", "reported"}
        assert ("call" in item["input"]) != ("raw" in item["input"])
    json.dumps(found)
    found[0]["input"]["call"]["args"]["origin"] = "changed"
    assert booking.examples()[0]["input"]["call"]["args"]["origin"] == "NYC"


def test_the_file_teaches_the_graph_and_fits_on_two_screens():
    """What one copies is tools, map, graph and examples; the world is for demonstrations."""
    text = FILE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 130
    assert "sqlite" not in text.lower()
