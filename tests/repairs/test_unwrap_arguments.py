"""unwrap-arguments: what stands one level off moves to its place, if it then fits better."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.model import Call, Changed, Finding
from selfcorrect.pointer import apply
from selfcorrect.repairs.unwrap_arguments import UnwrapArguments
from selfcorrect.testing.conformance import try_strategy

TEXT, INT = {"type": "string"}, {"type": "integer"}
BOOK = {"properties": {"city": TEXT, "nights": INT}, "required": ["city"]}
ADDRESS = {"type": "object", "properties": {"city": TEXT, "zip": TEXT}, "required": ["city"]}
NESTED = {"properties": {"name": TEXT, "address": ADDRESS}}
FLAT = {"properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}, "required": ["lat"]}
EMPTY = {"properties": {}}
INNER = {"city": "Oslo", "nights": 2}


def unwrapped(schema, args, finding=None):
    answer = try_strategy(UnwrapArguments(), schema, args, finding)
    if not isinstance(answer, Changed):
        assert answer.reason
        return None
    (safety,) = {change.safety.value for change in answer.changes}
    return apply(Call("tool", args), answer.changes).args, safety


@pytest.mark.parametrize(
    "args",
    [
        {"arguments": INNER},
        {"params": INNER},
        {"input": INNER},
        {"toolInput": INNER},
        {"tool": INNER},
        {"kwargs": json.dumps(INNER)},
        {"arguments": {"parameters": INNER}},
        {"name": "tool", "arguments": INNER},
        {"properties": INNER, "type": "object", "required": ["city"]},
        {"function": "tool", "type": "function", "parameters": INNER},
    ],
)
def test_a_wrapper_around_everything_is_exact(args):
    assert unwrapped(BOOK, args) == (INNER, "exact")


@pytest.mark.parametrize(
    ("schema", "args", "after"),
    [
        (EMPTY, {"arguments": {}}, {}),
        (BOOK, {"arguments": {"city": "Oslo", "nights": "2"}}, {"city": "Oslo", "nights": "2"}),
    ],
)
def test_what_is_left_to_mend_may_be_left(schema, args, after):
    assert unwrapped(schema, args) == (after, "exact")


@pytest.mark.parametrize(
    ("schema", "args", "after"),
    [
        (BOOK, {"arguments": {"city": "Oslo"}, "nights": 2}, INNER),
        (BOOK, {"city": {"value": "Oslo"}}, {"city": "Oslo"}),
        (BOOK, {"city": {"type": "string", "value": "Oslo"}}, {"city": "Oslo"}),
        (BOOK, {"city": {"city": "Oslo"}}, {"city": "Oslo"}),
        (NESTED, {"name": "a", "address.city": "Oslo"}, {"name": "a", "address": {"city": "Oslo"}}),
        (
            NESTED,
            {"address_city": "Oslo", "address_zip": "1"},
            {"address": {"city": "Oslo", "zip": "1"}},
        ),
        (NESTED, {"address[city]": "Oslo"}, {"address": {"city": "Oslo"}}),
        (NESTED, {"addressCity": "Oslo"}, {"address": {"city": "Oslo"}}),
        (
            NESTED,
            {"address": {"city": "x"}, "address.zip": "1"},
            {"address": {"city": "x", "zip": "1"}},
        ),
        (FLAT, {"location": {"lat": 1.5, "lon": 2}}, {"lat": 1.5, "lon": 2}),
        (BOOK, {"whatever": INNER}, INNER),
        (BOOK, {"arguments": INNER, "verbose": True}, {"verbose": True, **INNER}),
    ],
)
def test_other_levels_are_inferred(schema, args, after):
    assert unwrapped(schema, args) == (after, "inferred")


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        (BOOK, {"arguments": {"town": "Oslo"}}),
        (BOOK, {"arguments": INNER, "city": "Bergen"}),
        (BOOK, {"arguments": INNER, "params": INNER}),
        (BOOK, {"name": "other_tool", "arguments": INNER}),
        (BOOK, {"arguments": [INNER]}),
        (BOOK, {"arguments": '{"city": "Os'}),
        (BOOK, {"arguments": {"arguments": {"arguments": {"arguments": {"arguments": INNER}}}}}),
        (BOOK, {"city": {"value": 5}}),
        (BOOK, {"city": {"value": "Oslo", "other": 1}}),
        (BOOK, {"city": {"country": "Norway"}}),
        (NESTED, {"address.town": "Oslo"}),
        (NESTED, {"address": {"city": "x"}, "address.city": "y"}),
        (NESTED, {"address.city": "x", "address_city": "y"}),
        (FLAT, {"location": {"lat": 1.5, "height": 2}}),
        (FLAT, {"lat": 1, "location": {"lat": 2}}),
        (FLAT, {"location": {}}),
    ],
)
def test_refuses(schema, args):
    assert unwrapped(schema, args) is None


def test_a_declared_wrapper_is_none():
    schema = {"properties": {"arguments": {"type": "object", "properties": {"city": TEXT}}}}
    stale = Finding("?", ("InvalidArgs",), code="type", paths=("/args/arguments",))
    assert unwrapped(schema, {"arguments": {"city": "Oslo"}}, stale) is None


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.sampled_from(["city", "nights", "x"]), st.sampled_from(["Oslo", 2]), max_size=3
    ),
    st.sampled_from(["arguments", "input", "tool", "city", "foo"]),
)
def test_nothing_is_lost(inner, key):
    args = {key: inner}
    finding = Finding("?", ("InvalidArgs",), code="additionalProperties", paths=(f"/args/{key}",))
    found = unwrapped(BOOK, args, finding)
    if found is not None:
        values = list(found[0].values())
        assert found[0] == inner or values == list(inner.values())
