"""Every violation is reported once, at its place, in a sentence that a model can act on."""

import json
import time
from types import MappingProxyType

import pytest
from hypothesis import given, settings, strategies as st
from kit import INTEGER, table
from test_schema_laws import checks

from selfcorrect import ToolSpec
from selfcorrect.errors import ToolDefinitionError
from selfcorrect.schema import findings
from selfcorrect.schema.place import Place


def an_object(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


NULL = {"type": "null"}
PERSON = an_object("age", age=INTEGER)

CASES = [
    *(
        (an_object(x=schema), {"x": value}, "/args/x", *said)
        for schema, value, *said in table("findings.txt", "x")
    ),
    *table("schemas.txt", "one"),
]


def book(schema):
    return ToolSpec.from_schema({"name": "book", "parameters": schema})


@pytest.mark.parametrize(("schema", "args", "path", "code", "text"), CASES)
def test_a_violation_is_one_finding(schema, args, path, code, text):
    tool = book(schema)
    (found,) = tool.findings(args)
    assert (found["paths"], found["code"], found["text"]) == ([path], code, text)
    assert not tool.is_valid(args)
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
    table("schemas.txt", "unusable"),
)
def test_an_unusable_schema_names_its_tool(schema):
    with pytest.raises(ToolDefinitionError, match="tool 'book': the schema of its arguments"):
        book(an_object(x=schema)).findings({})


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(?!b)(a+)+$"])
def test_a_pattern_takes_bounded_time(pattern):
    began = time.monotonic()
    book(an_object(x={"type": "string", "pattern": pattern})).findings({"x": "a" * 5000 + "!"})
    assert time.monotonic() - began < 10


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
    assert Place.of(schema).at(["x", *["next"] * 50, "n"]).view == INTEGER
    with pytest.raises(ValueError, match="leads back to itself"):
        Place.of({"$ref": "#"})


@pytest.mark.parametrize(
    ("schema", "keys", "wanted"),
    table("schemas.txt", "places"),
)
def test_the_schema_of_a_place(schema, keys, wanted):
    assert Place.of(schema).at(keys).view == wanted


def test_properties_are_resolved():
    schema = {**an_object(a={"$ref": "#/$defs/i"}, b=True), "$defs": {"i": INTEGER}}
    found = Place.of(schema).properties
    assert {name: place.view for name, place in found.items()} == {"a": INTEGER, "b": {}}


@pytest.mark.parametrize(
    ("schema", "types", "fits", "fits_not"),
    table("schemas.txt", "takes"),
)
def test_a_place_knows_what_it_takes(schema, types, fits, fits_not):
    place = Place.of(an_object(x=schema)).properties["x"]
    assert place.types == {*types}
    assert [each for each in fits if not place.accepts(each)] == []
    assert [each for each in fits_not if place.accepts(each)] == []
    assert place.is_nullable is (None in fits)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(checks(), JSON_VALUES)
def test_whatever_is_invalid_has_a_finding_of_plain_json(case, value):
    schema, calls = case
    try:
        place = Place.of(schema)
    except ValueError:
        return
    for args in (*calls, {"a": value}, {"b": value}):
        is_valid = place.accepts(args)
        found = [] if is_valid else findings.findings_of(args, place)
        assert bool(found) is not is_valid
        assert json.loads(json.dumps(found)) == found
        assert all(each["paths"][0].startswith("/args") and each["text"] for each in found)
        assert len({each["paths"][0] for each in found}) == len(found)


@pytest.mark.parametrize(("schema", "fits", "fits_not", "place"), table("schemas.txt", "drafts"))
def test_older_drafts_and_references_are_read_at_every_depth(schema, fits, fits_not, place):
    assert book(schema).findings(fits) == []
    assert [each["paths"] for each in book(schema).findings(fits_not)] == [[f"/args{place}"]]


@pytest.mark.parametrize(("schema", "fits"), table("schemas.txt", "parts"))
def test_a_place_is_closed_whichever_parts_speak_of_it(schema, fits):
    assert book(schema).findings(fits) == []
    found = book(schema).findings({**fits, "o": {**fits["o"], "c": 1}})
    assert ["/args/o/c"] in [each["paths"] for each in found] or found[0]["paths"] == ["/args"]
    assert book(schema).findings({**fits, "other": 1}) != []


@pytest.mark.parametrize(("union", "written", "told"), table("schemas.txt", "unions"))
@pytest.mark.parametrize("depth", [0, 1])
def test_what_is_wrong_with_an_object_of_a_union_is_told_by_the_branch_it_means(
    union, written, told, depth
):
    schema, args, place = an_object(pet=union), {"pet": written}, "/args/pet"
    if depth:
        schema, args, place = an_object(in_=schema), {"in_": args}, "/args/in_/pet"
    found = {each["paths"][0]: each["text"] for each in book(schema).findings(args)}
    path = "in_.pet." if depth else "pet."
    assert found == {f"{place}{key}": text.replace("pet.", path) for key, text in told.items()}


def chain(word, length, width):
    """Return definitions of which each refers to the next one several times."""
    parts = {f"p{at}": {word: [{"$ref": f"#/$defs/p{at + 1}"}] * width} for at in range(length)}
    return {**an_object(x={"$ref": "#/$defs/p0"}), "$defs": {**parts, f"p{length}": INTEGER}}


REFUSED = [
    (chain("allOf", 12, 3), "parts"),
    (chain("anyOf", 12, 3), "parts"),
    (chain("oneOf", 6, 10), "parts"),
    ({"allOf": [an_object(**{f"k{at}": {}}) for at in range(3_000)]}, "too many parts"),
    *table("schemas.txt", "refused"),
]


@pytest.mark.parametrize(("schema", "why"), REFUSED)
def test_a_schema_that_takes_unbounded_work_is_refused(schema, why):
    with pytest.raises(ValueError, match=why):
        Place.of(schema)


@pytest.mark.parametrize("count", [200, 2_000])
def test_the_one_branch_of_many_that_is_meant_is_told(count):
    tags = [an_object("kind", kind={"const": f"k{at}"}, v=INTEGER) for at in range(count)]
    found = book(an_object(x={"oneOf": tags})).findings({"x": {"kind": "k7", "v": "a"}})
    assert [each["text"] for each in found] == ['`x.v` must be an integer; "a" is not']


def test_parts_that_speak_of_each_other_end():
    first = {"x": "a", "y": "b"}, {"x": "b", "y": "c"}, {"x": "c", "y": "a"}
    refer = [
        {"properties": {name: {"$ref": f"#/$defs/{to}"} for name, to in each.items()}}
        for each in first
    ]
    schema = {**an_object(x={"$ref": "#/$defs/a"}), "$defs": {"a": {"allOf": refer}}}
    schema["$defs"] |= {"b": refer[2], "c": {"properties": {"z": INTEGER}}}
    assert book(schema).findings({"x": {"x": {"z": 1}}}) == []
    assert book(schema).findings({"x": {"x": {"zz": 1}}}) != []


def test_definitions_with_names_alike_stay_apart():
    names = {"a b": INTEGER, "a.b": {"type": "boolean"}, "a/b": NULL, "a.b.": PERSON, "a.b.2": {}}
    refer = {
        f"x{at}": {"$ref": f"#/$defs/{name.replace('/', '~1')}"} for at, name in enumerate(names)
    }
    tool = book({**an_object(**refer), "$defs": names})
    assert tool.findings({"x0": 1, "x1": True, "x2": None, "x3": {"age": 1}, "x4": "any"}) == []
    wrong = tool.findings({"x0": True, "x1": None, "x2": 1, "x3": 1, "x4": "any"})
    assert [each["paths"] for each in wrong] == [[f"/args/x{at}"] for at in range(4)]


def test_many_values_are_not_told_of_a_long_list():
    listed = {"type": "string", "enum": [f"value {at}" for at in range(20_000)]}
    tool = book(an_object(x={"type": "array", "items": listed}))
    assert tool.findings({"x": ["wrong"]})[0]["code"] == "enum"
    assert tool.is_valid({"x": ["value 7"] * 1_000})
    (found,) = tool.findings({"x": ["wrong"] * 1_000})
    assert (found["code"], "20000 allowed ones" in found["text"]) == ("too_large", True)
