"""drop-extra: only what resembles nothing, and lossy wherever something is said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.model import ABSENT, Changed, Finding
from selfcorrect.repairs.drop_extra import DropExtra
from selfcorrect.testing.conformance import try_strategy

SCHEMA = {"properties": {"city": {"type": "string"}, "return_date": {}, "max_results": {}}}


def dropped(args, effect, strategy=None, finding=None):
    answer = try_strategy(strategy or DropExtra(), SCHEMA, args, finding, effect=effect)
    if not isinstance(answer, Changed):
        return None
    (change,) = answer.changes
    assert change.after is ABSENT
    return change.safety.value


@pytest.mark.parametrize(
    ("args", "safety"),
    [
        ({"verbose": True}, "lossy"),
        ({"wave_file": "a.wav"}, "lossy"),
        ({"city": "Oslo", "city_code": 5}, "lossy"),
        ({"city": "Oslo", "City": "Oslo"}, "exact"),
        ({"verbose": None}, "exact"),
        ({"verbose": " "}, "exact"),
        ({"": ""}, "exact"),
        ({"": {}}, "exact"),
        ({"": "x"}, "lossy"),
    ],
)
@pytest.mark.parametrize("effect", ["read_only", "idempotent", "mutating", "destructive"])
def test_drops(args, safety, effect):
    assert dropped(args, effect) == safety


@pytest.mark.parametrize(
    "args",
    [
        {"retrun_date": "x"},
        {"date": "x"},
        {"returnDate": "x"},
        {"return": "x"},
        {"return_date_": None},
        {"results": 5},
        {"max": 5},
        {"ctiy": "x"},
        {"cty": "x"},
        {"city": "Oslo", "City": "Bergen"},
    ],
)
def test_what_may_be_a_misspelt_argument_stays(args):
    assert dropped(args, "read_only") is None


def test_keep():
    assert dropped({"verbose": True}, "read_only", DropExtra(keep=("verbose",))) is None


def test_a_declared_argument_is_never_dropped():
    stale = Finding("?", ("InvalidArgs",), code="additionalProperties", paths=("/args/city",))
    assert dropped({"city": "Oslo"}, "read_only", finding=stale) is None
    assert dropped({}, "read_only", finding=stale) is None


@pytest.mark.parametrize("effect", ["read_only", "mutating"])
def test_what_stands_in_an_object_may_be_sent_on_as_it_is(effect):
    known = {"lat": {"type": "number"}, "place": {"type": "string"}}
    params = {"type": "object", "properties": known}
    schema = {"properties": {"url": {"type": "string"}, "params": params}}
    args = {"url": "http://x", "params": {"lat": 1.5, "daily": "rain", "until": "2026-11-21"}}
    answer = try_strategy(DropExtra(), schema, args, effect=effect)
    assert isinstance(answer, Changed)
    assert {change.safety.value for change in answer.changes} == {"lossy"}


CITY = {"city": {"type": "string"}}


def without(properties, key, value, request=None):
    answer = try_strategy(
        DropExtra(),
        {"properties": properties},
        {"city": "Oslo", key: value},
        effect="read_only",
        request=request,
    )
    return answer.changes[0].safety.value if isinstance(answer, Changed) else None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("verbose", True),
        ("page", 1),
        ("status", "all"),
        ("closed", False),
        ("total", 0),
        ("sign", "-"),
        ("reasoning", "The user wants the weather of Oslo."),
        ("merchant", "Lidl"),
    ],
)
@pytest.mark.parametrize("request_", [None, "transactions from Lidl", "the weather of Oslo"])
def test_what_says_something_is_never_dropped_unasked(key, value, request_):
    assert without(CITY, key, value, request_) == "lossy"


CONTENT = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(min_size=1)),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=200)
@given(st.text(max_size=12), CONTENT, st.sampled_from(["read_only", "idempotent", "mutating"]))
def test_no_content_goes_unless_it_is_lossy(key, value, effect):
    if key in SCHEMA["properties"] or (isinstance(value, str) and not value.strip()):
        return
    assert dropped({key: value}, effect) in (None, "lossy")


FILTERS = {
    "type": "object",
    "properties": {"price_max": {"type": "number"}, "brand": {"type": "string"}},
}
LINES = {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}}


@pytest.mark.parametrize("key", ["max_price", "price_max", "brand", "brands", "barnd", "sku"])
def test_what_belongs_into_an_object_is_never_dropped(key):
    properties = CITY | {"filters": FILTERS, "lines": LINES}
    assert without(properties, key, 900) is None
    assert without(properties, "verbose", True) == "lossy"


@pytest.mark.parametrize(
    ("key", "name"), [("lta", "lat"), ("ta", "tag"), ("c", "cc"), ("ot", "to")]
)
def test_a_slip_of_a_short_name_is_not_dropped(key, name):
    schema = {"properties": {"query": {"type": "string"}, name: {"type": "string"}}}
    answer = try_strategy(DropExtra(), schema, {"query": "x", key: "y"}, effect="read_only")
    assert not isinstance(answer, Changed)
