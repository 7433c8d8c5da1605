"""Bounds, and the one place that compares with them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from selfcorrect import Change, ErrorRule, Limits, StrategyMap, ToolSpec, build_graph, repair_call
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


MANY = {
    "numbers as texts": lambda size: {"ids": [str(number) for number in range(size)]},
    "items that nothing mends": lambda size: {"ids": ["lots"] * size},
    "every other one is mended": lambda size: {"ids": [("1", "lots")[n % 2] for n in range(size)]},
    "unknown keys": lambda size: {"ids": [], **{f"extra{n}": "x" for n in range(size)}},
    "unknown keys that say nothing": lambda size: {f"extra{n}": None for n in range(size)},
}


def _calls_in(size: int, args: Callable[[int], Any]) -> int:
    """How many functions a mend of that many faults calls."""
    count = 0

    def seen(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += 1

    given = {"name": "put", "args": args(size)}
    old = sys.getprofile()
    sys.setprofile(seen)
    try:
        repair_call(given, [_tool({"ids": {"items": INT}}, [])])
    finally:
        sys.setprofile(old)
    return count


@pytest.mark.parametrize("args", MANY.values(), ids=MANY.keys())
def test_the_work_grows_no_faster_than_the_faults(args: Callable[[int], Any]) -> None:
    _calls_in(10, args)  # what is loaded once is no work of a fault
    assert _calls_in(800, args) < 5 * _calls_in(200, args)


@pytest.mark.parametrize("args", MANY.values(), ids=MANY.keys())
@pytest.mark.parametrize("wrong", [6_000, 20_000])
def test_of_too_many_faults_none_is_mended(wrong: int, args: Callable[[int], Any]) -> None:
    given = args(wrong)
    out, ran = _played(given, {})
    failure = out["failure"]
    assert (failure["reason"], ran, failure["changes"], failure["tried"]) == (
        "limit_reached",
        [],
        [],
        [],
    )
    assert failure["detail"].startswith(f"at least {wrong:,} of at most 5,000 findings")
    assert failure["call"]["args"] == given


def test_a_value_that_is_wrong_in_two_ways_is_counted_once() -> None:
    ids = {"ids": {"items": {"type": "integer", "enum": [1, 2]}}}
    _, ran = _played({"ids": ["1"] * 300}, {"findings": 300}, ids)
    assert ran == [{"ids": [1] * 300}]


def test_faults_behind_a_reference_are_counted_too() -> None:
    ids = {"type": "object", "properties": {"ids": {"items": INT}}}
    parameters = {"$defs": {"Ids": ids}, "properties": {"all": {"$ref": "#/$defs/Ids"}}}
    tool = ToolSpec.from_schema({"name": "put", "parameters": parameters})
    call = {"name": "put", "args": {"all": {"ids": ["1"] * 9_000}}}
    mended = repair_call(call, [tool])
    assert mended.reason == "limit_reached"
    assert "9,000 of at most 5,000" in str(mended.detail)


def test_what_was_refused_by_the_tool_is_told_before_the_number_of_its_findings() -> None:
    def put(ids: list[int]) -> None:
        """Put."""
        wrong = [{"loc": ["ids", n], "msg": "is wrong"} for n in range(len(ids))]
        raise ValueError(json.dumps({"detail": wrong}))

    for effect, reason in (("mutating", "refused"), ("read_only", "limit_reached")):
        tool = ToolSpec.from_function(put, effect=effect)
        graph = build_graph([tool], limits=Limits(findings=8))
        out = graph.invoke({"call": {"name": "put", "args": {"ids": [7] * 9}}})
        assert out["failure"]["reason"] == reason
