"""A key inside an argument that the schema does not forbid may stay, unless it may be a slip."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypedDict

from selfcorrect import ToolSpec, build_graph, repair_call

TEXT = {"type": "string"}
FLIGHT = {
    "type": "object",
    "properties": {
        "flight_number": TEXT,
        "date": TEXT,
        "seats": {"type": "integer", "description": "how many people fly"},
        "cabin": {"enum": ["economy", "business"]},
    },
    "required": ["flight_number", "date"],
}
GIVEN = {"flight_number": "HAT001", "date": "2024-05-20"}


def tool_of(flight: Any, **more: Any) -> ToolSpec:
    properties = {"flights": {"type": "array", "items": flight}, **more.pop("properties", {})}
    schema = {"type": "object", "properties": properties, "required": ["flights"], **more}
    spec = {"name": "book", "parameters": schema}
    return ToolSpec.from_schema(spec, call=lambda **args: args, effect="mutating")


def unknown(tool: ToolSpec, extra: Any, given: Any = GIVEN) -> list[str]:
    args = {"flights": [{**given, **extra}]}
    found = tool.violations(args)
    assert tool.is_valid(args) is not bool(found)
    return [finding.path.rpartition("/")[2] for finding in found if finding.path]


@pytest.mark.parametrize(
    "extra",
    [{"origin": "JFK"}, {"origin": "JFK", "destination": "SFO"}, {"stops": []}, {"price": None}],
)
def test_a_healthy_call_runs_as_it_is(extra):
    args = {"flights": [{**GIVEN, **extra}]}
    tool = tool_of(FLIGHT)
    assert unknown(tool, extra) == []
    assert repair_call({"name": "book", "args": args}, [tool]).outcome == "valid"
    assert build_graph([tool]).invoke({"call": {"name": "book", "args": args}})["result"] == args


@pytest.mark.parametrize(
    "extra",
    [
        {"seat": 2},
        {"seets": 2},
        {"Seats": 2},
        {"people": 2},  # what the description of `seats` speaks of
        {"count": 2},  # `seats` could have this value
        {"class": "business"},  # one of the values of `cabin`
        {"class": "Business"},
        {"Date": "2024-05-21"},  # beside `date`, which is there
        {"departure_date": "2024-05-21"},
    ],
    ids=str,
)
def test_a_key_that_may_be_meant_for_a_declared_one_never_runs_in_silence(extra):
    assert unknown(tool_of(FLIGHT), extra) == list(extra)


def test_nor_one_beside_a_required_key_that_is_missing():
    tool = tool_of(FLIGHT)
    assert unknown(tool, {"origin": "JFK"}, {"date": "2024-05-20"}) == ["flight_number", "origin"]


def test_nor_one_in_an_object_of_which_nothing_is_declared():
    amount = {"type": "object", "properties": {"amount": {"type": "number"}}}
    assert unknown(tool_of(amount), {"name": "history"}, {}) == ["name"]


@pytest.mark.parametrize("word", ["additionalProperties", "unevaluatedProperties"])
def test_what_the_schema_forbids_stays_forbidden(word):
    assert unknown(tool_of({**FLIGHT, word: False}), {"origin": "JFK"}) == ["origin"]


def test_an_unknown_argument_of_the_tool_stays_one():
    tool = tool_of(FLIGHT)
    args = {"flights": [GIVEN], "origin": "JFK"}
    assert [finding.path for finding in tool.violations(args)] == ["/args/origin"]
    assert not tool.is_valid(args)


def test_what_else_is_wrong_is_still_told():
    tool = tool_of(FLIGHT)
    args = {"flights": [{**GIVEN, "origin": "JFK", "seats": "many"}]}
    assert [finding.path for finding in tool.violations(args)] == ["/args/flights/0/seats"]
    assert not tool.is_valid(args)


class Flight(TypedDict):
    flight_number: str


def test_a_python_type_would_drop_it():
    def book(flight: Flight) -> str:
        """Book a flight."""
        return str(flight)

    tool = ToolSpec.from_function(book)
    args = {"flight": {"flight_number": "HAT001", "origin": "JFK"}}
    assert [finding.path for finding in tool.violations(args)] == ["/args/flight/origin"]
    assert not tool.is_valid(args)


def test_alternatives_keep_their_keys_apart():
    cat = {"properties": {"kind": {"const": "cat"}, "meow": {"type": "integer"}}}
    dog = {"properties": {"kind": {"const": "dog"}, "bark": {"type": "integer"}}}
    tool = tool_of({"type": "object", "oneOf": [cat, dog]})
    assert unknown(tool, {"bark": 1}, {"kind": "cat", "meow": 1}) == ["bark"]


KEYS = st.sampled_from([*FLIGHT["properties"], "origin", "Seats", "class", "dates", "x", "price"])
VALUES = st.sampled_from(["JFK", "business", 2, 2.5, None, True, [], {}])


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_what_is_valid_has_no_violations_and_the_other_way_round(extra):
    tool = tool_of(FLIGHT)
    args = {"flights": [{**GIVEN, **extra}]}
    assert tool.is_valid(args) is not bool(tool.violations(args))


def test_many_of_them_are_fast():
    tool = tool_of(FLIGHT)
    args = {"flights": [{**GIVEN, **{f"u{n}": "x" for n in range(150)}}]}
    tool.is_valid(args)
    start = time.perf_counter()
    assert tool.is_valid(args)
    assert time.perf_counter() - start < 2
