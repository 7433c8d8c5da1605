"""The engine that answers and the one that explains agree, on generated schemas and arguments."""

from __future__ import annotations

import copy
import json
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.schema import Checker
from selfcorrect.schema.engine import Engine

NAMES = ["a", "b", "c", "aa"]
numbers = st.sampled_from([0, 1, 2, 3, -1, 1.0, 0.5, 2.5, 0.1, 0.3, -0.0, 10**20])
words = st.sampled_from(["", "a", "b", "aa", "é", "1", "2024-01-01", "2024-99-99", "a@b"])
scalars = st.none() | st.booleans() | numbers | words
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=8,
)
arguments = st.dictionaries(st.sampled_from(NAMES), values, max_size=4)
small = st.integers(0, 3)
TYPES = ["object", "array", "string", "integer", "number", "null", "boolean"]
LEAF: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from([*TYPES, ["integer", "string"], ["object", "null"]]),
    "enum": st.lists(values, min_size=1, max_size=3),
    "const": values,
    "minimum": numbers,
    "exclusiveMaximum": numbers,
    "multipleOf": st.sampled_from([1, 2, 0.1, 0.5, 3]),
    "minLength": small,
    "maxItems": small,
    "uniqueItems": st.booleans(),
    "minProperties": small,
    "pattern": st.sampled_from(["^a", "a$", "^$", "^(?!a)"]),
    "format": st.sampled_from(["date", "email", "uri", "no-such-format"]),
}


def of_keywords(table: dict[str, st.SearchStrategy[Any]], *, least: int) -> Any:
    keywords = st.lists(st.sampled_from(sorted(table)), min_size=least, max_size=4, unique=True)
    return keywords.flatmap(lambda chosen: st.fixed_dictionaries({k: table[k] for k in chosen}))


def schemas(depth: int) -> Any:
    leaf = st.booleans() | of_keywords(LEAF, least=0)
    if not depth:
        return leaf
    inner = leaf | schemas(depth - 1)
    several = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    table: dict[str, st.SearchStrategy[Any]] = {
        "type": LEAF["type"],
        "properties": by_name,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=1),
        "additionalProperties": inner,
        "unevaluatedProperties": inner,
        "unevaluatedItems": st.booleans(),
        "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
        **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), several),
        **dict.fromkeys(("not", "if", "then", "else", "items", "contains"), inner),
        "minContains": small,
        "maxContains": small,
        "dependentSchemas": by_name,
        "dependentRequired": st.just({"a": ["b"]}),
        "propertyNames": st.sampled_from([{"maxLength": 1}, {"pattern": "^a"}, False]),
        "$ref": st.sampled_from(["#/$defs/A", "#/$defs/B"]),
    }
    return of_keywords(table, least=1)


@st.composite
def tools(draw: Any) -> dict[str, Any]:
    inner = schemas(1)
    return {**draw(schemas(2)), "type": "object", "$defs": {"A": draw(inner), "B": draw(inner)}}


def alone(check: Checker) -> Engine:
    """The engine of a checker as it is on a machine without jsonschema-rs."""
    made = check.compile()
    slow = copy.copy(made)
    slow._fast = None
    slow.fits = slow._fits
    return slow


def words(findings: Any) -> list[str]:
    return sorted(finding.text for finding in findings)


def usable(schema: dict[str, Any]) -> Checker:
    check = Checker(schema, "tool")
    check.compile()
    return check


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(tools(), st.lists(arguments, min_size=2, max_size=4))
@example(
    {"anyOf": [{"properties": {"a": {"type": "null"}}}, {}], "unevaluatedProperties": False},
    [{"a": 1}],
)
def test_both_engines_and_plain_jsonschema_agree(schema, cases):
    try:
        check = usable(schema)
    except ToolDefinitionError as error:
        assume("leads back to itself" in str(error))
        return
    slow = alone(check)
    formats = FormatChecker(())
    for name, is_valid in slow._formats.items():
        formats.checks(name)(lambda value, f=is_valid: not isinstance(value, str) or f(value))
    reference = Draft202012Validator(check._schema, format_checker=formats)
    as_written = Draft202012Validator(schema, format_checker=formats)
    said = json.dumps(schema)
    for args in cases:
        valid = check.is_valid(args)
        findings = check.violations(args)
        assert slow.fits(args) is valid
        # What counts as evaluated by a schema that fails, the two see differently.
        if not valid and '"unevaluated' not in said:
            assert words(slow.findings(args)) == words(findings)
        assert bool(findings) is not valid
        assert findings == check.violations(args)
        assert all(finding.text != "the arguments do not fit the schema" for finding in findings)
        # jsonschema divides floats where JSON has decimals.
        if '"multipleOf"' not in said:
            assert reference.is_valid(args) is valid
            # Closing makes nothing fit that did not fit; an alternative of `oneOf` may drop out.
            if valid and '"oneOf"' not in said and '"maxContains"' not in said:
                assert as_written.is_valid(args)


BOOKING = {
    "$defs": {
        "Person": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "maxLength": 20},
                "age": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
            },
            "required": ["name"],
            "additionalProperties": False,
        }
    },
    "type": "object",
    "properties": {
        "people": {"type": "array", "items": {"$ref": "#/$defs/Person"}, "maxItems": 3},
        "cabin": {"enum": ["economy", "business"]},
        "day": {"type": "string", "format": "date"},
        "ip": {"type": "string", "format": "ipv4"},
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    },
    "required": ["cabin"],
    "additionalProperties": False,
}


people = st.fixed_dictionaries(
    {"name": st.text(min_size=1, max_size=20)},
    optional={"age": st.none() | st.integers(min_value=0) | st.integers(0, 99).map(float)},
)
bookings = st.fixed_dictionaries(
    {"cabin": st.sampled_from(["economy", "business"])},
    optional={
        "people": st.lists(people, max_size=3),
        "day": st.dates().map(str),
        "ip": st.ip_addresses(v=4).map(str),
        "code": st.text("ABCXYZ", min_size=3, max_size=3),
    },
)


@settings(max_examples=60)
@given(bookings, arguments)
def test_what_is_made_to_fit_fits(good, other):
    check = Checker(BOOKING, "book")
    slow = alone(check)
    assert check.violations(good) == ()
    assert slow.fits(good)
    assert slow.fits(good | other) is check.is_valid(good | other)


@pytest.fixture
def without_rust(monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    from selfcorrect.schema.patterns import compiled

    compiled.cache_clear()
    yield
    compiled.cache_clear()


@pytest.mark.usefixtures("without_rust")
class TestWithoutJsonschemaRs:
    def test_jsonschema_serves_alone(self):
        check = Checker(BOOKING, "book")
        assert check.is_valid({"cabin": "economy", "code": "LHR", "day": "2024-01-01"})
        found = check.violations({"cabin": "x", "code": "LHR\n", "day": "2024-99-99", "z": 1})
        assert [finding.code for finding in found] == [
            "enum",
            "format",
            "pattern",
            "additionalProperties",
        ]

    def test_re2_reads_the_patterns(self):
        pytest.importorskip("re2")
        check = Checker({"properties": {"a": {"pattern": r"^\u0041(a+)+$"}}}, "t")
        assert check.is_valid({"a": "Aa"})
        assert not check.is_valid({"a": "A" + "a" * 50 + "!"})

    def test_what_is_no_pattern_is_refused(self):
        with pytest.raises(ToolDefinitionError, match="is not a regular expression"):
            Checker({"properties": {"a": {"pattern": "("}}}, "t").compile()

    def test_what_it_cannot_read_is_left_to_the_host(self):
        check = Checker({"properties": {"a": {"pattern": "^(?!a)", "maxLength": 3}}}, "t")
        assert check.is_valid({"a": "abc"})
        assert not check.is_valid({"a": "abcd"})

    @pytest.mark.parametrize("pattern", ["^(a+)+$", r"^(a|a)*\1$", "^(?:a(?=.?)|a)+c$"])
    def test_no_pattern_reaches_the_engine_of_python(self, pattern, monkeypatch):
        monkeypatch.setitem(sys.modules, "re2", None)
        check = Checker({"properties": {"a": {"pattern": pattern}}}, "t")
        assert check.is_valid({"a": "a" * 100 + "!"})
        assert check.violations({"a": "a" * 100 + "!"}) == ()

    def test_a_bad_schema_is_refused(self):
        with pytest.raises(ToolDefinitionError, match="not JSON Schema 2020-12"):
            Checker({"properties": {"a": {"type": "nope"}}}, "t").compile()

    def test_too_deep_for_the_stack_is_not_valid(self):
        tree = {"properties": {"t": {"$ref": "#"}}}
        args: dict[str, Any] = {}
        for _ in range(90):
            args = {"t": args}
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(300)
        try:
            check = Checker(tree, "t")
            assert not check.is_valid(args)
            assert "nested too deeply" in check.violations(args)[0].text
        finally:
            sys.setrecursionlimit(limit)
