"""default-value: a default is lossy or a strict schema's own word, and never replaces a value."""

# ruff: noqa: E501 -- a row of a table is a line

from __future__ import annotations

import pytest

from selfcorrect import ToolSpec, repair_call
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
    assert found == (after, "inferred")


X = {"type": "integer", "default": 1}
Y = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "args", "safety"),
    [
        ({"properties": {"x": X, "y": Y}, "required": ["x", "y"]}, {"y": "a"}, "inferred"),
        ({"properties": {"x": X, "y": Y}, "required": ["x"]}, {"y": "a"}, "lossy"),
        # what nobody knows may be the missing one
        ({"properties": {"x": X}, "required": ["x"], "additionalProperties": True}, {"xx": 2}, "lossy"),
        ({"$ref": "#/$defs/o", "$defs": {"o": {"type": "object", "properties": {"x": X}, "required": ["x"]}}}, {}, "inferred"),
    ],
)  # fmt: skip
def test_it_is_inferred_where_a_schema_asks_for_all_it_knows(schema, args, safety):
    change = try_strategy(DefaultValue(), schema, args).changes[0]
    assert (change.path, change.after, change.safety.value) == ("/args/x", 1, safety)


def test_a_default_inside_an_argument_is_inferred_by_its_own_object():
    inner = {"type": "object", "properties": {"x": X}, "required": ["x"]}
    whole = {"properties": {"o": inner, "free": {}}, "required": ["o"]}
    change = try_strategy(DefaultValue(), whole, {"o": {}}).changes[0]
    assert (change.path, change.safety.value) == ("/args/o/x", "inferred")


@pytest.mark.parametrize("effect", ["mutating", "destructive", "read_only"])
def test_a_strict_schemas_default_runs_unasked_and_visibly(effect):
    properties = {
        "to": {"type": "string"},
        "cabin": {"enum": ["economy", "first"], "default": "economy"},
    }
    schema = {"properties": properties, "required": ["to", "cabin"], "additionalProperties": False}
    tool = ToolSpec.from_schema({"name": "fly", "parameters": schema}, effect=effect)
    done = repair_call({"name": "fly", "args": {"to": "CDG"}}, [tool])
    assert [call.args for call in done.ready] == [{"to": "CDG", "cabin": "economy"}]
    (change,) = done.changes
    assert (change.path, change.safety.value, change.strategy) == (
        "/args/cabin",
        "inferred",
        "default-value",
    )


@pytest.mark.parametrize(("effect", "ran"), [("read_only", ["lossy"]), ("mutating", [])])
def test_a_rule_lets_a_lossy_default_run_on_tools_that_read(effect, ran):
    schema = {"properties": {"x": X, "y": Y}, "required": ["x"], "type": "object"}
    tool = ToolSpec.from_schema({"name": "find", "parameters": schema}, effect=effect)
    mended = repair_call({"name": "find", "args": {"y": "a"}}, [tool])
    assert [change.safety.value for change in mended.changes] == ran


def test_a_default_never_fills_a_sensitive_field_unasked():
    secret = {"type": "string", "default": "DE89", "x-sensitive": True}
    schema = {"properties": {"iban": secret}, "required": ["iban"]}
    tool = ToolSpec.from_schema({"name": "pay", "parameters": schema}, effect="read_only")
    assert not repair_call({"name": "pay", "args": {}}, [tool]).ready


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
    assert mend(DefaultValue(values={"y": 2}), schema, ABSENT, required=True) == (1, "inferred")


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
