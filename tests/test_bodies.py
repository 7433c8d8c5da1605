"""Bodies of errors are read by rows of maps: those that come along, and a deployment's own."""

from __future__ import annotations

import json

import pytest

from selfcorrect import ErrorRule, StrategyMap, ToolSpec, build_graph
from selfcorrect.errors import MapError
from selfcorrect.evidence import read_report
from selfcorrect.evidence.bodies import read_by_rows
from selfcorrect.mapping.bodies import BodyRow, row_of
from selfcorrect.mapping.linting import lint
from selfcorrect.mapping.loading import built_in_bodies

ROWS = built_in_bodies()
READ = {
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
    assert read_by_rows([body], ROWS) == (found,)


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
