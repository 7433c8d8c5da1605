"""Handlers never break the promises: every run ends in its bounds, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selfcorrect import (
    Ask,
    Change,
    Changed,
    Escalate,
    Escalation,
    Fix,
    GiveUp,
    HardFailure,
    Result,
    Retry,
    Safety,
    Terminal,
    ToolSpec,
    Wait,
    on_error,
)
from selfcorrect.limits import Limits
from selfcorrect.loop.graph import compile_loop
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.report import REASONS
from selfcorrect.testing import ScriptedModel, VirtualTime

SCHEMA = {
    "name": "act",
    "parameters": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}},
        "required": ["a"],
    },
}
ERRORS: dict[str, Any] = {
    "reset": lambda: ConnectionResetError("reset"),
    "refused": lambda: ConnectionRefusedError("refused"),
    "bug": lambda: AssertionError("boom"),
    "value": lambda: ValueError("a: bad"),
    "up": lambda: Escalation("help"),
    "hard": lambda: HardFailure("no"),
}


def _raising(error: Exception) -> Any:
    def fixer(request: Any) -> Any:
        raise error

    return fixer


FIXERS: dict[str, Any] = {
    "five": lambda request: {"a": 5},
    "more": lambda request: {"a": len(request.arguments) + 1, "b": "x"},
    "bad": lambda request: {"a": "bad"},
    "text": lambda request: '{"a": 7}',
    "nothing": lambda request: None,
    "prose": lambda request: "no",
    "raises": _raising(OSError("x")),
    "up": _raising(Escalation("x")),
    "hard": _raising(HardFailure("x")),
}


def decisions() -> st.SearchStrategy[Any]:
    change = Change("/args/a", 1, 2, Safety.EXACT, "other")
    plain = st.sampled_from(
        [
            *(None, GiveUp("no"), Result(1), Escalate("up"), Terminal("end"), Wait(1.0), Wait(9e9)),
            *(Ask("which?", (1,)), Changed(change), Changed(), "nonsense", 5, ValueError("raises")),
        ]
    )
    fixes = st.builds(Fix, st.sampled_from(list(FIXERS.values())), st.integers(-1, 12))
    models = st.just(Fix(ScriptedModel([{"a": 3}], again=True), 5))
    return st.one_of(plain, st.builds(Retry, st.integers(-1, 30)), fixes, models)


def handler(choices: list[Any]) -> Any:
    left: Iterator[Any] = iter(choices)

    def decide(error: Any) -> Any:
        choice = next(left, None)
        if isinstance(choice, Exception):
            raise choice
        return choice

    return on_error(invalid_args=decide, execution_error=decide, deserialization_error=decide)


def loop_of(stream: list[str | None], choices: list[Any], effect: Any, done: list[Any]) -> Loop:
    errors = iter(stream)

    def act(**args: Any) -> Any:
        name = next(errors, None)
        done.append(name)
        if name is not None:
            error = ERRORS[name]()
            raise error
        return args

    spec = ToolSpec.from_schema(SCHEMA, call=act, effect=effect, on_error=handler(choices))
    return assemble([spec], Options(time=VirtualTime()))


STREAMS = st.lists(st.sampled_from([None, *ERRORS]), max_size=12)
CHOICES = st.lists(decisions(), max_size=12)
EFFECTS = st.sampled_from(["read_only", "idempotent", "mutating", "destructive"])
CALLS = st.sampled_from(
    [{"a": 1}, {"a": "1"}, {"a": "??"}, {"b": "z"}, {"a": 1, "b": "Y"}, "{a: 1"]
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STREAMS, CHOICES, EFFECTS, CALLS)
def test_every_run_ends_within_its_bounds(
    stream: list[str | None], choices: list[Any], effect: str, args: Any
) -> None:
    done: list[Any] = []
    out = walk(loop_of(stream, choices, effect, done), {"call": {"name": "act", "args": args}})
    assert ("result" in out) != ("failure" in out)
    limits = Limits()
    assert len(done) <= limits.ceiling
    assert sum(event.get("model_calls", 0) for event in out["trail"]) <= limits.model_calls
    waits = sum(event.get("wait", 0) for event in out["trail"] if event["node"] == "retry")
    assert limits.seconds is not None
    assert waits <= limits.seconds
    if failure := out.get("failure"):
        assert failure["reason"] in REASONS


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STREAMS, CHOICES, st.sampled_from(["mutating", "destructive"]))
def test_what_may_have_happened_is_not_done_twice(
    stream: list[str | None], choices: list[Any], effect: str
) -> None:
    done: list[Any] = []
    walk(loop_of(stream, choices, effect, done), {"call": {"name": "act", "args": {"a": 1}}})
    assert not {"reset", "bug", None} & set(done[:-1])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STREAMS, CHOICES, EFFECTS, CALLS)
def test_graph_and_walker_give_the_same(
    stream: list[str | None], choices: list[Any], effect: str, args: Any
) -> None:
    call = {"call": {"name": "act", "args": args}}
    walked = walk(loop_of(stream, choices, effect, []), call)
    ran = compile_loop(loop_of(stream, choices, effect, [])).invoke(call, {"recursion_limit": 999})
    assert ran == walked
