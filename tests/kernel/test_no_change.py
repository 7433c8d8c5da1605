"""What is no change of a strategy passes the kernel too: results, own nodes, fixers."""

from __future__ import annotations

from typing import Any

import pytest

from selfcorrect import ErrorRule, Fix, Result, StrategyMap, ToolSpec, on_error, strategy
from selfcorrect.testing import play


class Declined(Exception):
    """The tool's own word for no."""


def pay(to: str, amount: float, memo: str = "") -> str:
    """Pay somebody."""
    if amount > 100:
        raise Declined("declined")
    return f"{amount:g} to {to}{memo and ' for '}{memo}"


@strategy("as-paid")
def as_paid(call, diagnosis, context):
    return Result("paid")


def answering(effect: str) -> dict[str, Any]:
    rule = ErrorRule(id="declined", match="declined", kind="validation", repair=["as-paid"])
    rules = StrategyMap(rules=[rule], use={"as-paid": as_paid})
    call = {"call": {"name": "pay", "args": {"to": "ann", "amount": 500}}}
    return play([ToolSpec.from_function(pay, effect=effect)], call, strategies=rules)


@pytest.mark.parametrize("effect", ["mutating", "destructive"])
def test_a_rule_turns_no_refusal_of_a_tool_that_acts_into_a_result(effect):
    out = answering(effect)
    assert "result" not in out
    assert "the tool was called, and did not say that" in str(out["trail"])


def test_of_a_tool_that_reads_a_rule_may_answer():
    assert answering("read_only")["result"] == "paid"


def edited(args: dict[str, Any]) -> dict[str, Any]:
    def edit(state, context):
        return {"current": {"name": "pay", "args": args}, "outcome": "passed"}

    call = {"call": {"name": "pay", "args": {"to": "ann", "amount": 5, "memo": "lunch"}}}
    return play([ToolSpec.from_function(pay)], call, before={"execute": edit})


def test_a_node_answers_for_the_values_that_it_made():
    out = edited({"to": "ann", "amount": 4, "memo": "lunch"})
    assert out["result"] == "4 to ann for lunch"


def test_a_node_does_not_drop_what_was_written():
    out = edited({"to": "ann", "amount": 5})
    assert out["failure"]["reason"] == "rejected"
    assert "`memo` says something that `pay` has no place for" in out["failure"]["detail"]


def test_a_fixer_does_not_drop_what_was_written():
    handler = on_error(invalid_args=Fix(lambda request: {"to": "ann", "amount": 5}))
    tool = ToolSpec.from_function(pay, on_error=handler)
    call = {"call": {"name": "pay", "args": {"to": "ann", "amount": "five-ish", "memo": "lunch"}}}
    assert "result" not in play([tool], call)
