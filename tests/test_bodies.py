"""Bodies of errors are read by rows of maps: those that come along, and a deployment's own."""

from __future__ import annotations

import json

import pytest
from asked import read_report

from selfcorrect import ErrorRule, StrategyMap, ToolSpec, build_graph
from selfcorrect.errors import MapError
from selfcorrect.evidence.bodies import read_by_rows
from selfcorrect.mapping.bodies import BodyRow, row_of
from selfcorrect.mapping.linting import lint
from selfcorrect.mapping.loading import built_in_bodies

ROWS = built_in_bodies()
READ = {
    "pydantic": (
        "Input should be less than or equal to 9",
        *("less_than_equal", None, "/body/seats", None),
    ),
    "zod": ("too short", "too_small", None, "/passengers/0/name", None),
    "joi": ("must be at least 1", "number.min", None, "/seats/0", None),
    "ajv": ("must be <= 9", "maximum", None, "/seats", None),
    "ajv-6": ("should be <= 9", "maximum", None, "/seats", None),
    "json-schema": ("12 is greater than 9", "maximum", None, "/seats", None),
    "mcp": ("no such seat", None, None, None, None),
    "json-rpc": ("Invalid params: seats must be a number", "-32602", None, None, None),
    "json-rpc-error": ("too many", "too_big", None, "/seats", None),
    "kubernetes": ("Required value", "FieldValueRequired", 422, "/spec/name", None),
    "google": ("Slow down", "RESOURCE_EXHAUSTED", 429, None, 18.6),
    "passed-on": ("seats must be a number", None, None, None, None),
    "llm-api": ("must be at most 2", "out_of_range", None, "/temperature", None),
    "odata": ("must not be null", "NullValue", None, "/phone", None),
    "odata-2": ("The date is not valid", "InvalidInput", None, None, None),
    "json-api": ("age is too low", "INVALID_AGE", 422, "/data/attributes/age", None),
    "json-api-titles": ("The booking does not exist", None, 404, None, None),
    "graphql": ("no such flight", "NOT_FOUND", None, None, None),
    "problem-details": ("is taken", "bad-seat", 422, "/seat", None),
    "aws-query": ("The specified key does not exist.", "NoSuchKey", None, None, None),
    "aws-json": ("Rate exceeded", "ThrottlingException", None, None, None),
    "github": ("missing field", "missing_field", None, "/title", None),
    "slack": ("channel not found", "channel_not_found", None, None, None),
}
DESK = {
    "id": "desk",
    "has": "/oops/why",
    "each": "/oops/parts",
    "text": ["/note", "/oops/why"],
    "code": "/oops/nr",
    "field": "/at",
    "wait": "/oops/back_in",
    "example": '{"oops": {"why": "x"}}',
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_reads_its_example(row):
    body = json.loads(row.example)
    assert row_of(body, ROWS) is row
    (found,) = read_by_rows(body, ROWS)
    path = found.paths[0] if found.paths else None
    assert (found.text, found.code, found.status, path, found.retry_after) == READ[row.id]
    assert isinstance(body, list) or read_by_rows([body], ROWS) == (found,)


DEMANDED = {
    "pydantic": [
        ({"type": "missing"}, {"required": []}),
        ({"type": "value_error.extra"}, {"additionalProperties": False}),
        ({"type": "string_too_short", "ctx": {"min_length": 2}}, {"minLength": 2}),
        ({"type": "too_long", "ctx": {"max_length": 2}}, {"maxItems": 2}),
        ({"type": "literal_error", "ctx": {"expected": "'a' or 'b'"}}, {"enum": ["a", "b"]}),
        ({"type": "enum", "ctx": {"expected": "True"}}, {"enum": []}),
        ({"type": "int_from_float"}, {"type": "integer"}),
        ({"type": "datetime_from_date_parsing"}, {"format": "date-time"}),
        ({"type": "date_from_datetime_inexact"}, {"format": "date"}),
        ({"type": "time_delta_parsing"}, {"format": "duration"}),
        ({"type": "less_than", "ctx": {}}, {}),
        ({"type": "made_up"}, {}),
        ({"type": 5}, {}),
    ],
    "zod": [
        ({"code": "invalid_type", "expected": "int", "received": "string"}, {"type": "integer"}),
        ({"code": "invalid_type", "expected": "date", "received": "string"}, {}),
        (
            {"code": "invalid_type", "expected": "string", "received": "undefined"},
            {"required": [], "type": "string"},
        ),
        ({"code": "too_small", "type": "array", "minimum": 1}, {"minItems": 1}),
        ({"code": "too_small", "origin": "number", "minimum": 1}, {"minimum": 1}),
        ({"code": "too_big", "inclusive": False, "maximum": 1}, {"exclusiveMaximum": 1}),
        ({"code": "invalid_value", "values": ["a"]}, {"enum": ["a"]}),
        ({"code": "invalid_literal", "expected": 7}, {"enum": [7]}),
        ({"code": "invalid_format", "format": "guid"}, {"format": "uuid"}),
        ({"code": "invalid_string", "validation": "regex", "pattern": "^a"}, {"pattern": "^a"}),
    ],
    "joi": [
        ({"type": "any.required"}, {"required": []}),
        ({"type": "any.only", "context": {"valids": ["a", 1]}}, {"enum": ["a", 1]}),
        ({"type": "array.length", "context": {"limit": 2}}, {"minItems": 2, "maxItems": 2}),
        ({"type": "number.positive"}, {"exclusiveMinimum": 0}),
        ({"type": "string.guid"}, {"format": "uuid"}),
        ({"type": "string.pattern.base", "context": {"regex": "^a"}}, {"pattern": "^a"}),
        ({"type": "number.max", "context": "odd"}, {}),
    ],
    "ajv": [
        ({"keyword": "required", "params": {"missingProperty": "b"}}, {"required": ["b"]}),
        ({"keyword": "required"}, {"required": []}),
        ({"keyword": "enum", "params": {"allowedValues": ["a"]}}, {"enum": ["a"]}),
        ({"keyword": "const", "params": {"allowedValue": 3}}, {"enum": [3]}),
        ({"keyword": "minItems", "params": {"limit": 3}}, {"minItems": 3}),
        ({"keyword": "type", "params": {"type": "integer"}}, {"type": "integer"}),
    ],
}
PLACED = {
    "pydantic": {"loc": ["a"], "msg": "x"},
    "zod": {"path": ["a"], "message": "x"},
    "joi": {"path": ["a"], "message": "x"},
    "ajv": {"instancePath": "/a", "schemaPath": "#/x", "message": "x"},
}


@pytest.mark.parametrize(
    ("known", "item", "demanded"),
    [(known, item, demanded) for known, pairs in DEMANDED.items() for item, demanded in pairs],
)
def test_a_code_says_what_it_demands(known, item, demanded):
    (found,) = read_by_rows([PLACED[known] | item], ROWS)
    assert found.constraint == demanded


def test_members_that_are_missing_or_too_many_are_places_of_their_own():
    keys = {"code": "unrecognized_keys", "keys": ["b", "c"], "path": ["a", 0], "message": "x"}
    (found,) = read_by_rows({"issues": [keys]}, ROWS)
    assert found.paths == ("/a/0/b", "/a/0/c")
    lacks = PLACED["ajv"] | {"keyword": "required", "params": {"missingProperty": "b/c"}}
    frame = PLACED["ajv"] | {"keyword": "anyOf"}
    (found,) = read_by_rows([lacks, frame], ROWS)
    assert found.paths == ("/a/b~1c",)


def test_what_only_sums_up_speaks_where_nothing_else_does():
    frame = PLACED["ajv"] | {"keyword": "anyOf"}
    assert [item.code for item in read_by_rows([frame], ROWS)] == ["anyOf"]


def test_a_list_of_other_things_is_none_of_a_validator():
    assert read_by_rows([PLACED["pydantic"], {"loc": "a", "msg": "x"}], ROWS) == ()
    assert read_by_rows([PLACED["pydantic"], 5], ROWS) == ()


def test_a_deployment_says_what_its_own_codes_demand():
    row = BodyRow(
        id="shop",
        each="/faults",
        items={"/at": "text"},
        code="/nr",
        field="/at",
        by="/of",
        demands={"F1.sum": {"maximum": "/most"}, "F*|G*": {"required": []}},
        example="{}",
    )

    def demanded(**item: object) -> object:
        return read_by_rows({"faults": [{"at": "total", **item}]}, [row])[0].constraint

    assert demanded(nr="F1", of="sum", most=9) == {"maximum": 9}
    assert demanded(nr="F1", of="name") == {"required": []}
    assert demanded(nr="G7") == {"required": []}
    assert demanded(nr="H") == {}


def test_an_error_that_is_passed_on_speaks_for_itself():
    inner = {"jsonrpc": "2.0", "error": {"code": -32602, "message": "m", "data": "n is missing"}}
    (found,) = read_by_rows({"jsonrpc": "2.0", "error": {"message": "outer", "data": inner}}, ROWS)
    assert (found.text, found.code) == ("m: n is missing", "-32602")
    deep: dict = {"jsonrpc": "2.0", "error": {"message": "m", "code": -32603}}
    for _ in range(50):
        deep = {"jsonrpc": "2.0", "error": {"message": "m", "data": deep, "code": -32602}}
    assert read_by_rows(deep, ROWS)[0].code == "-32602"


def test_a_table_of_members_is_a_finding_for_each_sentence():
    body = {"title": "Bad", "status": 400, "errors": {"age": ["too low", "odd"], "zip": "short"}}
    found = read_by_rows(body, ROWS)
    assert [(item.text, item.paths, item.status) for item in found] == [
        ("too low", ("/age",), 400),
        ("odd", ("/age",), 400),
        ("short", ("/zip",), 400),
    ]


@pytest.mark.parametrize(
    "body",
    [
        None,
        5,
        "x",
        [],
        {},
        [1],
        {"error": None},
        {"errors": []},
        {"ok": True},
        {"errors": {"a": 1}},
    ],
)
def test_what_no_row_knows_is_left_to_other_readers(body):
    assert read_by_rows(body, ROWS) == ()


def test_a_hostile_body_is_read_in_bounds():
    wide = {"errors": [{"message": "x" * 50, "path": 1}] * 10_000}
    assert len(read_by_rows(wide, ROWS)) == 50
    odd = {"error": {"message": {"a": []}, "type": ["x"], "param": {"b": 1}, "code": True}}
    assert all(isinstance(item.text, str) for item in read_by_rows(odd, ROWS))


def test_a_deployments_rows_come_first():
    own = StrategyMap(extends="default", body=[DESK])
    body = {
        "oops": {"why": "no", "nr": "D-7", "back_in": "1m", "parts": [{"note": "n", "at": "a"}]}
    }
    body |= {"__type": "x#Throttling"}
    (found,) = read_report(json.dumps(body), bodies=own.bodies, arguments={"a": 1})
    assert (found.text, found.code, found.paths) == ("n", "D-7", ("/args/a",))
    assert found.retry_after == 60.0
    (other,) = read_report(json.dumps(body), arguments={"a": 1})
    assert other.code == "Throttling"


def test_a_run_reads_them():
    def find(a: int) -> int:
        raise RuntimeError('{"oops": {"why": "closed for lunch", "nr": "D_LUNCH"}}')

    rule = ErrorRule(id="lunch", code="D_LUNCH", kind="quota", repair="give-up")
    own = StrategyMap([rule], extends="default", body=[DESK])
    tool = ToolSpec.from_function(find, effect="read_only")
    out = build_graph([tool], strategies=own).invoke({"call": {"name": "find", "args": {"a": 1}}})
    (found,) = out["failure"]["findings"]
    assert (found["text"], found["code"]) == ("closed for lunch", "D_LUNCH")
    assert found["kind"] == "quota"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"has": "oops"}, "JSON Pointer"),
        ({"has": ()}, "is known by nothing"),
        ({"each": (), "items": {"/a": "text"}}, "no place where they are"),
        ({"items": {"/a": "number"}}, "items"),
        ({"text": (), "code": ()}, "says nothing"),
        ({"txt": "/x"}, "txt"),
        ({"example": ""}, "example"),
    ],
)
def test_a_row_that_cannot_be_used_is_refused(wrong, told):
    with pytest.raises(MapError, match=told):
        StrategyMap(body=[{**DESK, **wrong}])


def test_a_row_that_does_not_read_its_example_is_told():
    def faults(*rows: dict) -> list[str]:
        return [each.message for each in lint(StrategyMap(body=rows)) if each.key == "body.example"]

    assert faults(DESK) == []
    assert faults({**DESK, "example": "{{"})[0].startswith("its example is not JSON")
    assert faults({**DESK, "example": "{}"}) == ["no row reads its example"]
    assert faults(DESK, {**DESK, "id": "later"}) == ["the row 'desk' reads its example"]


def test_a_row_can_be_written_in_python():
    assert BodyRow(**DESK).text == ("/note", "/oops/why")
