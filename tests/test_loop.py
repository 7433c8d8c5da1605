"""The loop: bounds, honesty and sameness, for every map and every stream of errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selfcorrect import (
    ABSENT,
    Ask,
    Change,
    Changed,
    Diagnosis,
    ErrorRule,
    Escalate,
    GiveUp,
    Result,
    Retry,
    Safety,
    StrategyMap,
    Terminal,
    ToolSpec,
    Wait,
    build_graph,
)
from selfcorrect.limits import Limits
from selfcorrect.loop.graph import compile_loop
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import awalk, walk
from selfcorrect.report import REASONS
from selfcorrect.testing import VirtualTime

SCHEMA = {
    "name": "act",
    "description": "Acts.",
    "parameters": {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "string", "enum": ["x", "y"]},
            "c": {"type": "number", "maximum": 9},
        },
        "required": ["a"],
    },
}

ERRORS: dict[str, Callable[[], BaseException]] = {
    "reset": lambda: ConnectionResetError("connection reset by peer"),
    "timeout": lambda: TimeoutError("timed out"),
    "value": lambda: ValueError("b: not good"),
    "lookup": lambda: LookupError("no such thing"),
    "denied": lambda: PermissionError("denied"),
    "bug": lambda: AssertionError("boom"),
}


def spoil(call: Any, diagnosis: Diagnosis, context: Any) -> Any:
    before = call.args.get("a", ABSENT)
    return Changed(Change("/args/a", before, "still wrong", Safety.EXACT, "spoil"))


def grow(call: Any, diagnosis: Diagnosis, context: Any) -> Any:
    before = call.args.get("a", ABSENT)
    after = before + 1 if isinstance(before, int) else 0
    return Changed(Change("/args/a", before, after, Safety.INFERRED, "grow"))


def lossy(call: Any, diagnosis: Diagnosis, context: Any) -> Any:
    return Changed(Change("/args/a", call.args.get("a", ABSENT), 5, Safety.LOSSY, "lossy"))


def explode(call: Any, diagnosis: Diagnosis, context: Any) -> Any:
    raise RuntimeError("a strategy with a bug")


def nonsense(call: Any, diagnosis: Diagnosis, context: Any) -> Any:
    return {"not": "a repair"}


STRATEGIES: dict[str, Any] = {
    "spoil": spoil,
    "grow": grow,
    "lossy": lossy,
    "explode": explode,
    "nonsense": nonsense,
    "pass-on": lambda call, diagnosis, context: GiveUp("no"),
    "wait-little": lambda call, diagnosis, context: Wait(0.5),
    "wait-long": lambda call, diagnosis, context: Wait(10_000),
    "again": lambda call, diagnosis, context: Retry(5),
    "answer": lambda call, diagnosis, context: Result({"answered": True}),
    "stop-here": lambda call, diagnosis, context: Terminal("no more"),
    "shout": lambda call, diagnosis, context: Escalate("help"),
    "wonder": lambda call, diagnosis, context: Ask("which?", (1, 2)),
}

CONDITIONS: list[dict[str, Any]] = [
    {"error": "InvalidArgs"},
    {"error": "UnknownTool"},
    {"error": "MalformedCall"},
    {"error": "ConnectionError", "kind": "transient"},
    {"error": "TimeoutError", "kind": "timeout"},
    {"error": "ValueError", "kind": "validation"},
    {"error": "LookupError", "kind": "not_found"},
    {"match": "(?i)b(?P<hint>o+)m", "kind": "internal"},
    {"match": "."},
]


@st.composite
def rules(draw: st.DrawFn) -> list[ErrorRule]:
    conditions = draw(st.lists(st.sampled_from(CONDITIONS), max_size=6))
    ladders = st.lists(st.sampled_from(sorted(STRATEGIES)), min_size=1, max_size=4, unique=True)
    return [
        ErrorRule(
            id=f"r{index}",
            repair=draw(ladders),
            retryable=draw(st.sampled_from([None, True, False])),
            allow=draw(st.sampled_from([[], ["lossy"]])),
            **condition,
        )
        for index, condition in enumerate(conditions)
    ]


CALLS = st.one_of(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["act", "atc", "other"])},
        optional={
            "args": st.dictionaries(
                st.sampled_from(["a", "b", "c", "d"]),
                st.sampled_from([1, "1", "x", "z", 99, None, [1]]),
            )
        },
    ).map(lambda call: {"call": call}),
    st.sampled_from([{"raw": "act(a=1"}, {"raw": '{"name": "act", "args": {"a": 1}}'}]),
)


def flaky(stream: list[str | None]) -> Callable[..., Any]:
    errors: Iterator[str | None] = iter(stream)

    def act(**args: Any) -> Any:
        name = next(errors, None)
        if name is not None:
            error = ERRORS[name]()
            raise error
        return {"done": args}

    return act


def loop_of(
    stream: list[str | None],
    effect: Any,
    map_: StrategyMap,
    limits: Mapping[str, Any] | None = None,
) -> Loop:
    tool = ToolSpec.from_schema(SCHEMA, call=flaky(stream), effect=effect)
    return assemble([tool], Options(strategies=map_, limits=limits, time=VirtualTime()))


def plain_map(*chosen: ErrorRule) -> StrategyMap:
    return StrategyMap(rules=list(chosen), extends=[], use=STRATEGIES)


STREAMS = st.lists(st.sampled_from([None, *ERRORS]), max_size=14)
EFFECTS = st.sampled_from(["read_only", "idempotent", "mutating", "destructive"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rules(), STREAMS, EFFECTS, CALLS)
def test_every_run_ends_within_its_bounds(
    chosen: list[ErrorRule], stream: list[str | None], effect: str, given_: dict[str, Any]
) -> None:
    limits = Limits()
    out = walk(loop_of(stream, effect, plain_map(*chosen)), given_)
    assert ("result" in out) != ("failure" in out)
    executions = [
        event for event in out["trail"] if event["node"] == "execute" and "attempt" in event
    ]
    assert len(executions) <= limits.ceiling
    assert out["trail"][-1]["next"] == "__end__"
    waits = sum(event.get("wait", 0) for event in out["trail"] if event["node"] == "retry")
    assert limits.seconds is not None
    assert waits <= limits.seconds
    if failure := out.get("failure"):
        assert failure["reason"] in REASONS
        assert failure["detail"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rules(), STREAMS, EFFECTS, CALLS)
def test_graph_and_walker_give_the_same_trail(
    chosen: list[ErrorRule], stream: list[str | None], effect: str, given_: dict[str, Any]
) -> None:
    map_ = plain_map(*chosen)
    walked = walk(loop_of(stream, effect, map_), given_)
    ran = compile_loop(loop_of(stream, effect, map_)).invoke(given_, {"recursion_limit": 10_000})
    assert ran == walked


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rules(), STREAMS, EFFECTS, CALLS, st.integers(3, 25))
def test_the_report_comes_before_the_recursion_limit(
    chosen: list[ErrorRule],
    stream: list[str | None],
    effect: str,
    given_: dict[str, Any],
    limit: int,
) -> None:
    graph = compile_loop(loop_of(stream, effect, plain_map(*chosen)))
    out = graph.invoke(given_, {"recursion_limit": limit})
    assert ("result" in out) != ("failure" in out)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rules(), STREAMS, st.sampled_from(["mutating", "destructive"]))
def test_what_may_have_happened_is_not_done_twice(
    chosen: list[ErrorRule], stream: list[str | None], effect: str
) -> None:
    out = walk(
        loop_of(stream, effect, plain_map(*chosen)), {"call": {"name": "act", "args": {"a": 1}}}
    )
    executed = [
        event for event in out["trail"] if event["node"] == "execute" and "attempt" in event
    ]
    open_outcomes = {"reset", "timeout", "bug"}
    for index, _ in enumerate(executed[:-1]):
        assert stream[index] not in open_outcomes


def test_async_and_sync_give_the_same_trail() -> None:
    map_ = plain_map(ErrorRule(id="wait", error="ConnectionError", repair=["wait-little"]))
    given_ = {"call": {"name": "act", "args": {"a": 1}}}
    loop = loop_of(["reset", None], "read_only", map_)
    sync = walk(loop, given_)
    other = loop_of(["reset", None], "read_only", map_)
    assert asyncio.run(awalk(other, given_)) == sync
    third = loop_of(["reset", None], "read_only", map_)
    assert asyncio.run(compile_loop(third).ainvoke(given_)) == sync


def test_an_async_tool_in_a_sync_run_is_a_clear_error() -> None:
    async def act(a: int) -> int:
        """Act."""
        return a

    graph = build_graph([act])
    with pytest.raises(Exception, match="ainvoke"):
        graph.invoke({"call": {"name": "act", "args": {"a": 1}}})
    assert asyncio.run(graph.ainvoke({"call": {"name": "act", "args": {"a": 1}}}))["result"] == 1


def test_an_async_strategy_in_a_sync_run_may_not_wait() -> None:
    async def slow(call: Any, diagnosis: Any, context: Any) -> Any:
        await asyncio.sleep(0)
        return GiveUp("late")

    map_ = StrategyMap(
        rules=[ErrorRule(id="r", error="InvalidArgs", repair=["slow"])],
        extends=[],
        use={"slow": slow},
    )
    graph = compile_loop(loop_of([], "read_only", map_))
    with pytest.raises(Exception, match="ainvoke"):
        graph.invoke({"call": {"name": "act", "args": {}}})
    assert asyncio.run(graph.ainvoke({"call": {"name": "act", "args": {}}}))["failure"]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_not_an_exception_passes_through(raised: type[BaseException]) -> None:
    def act(a: int) -> int:
        """Act."""
        raise raised("out")

    graph = build_graph([act])
    with pytest.raises(raised):
        graph.invoke({"call": {"name": "act", "args": {"a": 1}}})


@pytest.mark.parametrize(
    "error",
    [
        ValueError("v"),
        KeyError("k"),
        TypeError("t"),
        OSError("o"),
        RecursionError("deep"),
        MemoryError(),
        StopIteration(3),
        ExceptionGroup("g", [ValueError("inner")]),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        AssertionError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_exception_becomes_a_report(error: Exception) -> None:
    def act(a: int) -> int:
        """Act."""
        raise error

    out = build_graph([act]).invoke({"call": {"name": "act", "args": {"a": 1}}})
    failure = out["failure"]
    assert failure["reason"] in REASONS
    assert failure["counts"]["attempts"] == 1
    assert type(error).__name__ in str(failure["findings"])


def test_the_original_exception_is_raised_where_nobody_acted_on_it() -> None:
    boom = KeyError("boom")

    def look(a: int) -> int:
        """Look."""
        raise boom

    graph = build_graph([ToolSpec.from_function(look, effect="read_only")], on_failure="raise")
    with pytest.raises(KeyError) as caught:
        graph.invoke({"call": {"name": "look", "args": {"a": 1}}})
    assert caught.value is boom


def test_a_changed_value_is_what_runs() -> None:
    map_ = plain_map(ErrorRule(id="r", error="ValueError", repair=["grow"], kind="validation"))
    out = walk(
        loop_of(["value", "value"], "idempotent", map_), {"call": {"name": "act", "args": {"a": 1}}}
    )
    assert out["result"] == {"done": {"a": 3}}


def test_the_same_failing_call_runs_once() -> None:
    def swap(call: Any, diagnosis: Diagnosis, context: Any) -> Any:
        before = call.args["a"]
        return Changed(Change("/args/a", before, 3 - before, Safety.INFERRED, "swap"))

    rule = ErrorRule(id="r", error="ValueError", repair=["swap"], kind="validation")
    map_ = StrategyMap([rule], use={"swap": swap})
    given_ = {"call": {"name": "act", "args": {"a": 1}}}
    out = walk(loop_of(["value"] * 9, "read_only", map_), given_)
    assert out["failure"]["reason"] == "repeated_failure"
    assert out["failure"]["counts"]["attempts"] == 2


def test_waiting_does_not_help_against_a_kind_that_repeating_does_not() -> None:
    map_ = plain_map(ErrorRule(id="r", error="ValueError", repair=["wait-little"]))
    given_ = {"call": {"name": "act", "args": {"a": 1}}}
    out = walk(loop_of(["value"] * 9, "read_only", map_), given_)
    assert out["failure"]["reason"] == "no_strategy"
    assert out["failure"]["counts"]["attempts"] == 1


def test_an_explicit_retry_raises_the_attempts_up_to_the_ceiling() -> None:
    map_ = plain_map(ErrorRule(id="r", error="ValueError", repair=["again"]))
    given_ = {"call": {"name": "act", "args": {"a": 1}}}
    out = walk(loop_of(["value"] * 20, "read_only", map_), given_)
    assert out["failure"]["counts"]["attempts"] == 6
    capped = walk(loop_of(["value"] * 20, "read_only", map_, {"ceiling": 4}), given_)
    assert capped["failure"]["counts"]["attempts"] == 4


def test_a_node_on_an_edge_sees_every_retry_and_its_change_is_written_down() -> None:
    seen = []

    def approve(state: Mapping[str, Any], context: Any) -> Mapping[str, Any]:
        seen.append(state["current"]["args"])
        return {"current": {**state["current"], "args": {"a": 42}}}

    map_ = plain_map(ErrorRule(id="r", error="InvalidArgs", repair=["grow"]))
    tool = ToolSpec.from_schema(SCHEMA, call=flaky([]), effect="read_only")
    graph = build_graph([tool], strategies=map_, on_edge={("validate", "retry"): approve})
    out = graph.invoke({"call": {"name": "act", "args": {}}})
    assert seen == [{"a": 0}]
    assert out["result"] == {"done": {"a": 42}}
    assert "validate_to_retry" in [event["node"] for event in out["trail"]]


def test_a_run_leaves_nothing_for_the_next_one_on_its_thread() -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    graph = build_graph(
        [ToolSpec.from_schema(SCHEMA, call=flaky([]))], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "t"}}
    first = graph.invoke({"call": {"name": "nope", "args": {}}, "request": "secret"}, config)
    assert "failure" in first
    second = graph.invoke({"raw": '{"name": "act", "args": {"a": 1}}'}, config)
    assert second.keys() == {"result", "trail"}
    assert "secret" not in str(graph.get_state(config).values)


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"request": "x"}, "needs a model"),
        ({"call": 3}, "must be an object"),
        ({"call": {"args": {}}}, "needs a name"),
        ({"call": {"name": "act", "args": {"a": float("nan"), 1: 2}}}, "key of type int"),
        ({"call": {"name": "act", "args": {"b": "\ud800"}}}, "surrogate"),
        ({"raw": 7}, "must be text"),
        ({"messages": []}, "none of call, raw and request"),
    ],
)
def test_an_unusable_input_is_reported_with_what_is_wrong(
    given_: dict[str, Any], words: str
) -> None:
    out = compile_loop(loop_of([], "read_only", plain_map())).invoke(given_)
    assert out["failure"]["reason"] == "invalid_input"
    assert words in out["failure"]["detail"]


def test_big_and_deep_arguments() -> None:
    loop = loop_of([], "read_only", plain_map())
    deep: Any = 1
    for _ in range(1000):
        deep = [deep]
    out = walk(loop, {"call": {"name": "act", "args": {"a": deep}}})
    assert "nested deeper" in out["failure"]["detail"]
    big = walk(loop, {"call": {"name": "act", "args": {"a": 1, "b": "x" * 1_000_000}}})
    assert big["failure"]["findings"][0]["code"] == "enum"
