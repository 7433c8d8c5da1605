"""The map language: what a rule and a document may say, and the schema that editors read."""

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from map_schema import PUBLISHED, map_json_schema
from pydantic import ValidationError

import selfcorrect
from selfcorrect.limits import Limits
from selfcorrect.mapping.captures import (
    allowed_of,
    constraint_of,
    number_of,
    pointer_of,
    pointers_of,
    seconds_of,
)
from selfcorrect.mapping.document import MapDocument, MapLimits, MapPolicy
from selfcorrect.mapping.files import read_document
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.model import Category, ErrorKind, Safety
from selfcorrect.pointer import split


def test_a_rule_in_python_is_the_same_rule_as_in_toml():
    said = {
        "id": "no-flight",
        "tool": "book_*",
        "error": ["LookupError"],
        "status": [404, "5xx"],
        "code": ["NO_FLIGHT"],
        "match": "(?i)no flight",
        "kind": "not_found",
        "category": "business_rule",
        "params": ["departure_date"],
        "repair": ["nearest-date", "ask-human"],
        "options": {"nearest-date": {"within_days": 3}},
        "allow": ["lossy"],
        "priority": "high",
        "before": ["default/not-found"],
        "example": "LookupError: no flight",
        "replaces": "default/x",
        "retryable": False,
    }
    assert ErrorRule(**said) == read_document({"format": 1, "rule": [said]})[0].rule[0]


def test_one_thing_may_stand_for_a_list_of_one():
    one = ErrorRule(id="x", tool="a", error="E", status=404, code="c", params="p", repair="wait")
    many = ErrorRule(
        id="x", tool=["a"], error=["E"], status=[404], code=["c"], params=["p"], repair=["wait"]
    )
    assert one == many
    assert one.tool == ("a",)


def test_several_patterns_are_one_and_may_stand_on_several_lines():
    rule = ErrorRule(id="x", match=["(?i)too (?:big|\n    large)", "too long"], kind="validation")
    assert rule.match == "(?i)too (?:big|large)|too long"
    for wrong in ([], [5], ["a", None]):
        with pytest.raises(ValidationError):
            ErrorRule(id="x", match=wrong)


def test_no_line_of_a_shipped_map_is_wider_than_a_page():
    maps = Path(selfcorrect.__file__).parent / "maps"
    wide = [
        f"{file.name}: {number}"
        for file in maps.glob("*.toml")
        for number, line in enumerate(file.read_text("utf-8").split("\n"), 1)
        if len(line) > 200
    ]
    assert not wide


def test_outcomes_are_typed():
    rule = ErrorRule(id="x", kind="not_found", category="enum", allow="lossy")
    assert (rule.kind, rule.category, rule.allow) == (
        ErrorKind.NOT_FOUND,
        Category.ENUM,
        (Safety.LOSSY,),
    )


def test_a_priority_is_one_of_four_words_and_medium_where_none_is_said():
    words = ["critical", "high", "medium", "low"]
    ranks = [ErrorRule(id="x", repair="wait", priority=word).rank for word in words]
    assert ranks == [0, 1, 2, 3]
    assert ErrorRule(id="x", repair="wait").priority == "medium"


@pytest.mark.parametrize("number", [7, -102.21, 0, True, float("nan"), None], ids=repr)
def test_a_number_is_no_priority_and_the_message_says_what_to_write(number):
    with pytest.raises(ValidationError) as caught:
        ErrorRule(id="x", repair="wait", priority=number)
    words = str(caught.value)
    assert "one of critical, high, medium, low" in words
    assert 'write before = "map/rule"' in words


def test_a_rule_is_frozen():
    with pytest.raises(ValidationError):
        ErrorRule(id="x", repair="wait").id = "y"


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "a/b"},
        {"id": ""},
        {"id": "x" * 101},
        {"id": "ä"},
        {"match": ""},
        {"kind": "nope"},
        {"category": "nope"},
        {"allow": "nope"},
        {"retryable": "yes"},
        {"retryable": 1},
        {"priority": "urgent"},
        {"priority": 3},
        {"before": ""},
        {"before": [3]},
        {"before": "x" * 201},
        {"status": True},
        {"status": 4.5},
        {"status": 10**6},
        {"status": ""},
        {"status": "6xx"},
        {"status": "40x"},
        {"status": "4XX"},
        {"status": "4*"},
        {"error": "Lookup Error"},
        {"error": ""},
        {"error": ".LookupError"},
        {"error": ".".join("abcdefghijklm")},
        {"tool": ""},
        {"tool": "x" * 201},
        {"code": 1.5},
        {"code": True},
        {"repair": "Wait"},
        {"repair": ["wait", "wait"]},
        {"repair": [3]},
        {"options": {"wait": 3}},
        {"example": ""},
        {"when": "later"},
    ],
    ids=repr,
)
def test_what_a_rule_may_not_say(wrong):
    with pytest.raises(ValidationError):
        ErrorRule(**{"id": "x", "repair": "wait"} | wrong)


def test_a_rule_must_say_something():
    with pytest.raises(ValidationError, match="says nothing"):
        ErrorRule(id="x", status=404, priority="high", allow="lossy")


def test_a_status_may_be_a_class_of_sqlstates_and_a_code_a_number():
    rule = ErrorRule(
        id="x", repair="wait", status=["23xxx", "2201X", "UNAVAILABLE", 1], code=-32602
    )
    assert rule.status == ("23xxx", "2201X", "UNAVAILABLE", 1)
    assert rule.code == ("-32602",)


def test_a_map_sets_every_limit_but_the_ceiling():
    assert set(MapLimits.model_fields) == set(Limits.model_fields)
    document = MapDocument(format=1, limits={"attempts": 5, "per_kind": {"rate_limit": 3}})
    assert document.said("limits") == {"attempts": 5, "per_kind": {"rate_limit": 3}}
    with pytest.raises(ValidationError, match="set in code"):
        MapDocument(format=1, limits={"ceiling": 99})


def test_a_policy_tells_what_it_does_not_say():
    policy = MapPolicy(allow=["exact"])
    assert (policy.allow, policy.terminal, policy.sensitive) == ((Safety.EXACT,), None, None)


@pytest.mark.parametrize("version", [0, 2, "1.0", None])
def test_another_version_of_the_language_is_refused(version):
    with pytest.raises(ValidationError):
        MapDocument(format=version)


def test_the_published_schema_is_current():
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    assert published == map_json_schema(), "run tests/map_schema.py"


def test_the_schema_is_a_schema_and_accepts_what_the_language_accepts():
    schema = map_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = {
        "format": 1,
        "extends": ["default"],
        "use": {"nearest-date": "./travel_repairs.py:NearestDate"},
        "policy": {"allow": ["exact"], "terminal": "auth", "sensitive": ["amount"]},
        "effects": {"search_*": "read_only"},
        "limits": {"attempts": 5, "per_kind": {"auth": 0}},
        "rule": [
            {
                "id": "x",
                "status": [404, "5xx"],
                "repair": "wait",
                "priority": "low",
                "before": "default/y",
            }
        ],
    }
    assert list(validator.iter_errors(good)) == []
    MapDocument.model_validate(good)
    for bad in (
        {"format": 2},
        {"format": 1, "extend": []},
        {"format": 1, "limits": {"ceiling": 20}},
        {"format": 1, "rule": [{"repair": "wait"}]},
        {"format": 1, "rule": [{"id": "x", "repair": "wait", "prio": 1}]},
        {"format": 1, "rule": [{"id": "x", "repair": "wait", "priority": 1}]},
        {"format": 1, "rule": [{"id": "x", "repair": "wait", "before": 1}]},
        {"format": 1, "effects": {"x": "readonly"}},
    ):
        assert list(validator.iter_errors(bad)), bad
        with pytest.raises(ValidationError):
            MapDocument.model_validate(bad)


@pytest.mark.parametrize(
    ("place", "pointer"),
    [
        ("passengers", "/args/passengers"),
        ("passengers[0].age", "/args/passengers/0/age"),
        ("items.0.name", "/args/items/0/name"),
        ("a['x.y'].z", "/args/a/x.y/z"),
        ("$.a.b", "/args/a/b"),
        ("/seats/1", "/args/seats/1"),
        ("/args/seats/1", "/args/seats/1"),
        ("/name", "/name"),
        ("'cabin'", "/args/cabin"),
        (" `cabin` ", "/args/cabin"),
        ("a~b", "/args/a~0b"),
        ("", None),
        ("''", None),
        ("a..b", None),
        ("a[", None),
        ("a.", None),
        ("x" * 400, None),
    ],
)
def test_where_a_parameter_is(place, pointer):
    assert pointer_of(place) == pointer


@given(st.text(max_size=400))
def test_a_place_is_a_usable_pointer_or_nothing(place):
    pointer = pointer_of(place)
    assert pointer is None or split(pointer)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        (" -2.50 ", -2.5),
        ("1,000", None),
        ("1e9", None),
        ("inf", None),
        ("nan", None),
        ("٣", None),
        ("9" * 30, None),
        ("", None),
        (None, None),
    ],
)
def test_numbers_are_read_plainly_or_not_at_all(text, number):
    assert number_of(text) == number


def test_a_wait_is_never_negative():
    assert seconds_of("18.642") == 18.642
    assert seconds_of("-1") is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("['economy', 'business', 'first']", ["economy", "business", "first"]),
        ('"a", "b" or "c"', ["a", "b", "c"]),
        ("economy, business, or first.", ["economy", "business", "first"]),
        ("economy|business", ["economy", "business"]),
        ("(1, 2, 3)", [1, 2, 3]),
        ("['it\\'s', 3, null, true]", ["it's", 3, None, True]),
        ("'Trinidad and Tobago', 'Spain'", ["Trinidad and Tobago", "Spain"]),
        ("Trinidad and Tobago, Spain", None),
        ("black and white, red", None),
        ("true, false", None),
        ("a, b, ...", None),
        ("'a', 'b'…", None),
        ("'a', 'b", None),
        ("['a'", None),
        ("a,,b", None),
        ("", None),
        ("[]", None),
        ("x" * 5_000, None),
    ],
)
def test_lists_of_allowed_values_are_read_with_certainty_or_not_at_all(text, values):
    assert allowed_of(text) == values


@given(
    st.lists(
        st.text(
            st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="'\\…"), max_size=20
        ).filter(lambda text: "..." not in text),
        min_size=1,
        max_size=10,
    )
)
def test_a_quoted_list_comes_back_whole(values):
    assert allowed_of("[" + ", ".join(f"'{value}'" for value in values) + "]") == values


@pytest.mark.parametrize(
    ("captures", "category", "constraint"),
    [
        ({"minimum": "1"}, Category.RANGE, {"minimum": 1}),
        ({"minimum": "1"}, Category.LENGTH, {"minLength": 1}),
        ({"limit": "9"}, Category.RANGE, {"maximum": 9}),
        ({"limit": "9"}, Category.LENGTH, {"maxLength": 9}),
        ({"limit": "9"}, Category.NONE, {}),
        ({"allowed": "'a', 'b'"}, Category.ENUM, {"enum": ["a", "b"]}),
        ({"expected": "an int"}, Category.WRONG_TYPE, {}),
        ({"expected": "'int'"}, Category.WRONG_TYPE, {"type": "integer"}),
        ({"got": "3", "line": "4"}, Category.RANGE, {}),
    ],
)
def test_captures_say_a_constraint(captures, category, constraint):
    assert constraint_of(captures, category) == constraint


def test_unreadable_parameters_are_left_out():
    assert pointers_of(["a", "", "b.c"]) == ("/args/a", "/args/b/c")
