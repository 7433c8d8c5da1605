"""Errors without their values, and values by where they come from."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect import MapError, StrategyMap
from selfcorrect.recalling.binding import Sources, Unbound, bound, expressions, fault_of
from selfcorrect.recalling.named import is_named, joint_mark, schema_mark
from selfcorrect.recalling.template import is_template, template


@pytest.mark.parametrize(
    ("error", "args", "text", "values"),
    [
        ("No file 'a.txt'", {"path": "a.txt"}, "No file '{args.path}'", {}),
        ("No file 'a.txt'", {}, "No file '{error.text1}'", {"error.text1": "a.txt"}),
        ("No file a.txt here", {}, "No file {error.token1} here", {"error.token1": "a.txt"}),
        ("3 of 4.5 left", {}, "{error.number1} of {error.number2} left",
         {"error.number1": "3", "error.number2": "4.5"}),
        ("open: left, right", {}, "open: {error.list1}", {"error.list1": ["left", "right"]}),
        ("open: a, b and c.", {}, "open: {error.list1}.", {"error.list1": ["a", "b", "c"]}),
        ("one of ['x', 'y'] please", {}, "one of [{error.list1}] please",
         {"error.list1": ["x", "y"]}),
        ("it's late, don't", {}, "it's late, don't", {}),
        ("cp: no", {}, "{tool}: no", {}),
        ("the file is gone", {"what": "file"}, "the file is gone", {}),
        ("{x} is no name", {}, "(x) is no name", {}),
        ("", {}, "", {}),
    ],
)  # fmt: skip
def test_an_error_without_its_values(error, args, text, values):
    found = template(error, args, "cp")
    assert (found.text, dict(found.values)) == (text, values)
    assert is_template(found.text)


def test_a_last_word_may_be_a_list_of_one():
    one, many = template("open: left", {}), template("open: left, right", {})
    assert one.text == "open: left"
    assert [form.text for form in one.forms][1] == many.text
    assert [form.values for form in one.forms][1] == {"error.list1": ["left"]}


@given(st.text(max_size=300), st.dictionaries(st.text(max_size=8), st.text(max_size=20)))
def test_any_text_has_a_template(error, args):
    for form in template(error, args).forms:
        assert len(form.text) <= 8 * len(error) + 2_000


def test_a_hostile_text_takes_no_time():
    for text in ("x" * 50_000, "a, " * 9_000, "'" * 9_000, ": " + "w, " * 900, "[" * 9_000):
        start = time.process_time()
        template(text, {"a": "x" * 400, "b": "'"})
        assert time.process_time() - start < 5, "it is bounded, whatever the text"


SOURCES = Sources(
    {"path": "a/b/c.txt", "count": 3},
    {"error.text1": "x", "error.list1": ["l", "r"], "error.number1": "7"},
    "Book the 2026-10-26 for ann@example.org, please.",
)


@pytest.mark.parametrize(
    ("expression", "wanted", "value"),
    [
        ("{args.path}", {}, "a/b/c.txt"),
        ("{args.path|name}", {}, "c.txt"),
        ("{args.path|folder}", {}, "a/b"),
        ("{args.path|first}", {}, "a"),
        ("{args.count|list}", {}, [3]),
        ("{error.list1}", {}, ["l", "r"]),
        ("{error.number1}", {"type": "integer"}, 7),
        ("{error.number1}", {"type": "string"}, "7"),
        ("{request.date}", {}, "2026-10-26"),
        ("{request.email}", {}, "ann@example.org"),
        ("plain", {}, "plain"),
        (False, {}, False),
    ],
)
def test_a_value_is_found_where_an_entry_says(expression, wanted, value):
    assert bound(expression, SOURCES, wanted) == value
    if isinstance(expression, str) and expression != "plain":
        assert expression in list(expressions(value, SOURCES, wanted))


@pytest.mark.parametrize(
    "expression",
    ["{args.gone}", "{args.count|name}", "{error.text2}", "{request.file}", "{error.list1|list}"],
)
def test_a_value_that_is_not_there_is_no_other(expression):
    with pytest.raises(Unbound):
        bound(expression, SOURCES)


def test_two_tokens_of_a_shape_are_none():
    two = Sources({}, {}, "From 2026-10-26 to 2026-10-28.")
    with pytest.raises(Unbound, match="2 date"):
        bound("{request.date}", two)


@pytest.mark.parametrize("wrong", ["{x}", "{args.}", "{error.word1}", "{request.x}", "{args.a|x}"])
def test_an_expression_that_means_nothing_is_told(wrong):
    assert fault_of(wrong) is not None


@pytest.mark.parametrize(
    ("value", "schema", "named"),
    [
        (True, {}, True),
        (None, {}, True),
        ("a", {"enum": ["a"]}, True),
        ("a", {"default": "a"}, True),
        ("a", {"anyOf": [{"const": "a"}]}, True),
        ("a", {"description": '[Enum]: ["a", "b"]'}, True),
        ("a", {"description": "such as 'a'"}, False),
        (5, {"minimum": 5}, True),
        (5, {"description": "5 to 10"}, True),
        (5, {"description": "p5 or 15"}, False),
        (["a"], {"items": {"enum": ["a"]}}, True),
        (["a", "z"], {"items": {"enum": ["a"]}}, False),
        ({"a": 1}, {}, False),
        (1, {"const": True}, False),
    ],
)
def test_a_constant_is_named_by_its_schema_or_not(value, schema, named):
    assert is_named(value, schema) is named


def test_a_mark_sees_what_calls_must_look_like_and_no_words():
    one = {"type": "object", "properties": {"a": {"type": "string", "description": "x"}}}
    same = {"properties": {"a": {"type": "string"}}, "type": "object", "required": [], "title": "T"}
    other = {"type": "object", "properties": {"a": {"type": "number"}}}
    assert schema_mark(one) == schema_mark(same) != schema_mark(other)
    named = {"type": "object", "properties": {"title": {"type": "string"}}}
    assert schema_mark(named) != schema_mark({"type": "object", "properties": {}})
    assert re.fullmatch("[0-9a-f]{12}", joint_mark([schema_mark(one), schema_mark(other)]))


# --- the map language -----------------------------------------------------------------------------

STEP: dict[str, Any] = {"tool": "b", "args": {"x": "{args.x}"}}
GOOD: dict[str, Any] = {"tool": "a", "error": "No '{args.x}'.", "first": [STEP]}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"first": []}, "says nothing"),
        ({"error": "No 'Berlin'."}, "without its values"),
        ({"error": "No room 12."}, "without its values"),
        ({"first": [STEP | {"args": {"x": "{y}"}}]}, "names no source"),
        ({"first": [{"tool": "a", "args": {}}]}, "itself"),
        ({"first": [STEP] * 5}, "at most 4"),
        ({"schemas": "x"}, "at least 12"),
        ({"agreement": 2}, "less than or equal to 1"),
        ({"agrement": 0.5}, "unknown key"),
    ],
)
def test_what_is_wrong_with_an_entry_is_told(wrong, why):
    with pytest.raises(MapError) as raised:
        StrategyMap(extends="default", recall=[GOOD | wrong])
    assert why in str(raised.value)


def test_recall_stands_before_whoever_costs_and_only_for_its_tools():
    from selfcorrect.model import Finding

    strategies = StrategyMap(extends="default", recall=[GOOD])
    finding = Finding("No 'x'.", ("LookupError",))
    ladder = strategies.decide(finding, "a").ladder
    rungs = [strategies.strategy(strategies.decide(finding, "a").rule, name) for name in ladder]
    needs = [getattr(rung, "needs", "nothing") for rung in rungs]
    at = ladder.index("recall")
    assert set(needs[:at]) <= {"nothing"}
    assert "recall" not in strategies.decide(finding, "b").ladder
    assert "recall" not in strategies.decide(Finding("x", ("InvalidArgs",)), "a").ladder
    assert StrategyMap.load("default").decide(finding, "a").ladder == (
        *ladder[:at],
        *ladder[at + 1 :],
    )


def test_a_map_that_extends_another_has_its_entries(tmp_path):
    from selfcorrect.learning.writing import as_toml

    own = StrategyMap(extends="default", recall=[GOOD]).recalls
    (tmp_path / "learned.toml").write_text(as_toml(own))
    (tmp_path / "mine.toml").write_text('format = 1\nextends = ["./learned.toml"]\n')
    assert StrategyMap.load(tmp_path / "mine.toml").recalls == own
