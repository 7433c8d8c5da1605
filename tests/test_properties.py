"""Whatever tools, maps and strategies do: a run ends within its bounds, on both hosts alike."""

import itertools
import math
import re
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from kit import Answered, Tool, nodes, with_rules
from langgraph.graph import END, START, StateGraph

from selfcorrect import (
    Ask,
    Change,
    Changed,
    CorrectionState,
    ErrorRule,
    Escalate,
    Fix,
    GiveUp,
    Limits,
    NotDone,
    Result,
    Retry,
    Safety,
    StrategyMap,
    Terminal,
    Wait,
    build_graph,
)
from selfcorrect.testing import VirtualTime, play

SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

statuses = st.sampled_from([400, 401, 404, 408, 409, 418, 422, 424, 429, 500, 503, 504])
texts = st.sampled_from(
    [
        "odd",
        "Missing required parameter 'q'",
        "Value for 'q' must be one of ['a', 'b']",
        "Invalid date format for 'q'",
        "Value for 'q' must be >= 3",
        "rate limit, retry in 2 seconds",
        "x" * 5_000,
    ]
)
errors = st.one_of(
    st.builds(
        Answered, statuses, texts, st.none() | st.sampled_from([0.0, 5.0, 1e6, math.inf, math.nan])
    ),
    st.builds(ValueError, texts),
    st.builds(LookupError, texts),
    st.builds(RuntimeError, texts),
    st.builds(TimeoutError, texts),
    st.builds(ConnectionResetError, texts),
    st.builds(TypeError, texts),
    st.builds(NotDone, texts),
)
effects = st.sampled_from(["read_only", "idempotent", "mutating", "destructive", None])


@dataclass
class Odd:
    """A strategy that plays a list of answers for ever."""

    answers: list = field(default_factory=list)

    def __post_init__(self):
        self._left = itertools.cycle(self.answers or [GiveUp("nothing")])

    def __call__(self, call, diagnosis, context):
        answer = next(self._left)
        if isinstance(answer, type) and issubclass(answer, Exception):
            raise answer("a bug")
        if answer == "grow":
            return set_q(str(call.args.get("q", "")) + "x")
        if answer == "toggle":
            return set_q("a" if call.args.get("q") != "a" else "b")
        if answer == "rename":
            other = "u" if call.name == "t" else "t"
            return Changed(Change("/name", call.name, other, Safety.EXACT, "another"))
        return answer


def set_q(value):
    return Changed(Change("/args/q", None, value, Safety.EXACT, "because"))


answers = st.sampled_from(
    [
        *("grow", "toggle", "rename", "nonsense", None, RuntimeError, StopIteration),
        *(Wait(0), Wait(1), Wait(1e308), Wait(math.inf), Wait(math.nan), Wait(-1)),
        *(Retry(1), Retry(10**9), Retry(math.inf), Retry(2, even_if_lost=True)),
        *(GiveUp("no"), Ask("?" * 10_000, ["a"] * 1_000), Terminal("over"), Escalate("help")),
        *(Result("value"), Fix(lambda error: None, 10**9), Changed()),
        Changed(Change("/nowhere", None, 1, Safety.EXACT, "wrong")),
        Changed(Change("/args/q/deep", None, 1, Safety.EXACT, "wrong")),
    ]
)


@st.composite
def maps(draw):
    """Return a function that makes a map with strategies in their first state."""
    ladders = draw(st.lists(st.lists(st.lists(answers, max_size=3), max_size=3), max_size=3))
    conditions = draw(st.lists(st.sampled_from([".", "q", "odd", None]), min_size=3, max_size=3))
    priorities = draw(st.lists(st.sampled_from(["critical", "low"]), min_size=3, max_size=3))
    is_alone = draw(st.booleans())

    def make():
        rules = [
            ErrorRule(
                id=f"r{n}",
                match=conditions[n],
                tool="*" if conditions[n] is None else (),
                repair=[Odd(list(each)) for each in ladder],
                allow=["lossy"],
                priority=priorities[n],
            )
            for n, ladder in enumerate(ladders)
        ]
        return StrategyMap(rules) if is_alone else with_rules(*rules)

    return make


limits = st.builds(
    Limits,
    attempts=st.integers(1, 12),
    rounds=st.integers(1, 10),
    model_calls=st.integers(0, 3),
    seconds=st.sampled_from([0.5, 60.0, 300.0]),
    wait=st.sampled_from([0.0, 5.0, 30.0]),
)
streams = st.lists(errors | st.just("ok"), max_size=12)


def tools(stream, effect):
    """Return two tools that play the same list; `t` is the one that is called."""
    first = Tool(*stream, effect=effect, schema={"q": {}})
    return first, Tool(*stream, effect=effect, schema={"q": {}}, name="u")


def check_end(out, ran, bounds):
    assert ("result" in out) != ("failure" in out)
    assert len(ran) <= bounds.ceiling
    assert len(repr(out)) < 2_000_000


@SLOW
@given(streams, effects, maps(), limits)
def test_every_stream_of_errors_ends_within_its_limits(stream, effect, make, bounds):
    time, (first, second) = VirtualTime(), tools(stream, effect)
    out = play(
        [first.spec, second.spec],
        {"call": {"name": "t", "args": {"q": "v"}}},
        strategies=make(),
        limits=bounds,
        time=time,
    )
    check_end(out, first.ran + second.ran, bounds)
    assert all(each <= bounds.wait for each in time.slept)
    assert time.monotonic() <= bounds.seconds + bounds.wait


@SLOW
@given(streams, effects, maps(), limits)
def test_graph_and_walker_give_the_same_trail(stream, effect, make, bounds):
    def ends(host):
        first, second = tools(stream, effect)
        # Without a task each run is a scope of its own, and so are its keys.
        given_ = {"call": {"name": "t", "args": {"q": "v"}}, "task_id": "t"}
        options = {"strategies": make(), "limits": quick}
        if host == "graph":
            out = build_graph([first.spec, second.spec], **options).invoke(given_)
        else:
            out = play([first.spec, second.spec], given_, **options)
        return without_own(out), first.ran, second.ran

    # Real time passes in the graph: no run may wait here.
    quick = bounds.model_copy(update={"wait": 0.0, "seconds": None})
    assert ends("graph") == ends("walker")


OWN = ("seconds", "id", "wait", "attempt")
"""What differs in each run: times, and random names."""


def without_own(value):
    if isinstance(value, dict):
        left = {key: item for key, item in value.items() if key not in OWN}
        return {key: without_own(item) for key, item in left.items()}
    if isinstance(value, list):
        return [without_own(item) for item in value]
    return re.sub(r"[\d.]+ s\b", "a time", value) if isinstance(value, str) else value


@SLOW
@given(streams, maps())
def test_nested_in_a_graph_with_few_steps_the_report_still_comes(stream, make):
    first, second = tools(stream, "read_only")
    quick = Limits(attempts=10, rounds=10, wait=0.0)
    inner = build_graph([first.spec, second.spec], strategies=make(), limits=quick)
    outer = StateGraph(CorrectionState)
    outer.add_node("inner", inner)
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    out = outer.compile().invoke(
        {"call": {"name": "t", "args": {"q": "v"}}}, {"recursion_limit": 25}
    )
    assert ("result" in out) != ("failure" in out)


@pytest.mark.parametrize("limit", [6, 10, 25])
def test_the_report_comes_before_the_recursion_limit(limit):
    rule = ErrorRule(id="own", match="odd", repair=[Odd(["grow"])])
    tool = Tool(*[ValueError("odd")] * 50, schema={"q": {}})
    graph = build_graph([tool.spec], strategies=with_rules(rule), limits={"attempts": 10})
    out = graph.invoke({"call": {"name": "t", "args": {}}}, {"recursion_limit": limit})
    assert out["failure"]["reason"] == "limit_reached"
    assert nodes(out)[-1] == "report_failure"
