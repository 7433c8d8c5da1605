"""Which changes run unasked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect.model import ABSENT, Change, Safety
from selfcorrect.policies import SafetyPolicy
from selfcorrect.policies.marks import marked_field
from selfcorrect.protocols import Effect
from selfcorrect.schema.subschema import at
from selfcorrect.tools import ToolSpec

SCHEMA = {
    "type": "object",
    "properties": {
        "amount": {"type": "number"},
        "size": {"type": "integer"},
        "to": {"$ref": "#/$defs/account"},
        "many": {"type": "array", "items": {"$ref": "#/$defs/account"}},
    },
    "$defs": {
        "account": {
            "type": "object",
            "properties": {"iban": {"type": "string", "x-sensitive": True}},
        }
    },
}


def spec(name: str, effect: Effect) -> ToolSpec:
    return ToolSpec.from_schema(
        {"name": name, "description": "", "parameters": SCHEMA}, effect=effect
    )


TOOLS = {
    name: spec(name, effect)
    for name, effect in (
        ("find", "read_only"),
        ("pay", "mutating"),
        ("wipe", "destructive"),
    )
}


def refused(
    change: Change, tool: str, policy: SafetyPolicy | None = None, allow: Iterable[Safety] = ()
) -> bool:
    policy = policy or SafetyPolicy()
    return bool(policy.refusals([change], TOOLS, TOOLS[tool], allow))


def size(safety: Safety) -> Change:
    return Change("/args/size", "12", 12, safety, "test")


@pytest.mark.parametrize("tool", ["find", "pay", "wipe"])
@pytest.mark.parametrize("safety", [Safety.EXACT, Safety.INFERRED, Safety.HUMAN])
def test_runs_unasked(safety: Safety, tool: str) -> None:
    assert not refused(size(safety), tool)


@pytest.mark.parametrize(
    ("tool", "rule_allows", "is_refused"),
    [("find", False, True), ("find", True, False), ("pay", True, True), ("wipe", True, True)],
)
def test_lossy_needs_a_rule_and_a_read_only_tool(
    tool: str, rule_allows: bool, is_refused: bool
) -> None:
    allow = [Safety.LOSSY] if rule_allows else []
    assert refused(size(Safety.LOSSY), tool, allow=allow) is is_refused


def test_a_model_may_change_what_policy_allows_but_no_destructive_call() -> None:
    with_model = SafetyPolicy(SafetyPolicy().allow | {Safety.MODEL})
    assert refused(size(Safety.MODEL), "find")
    assert not refused(size(Safety.MODEL), "pay", with_model)
    assert refused(size(Safety.MODEL), "wipe", with_model)


def test_strict_runs_exact_changes_only() -> None:
    strict = SafetyPolicy(frozenset({Safety.EXACT}))
    assert not refused(size(Safety.EXACT), "find", strict)
    assert refused(size(Safety.INFERRED), "find", strict)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("/args/amount", "12,5", 12.5),
        ("/args/to/iban", "DE1", "DE2"),
        ("/args/to", {"iban": "DE1"}, {"iban": "DE2"}),
        ("/args/many/0/iban", "DE1", "DE2"),
        ("/args", {"amount": 1}, {"amount": 2}),
        ("/args/amount", ABSENT, 5),
    ],
)
def test_a_sensitive_value_changes_with_a_person_only(
    path: str, before: object, after: object
) -> None:
    policy = SafetyPolicy(sensitive=("amou*",))
    for safety in (Safety.INFERRED, Safety.LOSSY, Safety.MODEL):
        assert refused(Change(path, before, after, safety, "test"), "find", policy, [safety])
    assert not refused(Change(path, before, after, Safety.HUMAN, "test"), "find", policy)
    # Another spelling of a value is no other value; one that nobody gave, as a default, is.
    exact = Change(path, before, after, Safety.EXACT, "test")
    assert bool(refused(exact, "find", policy)) == (before is ABSENT)


@pytest.mark.parametrize(
    ("before", "after", "is_refused"),
    [("fnid", "find", False), ("wype", "wipe", True), ("fnid", "nope", True)],
)
def test_a_call_is_never_renamed_onto_a_destructive_tool(
    before: str, after: str, is_refused: bool
) -> None:
    for safety in (Safety.EXACT, Safety.INFERRED):
        change = Change("/name", before, after, safety, "test")
        policy = SafetyPolicy()
        assert bool(policy.refusals([change], TOOLS, TOOLS.get(after))) is is_refused


PLAIN: Mapping[str, Any] = {"type": "string"}
MARKED: Mapping[str, Any] = {"type": "string", "x-sensitive": True}


def of_card(schema: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"properties": {"card": schema}, **more}


@pytest.mark.parametrize(
    "schema",
    [
        of_card({"$ref": "#/$defs/n", "x-sensitive": True}, **{"$defs": {"n": PLAIN}}),
        {"anyOf": [of_card(PLAIN), of_card(MARKED)]},
        {"anyOf": [{"allOf": [{"oneOf": [{"anyOf": [of_card(MARKED)]}]}]}]},
        {"if": {"properties": {"by": {"const": "card"}}}, "then": of_card(MARKED)},
        {"dependentSchemas": {"by": of_card(MARKED)}},
        {"$ref": "#/$defs/pay", "$defs": {"pay": of_card(MARKED)}},
        {"$ref": "#/allOf/0", "allOf": [of_card(MARKED)]},
        {"$ref": "#/$defs/a%20b", "$defs": {"a b": of_card(MARKED)}},
        {**of_card(PLAIN), "patternProperties": {"^c": MARKED}},
        {"unevaluatedProperties": MARKED},
        of_card({"$ref": "#number"}, **{"$defs": {"n": {"$anchor": "number", **MARKED}}}),
        of_card({"$ref": "https://example.org/number"}),
        {**of_card(PLAIN), "x-sensitive": True},
    ],
)
def test_a_mark_is_found_in_every_form_of_schema(schema: Any) -> None:
    assert marked_field(schema, ["card"]) is not None


def test_a_schema_that_refers_to_itself_marks_nothing_by_that() -> None:
    tree: dict[str, Any] = of_card(PLAIN, additionalProperties={"$ref": "#"})
    assert marked_field(tree, ["a", "b", "card"]) is None
    assert marked_field(of_card(MARKED, additionalProperties={"$ref": "#"}), ["a"]) == "a"


def a_schema() -> st.SearchStrategy[Any]:
    leaf = st.sampled_from([PLAIN, MARKED, {"type": "integer"}, {"$ref": "#/$defs/d"}, True])

    def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        several = st.lists(inner, min_size=1, max_size=3)
        named = st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        parts = {"properties": named, "items": inner, "additionalProperties": inner}
        branches = {"anyOf": several, "oneOf": several, "allOf": several, "prefixItems": several}
        mark = {"x-sensitive": st.booleans(), "$ref": st.just("#/$defs/d")}
        return st.fixed_dictionaries({}, optional={**parts, **branches, **mark})

    return st.recursive(leaf, grown, max_leaves=8)


@given(a_schema(), a_schema(), st.lists(st.sampled_from(["a", "b", "0", "1"]), max_size=3))
def test_what_mending_sees_marked_is_marked(top: Any, shared: Any, tokens: list[str]) -> None:
    """`subschema.at` reads the place for repairs: it must never know of a mark that is not kept."""
    schema = {**(top if isinstance(top, Mapping) else {}), "$defs": {"d": shared}}
    seen = [at(schema, tokens[:length]) or () for length in range(len(tokens) + 1)]
    if any(one.get("x-sensitive") for alternatives in seen for one in alternatives):
        assert marked_field(schema, tokens) is not None
