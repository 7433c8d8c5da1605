"""Bounds, and the one place that compares with them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from selfcorrect import Change, ErrorRule, Limits, StrategyMap, ToolSpec, build_graph
from selfcorrect.limits import spent
from selfcorrect.model import Changed
from selfcorrect.schema import Checker


@pytest.mark.parametrize(
    ("counts", "what", "key", "is_spent"),
    [
        ({}, "attempts", None, False),
        ({"attempts": 2}, "attempts", None, False),
        ({"attempts": 3}, "attempts", None, True),
        ({"attempts": 3, "allowed_attempts": 5}, "attempts", None, False),
        ({"attempts": 10, "allowed_attempts": 99}, "attempts", None, True),
        ({"model_calls": 4}, "model_calls", None, True),
        ({"tokens": 10**9}, "tokens", None, False),
        ({"seconds": 300.5}, "seconds", None, True),
        ({}, "per_kind", "auth", True),
        ({}, "per_kind", "timeout", False),
        ({"per_strategy": {"clamp": 1}}, "per_strategy", "clamp", True),
    ],
)
def test_spent(counts: dict[str, object], what: str, key: str | None, is_spent: bool) -> None:
    limits = Limits.model_validate({"per_kind": {"auth": 0}, "per_strategy": {"clamp": 1}})
    assert bool(spent(counts, limits, what, key)) is is_spent


def test_a_map_raises_bounds_up_to_the_ceiling_that_code_set() -> None:
    code = Limits(ceiling=6)
    assert code.merged({"attempts": 5}).attempts == 5
    assert code.merged({"attempts": 50, "ceiling": 99}).attempts == 6
    assert code.merged({"ceiling": 99}).ceiling == 6


def test_groups_are_merged_key_by_key() -> None:
    limits = Limits.model_validate({"per_kind": {"auth": 0, "timeout": 1}})
    merged = limits.merged({"per_kind": {"timeout": 4}})
    assert {kind.value: bound for kind, bound in merged.per_kind.items()} == {
        "auth": 0,
        "timeout": 4,
    }


@pytest.mark.parametrize(
    "bad", [{"attempts": 0}, {"wait": -1}, {"atempts": 3}, {"per_kind": {"nope": 1}}]
)
def test_unusable_bounds_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate(bad)


INT = {"type": "integer"}


def _tool(properties: dict[str, Any], ran: list[Any]) -> ToolSpec:
    parameters = {"type": "object", "properties": properties}
    schema = {"name": "put", "parameters": parameters}
    return ToolSpec.from_schema(schema, call=lambda **args: ran.append(args), effect="read_only")


def _played(args: Any, bounds: dict[str, Any], properties: dict[str, Any] | None = None) -> Any:
    """What a run comes to whose bounds a map sets, and what was executed."""
    ran: list[Any] = []
    strategies = StrategyMap(extends=["default"], limits=bounds)
    call = {"name": "put", "args": args} if isinstance(args, dict) else args
    graph = build_graph([_tool(properties or {"ids": {"items": INT}}, ran)], strategies=strategies)
    return graph.invoke({"call": call} if isinstance(call, dict) else {"raw": call}), ran


@pytest.mark.parametrize("what", ["findings", "strategy_calls"])
@pytest.mark.parametrize("wrong", [1, 8, 9, 300])
def test_a_round_takes_up_so_much_and_no_more(what: str, wrong: int) -> None:
    # The strategies of a ladder that are sets of edges are asked together, once about each.
    out, ran = _played({"ids": [str(n) for n in range(wrong)]}, {what: 8})
    if wrong <= 8:
        assert ran == [{"ids": list(range(wrong))}]
        return
    assert ran == []
    assert out["failure"]["reason"] == "limit_reached"
    assert "of at most 8 " in out["failure"]["detail"]
    assert out["failure"]["detail"].endswith("in one repair round")


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 3_000), st.sampled_from(["a", "é", "😀", '"', "\n"]), st.booleans())
def test_arguments_have_a_size(length: int, char: str, deep: bool) -> None:
    text = char * length
    args: dict[str, Any] = {"to": "ann", "body": [{"x": text}] if deep else text}
    size = len(json.dumps(args, ensure_ascii=False, separators=(",", ":")).encode())
    out, ran = _played(args, {"argument_bytes": 2_000}, {"to": {}, "body": {}})
    assert (ran == [args]) is (size <= 2_000)
    if not ran:
        failure = out["failure"]
        assert failure["reason"] == "invalid_input"
        for told in ("/args/body", f"{size:,}", "2,000", "by reference", "argument_bytes"):
            assert told in failure["detail"]


@pytest.mark.parametrize(
    "given_",
    [
        '{"name": "put", "args": {"ids": [' + "1, " * 2_000 + "1]}}",
        {"name": "put", "arguments": '{"ids": [' + "1, " * 2_000 + "1]}"},
        {"name": "no_such_tool", "args": {"ids": [1] * 2_000}},
        {"name": "put", "args": {"unknown": "x" * 3_000}},
        "words " * 1_000,
    ],
)
def test_what_is_too_large_is_not_even_read(given_: Any) -> None:
    ran: list[Any] = []
    graph = build_graph([_tool({"ids": {}}, ran)], limits=Limits(argument_bytes=2_000))
    out = graph.invoke({"raw": given_} if isinstance(given_, str) else {"call": given_})
    assert (out["failure"]["reason"], ran) == ("invalid_input", [])
    assert "argument_bytes" in out["failure"]["detail"]
    assert len(json.dumps(out["failure"])) < 5_000


def test_a_mend_does_not_make_arguments_too_large() -> None:
    def grow(call: Any, diagnosis: Any, context: Any) -> Changed:
        before = call.args["ids"]
        return Changed((Change("/args/ids", before, ["x" * 3_000], "exact", "grown"),))

    ran: list[Any] = []
    rule = ErrorRule(id="grow", error="InvalidArgs", repair=(grow,))
    graph = build_graph(
        [_tool({"ids": {"type": "array"}}, ran)],
        strategies=StrategyMap([rule]),
        limits=Limits(argument_bytes=2_000),
    )
    out = graph.invoke({"call": {"name": "put", "args": {"ids": "a"}}})
    assert (out["failure"]["reason"], ran) == ("invalid_input", [])


def test_one_megabyte_by_default() -> None:
    assert Limits().argument_bytes == 1 << 20


@pytest.mark.parametrize("wrong", [10, 3_000, 40_000])
def test_reports_are_bounded(wrong: int) -> None:
    out, _ = _played({"ids": ["x" * 5] * wrong}, {})
    failure = out["failure"]
    assert len(failure["findings"]) <= 200
    rest = {key: item for key, item in failure.items() if key not in ("call", "original")}
    assert len(json.dumps(rest)) < 500_000


def test_a_report_says_what_it_leaves_out() -> None:
    out, _ = _played({"ids": [*map(str, range(1_000)), "x"]}, {"rounds": 2})
    failure = out["failure"]
    assert len(failure["changes"]) == 200
    assert failure["counts"]["left_out"]["changes"] > 0


def test_long_texts_in_a_report_are_cut() -> None:
    def act() -> None:
        """Act."""
        raise ValueError("x" * 1_000_000)

    graph = build_graph([ToolSpec.from_function(act, effect="read_only")])
    assert len(json.dumps(graph.invoke({"call": {"name": "act"}})["failure"])) < 50_000


def test_what_is_wrong_with_a_call_is_looked_for_once_for_all_its_findings(monkeypatch):
    looked = []
    for way in ("violations", "is_valid"):
        check = getattr(Checker, way)
        monkeypatch.setattr(
            Checker,
            way,
            lambda self, args, check=check: looked.append(args) or check(self, args),
        )
    lines = {"lines": {"type": "array", "items": {"type": "boolean"}}}
    spec = ToolSpec.from_schema({"name": "mark", "parameters": {"properties": lines}})
    out = build_graph([spec]).invoke({"call": {"name": "mark", "args": {"lines": [{"a": 1}] * 80}}})
    assert out["failure"]["reason"] == "needs_person"
    assert len(looked) < 20


@pytest.mark.parametrize("wrong", [1_601, 4_000])
def test_a_long_list_is_mended_within_the_rounds_of_one_attempt(wrong: int) -> None:
    out, ran = _played({"ids": [str(number) for number in range(wrong)]}, {})
    assert ran == [{"ids": list(range(wrong))}]
    assert len(out["trail"]) < 40
