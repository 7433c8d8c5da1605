"""What stands one level too deep, in a list of one, under named keys, or says nothing at all."""

from __future__ import annotations

import pytest

from selfcorrect import repair_call
from selfcorrect.model import ABSENT, Changed, ErrorKind, Finding
from selfcorrect.repairs.convert_type import ConvertType
from selfcorrect.repairs.correct_enum import CorrectEnum
from selfcorrect.repairs.drop_extra import DropExtra
from selfcorrect.repairs.rename_argument import RenameArgument
from selfcorrect.repairs.rename_tool import RenameTool
from selfcorrect.testing.conformance import try_rename, try_strategy
from selfcorrect.tools import ToolSpec

TEXT, INT = {"type": "string"}, {"type": "integer"}
INFERRED = "inferred"


def closed(properties, *required):
    return {"type": "object", "properties": properties, "required": list(required)}


def mended(schema, args):
    """The arguments that come back from the whole of `repair_call`, or None."""
    tool = ToolSpec.from_schema({"name": "find", "parameters": schema})
    out = repair_call({"name": "find", "arguments": args}, [tool])
    return out.ready[0].args if out.ready else None


NUMBERS = {"type": "array", "items": {"type": "number"}}
POINTS = {"type": "array", "items": NUMBERS}
RULE = closed({"field": TEXT, "count": INT}, "field", "count")


@pytest.mark.parametrize(
    ("schema", "args", "expected"),
    [
        # an echo of the schema, at any level
        (
            closed({"rules": {"type": "array", "items": RULE}}),
            {
                "rules": [
                    {
                        "type": "dict",
                        "properties": {
                            "field": {"type": "string", "value": "age"},
                            "count": {"type": "integer", "value": "3"},
                        },
                    }
                ]
            },
            {"rules": [{"field": "age", "count": 3}]},
        ),
        # a list of one object, and its inside
        (
            closed({"rule": RULE}),
            {"rule": [{"field": "a", "count": "3"}]},
            {"rule": {"field": "a", "count": 3}},
        ),
        (closed({"rule": RULE}), {"rule": [{"field": "a"}, {"field": "b"}]}, None),
        # one listed value where a list is asked for
        (
            closed(
                {"days": {"type": "array", "items": {"enum": ["mon", "tue"], "type": "string"}}}
            ),
            {"days": "Mon"},
            {"days": ["mon"]},
        ),
        # a list too many around a list
        (closed({"points": POINTS}), {"points": [[[1, 2], [3, 4]]]}, None),
        (closed({"points": POINTS}), {"points": [[[1, 2]], [[3, 4]]]}, None),
        (closed({"points": POINTS}), {"points": [1, 2]}, None),
        (closed({"points": POINTS}), {"points": [[1, 2], 3, 4]}, None),
        (closed({"points": POINTS}), {"points": [[1, 2], 3]}, {"points": [[1, 2], [3]]}),
        (closed({"numbers": NUMBERS}), {"numbers": [[1, 2, 3]]}, None),
        (closed({"numbers": NUMBERS}), {"numbers": [[1, 2], [3]]}, None),
        (closed({"points": POINTS}), {"points": [[[1, 2]], [[3, 4], [5, 6]]]}, None),
        # a whole call where its arguments belong, beside arguments that are called like its parts
        (
            closed({"city_name": TEXT, "data_type": TEXT}, "city_name"),
            {"name": "find", "arguments": {"city_name": "Oslo"}},
            {"city_name": "Oslo"},
        ),
        (
            closed({"room_type": TEXT}, "room_type"),
            {"type": "object", "properties": {"room_type": "double"}},
            {"room_type": "double"},
        ),
        # an argument that is an object is not unwrapped because its name is not quite right
        (
            closed({"parameters": {"type": "object"}, "count": INT}),
            {"Parameters": {"count": 1}},
            {"parameters": {"count": 1}},
        ),
        (
            closed({"filters": closed({"a": INT, "b": INT}), "a": INT}),
            {"filter": {"a": 1}},
            {"filters": {"a": 1}},
        ),
        (
            closed({"body_json": {"type": "object"}, "url": TEXT, "method": TEXT}, "url"),
            {"url": "u", "body": {"method": "v"}},
            None,
        ),
        # an argument that is called like a part of a schema
        (
            closed({"q": TEXT, "title": TEXT}, "q"),
            {"title": "hello", "data": {"q": "x"}},
            {"title": "hello", "q": "x"},
        ),
        # a declared argument stays
        (
            closed({"q": TEXT, "title": TEXT}, "q"),
            {"title": "Find", "type": "object", "properties": {"q": "x"}},
            {"q": "x", "title": "Find"},
        ),
        (closed({"q": TEXT, "count": INT}, "q"), {"q": "y", "without": {"count": 3}}, None),
        (closed({"q": TEXT}, "q"), {"exclude": {"q": "x"}}, None),
        # everything under a key that is no name
        (closed({"city": TEXT}, "city"), {" :) ": {"city": "Oslo"}}, {"city": "Oslo"}),
    ],
)
def test_moves_to_its_level(schema, args, expected):
    assert mended(schema, args) == expected


SPOT = {
    "type": "array",
    "items": {"type": "number"},
    "description": "Latitude and longitude of the place.",
}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (SPOT, {"latitude": 90.0, "longitude": 0.5}, [90.0, 0.5]),
        (SPOT, {"longitude": 0.5, "latitude": 90.0}, [90.0, 0.5]),
        (SPOT, {"lng": 0.5, "lat": 90.0}, [90.0, 0.5]),
        (SPOT, {"x": 0.5, "y": 90.0}, None),
        (SPOT, {"latitude": 90.0}, None),
        (SPOT, {"latitude": 90.0, "longitude": [0.5]}, None),
        (SPOT, {"latitude": "north", "longitude": "east"}, None),
        (SPOT | {"description": "Where it is"}, {"latitude": 90.0, "longitude": 0.5}, None),
    ],
)
def test_named_values_become_a_list_in_the_order_of_the_description(mend, schema, value, expected):
    found = mend(ConvertType(), schema, value)
    assert found == (None if expected is None else (expected, INFERRED))


@pytest.mark.parametrize(("value", "expected"), [("deux", 2), ("Dutzend", 12), ("trois", None)])
def test_number_words_of_other_languages_come_from_the_map(mend, value, expected):
    strategy = ConvertType(number_words={"deux": 2, "dutzend": 12})
    assert mend(strategy, INT, value) == (None if expected is None else (expected, INFERRED))
    assert mend(strategy, INT | {"maximum": 1}, value) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("last year", "year"), ("past six months", "six_months"), ("next year", None), ("last", None)],
)
def test_a_past_period_is_the_period(mend, text, expected):
    schema = {"enum": ["six_months", "year", "five_years"]}
    found = mend(CorrectEnum(), schema, text, name="time_frame")
    assert found == (None if expected is None else (expected, INFERRED))
    other = {"enum": ["last_year", "year", "next_year"]}
    assert mend(CorrectEnum(), other, "past year", name="time_frame") in (None, ("year", INFERRED))
    assert mend(CorrectEnum(), other, "Last Year", name="time_frame") == ("last_year", "exact")


def test_white_space_that_the_tool_did_not_take():
    told = Finding(
        "Invalid mode", ("ValueError",), paths=("/args/mode",), kind=ErrorKind.VALIDATION
    )
    schema = closed({"mode": TEXT})
    change = try_strategy(CorrectEnum(), schema, {"mode": "engage\u00a0"}, told).changes[0]
    assert (change.path, change.after, change.safety) == ("/args/mode", "engage", "exact")
    assert not isinstance(try_strategy(CorrectEnum(), schema, {"mode": "engage"}, told), Changed)


@pytest.mark.parametrize(
    ("value", "dropped"),
    [
        *((word, True) for word in ("", "  ", {}, [], None)),
        *((word, False) for word in ("Unknown", "??", "n/a", "not specified")),
        *((value, False) for value in ("Oslo", 0, False, "x" * 10_000)),
    ],
)
def test_an_unknown_key_that_says_nothing_is_left_out(value, dropped):
    schema = closed({"day": TEXT})
    (change,) = try_strategy(DropExtra(), schema, {"city": value}).changes
    assert change.after is ABSENT
    assert change.safety == ("exact" if dropped else "lossy")
    assert not isinstance(try_strategy(DropExtra(), schema, {"days": value}), Changed)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"params_name": "Oslo"}, "city"),
        ({"arg1": "Oslo"}, "city"),
        ({"params": "Oslo"}, None),
        ({"params_name": '{"city": "Oslo"}'}, None),
        ({"params_name": "Oslo", "param_value": "x"}, None),
        ({"params_name": ["Oslo"]}, None),
    ],
)
def test_a_key_that_is_no_name_is_the_one_missing_argument(args, expected):
    answer = try_strategy(RenameArgument(), closed({"city": TEXT, "day": TEXT}, "city"), args)
    assert isinstance(answer, Changed) is (expected is not None)
    assert expected is None or answer.changes[1].path == f"/args/{expected}"
    two = closed({"city": TEXT, "day": TEXT}, "city", "day")
    assert not isinstance(try_strategy(RenameArgument(), two, {"params_name": "Oslo"}), Changed)


def offered(name, effect=None):
    schema = {"name": name, "parameters": closed({"q": TEXT}, "q")}
    return ToolSpec.from_schema(schema, effect=effect)


@pytest.mark.parametrize("name", ["execute", "func2", "call_tool"])
def test_a_call_inside_the_arguments_of_a_call(name):
    inner = {"name": "find", "params": {"q": "x"}}
    first, second = try_rename(
        RenameTool(), name, [offered("find"), offered("drop")], inner
    ).changes
    assert (first.path, first.after, second.after) == ("/name", "find", {"q": "x"})
    assert {first.safety, second.safety} == {INFERRED}
    for other in (
        {"name": "fnd", "params": {"q": "x"}},
        {"name": "find", "params": {"q": "x"}, "note": "y"},
        {"name": "find"},
        {"q": "x"},
    ):
        assert not isinstance(try_rename(RenameTool(), name, [offered("find")], other), Changed)
    destructive = [offered("find", "destructive")]
    assert try_rename(RenameTool(), name, destructive, inner).changes[0].safety == "lossy"
