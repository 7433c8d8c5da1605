"""Policies of a whole run: tools that do not exist, and answers that are empty."""

from __future__ import annotations

import threading

import pytest
from langchain_core.messages import AIMessage

from selfcorrect.errors import ToolNotFoundError
from selfcorrect.policies import (
    AgentBudget,
    AutoCorrect,
    ExitOnEmpty,
    Feedback,
    ImmediateRaise,
    Raise,
    RetryWithFeedback,
)
from selfcorrect.policies.agent_budget import extended, in_force, take, take_call
from selfcorrect.policies.empty_responses import PLACEHOLDER, EmptyResponseError, is_empty

TOOLS = ["search_flights", "book_flight", "cancel_booking"]


class TestAutoCorrect:
    def test_the_fourth_miss_in_a_row_raises(self):
        policy = AutoCorrect()
        kinds = [type(policy.handle("fly", TOOLS)) for _ in range(5)]
        assert kinds == [Feedback, Feedback, Feedback, Raise, Raise]

    def test_a_found_name_starts_anew(self):
        policy = AutoCorrect(max_retries=1)
        assert isinstance(policy.handle("fly", TOOLS), Feedback)
        policy.on_tool_found()
        assert isinstance(policy.handle("fly", TOOLS), Feedback)
        assert isinstance(policy.handle("fly", TOOLS), Raise)

    def test_the_error_says_what_was_asked_for_and_what_there_is(self):
        decision = AutoCorrect(max_retries=0).handle("fly", TOOLS)
        assert isinstance(decision, Raise)
        assert isinstance(decision.error, ToolNotFoundError)
        assert (decision.error.requested, decision.error.available) == ("fly", tuple(TOOLS))

    @pytest.mark.parametrize(
        ("requested", "suggestions"),
        [
            ("SearchFlights", ("search_flights",)),
            ("search_flight", ("search_flights",)),
            ("flight_booking", ("book_flight", "cancel_booking")),
            ("weather", ()),
            ("", ()),
            ("\u6771\u4eac", ()),
        ],
    )
    def test_feedback_names_what_may_have_been_meant(self, requested, suggestions):
        decision = AutoCorrect().handle(requested, TOOLS)
        assert isinstance(decision, Feedback)
        assert set(decision.suggestions) >= set(suggestions[:1])
        assert bool(decision.suggestions) == bool(suggestions)
        for part in ("There is no tool named", "Use an exact name", *TOOLS):
            assert part in decision.message

    @pytest.mark.parametrize("policy", [AutoCorrect(max_retries=0), ImmediateRaise()])
    @pytest.mark.parametrize(
        ("requested", "available", "told"),
        [
            (None, TOOLS, "requested is the name that was called"),
            (5, TOOLS, "not int"),
            ("fly", None, "available is a list of the names"),
            ("fly", "book_flight", "not str"),
        ],
    )
    def test_what_is_no_name_is_told_so(self, policy, requested, available, told):
        with pytest.raises(TypeError, match=told):
            policy.handle(requested, available)

    def test_feedback_is_bounded(self):
        tools = [f"tool_{n}_{'x' * 500}" for n in range(5_000)]
        assert len(AutoCorrect().handle("y" * 100_000, tools).message) < 4_000

    def test_each_run_has_its_own_counter(self):
        shared = AutoCorrect(max_retries=3)
        ends = []

        def run():
            policy = shared.fresh()
            ends.append([type(policy.handle("fly", TOOLS)) for _ in range(4)].count(Raise))

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ends == [1] * 8
        assert shared.misses == 0


def test_immediate_raise():
    policy = ImmediateRaise()
    assert policy.fresh() is policy
    assert isinstance(policy.handle("fly", TOOLS), Raise)


class TestEmpty:
    @pytest.mark.parametrize(
        ("message", "empty"),
        [
            (AIMessage(""), True),
            (AIMessage(" \n\t"), True),
            (AIMessage([]), True),
            (AIMessage([{"type": "text", "text": " "}]), True),
            (AIMessage([{"type": "reasoning", "reasoning": "hm"}]), True),
            (AIMessage("0"), False),
            (AIMessage([{"type": "image", "url": "x"}]), False),
            (AIMessage("", tool_calls=[{"name": "a", "args": {}, "id": "1"}]), False),
            (
                AIMessage(
                    "",
                    invalid_tool_calls=[
                        {
                            "name": "a",
                            "args": "{",
                            "id": "1",
                            "error": None,
                            "type": "invalid_tool_call",
                        }
                    ],
                ),
                False,
            ),
        ],
        ids=repr,
    )
    def test_what_is_empty(self, message, empty):
        assert is_empty(message) is empty

    def test_exit_is_the_gentle_one(self):
        policy = ExitOnEmpty().fresh()
        assert policy.handle() is None

    def test_feedback_then_raise(self):
        policy = RetryWithFeedback(max_retries=2)
        run = policy.fresh()
        assert run.handle() == run.handle() == run.feedback
        with pytest.raises(EmptyResponseError, match="3 times"):
            run.handle()
        assert policy.blanks == 0

    def test_an_answer_starts_anew(self):
        run = RetryWithFeedback().fresh()
        run.handle()
        run.on_answer()
        assert run.handle()

    def test_the_placeholder_is_not_blank(self):
        assert not is_empty(AIMessage(PLACEHOLDER))


class TestAgentBudget:
    def test_the_numbers(self):
        budget = AgentBudget()
        assert (budget.turns, budget.tool_calls, budget.seconds) == (8, 32, 300.0)

    @pytest.mark.parametrize(
        ("bounds", "amounts"),
        [
            ({"turns": 3}, {"turns": 1}),
            ({"tokens": 30}, {"tokens": 10}),
            ({"seconds": 6}, {"seconds": 2}),
        ],
    )
    def test_nothing_is_spent_beyond_a_bound(self, bounds, amounts):
        budget, spent = AgentBudget(**bounds), {}
        for _ in range(3):
            spent, why = take(budget, spent, **amounts)
            assert why is None
        again, why = take(budget, spent, **amounts)
        assert again == spent
        assert "at most" in why

    def test_arguments_and_the_same_tool_in_a_row(self):
        budget = AgentBudget(same_tool=2, argument_bytes=20)
        spent, why = take_call(budget, {}, "a", {})
        spent, why = take_call(budget, spent, "a", {})
        assert take_call(budget, spent, "a", {})[1] == "2 calls of 'a' in a row, and at most 2"
        spent, why = take_call(budget, spent, "b", {})
        assert why is None
        assert "bytes" in take_call(budget, spent, "b", {"x": "y" * 50})[1]

    def test_more_is_granted_eight_times_at_most(self):
        budget, spent, grants = AgentBudget(turns=1), {}, 0
        while more := extended(in_force(budget, spent), spent, {"turns": grants + 2}):
            spent = more
            grants += 1
        assert (grants, in_force(budget, spent).turns) == (8, 9)

    @pytest.mark.parametrize("wanted", [None, 5, {}, "more", {"tokens": 9}, {"wings": 9}], ids=str)
    def test_anything_else_grants_nothing(self, wanted):
        assert extended(AgentBudget(), {}, wanted) is None

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("turns", 1),
            ("turns", 9.5),
            ("turns", True),
            ("turns", "99"),
            ("seconds", float("inf")),
            ("seconds", float("nan")),
        ],
    )
    def test_nor_does_what_is_no_larger_bound(self, name, value):
        assert extended(AgentBudget(), {}, {name: value}) is None
