"""wait, escalate and give-up: strategies that change nothing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect import ErrorRule, StrategyMap, ToolSpec, build_graph
from selfcorrect.model import Attempt, Call, Diagnosis, Escalate, Finding, GiveUp, Severity
from selfcorrect.model import Wait as WaitFor
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.escalate import Escalate as EscalateStrategy
from selfcorrect.repairs.give_up import GiveUp as GiveUpStrategy
from selfcorrect.repairs.wait import Wait


def after(attempts, strategy=None, call=None, **finding):
    call = call or Call("search", {"q": 1}, "call-1")
    done = tuple(Attempt(n, call, "error") for n in range(attempts))
    answer = (strategy or Wait())(
        call, Diagnosis((Finding("busy", **finding),)), RepairContext(attempts=done)
    )
    assert isinstance(answer, WaitFor)
    return answer.seconds


class TestWait:
    @pytest.mark.parametrize(
        ("attempts", "bound"), [(0, 0.2), (1, 0.2), (2, 0.4), (3, 0.8), (99, 30)]
    )
    def test_full_jitter_below_a_doubling_bound(self, attempts, bound):
        assert after(attempts, Wait(random=lambda: 1.0)) == pytest.approx(bound)
        assert after(attempts, Wait(random=lambda: 0.0)) == 0
        assert 0 <= after(attempts) <= bound

    @pytest.mark.parametrize("asked", [0.5, 18.642, 3600.0])
    def test_what_the_error_asks_for_is_the_least(self, asked):
        assert after(1, retry_after=asked) == asked

    @pytest.mark.parametrize("asked", [None, 0.0, -5.0, math.nan, math.inf])
    def test_a_wait_that_is_none_is_ignored(self, asked):
        assert after(1, Wait(random=lambda: 0.5), retry_after=asked) == pytest.approx(0.1)

    def test_the_same_run_waits_the_same(self):
        assert after(2) == after(2)
        assert after(2) != after(3)
        assert after(2) != after(2, call=Call("search", {"q": 1}, "call-2"))
        assert after(2, call=Call("search", {"q": 1})) != after(2, call=Call("search", {"q": 2}))

    @pytest.mark.parametrize("options", [{"base": -1}, {"cap": math.inf}, {"base": math.nan}])
    def test_bounds_that_are_none(self, options):
        with pytest.raises(ValueError):
            Wait(**options)

    @settings(max_examples=40)
    @given(st.integers(0, 2_000), st.floats(), st.floats(0, 100), st.floats(0, 100))
    def test_always_a_finite_time(self, attempts, asked, base, cap):
        seconds = after(attempts % 50, Wait(base=base, cap=cap), retry_after=asked)
        assert 0 <= seconds < math.inf
        assert seconds <= cap or seconds == asked


def test_escalate():
    diagnosis = Diagnosis((Finding("disk full\u202e", ("OSError",)),))
    answer = EscalateStrategy()(Call("save"), diagnosis, RepairContext())
    assert answer == Escalate('"save" failed (internal)', Severity.HIGH)
    answer = EscalateStrategy("low", "call Ann")(Call("save"), diagnosis, RepairContext())
    assert answer == Escalate("call Ann", Severity.LOW)
    with pytest.raises(ValueError):
        EscalateStrategy("urgent")


class Full(Exception):
    """What a tool raises of its own."""


def test_an_escalation_by_a_map_hands_up_nothing_that_the_tool_said():
    """Whether a model reads the tool's words is the policy's matter, not a strategy's."""

    def save() -> str:
        """Save."""
        raise Full("/srv/internal/db7 is out of inodes")

    rule = ErrorRule(id="up", match="inodes", repair="escalate")
    strategies = StrategyMap([rule], extends=["default"])
    tool = ToolSpec.from_function(save, effect="read_only")
    out = build_graph([tool], strategies=strategies).invoke({"call": {"name": "save"}})
    failure = out["failure"]
    assert failure["reason"] == "escalated"
    assert failure["detail"] == 'escalate: "save" failed (internal)'
    assert "inodes" in str(failure["findings"])


def test_give_up():
    diagnosis = Diagnosis((Finding("closed"),))
    assert GiveUpStrategy("for good")(Call("x"), diagnosis, RepairContext()) == GiveUp("for good")
