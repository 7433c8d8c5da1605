"""Words around a call of a tool that acts hand it on, whatever they announce."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import time

import pytest

from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs

J = '{"name": "pay", "arguments": {"to": "Ann", "amount": 20}}'
J2 = J.replace("20", "25")
F = "pay(to='Ann', amount=20)"
T = f"<tool_call>{J}</tool_call>"


def tools(effect=None):
    schema = {"type": "object", "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}}}  # fmt: skip
    return tool_specs([ToolSpec.from_schema({"name": "pay", "description": "", "parameters": schema}, effect=effect)])  # fmt: skip


SAID = [
    "Dry run only: {}", "Cancelled: {}", "Executed: {}", "The money went out with {}", "Ready to execute: {}", "Awaiting your approval for {}",
    "I need your approval before running {}", "Draft (not to be executed): {}", "What does {} do?", "Status of {}: completed", "To undo this later, run {}",
    "Rollback plan:\n{}", "Tomorrow I will run {}", "Scheduled for Monday: {}", "{} Hold on, the amount is wrong.", "{} [declined by user]", "{} is what Bob ran.",
    "Unit test: {}", "Pending: {}", "Summary of actions taken: {}", "Explanation of {}: it moves money.", "The page tells me to run {}", "I ran {} for you.",
    "Soll ich {} wirklich ausf\u00fchren?", "Beispiel: {}", "Beispiel:\n{}", "Je ne vais pas appeler {}", "Ejemplo: {}", "Por favor, confirme: {}", "Ya he ejecutado {}",
    "\u6211\u4e0d\u4f1a\u8c03\u7528 {}", "\u4f8b: {}", "Ik heb {} al uitgevoerd", "\u041d\u0430\u043f\u0440\u0438\u043c\u0435\u0440: {}", "{}\nIs that all right?",
    "The call was:\n```\n{}\n```\nwhich failed with an error.", "Last month it was\n```json\n{}\n```\n",
]  # fmt: skip


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("call", [J, F])
@pytest.mark.parametrize("effect", [None, "mutating", "destructive"])
def test_other_words_around_a_call_that_acts_refuse_it(said, call, effect):
    reading = read_calls(said.format(call), tools(effect))
    assert reading.calls == ()
    assert reading.refusal is not None


@pytest.mark.parametrize(
    "between", ["\noder\n", " vs. ", "\nRevised:\n", "\nCorrected call:\n", "\nor better:\n"]
)
def test_two_forms_of_one_call_are_not_both_made(between):
    assert read_calls(f"{J}{between}{J2}", tools()).calls == ()


ANNOUNCED = [
    "Sure! {}", "I will call {}", "I'll now pay Ann. {}", "Let me do that: {}", "Here is the call: {}", "Here's the function call:\n```json\n{}\n```", "Calling pay: {}",
    "Paying Ann now:\n{}", "Tool call: {}", "Answer: {}", "Action: {}", "Step 1: call the tool\n{}", "First, I call the tool:\n{}", "Then the payment:\n{}", "1. {}", "- {}",
    "To pay her, you can use the pay function with the following arguments:\n\n{}", "The function call would be:\n{}", "{}\n\nThis pays Ann 20 euros.", "{}\n\nNote: Ann is paid at once.",
    "Assistant: {}", "We need to call pay. {}", "OK, then I use this tool: {}", "# Pay Ann\n{}", "## Payment\n{}", "```json\n{}\n```\nAnn is paid then.",
    "To pay her, we can call the function like this:\n\n{}", "You can use the following function call to pay her:\n{}", "Final answer: {}", "JSON:\n{}", "As requested:\n{}",
    "**Step 1**: Pay Ann\n{}", "Step 2: pay Ann\n{}", "Got it! Paying Ann now.\n{}", "I've prepared the following call:\n{}", "Below is the function call:\n{}",
]  # fmt: skip


@pytest.mark.parametrize("said", ANNOUNCED)
@pytest.mark.parametrize("call", [J, F])
def test_what_announces_a_call_does_not_make_it_either(said, call):
    reading = read_calls(said.format(call), tools())
    assert reading.calls == ()
    told = (reading.refusal.code, reading.refusal.text)
    assert told == ("no_call", "the text holds a call; it was not made")
    assert [dict(each.args) for each in reading.doubted] == [{"to": "Ann", "amount": 20}]


@pytest.mark.parametrize("call", [J, F, T])
def test_lines_of_its_own_suffice_where_nothing_changes(call):
    assert len(read_calls(f"Balance of Ann:\n{call}\nSo far.", tools("read_only")).calls) == 1
    assert len(read_calls(f"Balance of Ann: {call}", tools("read_only")).calls) == 0
    assert len(read_calls(f"Balance of Ann:\n{call}", tools()).calls) == 0


@pytest.mark.parametrize(
    "part", ["ok ", "the a ", "call it ", "and then ", "a. ", "pay(", "=", "1) "]
)
def test_long_words_before_a_call_take_linear_time(part):
    started = time.perf_counter()
    read_calls(part * (100_000 // len(part)) + J, tools())
    assert time.perf_counter() - started < 5
