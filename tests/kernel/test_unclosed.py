"""Arguments that nothing closes: they may have gone on where their text ends.

What reads may do less than was meant, unless it is known that its text was cut off. What acts has
to have its arguments closed, and what destroys the whole text, unless the model ended by itself.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest

from selfcorrect import Safety, repair_call
from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.covering import GOES_ON
from selfcorrect.kernel.verdicts import Step
from selfcorrect.model import Call, Extent
from selfcorrect.reading.texts import read_calls
from selfcorrect.schema.slots import slots_of
from selfcorrect.tools import ToolSpec

ARGS = {"to": "ann", "amount": 15}
INNER = json.dumps(ARGS)
JSON_CALL = json.dumps({"name": "pay", "arguments": ARGS})
NESTED = json.dumps([{"tool_calls": [{"name": "pay", "arguments": ARGS}]}])
TAGGED = '<invoke name="pay"><parameter name="to">ann</parameter><parameter name="amount">15'
WHOLE = [
    JSON_CALL, f"[{JSON_CALL}]", NESTED, json.dumps({"name": "pay", "arguments": INNER}),
    "pay(to='ann', amount=15)", "[pay(to='ann', amount=15)]", f"pay({INNER})",
    f"{TAGGED}</parameter></invoke>", json.dumps({"name": "pay", **ARGS}),
    "[pay(to='ann', amount=15)",
]  # fmt: skip
"""The call is closed, even where another was to follow it."""
OUTER = [JSON_CALL[:-1], f"[{JSON_CALL}", NESTED[:-1], NESTED[:-4]]
"""The arguments are closed; what holds them is not."""
CUT = [
    JSON_CALL[:-2], NESTED[:-5], json.dumps({"name": "pay", "arguments": INNER[:-1]}),
    "pay(to='ann', amount=15", "[pay(to='ann', amount=15", f"pay({INNER[:-1]}",
    json.dumps({"name": "pay", **ARGS})[:-1],
    '{"name": "pay", "arguments": [{"to": "ann", "amount": 15}',
    '{"name": "pay", "arguments": {"to": "ann"}, "amount": 15',
]  # fmt: skip
"""The arguments are not closed."""
EFFECTS = ("read_only", "mutating", "destructive")
ENDED = (True, None, False)
STOPS = {
    "whole": set(),
    "outer": {(e, False) for e in EFFECTS} | {("destructive", None)},
    "cut": {(e, False) for e in EFFECTS} | {("mutating", None), ("destructive", None)},
}
"""Where more may have followed, by what a tool may do and whether the model ended by itself."""
TEXTS = [("whole", t) for t in WHOLE] + [("outer", t) for t in OUTER] + [("cut", t) for t in CUT]
SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
}


def tool(effect):
    return ToolSpec.from_schema(
        {"name": "pay", "description": "", "parameters": SCHEMA}, effect=effect
    )


def judged(written, effect, ended, extents=()):
    slot = slots_of(SCHEMA)
    step = Step(written, Call("pay", ARGS), slot, ["pay"], effect, extents=extents, ended=ended)
    return judge(step)


@pytest.mark.parametrize(("kind", "text"), TEXTS)
def test_a_text_that_may_have_gone_on_holds_no_call(kind, text):
    written = read_calls(text, {"pay": tool("read_only")}).written
    assert [(one.name, one.args) for one in written] == [("pay", ARGS)]
    for effect, ended in product(EFFECTS, ENDED):
        verdict = judged(Call("", raw=text), effect, ended, written)
        stops = (effect, ended) in STOPS[kind]
        assert (verdict.safety is Safety.LOSSY) == stops, (effect, ended, verdict)
        assert (GOES_ON in str(verdict)) == stops


ARGUMENTS = {
    "whole": [INNER, str(ARGS), f"```json\n{INNER}\n```", f"pay({INNER})",
        "pay(to='ann', amount=15)"],
    "cut": [INNER[:-1], str(ARGS)[:-1], f"{INNER[:-1]}\n",
        f"pay({INNER[:-1]}"],
    "outer": [f"pay({INNER}"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(k, t) for k, each in ARGUMENTS.items() for t in each])
def test_arguments_that_may_have_gone_on_are_not_run(kind, text):
    for effect, ended in product(EFFECTS, ENDED):
        verdict = judged(Call("pay", raw=text), effect, ended)
        assert (GOES_ON in str(verdict)) == ((effect, ended) in STOPS[kind]), (effect, ended)


BELIEVED = [
    '{"finish_reason": "stop", "tool_calls": [{"name": "pay", "arguments": {"to": "ann"',
    '{"stop_reason": "end_turn", "tool_calls": [{"name": "pay", "args": {"to": "ann"',
]  # fmt: skip


@pytest.mark.parametrize("text", BELIEVED)
def test_a_text_that_was_cut_off_does_not_say_that_it_is_whole(text):
    spec = tool("mutating")
    assert repair_call(text, [spec]).outcome == "failed"
    assert repair_call(text, [spec], finish_reason="stop").calls[0].args == {"to": "ann"}


@pytest.mark.parametrize("text", ["to='ann'", "to='ann', amount=15", "pay(**{'to': 'ann'}"])
def test_code_that_was_cut_off_runs_nothing(text):
    assert repair_call({"name": "pay", "arguments": text}, [tool("mutating")]).outcome == "failed"


def test_what_a_name_inside_arguments_calls_destroys_nothing():
    written = json.dumps({"arguments": {"name": "pay", **ARGS}})
    extents = [Extent("pay", ARGS, 0, len(written), value=json.loads(written))]
    found = {e: judged(Call("", raw=written), e, None, extents).safety for e in EFFECTS}
    assert found == {**dict.fromkeys(EFFECTS, Safety.INFERRED), "destructive": Safety.LOSSY}


def test_an_empty_text_of_arguments_is_not_cut_off():
    written = {"name": "pay", "arguments": ""}
    text = json.dumps(written)
    extents = [Extent("pay", {}, 0, len(text), value=written)]
    step = Step(Call("", raw=text), Call("pay", {}), slots_of(SCHEMA), ["pay"])
    assert judge(replace(step, effect="destructive", extents=extents)).safety is Safety.INFERRED


@pytest.mark.parametrize("text", [TAGGED, f"{TAGGED}</parameter>"])
@pytest.mark.parametrize("effect", EFFECTS)
def test_nobody_forgets_a_closing_tag(text, effect):
    assert repair_call(text, [tool(effect)], finish_reason="stop").outcome == "failed"
