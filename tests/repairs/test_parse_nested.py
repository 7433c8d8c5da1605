"""parse-nested: strings that hold what the schema asks for, and only these."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.repairs.parse_nested import ParseNested

OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TEXTS = {"type": "array", "items": {"type": "string"}}
OBJECTS = {"type": "array", "items": OBJECT}
TREE = {"type": "object", "properties": {"a": OBJECT, "b": TEXTS}}


@pytest.mark.parametrize(
    ("schema", "value", "after"),
    [
        (OBJECT, '{"a": 1}', {"a": 1}),
        (OBJECT, "{'a': 1}", {"a": 1}),
        (OBJECT, ' {"a": 1} \n', {"a": 1}),
        (OBJECT, json.dumps('{"a": 1}'), {"a": 1}),
        (OBJECT, json.dumps(json.dumps('{"a": 1}')), {"a": 1}),
        (OBJECT, '{"a": "1"}', {"a": "1"}),
        (OBJECT, '{"a": 1, "b": 2}', {"a": 1, "b": 2}),
        (TEXTS, '["x", "y"]', ["x", "y"]),
        (TEXTS, "['x', 'y']", ["x", "y"]),
        (TEXTS, "[]", []),
        (TREE, '{"a": {"a": 1}, "b": "[\\"x\\"]"}', {"a": {"a": 1}, "b": '["x"]'}),
        ({"anyOf": [TEXTS, {"type": "null"}]}, '["x"]', ["x"]),
        ({"anyOf": [OBJECT, TEXTS]}, '["x"]', ["x"]),
    ],
)
def test_parses(mend, schema, value, after):
    assert mend(ParseNested(), schema, value) == (after, "exact")


def test_an_object_for_a_list_of_one_is_inferred(mend):
    assert mend(ParseNested(), OBJECTS, '{"a": 1}') == ([{"a": 1}], "inferred")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (OBJECT, '{"a": 1, "a": 2}'),
        (OBJECT, '{"b": 1}'),
        ({**OBJECT, "additionalProperties": False}, '{"a": 1, "b": 2}'),
        (OBJECT, '{"a": 1'),
        (OBJECT, '{"a": "x'),
        (OBJECT, '{"a": NaN}'),
        (OBJECT, '{"a": 1e999}'),
        (OBJECT, "[1]"),
        (OBJECT, "a=1"),
        (OBJECT, ""),
        (OBJECT, "{"),
        (OBJECT, "null"),
        (TEXTS, '{"a": 1}'),
        (TEXTS, "x, y"),
        (TEXTS, '"x"'),
        (TEXTS, "5"),
        (TEXTS, "[" * 100_000),
        (OBJECT, '{"a":' * 50_000),
        (OBJECT, "{__import__('os').system('true')}"),
        (OBJECT, "{'a': 1+1}"),
        ({"type": "integer"}, "[1]"),
    ],
)
def test_refuses(mend, schema, value):
    assert mend(ParseNested(), schema, value, required=True) is None


VALUES = st.dictionaries(st.just("a"), st.integers(), min_size=1, max_size=1)


@settings(max_examples=40)
@given(VALUES, st.integers(1, 5))
def test_any_number_of_encodings_up_to_the_bound(mend, value, times):
    text = value
    for _ in range(times):
        text = json.dumps(text)
    assert mend(ParseNested(), OBJECT, text) == (value, "exact")


NODE = {"type": "object", "properties": {"n": {"$ref": "#/$defs/node"}, "v": {"type": "integer"}}}


@settings(max_examples=60)
@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_json_in_json_stops_at_eight_levels(mend, wraps):
    value = {"v": 1}
    for is_wrapped in wraps:
        value = {"n": value} if is_wrapped and isinstance(value, str) else value
        value = json.dumps(value)
    found = mend(ParseNested(), {"$ref": "#/$defs/node"}, value, beside={"$defs": {"node": NODE}})
    assert (found is not None) is (len(wraps) <= 8)
