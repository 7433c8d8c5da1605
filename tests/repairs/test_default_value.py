"""default-value: a default is lossy, fits, and never replaces a value."""

from __future__ import annotations

import pytest

from selfcorrect.model import ABSENT, Changed, Finding
from selfcorrect.repairs.default_value import DefaultValue
from selfcorrect.testing.conformance import try_strategy


@pytest.mark.parametrize(
    ("schema", "after"),
    [
        ({"type": "integer", "default": 1}, 1),
        ({"type": "string", "default": ""}, ""),
        ({"type": ["string", "null"], "default": None}, None),
        ({"$ref": "#/$defs/d"}, 7),
    ],
)
def test_the_schema_says_it(mend, schema, after):
    beside = {"$defs": {"d": {"type": "integer", "default": 7}}}
    found = mend(DefaultValue(), schema, ABSENT, required=True, beside=beside)
    assert found == (after, "lossy")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer"},
        {"type": "integer", "default": "one"},
        {"type": "array", "default": "None"},
        {"type": "integer", "minimum": 5, "default": 1},
        {"anyOf": [{"type": "integer", "default": 1}, {"type": "string", "default": "a"}]},
    ],
)
def test_refuses(mend, schema):
    assert mend(DefaultValue(), schema, ABSENT, required=True) is None


def test_the_map_goes_first(mend):
    schema = {"type": "integer", "default": 1}
    assert mend(DefaultValue(values={"x": 2}), schema, ABSENT, required=True) == (2, "lossy")
    assert mend(DefaultValue(values={"x": "no"}), schema, ABSENT, required=True) is None
    assert mend(DefaultValue(values={"y": 2}), schema, ABSENT, required=True) == (1, "lossy")


def test_nested_names():
    inner = {"type": "object", "properties": {"unit": {"type": "string"}}, "required": ["unit"]}
    strategy = DefaultValue(values={"opts.unit": "km"})
    answer = try_strategy(strategy, {"properties": {"opts": inner}}, {"opts": {}})
    assert (answer.changes[0].path, answer.changes[0].after) == ("/args/opts/unit", "km")


def test_a_value_is_never_replaced():
    stale = Finding("missing", ("InvalidArgs",), code="required", paths=("/args/x",))
    schema = {"properties": {"x": {"type": "integer", "default": 1}}}
    assert not isinstance(try_strategy(DefaultValue(), schema, {"x": 5}, stale), Changed)
    assert not isinstance(try_strategy(DefaultValue(), schema, {"x": None}, stale), Changed)
