import builtins
import importlib.util
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kit import table

from selfcorrect.testing.flights import ServiceError, World


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BOOKING = load(Path(__file__).parent.parent / "graphs" / "flight_booking.py")


@pytest.mark.parametrize(("search", "origins"), table("flights.txt", "flights"))
def test_flights_of_a_day(search, origins):
    found = World(flaky=0).search(*search)
    assert {flight["origin"] for flight in found} == {*origins}
    assert {flight["seats"]["first"] for flight in found} == {4}


@pytest.mark.parametrize(("search", "error", "text"), table("flights.txt", "errors"))
def test_searches_that_fail(search, error, text):
    with pytest.raises(getattr(builtins, error)) as caught:
        World(flaky=0).search(*search)
    assert text in str(caught.value)


@pytest.mark.parametrize(("more", "text"), table("flights.txt", "bookings"))
def test_the_database_refuses_and_nothing_is_booked(more, text):
    world = World()
    with pytest.raises(sqlite3.IntegrityError, match=text):
        world.book("LHR", "CDG", "2024-03-02", *more)
    assert world.book("LHR", "CDG", "2024-03-02", 4, "first")["booking_id"] == "BK1001"


def test_a_booking_takes_seats_and_cancelling_frees_them():
    world = World(flaky=0)
    trip = world.book("LHR", "CDG", "2024-03-02", 3, "first", "2024-03-05")
    assert [flight["origin"] for flight in trip["flights"]] == ["LHR", "CDG"]
    assert world.search("LHR", "CDG", "2024-03-02")[0]["seats"]["first"] == 1
    with pytest.raises(sqlite3.IntegrityError):
        world.book("LHR", "CDG", "2024-03-02", 2, "first")
    assert world.cancel(trip["booking_id"])["seats_freed"] == 6
    with pytest.raises(ServiceError, match="already cancelled") as caught:
        world.cancel(trip["booking_id"])
    assert caught.value.status_code == 409
    assert world.book("LHR", "CDG", "2024-03-02", 4, "first")["passengers"] == 4


@pytest.mark.parametrize("booking", ["BK9999", "1001", "BK1001'--", ""])
def test_an_unknown_booking_cannot_be_cancelled(booking):
    with pytest.raises(LookupError, match="there is no booking"):
        World().cancel(booking)


def test_a_flaky_route_breaks_once():
    world = World(flaky=1)
    for route in [("LHR", "CDG"), ("CDG", "LHR"), ("NYC", "LAX")]:
        with pytest.raises(ServiceError):
            world.search(*route, "2024-01-15")
        assert world.search(*route, "2024-01-15")


def test_threads_never_sell_a_seat_twice():
    world = World()

    def book(_):
        try:
            return world.book("LHR", "CDG", "2024-03-02", 1, "business")["passengers"]
        except sqlite3.IntegrityError:
            return 0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(book, range(20))) == 12


@pytest.mark.parametrize(
    ("expected", "given"),
    [example[1:] for example in BOOKING.EXAMPLES],
    ids=[example[0] for example in BOOKING.EXAMPLES],
)
def test_examples_end_as_they_say(expected, given):
    model = BOOKING.make_model() if "for me" in given.get("request", "") else None
    out = BOOKING.make_graph(model=model).invoke(given)
    if expected == "question":
        assert out["failure"]["reason"] == "needs_person"
    else:
        assert expected in out


def test_scenario_1_books_for_one():
    out = BOOKING.make_graph(model=BOOKING.make_model()).invoke(BOOKING.EXAMPLES[0][2])
    assert out["result"]["passengers"] == 1


def test_scenario_1_asks_without_a_model():
    out = BOOKING.graph.invoke(BOOKING.EXAMPLES[0][2])
    assert out["failure"]["reason"] == "needs_person"


def test_scenario_2_books_business():
    out = BOOKING.make_graph().invoke(BOOKING.EXAMPLES[1][2])
    assert (out["result"]["cabin"], out["result"]["flights"][0]["date"]) == (
        "business",
        "2024-10-26",
    )


def test_scenario_3_runs_no_tool():
    out = BOOKING.make_graph().invoke(BOOKING.EXAMPLES[2][2])
    assert "failure" in out
    assert out["failure"]["attempts"] == []


def test_a_repair_is_made_on_the_world_that_is_given():
    world = World(flaky=0)
    graph = BOOKING.make_graph(world=world)
    booked = graph.invoke(BOOKING.EXAMPLES[1][2])["result"]["booking_id"]
    assert world.cancel(booked)["seats_freed"] == 1
