"""The flight booking end to end: the three scenarios, and every example under the travel map."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect.testing import ScriptedModel
from selfcorrect.testing.flights import World

ROOT = Path(__file__).parents[1]

pytest.importorskip("airportsdata", reason="the extra `cli` is not installed")


def load():
    path = ROOT / "graphs" / "flight_booking.py"
    spec = importlib.util.spec_from_file_location("scenarios_under_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


booking = load()
EXAMPLES = booking.examples()

FOR_ME = {
    "request": "Book a flight for me from New York to Los Angeles on 2024-01-15.",
    "call": {
        "name": "book_flight",
        "args": {"origin": "NYC", "destination": "LAX", "departure_date": "2024-01-15"},
    },
}
IN_BUSINESS = {
    "request": "I need to fly from London to Paris on October 26, 2024 for business class.",
    "call": {
        "name": "book_flight",
        "args": {
            "origin": "LHR",
            "destination": "CDG",
            "departure_date": "Oct 26, 2024",
            "passengers": 1,
            "class": "business class",
        },
    },
}
A_HOTEL = {
    "request": "Find me a hotel in New York.",
    "call": {"name": "find_hotel", "args": {"city": "New York"}},
}


def run(given, strategies="travel", model=None, flaky=0, **wiring):
    world = World(flaky=flaky)
    graph = booking.make_graph(strategies, world=world, model=model, **wiring)
    return graph.invoke(given), world


def nodes(out, name):
    return [event for event in out["trail"] if event["node"] == name]


def executions(out):
    return [event for event in nodes(out, "execute") if event.get("attempt")]


def changes(out):
    made = [change for event in nodes(out, "repair") for change in event["changes"]]
    return {change["path"]: change.get("after") for change in made}


def free_seats(world, *, cabin, trip=("LHR", "CDG", "2024-10-26")):
    return world.search(*trip)[0]["seats"][cabin]


# Scenario 1: a missing argument


def test_the_missing_passengers_come_from_the_request():
    model = ScriptedModel(script=[{"passengers": 1}])
    out, world = run(FOR_ME, model=model)
    assert out["result"]["passengers"] == 1
    assert out["result"]["booking_id"] == "BK1001"
    assert changes(out) == {"/args/passengers": 1}
    assert len(executions(out)) == 1
    assert free_seats(world, cabin="economy", trip=("NYC", "LAX", "2024-01-15")) == 59


def test_without_a_model_the_missing_passengers_are_asked_for_and_not_guessed():
    out, world = run(FOR_ME)
    failure = out["failure"]
    assert failure["reason"] in {"needs_person", "no_strategy"}
    assert "passengers" in json.dumps(failure["findings"])
    assert "passengers" in json.dumps([failure["question"], failure["advice"]])
    assert failure["attempts"] == []
    assert failure["changes"] == []
    assert executions(out) == []
    assert free_seats(world, cabin="economy", trip=("NYC", "LAX", "2024-01-15")) == 60


@pytest.mark.parametrize("answer", [{"passengers": 12}, {"passengers": "one"}, {}, "no idea"])
def test_a_model_that_answers_nonsense_books_nothing(answer):
    out, world = run(FOR_ME, model=ScriptedModel(script=[answer] * 10))
    assert "result" not in out
    assert free_seats(world, cabin="economy", trip=("NYC", "LAX", "2024-01-15")) == 60


# Scenario 2: a date in words, a synonym, a value in words


@pytest.mark.parametrize("model", [None, "unasked"])
def test_date_and_cabin_are_mended_in_two_rounds_without_a_model(model):
    unasked = ScriptedModel() if model else None
    out, world = run(IN_BUSINESS, model=unasked)
    assert out["result"]["cabin"] == "business"
    assert out["result"]["flights"][0]["departs"].startswith("2024-10-26")
    # The second is for what the new name brings to light: a cabin by another name.
    assert len(nodes(out, "repair")) == 2
    assert len(executions(out)) == 1
    made = changes(out)
    assert made["/args/departure_date"] == "2024-10-26"
    assert made["/args/cabin"] == "business"
    assert free_seats(world, cabin="business") == 11


def test_every_change_says_who_made_it_and_why():
    out, _ = run(IN_BUSINESS)
    for event in nodes(out, "repair"):
        for change in event["changes"]:
            assert change["strategy"]
            assert change["rule"]
            assert change["safety"] in {"exact", "inferred"}
            assert change["reason"]


# Scenario 3: nothing like it exists


@pytest.mark.parametrize("model", [None, "unasked"])
def test_an_unknown_tool_is_reported_after_no_execution_and_no_model_call(model):
    unasked = ScriptedModel() if model else None
    out, _ = run(A_HOTEL, model=unasked)
    failure = out["failure"]
    assert executions(out) == []
    assert failure["attempts"] == []
    assert failure["counts"].get("model_calls", 0) == 0
    assert failure["changes"] == []
    assert "find_hotel" in json.dumps(failure["call"])


# All examples


@pytest.fixture(scope="module")
def played():
    """Every example, in order, on one world, as `selfcorrect run` plays them."""
    graph = booking.make_graph(world=World())
    return {item["title"]: graph.invoke(item["input"]) for item in EXAMPLES}


@pytest.mark.parametrize("item", EXAMPLES, ids=lambda item: item["title"])
def test_an_example_ends_as_it_says(played, item):
    out = played[item["title"]]
    reason = out.get("failure", {}).get("reason")
    ended = "mended" if "result" in out else "asked" if reason == "needs_person" else "reported"
    assert ended == item["expect"], out["trail"]
    assert ("result" in out) != ("failure" in out)
    json.dumps(out)
    if ended == "mended":
        assert any(event["node"] in {"repair", "retry"} for event in out["trail"])
    if ended == "asked":
        assert out["failure"]["question"]["question"]


def test_no_example_is_healthy_or_books_twice(played):
    booked = [out["result"] for out in played.values() if "booking_id" in str(out.get("result"))]
    assert len({item["booking_id"] for item in booked}) == len(booked)


def test_what_only_reads_is_moved_and_what_books_is_asked(played):
    looked = played["no flight that day, to look at"]
    assert changes(looked) == {"/args/departure_date": "2024-10-28"}
    asked = played["no flight that day, to book"]["failure"]
    assert asked["changes"] == []
    assert len(asked["attempts"]) == 1


def test_cities_become_airports_one_execution_each(played):
    out = played["cities instead of airports"]
    assert changes(out) == {"/args/origin": "SEA", "/args/destination": "DEN"}
    assert len(executions(out)) == 3


# A person answers


def answered(given, answer):
    """Ask once, resume with the answer; what came of it, and the question."""
    world = World(flaky=0)
    graph = booking.make_graph(world=world, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    asked = graph.invoke({"call": given}, config)["__interrupt__"][0].value
    return graph.invoke(Command(resume=answer), config), asked


TRIP = {"origin": "LHR", "destination": "CDG", "departure_date": "2024-10-26", "passengers": 1}


@pytest.mark.parametrize(
    ("change", "answer", "made"),
    [
        ({"origin": "London"}, "LHR", {"/args/origin": "LHR"}),
        ({"origin": "London"}, {"action": "choose", "choice": 0}, {"/args/origin": "LON"}),
        (
            {"origin": "CDG", "destination": "London"},
            {"action": "choose", "choice": "LHR"},
            {"/args/destination": "LHR"},
        ),
        ({"destination": "JFK"}, "2024-10-28", {"/args/departure_date": "2024-10-28"}),
        ({"destination": "JFK"}, {"action": "approve"}, {"/args/departure_date": "2024-10-28"}),
        ({"origin": "LTN"}, {"action": "choose", "choice": 0}, {"/args/origin": "LON"}),
        ({"passengers": 5, "cabin": "first"}, "business", {"/args/cabin": "business"}),
    ],
)
def test_a_persons_answer_goes_where_the_question_was(change, answer, made):
    out, asked = answered({"name": "book_flight", "args": TRIP | change}, answer)
    assert out["result"]["status"] == "confirmed"
    assert changes(out) == made
    assert asked["question"]


def test_a_bare_answer_about_a_route_is_not_put_at_either_end():
    out, _ = answered({"name": "book_flight", "args": TRIP | {"origin": "LTN"}}, "ORY")
    assert changes(out) == {}
    assert "result" not in out


def test_a_person_may_say_no():
    no = {"action": "reject"}
    out, _ = answered({"name": "book_flight", "args": TRIP | {"origin": "London"}}, no)
    assert out["failure"]["reason"] == "rejected"


# Sync and async


def test_async_tells_the_same_story():
    graph = booking.make_graph(world=World(flaky=0))
    later = asyncio.run(graph.ainvoke(IN_BUSINESS))
    now, _ = run(IN_BUSINESS)

    def told(out):
        return [(event["node"], event["next"]) for event in out["trail"]]

    assert told(later) == told(now)
    assert later["result"] == now["result"]


# Four maps, four outcomes


def outcome(given, strategies):
    out, _ = run({"call": given}, strategies)
    if "result" in out:
        classes = [c["safety"] for event in nodes(out, "repair") for c in event["changes"]]
        return max(classes, key=["exact", "inferred", "lossy"].index, default="unchanged")
    return out["failure"]["reason"]


def search(**args):
    given = {"origin": "NYC", "destination": "LAX", "departure_date": "2024-03-01"} | args
    return {"name": "search_flights", "args": given}


def book(**args):
    return search(**{"passengers": 1} | args) | {"name": "book_flight"}


MAPS = ("strict", "default", "travel")
ASK = "needs_person"
TABLE = [
    (book(passengers="2"), ("exact", "exact", "exact")),
    (book(departure_date="2024/03/01"), ("exact", "exact", "exact")),
    (book(cabin=None), ("exact", "exact", "exact")),
    (search(departure_date="Mar 1, 2024"), (ASK, "inferred", "inferred")),
    (search(currency="EUR"), (ASK, ASK, ASK)),
    (search(depart_date="2024-03-02"), (ASK, ASK, ASK)),
    (book(**{"class": "business"}), (ASK, ASK, "inferred")),
    (book(cabin="coach"), (ASK, ASK, "inferred")),
    (search(origin="Seattle", destination="Denver"), (ASK, ASK, "inferred")),
    (
        search(origin="LHR", destination="JFK", departure_date="2024-10-26"),
        (*["no_strategy"] * 2, "lossy"),
    ),
    (book(origin="London"), (ASK, ASK, ASK)),
    (book(passengers=12), (ASK, ASK, ASK)),
    (book(departure_date="03/04/2026"), (ASK, ASK, ASK)),
    (book(seat="12A"), (ASK, ASK, ASK)),
]


@pytest.mark.parametrize(("given", "expected"), TABLE, ids=lambda item: json.dumps(item)[:60])
def test_the_same_call_under_four_maps(given, expected):
    assert tuple(outcome(given, name) for name in MAPS) == expected


def test_no_two_maps_do_the_same():
    columns = set(zip(*(expected for _, expected in TABLE), strict=True))
    assert len(columns) == len(MAPS)
