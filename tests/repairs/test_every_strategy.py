"""What holds for every built-in strategy, on whatever it is given."""

from __future__ import annotations

import dataclasses
import inspect
import json
from datetime import date
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.mapping.registry import bind, built_in_names, class_name, resolve
from selfcorrect.model import Call, Changed, Finding, Safety
from selfcorrect.plain import problem
from selfcorrect.pointer import apply
from selfcorrect.schema.places import faults
from selfcorrect.testing.conformance import check_strategy, try_strategy
from selfcorrect.tools import ToolSpec

NAMES = built_in_names()
EACH = pytest.mark.parametrize("name", NAMES)
FREE = [name for name in NAMES if resolve(name).needs == "nothing"]


def test_all_are_there():
    assert set(NAMES) >= {
        *("adjust-date", "ask-human", "ask-model", "clamp", "convert-type", "correct-enum"),
        *("correct-format", "default-value", "drop-extra", "escalate", "format-date"),
        *("format-time", "give-up", "infer-missing", "parse-nested", "rename-argument"),
        *("rename-tool", "split-list", "suggest-alternative", "unwrap-arguments", "wait"),
    }


@EACH
def test_shape(name):
    cls = resolve(name)
    assert inspect.isclass(cls)
    assert cls.__name__ == class_name(name)
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen
    assert "__slots__" in vars(cls)
    assert (cls.name, cls.needs in ("nothing", "model", "person")) == (name, True)
    assert all(isinstance(one, Safety) for one in cls.safety)
    for field in dataclasses.fields(cls):
        assert f"{field.name}: " in inspect.getdoc(cls), "an option is documented"


@EACH
def test_conforms(name):
    check_strategy(bind(resolve(name)))


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(
        [
            *("5", " 5 ", "2.0", "1,234", "$1,250.00", "1.234,56", "five", "yes", "TRUE ", "null"),
            *("Business", "business class", "premium economy", "not economy", "ecnomy", "None"),
            *("2026/10/26", "Oct 26, 2026", "03/04/2026", "12/25/2026", "2026-10-26T00:00:00"),
            *("10:00AM", "14:30", "a, b", "1, 2 and 3", "[1, 2]", "{'a': '1'}", '"[1]"', "x;y"),
            *("<a@b.org>", "lhr", "555 123 4567", "+1 (555) 123-4567", "tomorrow", "%", "0x10"),
        ]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "b", "A", "value", "x", ""]), inner, max_size=3),
    ),
    max_leaves=5,
)
SCHEMAS = st.sampled_from(
    [
        {"type": "integer"},
        {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 100},
        {"type": "boolean"},
        {"type": "string"},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "date-time"},
        {"type": "string", "format": "time"},
        {"type": "string", "format": "email"},
        {"type": "string", "pattern": "^[A-Z]{3}$"},
        {"type": "string", "pattern": r"^\d{3}-\d{3}-\d{4}$"},
        {"type": "string", "maxLength": 4, "minLength": 1},
        {"enum": ["economy", "premium economy", "business", "first"]},
        {"enum": [1, 2, None, "A-B", "AB"]},
        {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"type": ["number", "boolean"]},
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "array", "items": {}}]},
    ]
)


@lru_cache
def compiled(schema):
    parameters = {"type": "object", **json.loads(schema)}
    return ToolSpec.from_schema({"name": "tool", "parameters": parameters})


@pytest.mark.parametrize("name", FREE)
@settings(max_examples=20)
@given(
    schema=SCHEMAS, value=VALUES, key=st.sampled_from(["x", "x", "x", "X", "y"]), need=st.booleans()
)
def test_the_result_is_right_or_refused(name, schema, value, key, need):
    """A change makes nothing invalid that was valid, mends something, and states its class."""
    strategy = bind(resolve(name))
    whole = {"properties": {"x": schema}, "required": ["x"] if need else []}
    args = {key: value}
    tool = compiled(json.dumps(whole))
    if tool.is_valid(args):
        return
    before = tool.violations(args)
    for finding in before:
        answer = try_strategy(strategy, whole, args, finding)
        if not isinstance(answer, Changed):
            continue
        assert {change.safety for change in answer.changes} <= set(strategy.safety)
        after = apply(Call("tool", args), answer.changes).args
        assert problem(after) is None
        assert faults([finding]) - faults(tool.violations(after)), "what it was asked to mend, is"


@pytest.mark.parametrize("name", FREE)
def test_what_the_tool_takes_is_left_alone(name):
    strategy = bind(resolve(name))
    whole = {
        "properties": {
            "n": {"type": "integer"},
            "day": {"type": "string", "format": "date"},
            "cabin": {"enum": ["economy", "Business"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"},
        }
    }
    args = {
        "n": 5,
        "day": date(2026, 10, 26).isoformat(),
        "cabin": "Business",
        "tags": ["a, b"],
        "note": "None",
    }
    for key in args:
        stale = Finding("old", ("InvalidArgs",), code="type", paths=(f"/args/{key}",))
        assert not isinstance(try_strategy(strategy, whole, args, stale), Changed)
