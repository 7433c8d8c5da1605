"""What a schema says of one place, and what fits there."""

from __future__ import annotations

import time

import pytest

from selfcorrect.model import ABSENT, Call, Finding, GiveUp
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import fits, place_of, present
from selfcorrect.schema.subschema import (
    alternatives,
    at,
    declared,
    meets,
    members,
    merged,
    required,
    same,
    shown,
)
from selfcorrect.tools import ToolSpec

INT, TEXT = {"type": "integer"}, {"type": "string"}
ROOT = {
    "properties": {
        "n": {"anyOf": [INT, {"type": "null"}]},
        "who": {"$ref": "#/$defs/person"},
        "many": {"type": "array", "items": {"$ref": "#/$defs/person"}},
        "pair": {"prefixItems": [INT, TEXT], "items": {"type": "boolean"}},
        "map": {"additionalProperties": INT},
        "a/b": {"properties": {"~": TEXT}},
        "both": {"allOf": [INT, {"minimum": 1}, {"minimum": 3}]},
        "none": False,
    },
    "required": ["n"],
    "$defs": {
        "person": {
            "properties": {"age": INT, "next": {"$ref": "#/$defs/person"}},
            "required": ["age"],
        }
    },
}


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (["n"], ({"type": "integer"}, {"type": "null"})),
        (["who", "age"], (INT,)),
        (["who", "next", "next", "age"], (INT,)),
        (["many", "3", "age"], (INT,)),
        (["pair", "0"], (INT,)),
        (["pair", "1"], (TEXT,)),
        (["pair", "2"], ({"type": "boolean"},)),
        (["map", "anything"], (INT,)),
        (["a/b", "~"], (TEXT,)),
        (["both"], ({"type": "integer", "minimum": 3},)),
        (["none"], ()),
        (["unknown"], None),
        (["n", "deeper"], None),
        (["many", "x"], None),
    ],
)
def test_at(tokens, said):
    found = at(ROOT, tokens)
    assert found == said


def test_what_contradicts_itself_is_nothing():
    assert merged(INT, TEXT) is None
    assert alternatives({"allOf": [INT, TEXT]}, {}) == ()
    assert alternatives({"anyOf": [INT, TEXT], "type": "string"}, {}) == (TEXT,)
    assert merged({"type": "number"}, INT) == INT


def test_properties_and_members_of_several_alternatives():
    found = alternatives({"anyOf": [{"properties": {"a": INT}}, {"properties": {"b": INT}}]}, {})
    assert list(declared(found)) == ["a", "b"]
    assert not required(found, "a")
    assert required(alternatives(ROOT, ROOT), "n")
    assert members([{"enum": [1, True, "a"]}, {"const": 1}]) == [1, True, "a"]
    assert not same(1, True)


def test_hostile_schemas_cost_little():
    circle = {"anyOf": [{"$ref": "#"}] * 50, "allOf": [{"$ref": "#"}] * 50}
    wide = {"properties": {f"p{n}": {"$ref": "#"} for n in range(500)}}
    deep = {"type": "string"}
    for _ in range(5_000):
        deep = {"anyOf": [deep, INT]}
    started = time.perf_counter()
    for schema in (circle, wide, deep, {"$ref": "nonsense"}, {"$ref": "#/a~b"}, {"allOf": "x"}):
        alternatives(schema, schema)
        at(schema, ["p1"] * 40)
        assert len(str(shown(schema, schema))) < 5_000
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    ("value", "schema", "fine"),
    [
        (5, INT | {"minimum": 5, "maximum": 5}, True),
        (5.0, INT, True),
        (5.5, INT, False),
        (True, INT, False),
        (5, {"exclusiveMinimum": 5}, False),
        ("abc", {"maxLength": 2}, False),
        ([1], {"minItems": 2}, False),
        (1, {"enum": [True]}, False),
        (None, {"type": ["integer", "null"]}, True),
        (5, {"minimum": "9", "enum": "x", "type": 7}, True),
    ],
)
def test_meets(value, schema, fine):
    assert meets(value, schema) is fine


TOOL = ToolSpec.from_schema({"name": "t", "parameters": {"type": "object", **ROOT}})
CONTEXT = RepairContext(tool=TOOL, tools={"t": TOOL})


def place(path, args, own=True, **told):
    types = ("InvalidArgs",) if own else ("ValueError",)
    return place_of(Call("t", args), Finding("x", types, paths=(path,), **told), CONTEXT)


def test_a_place():
    found = place("/args/many/0/age", {"n": 1, "many": [{"age": "5"}]})
    assert (found.key, found.name, found.value) == ("age", "age", "5")
    assert (found.kinds, found.required, found.declared) == ({"integer"}, True, True)
    assert found.fits(5)
    assert not found.fits("five")
    assert not found.fits(ABSENT)
    assert place("/args/n", {}).nullable
    assert place("/args/map/k", {"map": {"k": "1"}}).name == "k"
    assert place("/args/many/0", {"many": [5]}).name == "many"
    assert place("/args/many/0", {"many": [5]}).required


def test_what_the_error_said_counts_too():
    args = {"n": 50}
    told = place("/args/n", args, own=False, constraint={"maximum": 9, "enum": "no", "format": 5})
    assert told.fits(9)
    assert not told.fits(10)
    assert place("/args/n", args, own=False, constraint={"type": "string"}).kinds == {"string"}


@pytest.mark.parametrize("path", ["/name", "/raw", "nonsense", "", "/args", None])
def test_no_place(path):
    finding = Finding("x", ("InvalidArgs",), paths=(path,) if path is not None else ())
    assert isinstance(place_of(Call("t", {"n": 1}), finding, CONTEXT), GiveUp)
    assert isinstance(place_of(Call("t", raw="{"), finding, CONTEXT), GiveUp)
    assert isinstance(place_of(Call("t"), finding, RepairContext()), GiveUp)


def test_what_is_settled_is_not_present():
    args = {"n": 1, "who": {"age": "x"}}
    finding = Finding("x", ("InvalidArgs",), paths=("/args/n",))
    assert isinstance(present(Call("t", args), finding, CONTEXT), GiveUp)


def test_fits_looks_at_the_rest_of_the_call():
    schema = {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": TEXT, "uniqueItems": True}, "m": INT},
    }
    tool = ToolSpec.from_schema({"name": "t", "parameters": schema})
    call = Call("t", {"tags": ["a", 5], "m": "x"})
    assert fits(tool, call, {"/args/tags/1": "b"})
    assert not fits(tool, call, {"/args/tags/1": "a"})
    assert not fits(tool, call, {"/args/tags/1": None})
    assert not fits(tool, call, {"/args/nowhere/deep": 1})
