"""The whole search beside the ladder of the shipped maps, on generated corruptions."""

from __future__ import annotations

import copy
import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.batch.checking import repair_loop
from selfcorrect.batch.mending import mend
from selfcorrect.mending.cost import COSTS, OFF, PRICES
from selfcorrect.mending.fit import EDGES, fit
from selfcorrect.model import ABSENT, Call, Safety
from selfcorrect.pointer import apply
from selfcorrect.text import Unclear
from selfcorrect.tools import ToolSpec
from tests.repairs import test_must_not_guess, test_no_wrong_value
from tests.repairs.corrupting import TOOLS, corrupted, schema_of, value_of

TEXT, INT = {"type": "string"}, {"type": "integer"}


def one(schema, name="x"):
    return ToolSpec.from_schema({"name": "act", "parameters": {"properties": {name: schema}}})


def rows(test):
    """The examples of another test."""
    return next(mark.args[1] for mark in test.pytestmark if mark.name == "parametrize")


def example(seed):
    """A tool, valid arguments, and the same with something wrong; None where they stay valid."""
    rng = Random(seed)
    schema = schema_of(rng)
    tool = ToolSpec.from_schema({"name": rng.choice(TOOLS), "parameters": schema})
    args = value_of(rng, schema)
    wrong = corrupted(rng, copy.deepcopy(args), schema)
    usable = wrong is not None and wrong != args and not tool.is_valid(wrong)
    return tool, args, wrong if usable else None


def both(seed):
    """What the ladder and the search make of a corruption, each None where it refuses."""
    tool, args, wrong = example(seed)
    if wrong is None:
        return None
    out = mend(repair_loop([tool]), {"name": tool.name, "arguments": wrong}, {})
    found = fit(wrong, tool)
    ladder = dict(out.ready[0].args) if out.ready else None
    search = None if isinstance(found, Unclear) else apply(Call("", wrong), found).args
    shown = f"seed {seed}: {json.dumps(wrong)}"
    assert search is None or tool.is_valid(search), shown
    return ladder, search, args, shown


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9))
def test_where_both_mend_they_agree(seed):
    found = both(seed)
    if found is None:
        return
    ladder, search, args, shown = found
    assert search in (None, args), shown
    assert ladder is None or search in (None, ladder), shown


def test_the_search_mends_what_the_ladder_mends():
    found = [each for seed in range(300) if (each := both(seed)) is not None]
    ladder = sum(one[0] is not None for one in found)
    search = sum(one[1] is not None for one in found)
    assert search >= ladder > len(found) / 3


# --- what holds for the ladder holds for the search -----------------------------------------------

REFUSED = [
    (written["arguments"], tools[0])
    for written, tools in rows(test_must_not_guess.test_no_certain_repair)
    if isinstance(written, dict) and isinstance(written["arguments"], dict)
]


@pytest.mark.parametrize(("args", "tool"), REFUSED)
def test_no_certain_repair(args, tool):
    assert isinstance(fit(args, tool), Unclear)


@pytest.mark.parametrize(
    ("schema", "value"), rows(test_no_wrong_value.test_a_value_with_two_meanings_is_refused)
)
def test_a_value_with_two_meanings(schema, value):
    assert isinstance(fit({"x": value}, one(schema)), Unclear)


@pytest.mark.parametrize(
    ("schema", "value", "after"), rows(test_no_wrong_value.test_the_same_with_one_meaning_is_mended)
)
def test_a_value_with_one_meaning(schema, value, after):
    (change,) = fit({"x": value}, one(schema))
    assert change.after == after


@pytest.mark.parametrize(("value", "unit"), test_no_wrong_value.OTHER_UNIT)
def test_another_unit(value, unit):
    schema = {"type": "number", "description": f"Value in {unit}"}
    assert isinstance(fit({"x": value}, one(schema)), Unclear)


@settings(max_examples=100)
@given(st.text(max_size=12), st.one_of(st.integers(), st.booleans(), st.text(min_size=1)))
def test_content_under_a_key_that_nobody_knows_is_never_let_go(key, value):
    tool = one(TEXT, "city")
    found = fit({"city": "Oslo", key: value}, tool)
    if key != "city" and not (isinstance(value, str) and not value.strip()):
        assert isinstance(found, Unclear)


def test_it_may_go_where_that_is_not_off():
    found = fit({"city": "Oslo", "verbose": 1}, one(TEXT, "city"), costs=PRICES)
    assert [(c.path, c.after, c.safety) for c in found] == [("/args/verbose", ABSENT, Safety.LOSSY)]


# --- edges and prices -----------------------------------------------------------------------------


def test_edges_can_be_left_out():
    assert isinstance(fit({"x": "5"}, one(INT), {}), Unclear)
    assert fit({"x": "5"}, one(INT), {"numbers": EDGES["convert-type"]})[0].strategy == "numbers"


@pytest.mark.parametrize(
    ("args", "schema", "price"),
    [
        ({"x": "5"}, INT, "number-text"),
        ({"x": "five"}, INT, "number-words"),
        ({"x": "yes"}, {"type": "boolean"}, "boolean-word"),
        ({"x": 5}, TEXT, "text"),
        ({"x": [5]}, INT, "only-item"),
        ({"x": "a"}, {"type": "array", "items": TEXT}, "one-item"),
        ({"x": "a; b"}, {"type": "array", "items": TEXT}, "split"),
        ({"x": '{"a": 1}'}, {"type": "object"}, "encoded"),
        ({"x": "true"}, {"type": "boolean"}, "boolean-text"),
        ({"x": "Red"}, {"anyOf": [{"enum": ["red"]}, INT]}, "same-text"),
        ({"x": "RED"}, {"enum": ["red"]}, "spelling"),
        ({"x": "red colour type"}, {"enum": ["red colour"]}, "same-words"),
        ({"x": "buisness"}, {"enum": ["business"]}, "slip"),
        ({"x": None}, INT, "nothing"),
        ({"x": ""}, INT, "empty"),
        ({"x": "2026/10/26"}, {"type": "string", "format": "date"}, "iso-date"),
        ({"x": "26 October 2026"}, {"type": "string", "format": "date"}, "spoken-date"),
        ({"x": "<a@b.org>"}, {"type": "string", "format": "email"}, "normal-form"),
        ({"x": {"value": "a"}}, TEXT, "value-wrapper"),
        ({"X": 5}, INT, "key-spelling"),
        ({"arguments": {"x": 5}}, INT, "wrapper"),
        ({"x": 5, "y": None}, INT, "says-nothing"),
        ({"x": 5, "X": 5}, INT, "twice"),
    ],
)
def test_a_price_of_ten_switches_an_edit_off(args, schema, price):
    assert price in COSTS
    assert not isinstance(fit(args, one(schema)), Unclear)
    off = {**PRICES, price: OFF, "extra": OFF}
    assert isinstance(fit(args, one(schema), costs=off), Unclear)
