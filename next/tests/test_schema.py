"""Every violation is reported once, at its place, in a sentence that a model can act on."""

import json
import time
from types import MappingProxyType

import pytest
from hypothesis import given, strategies as st

from selfcorrect import ToolSpec
from selfcorrect.errors import ToolDefinitionError
from selfcorrect.schema import findings
from selfcorrect.schema.slot import Slot


def an_object(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


INTEGER = {"type": "integer"}
NULL = {"type": "null"}
PERSON = an_object("age", age=INTEGER)

CASES = [
    (an_object("x"), {}, "/args/x", "required", "missing required argument `x`"),
    (an_object("a/b"), {}, "/args/a~1b", "required", "missing required argument `a/b`"),
    (an_object(a={}), {"x": 1}, "/args/x", "additionalProperties", "unknown argument `x`"),
    (
        {**an_object(), "unevaluatedProperties": False},
        {"x": 1},
        "/args/x",
        "unevaluatedProperties",
        "unknown argument `x`",
    ),
    (
        an_object(x=INTEGER),
        {"x": "lots"},
        "/args/x",
        "type",
        '`x` must be an integer; "lots" is not',
    ),
    (
        an_object(x={"type": ["null", "integer"]}),
        {"x": "y" * 99},
        "/args/x",
        "type",
        f'`x` must be an integer or null; "{"y" * 58}… is not',
    ),
    (
        an_object(x={"type": "string", "enum": ["a", "b"]}),
        {"x": "c"},
        "/args/x",
        "enum",
        '`x` must be one of "a", "b"',
    ),
    (
        an_object(x={"enum": list(range(30))}),
        {"x": 99},
        "/args/x",
        "enum",
        f"`x` must be one of {', '.join(map(str, range(20)))} or 10 more",
    ),
    (
        an_object(x={"enum": ["a", "b"], "type": "string"}),
        {"x": 1},
        "/args/x",
        "type",
        "`x` must be a string; 1 is not",
    ),
    (an_object(x={"const": 4}), {"x": 3}, "/args/x", "const", "`x` must be 4"),
    (an_object(x={"minimum": 1}), {"x": 0}, "/args/x", "minimum", "`x` must be at least 1"),
    (an_object(x={"maximum": 1}), {"x": 2}, "/args/x", "maximum", "`x` must be at most 1"),
    (
        an_object(x={"type": "string", "format": "date"}),
        {"x": "2024-99-99"},
        "/args/x",
        "format.date",
        "`x` must be a date such as 2026-10-26",
    ),
    (
        an_object(x={"type": "string", "format": "email"}),
        {"x": "ann"},
        "/args/x",
        "format.email",
        "`x` must be an e-mail address such as ann@example.com",
    ),
    (
        an_object(x={"type": "string", "pattern": r"^PZN-\d{8}$"}),
        {"x": "12"},
        "/args/x",
        "pattern",
        r"`x` must match ^PZN-\d{8}$",
    ),
    (
        an_object(people={"type": "array", "items": PERSON}),
        {"people": [{"age": "x"}]},
        "/args/people/0/age",
        "type",
        '`people.0.age` must be an integer; "x" is not',
    ),
    (
        an_object(x={"anyOf": [INTEGER, NULL]}),
        {"x": "lots"},
        "/args/x",
        "type",
        '`x` must be an integer; "lots" is not',
    ),
    (
        {**an_object(x={"anyOf": [{"$ref": "#/$defs/p"}, NULL]}), "$defs": {"p": PERSON}},
        {"x": {}},
        "/args/x/age",
        "required",
        "missing required argument `x.age`",
    ),
    (
        an_object(x={"anyOf": [INTEGER, {"type": "boolean"}]}),
        {"x": "lots"},
        "/args/x",
        "anyOf",
        '`x` must be an integer or true or false; "lots" is not',
    ),
    (
        an_object(x={"oneOf": [INTEGER, {"type": "number"}]}),
        {"x": 1},
        "/args/x",
        "oneOf",
        "`x` must fit exactly one alternative",
    ),
    (
        {**an_object(), "minProperties": 1},
        {},
        "/args",
        "minProperties",
        "the arguments object must have at least 1 key",
    ),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#", **an_object(x={"items": [INTEGER]})},
        {"x": ["y"]},
        "/args/x/0",
        "type",
        '`x.0` must be an integer; "y" is not',
    ),
    (
        {"$schema": "https://example.com/own", **an_object(x=INTEGER)},
        {"x": "y"},
        "/args/x",
        "type",
        '`x` must be an integer; "y" is not',
    ),
]


def book(schema):
    return ToolSpec.from_schema({"name": "book", "parameters": schema})


@pytest.mark.parametrize(("schema", "args", "path", "code", "text"), CASES)
def test_a_violation_is_one_finding(schema, args, path, code, text):
    (found,) = book(schema).findings(args)
    assert (found["paths"], found["code"], found["text"]) == ([path], code, text)
    assert found["types"] == ["InvalidArgs"]


def test_all_violations_are_reported_at_once():
    schema = an_object("a", "b", c=INTEGER, d=INTEGER)
    found = book(schema).findings({"c": "x", "d": 1, "e": 1, "f": 2})
    assert sorted(each["paths"][0] for each in found) == [
        "/args/a",
        "/args/b",
        "/args/c",
        "/args/e",
        "/args/f",
    ]


def test_the_constraint_is_the_keyword_of_the_schema():
    def constraint(schema, value):
        return book(an_object(x=schema)).findings({"x": value})[0]["constraint"]

    assert constraint({"minimum": 1}, 0) == {"minimum": 1}
    assert constraint({"enum": [1, 2]}, 0) == {"enum": [1, 2]}
    assert constraint(INTEGER, "x") == {"type": "integer"}
    assert constraint({"type": "string", "format": "date"}, "x") == {"format": "date"}


@pytest.mark.parametrize("args", ["{", None, [1], {1: 2}])
def test_arguments_that_are_no_json_object_are_malformed(args):
    (found,) = book(an_object(a={})).findings(args)
    assert found["types"], found["code"] == (["MalformedCall"], "malformed_json")
    assert found["paths"] == ["/args"]


@pytest.mark.parametrize("format_", ["date", "date-time", "email", "uri", "uuid", "ipv4", "time"])
def test_formats_are_checked(format_):
    tool = book(an_object(x={"type": "string", "format": format_}))
    assert tool.findings({"x": "\u2603"})[0]["code"] == f"format.{format_}"


@pytest.mark.parametrize(
    "schema",
    [{"type": "strin"}, {"$ref": "#/nowhere"}, {"$ref": "https://example.com/x"}, {"pattern": "("}],
)
def test_an_unusable_schema_names_its_tool(schema):
    with pytest.raises(ToolDefinitionError, match="tool 'book': the schema of its arguments"):
        book(an_object(x=schema)).findings({})


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(?!b)(a+)+$"])
def test_a_pattern_takes_bounded_time(pattern):
    began = time.monotonic()
    book(an_object(x={"type": "string", "pattern": pattern})).findings({"x": "a" * 5000 + "!"})
    assert time.monotonic() - began < 2


def test_many_unknown_keys_are_counted():
    found = book(an_object(a={})).findings({f"k{n}": n for n in range(300)})
    assert len(found) == 200
    assert found[-1]["text"].endswith("; 100 more problems are not listed")


def test_a_healthy_call_makes_no_list_of_errors(monkeypatch):
    monkeypatch.setattr(findings, "findings_of", None)
    assert book(an_object(a=INTEGER)).findings({"a": 1}) == []


def test_any_mapping_is_checked():
    assert book(an_object(a=INTEGER)).findings(MappingProxyType({"a": 1})) == []


def test_a_circle_of_references_ends():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "n": INTEGER}}
    schema = {**an_object(x={"$ref": "#/$defs/node"}), "$defs": {"node": node}}
    assert Slot.of(schema).at(["x", *["next"] * 50, "n"]).view == INTEGER
    with pytest.raises(ValueError, match="leads back to itself"):
        Slot.of({"$ref": "#"})


@pytest.mark.parametrize(
    ("schema", "keys", "wanted"),
    [
        (an_object(x=INTEGER), ["x"], INTEGER),
        (an_object(x=INTEGER), ["y"], {}),
        (an_object(x={"oneOf": [NULL, INTEGER], "default": 1}), ["x"], INTEGER | {"default": 1}),
        (an_object(x={"type": "array", "items": INTEGER}), ["x", "3"], INTEGER),
        (an_object(x={"prefixItems": [NULL], "items": INTEGER}), ["x", "1"], INTEGER),
        (an_object(x={"additionalProperties": INTEGER}), ["x", "any"], INTEGER),
        ({"allOf": [an_object(x=INTEGER), an_object(y=NULL)]}, ["x"], INTEGER),
        (an_object(x=True), ["x"], {}),
    ],
)
def test_the_schema_of_a_place(schema, keys, wanted):
    assert Slot.of(schema).at(keys).view == wanted


def test_properties_are_resolved():
    schema = {**an_object(a={"$ref": "#/$defs/i"}, b=True), "$defs": {"i": INTEGER}}
    found = Slot.of(schema).properties
    assert {name: slot.view for name, slot in found.items()} == {"a": INTEGER, "b": {}}


NULLABLE = {"anyOf": [INTEGER, NULL]}


@pytest.mark.parametrize(
    ("schema", "kinds", "fits", "fits_not"),
    [
        (INTEGER, {"integer"}, [5, 5.0], ["5", None, True]),
        (NULLABLE, {"integer"}, [5, None], ["5"]),
        ({"type": ["string", "null"]}, {"string"}, ["a", None], [5]),
        ({"anyOf": [INTEGER, {"type": "string"}]}, {"integer", "string"}, [5, "a"], [None]),
        ({"anyOf": [INTEGER, {"minLength": 2}]}, set(), [5, "ab", None], ["a"]),
        ({"enum": ["a", 1]}, set(), ["a", 1], ["b"]),
        (True, set(), [None, 1, "a"], []),
    ],
)
def test_a_place_knows_what_it_takes(schema, kinds, fits, fits_not):
    slot = Slot.of(an_object(x=schema)).properties["x"]
    assert slot.kinds == kinds
    assert [each for each in fits if not slot.accepts(each)] == []
    assert [each for each in fits_not if slot.accepts(each)] == []
    assert slot.is_nullable is (None in fits)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


KEYWORDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "string", "object", ["array", "null"]]),
        "enum": st.just([1, "a"]),
        "minimum": st.just(1),
        "minLength": st.just(2),
        "maxItems": st.just(1),
        "uniqueItems": st.just(True),
        "not": st.just(INTEGER),
        "contains": st.just(INTEGER),
        "propertyNames": st.just({"maxLength": 1}),
        "additionalProperties": st.just(False),
        "required": st.just(["x"]),
        "anyOf": st.just([INTEGER, NULL, PERSON]),
        "oneOf": st.just([INTEGER, {"type": "number"}, NULL]),
        "if": st.just({"type": "object"}),
        "then": st.just({"required": ["y"]}),
        "dependentRequired": st.just({"x": ["z"]}),
    },
)


@given(KEYWORDS, JSON_VALUES)
def test_whatever_is_invalid_has_a_finding_of_plain_json(schema, value):
    whole, args = an_object("x", x=schema), {"x": value}
    slot = Slot.of(whole)
    is_valid = slot.accepts(args)
    found = [] if is_valid else findings.findings_of(args, slot)
    assert bool(found) is not is_valid
    assert json.loads(json.dumps(found)) == found
    assert all(each["paths"][0].startswith("/args") and each["text"] for each in found)
    assert len({each["paths"][0] for each in found}) == len(found)
