"""drop-extra: only what resembles nothing, and lossy where the tool acts."""

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
    ("args", "reading", "acting"),
    [
        ({"verbose": True}, "inferred", "lossy"),
        ({"wave_file": "a.wav"}, "inferred", "lossy"),
        ({"city": "Oslo", "city_code": 5}, "lossy", "lossy"),
        ({"city": "Oslo", "City": "Oslo"}, "exact", "exact"),
        ({"verbose": None}, "exact", "exact"),
        ({"": ""}, "exact", "exact"),
        ({"": {}}, "exact", "exact"),
        ({"": "x"}, "inferred", "lossy"),
    ],
)
def test_drops(args, reading, acting):
    assert dropped(args, "read_only") == reading
    assert [dropped(args, e) for e in ("idempotent", "mutating", "destructive")] == [acting] * 3


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


def with_request(properties, key, value, request, **more):
    answer = try_strategy(
        DropExtra(),
        {"properties": properties},
        {"city": "Oslo", key: value},
        effect="read_only",
        request=request,
        **more,
    )
    return answer.changes[0].safety.value if isinstance(answer, Changed) else None


CITY = {"city": {"type": "string"}}


@pytest.mark.parametrize(
    ("key", "value", "request_"),
    [
        ("merchant", "Lidl", "transactions from Lidl only"),
        ("merchant", "LIDL GmbH & Co. KG", "transactions from Lidl only"),
        ("where", "customer_type = 'new'", "revenue only for the new customers"),
        ("top_price", 900, "laptops below 900"),
        ("top_price", 1250.0, "laptops below $1,250"),
        ("top_price", "1.250,00", "laptops below 1250"),
        ("top_price", 5000, "cars under 5k"),
        ("guests", 5, "a table for five"),
        ("guests", "five", "a table for 5"),
        ("on", "2026-10-26", "what happened on October 26"),
        ("on", "2026-12-01", "what happened in December"),
        ("people", 1_500_000, "1 500 000 people"),
        ("people", 1_500_000, "1.5 million people"),
        ("share", 0.2, "20% of it"),
        ("eggs", 12, "a dozen of them"),
        ("money", "USD", "how many dollars"),
        ("weighed", "kg", "in kilograms"),
        ("language", "en", "in English"),
        ("weekday", "Mon", "on Monday"),
        ("in_stock", True, "only what is in stock"),
        ("closed", False, "without the closed ones"),
        ("sort", "desc", "descending by size"),
        ("colors", ["red", "blue"], "blue shirts"),
        ("match", {"field": "color", "value": "blue"}, "blue shirts"),
        ("place", "Z\u00fcrich", "trains to Zurich"),
        ("place", "\u6771\u4eac", "\u6771\u4eac\u306e\u5929\u6c17"),
        ("note", "Lidl", "x" * 50_000),
        ("reason", "sick leave", "who is on sick leave"),
        ("order", "newest", "sort by new"),
        ("comment", "Great stuff", "posts with the comment 'great stuff'"),
        ("analysis", "sentiment", "a sentiment analysis"),
    ],
)
def test_what_the_user_asked_for_is_not_dropped_unasked(key, value, request_):
    assert with_request(CITY, key, value, request_) == "lossy"
    assert with_request(CITY, key, value, None) == "inferred"
    said = [{"role": "user", "content": request_}]
    assert with_request(CITY, key, value, None, messages=said) == "lossy"
    said = [{"role": "assistant", "content": request_}]
    assert with_request(CITY, key, value, "thanks", messages=said) == "inferred"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("verbose", True),
        ("page", 1),
        ("limit", 100),
        ("ratio", 0.5),
        ("format", "json"),
        ("status", "all"),
        ("matches", []),
        ("source", "tool"),
        ("reasoning", "The user wants the weather of Oslo for 3 days."),
        ("explanation", "weather of Oslo"),
        ("comment", "I look up the weather in Oslo"),
        ("_thought", "weather of Oslo"),
    ],
)
def test_what_nobody_asked_for_is_dropped(key, value):
    request = "the weather in Oslo for 3 days, with the tool of your choice"
    assert with_request(CITY, key, value, request) == "inferred"


@settings(max_examples=60)
@given(
    st.one_of(
        st.text("bcdfghjklmnpqrtvwxz", min_size=3, max_size=12),
        st.integers(0, 10**12),
        st.floats(0.01, 1e6).map(lambda number: round(number, 2)),
        st.dates().map(str),
    ),
    st.sampled_from(["{}", "{} please", "only {}, if there are any", "the ({})", "with {}."]),
)
def test_whatever_stands_in_the_request_is_needed(value, sentence):
    assert with_request(CITY, "zone", value, sentence.format(value)) in ("lossy", None)


FILTERS = {
    "type": "object",
    "properties": {"price_max": {"type": "number"}, "brand": {"type": "string"}},
}
LINES = {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}}


@pytest.mark.parametrize("key", ["max_price", "price_max", "brand", "brands", "barnd", "sku"])
def test_what_belongs_into_an_object_is_never_dropped(key):
    properties = CITY | {"filters": FILTERS, "lines": LINES}
    assert with_request(properties, key, 900, None) is None
    assert with_request(properties, key, 900, "laptops") is None
    assert with_request(properties, "verbose", True, "laptops") == "inferred"


@pytest.mark.parametrize(
    ("key", "name"), [("lta", "lat"), ("ta", "tag"), ("c", "cc"), ("ot", "to")]
)
def test_a_slip_of_a_short_name_is_not_dropped(key, name):
    schema = {"properties": {"query": {"type": "string"}, name: {"type": "string"}}}
    answer = try_strategy(DropExtra(), schema, {"query": "x", key: "y"}, effect="read_only")
    assert not isinstance(answer, Changed)
