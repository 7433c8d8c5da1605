"""A text is the calls that a reader found in it and no more, whatever the reader says."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import contextlib
import json
from dataclasses import replace

import pytest

from selfcorrect import Mender, repair_call
from selfcorrect.errors import UnusableInput
from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.verdicts import Step
from selfcorrect.model import Call, Extent, Safety
from selfcorrect.ports import Beside
from selfcorrect.reading import outcome, reader, texts
from selfcorrect.reading.contract import Candidate
from selfcorrect.repairs import fix_json
from selfcorrect.schema.slots import slots_of
from selfcorrect.testing import play
from selfcorrect.tools import ToolSpec

ARGS = {"to": "ann", "amount": 5}
PAY = {"name": "pay", "arguments": ARGS}
JSON_TEXT = json.dumps(PAY)
FORMS = [
    JSON_TEXT,
    "pay(to='ann', amount=5)",
    '<invoke name="pay"><parameter name="to">ann</parameter><parameter name="amount">5</parameter></invoke>',
    "<pay><to>ann</to><amount>5</amount></pay>",
    '<function=pay>{"to": "ann", "amount": 5}</function>',
    '[TOOL_CALLS]pay[ARGS]{"to": "ann", "amount": 5}',
    '<tool_call>{"name": "pay", "arguments": {"to": "ann", "amount": 5}}</tool_call>',
]
WORDS = "But only if bob agrees"
AROUND = [
    f"{WORDS}: {{}}",
    f"{{}} {WORDS}.",
    f"{{}}\n{WORDS}.",
    f"{WORDS}:\n{{}}\n{WORDS}",
    f"```{WORDS}\n{{}}\n```",
    f"{{}} // {WORDS}",
    f"<!-- {WORDS} -->{{}}",
]
INSIDE = [
    json.dumps({**PAY, "approved": "no"}),
    json.dumps({"approved": "no", **PAY}),
    json.dumps({"tool_calls": [PAY], "condition": WORDS}),
    json.dumps([PAY, WORDS]),
    json.dumps([PAY, {"only_if": WORDS}]),
    json.dumps({"type": "function", "function": PAY, "cancelled": True}),
    json.dumps({"name": "pay", "arguments": json.dumps(ARGS) + f" // {WORDS}"}),
    '{"name": "pay", /* only if bob agrees */ "arguments": {"to": "ann", "amount": 5}}',
    "pay(to='ann', amount=5  # only if bob agrees\n)",
    '<invoke name="pay" approved="no"><parameter name="to">ann</parameter><parameter name="amount">5</parameter></invoke>',
]  # fmt: skip


def pay(to: str, amount: int) -> str:
    """Pay somebody."""
    return f"{to} {amount}"


def ran(text, effect, **more):
    """What runs of a text, or would, in each host."""
    done = []

    def pay(to: str, amount: int) -> str:
        """Pay somebody."""
        done.append({"to": to, "amount": amount})
        return "paid"

    tool = ToolSpec.from_function(pay, effect=effect)
    play([tool], {"raw": text, **more})
    for mended in (
        repair_call(text, [tool], **more),
        Mender([tool]).message({"role": "assistant", "content": text}, **more),
    ):
        done += [call.args for call in mended.calls if call.outcome in ("valid", "repaired")]
    return done


@pytest.mark.parametrize("effect", ["mutating", "destructive", "read_only"])
@pytest.mark.parametrize("text", FORMS)
def test_a_text_that_is_a_call_runs(text, effect):
    assert ran(text, effect) == [ARGS] * 3


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("text", FORMS)
def test_words_around_a_call_that_acts_keep_it_from_running(text, around):
    assert not ran(around.format(text), "mutating")


@pytest.mark.parametrize("effect", ["mutating", "read_only"])
@pytest.mark.parametrize("text", INSIDE)
def test_what_is_said_within_a_call_keeps_it_from_running(text, effect):
    if effect == "mutating" or ("//" not in text and "#" not in text and "/*" not in text):
        assert not ran(text, effect)


@pytest.mark.parametrize("text", FORMS)
def test_a_call_that_the_user_wrote_is_not_made(text):
    said = f"What does this do? {text}"
    assert not ran(text, "mutating", messages=[{"role": "user", "content": said}])


def hostile(monkeypatch, change):
    """Let every reader of texts say something else than what it found."""
    honest = outcome.Reading

    def read(raw, context, reader=fix_json.FixJson):
        found = honest_read(reader(), raw, context)
        calls = tuple(change(call, raw) for call in found.calls)
        return honest(calls, written=calls, text=raw)

    honest_read = fix_json.FixJson.read
    monkeypatch.setattr(fix_json.FixJson, "read", lambda self, raw, context: read(raw, context))


LIES = {
    "overlooks words": (
        f'<tool_call>{JSON_TEXT[:-1]}, "approved": "no"}}</tool_call>',
        lambda call, raw: replace(call, args=ARGS, value=PAY),
    ),
    "all of the text is the call": (
        f"{WORDS}: {JSON_TEXT}",
        lambda call, raw: Candidate("pay", ARGS, 0, len(raw), value=PAY),
    ),
    "all of the text is code": (
        f"{WORDS}: pay(to='ann', amount=5)",
        lambda call, raw: Candidate("pay", ARGS, 0, len(raw), code=True),
    ),
    "another value": (FORMS[-1], lambda call, raw: replace(call, args={**ARGS, "amount": 500})),
    "another value, said of the JSON as well": (
        FORMS[-1],
        lambda call, raw: replace(
            call,
            args={"to": "ann", "amount": 7},
            value={**PAY, "arguments": {"to": "ann", "amount": 7}},
        ),
    ),
    "one value less": (
        "```\npay(to='ann', amount=5, note='wait')\n```",
        lambda call, raw: replace(call, args=ARGS),
    ),
    "another name": (
        FORMS[-1].replace('"pay"', '"refund"'),
        lambda call, raw: replace(call, name="pay"),
    ),
    "no place at all": (FORMS[-1], lambda call, raw: Candidate("pay", ARGS)),
}


@pytest.mark.parametrize("lie", LIES)
def test_no_reader_is_trusted(monkeypatch, lie):
    text, change = LIES[lie]
    hostile(monkeypatch, change)
    assert ran(text, "mutating") == []


def test_an_honest_reader_through_the_same_door_is(monkeypatch):
    hostile(monkeypatch, lambda call, raw: call)
    assert ran(FORMS[-1], "mutating") == [ARGS] * 3


@pytest.mark.parametrize(
    ("extents", "safety"),
    [
        ([Extent("pay", ARGS, 0, len(JSON_TEXT), value=PAY)], Safety.EXACT),
        ([], Safety.LOSSY),
        ([Extent("pay", ARGS, 0, len(JSON_TEXT))], Safety.LOSSY),
        ([Extent("pay", ARGS, 0, 10, value=PAY)], Safety.LOSSY),
        ([Extent("pay", {"to": "ann"}, 0, len(JSON_TEXT), value=PAY)], Safety.LOSSY),
    ],
)
def test_the_kernel_asks_for_the_place_of_a_call(extents, safety):
    tool = ToolSpec.from_function(pay)
    asked = Step(
        Call("", raw=JSON_TEXT), Call("pay", ARGS), slots_of(tool.schema), ["pay"], extents=extents
    )
    assert judge(asked).safety is safety


STRICT_LIES = {
    "another value": (JSON_TEXT, Call("pay", {"to": "ann", "amount": 7})),
    "another tool": (JSON_TEXT.replace('"pay"', '"refund"'), Call("pay", ARGS)),
    "a word beside": (json.dumps({**PAY, "approved": "no"}), Call("pay", ARGS)),
    "a word around": (json.dumps({"function": PAY, "condition": WORDS}), Call("pay", ARGS)),
}


@pytest.mark.parametrize("lie", STRICT_LIES)
def test_no_reader_of_strictly_valid_calls_is_trusted(monkeypatch, lie):
    text, call = STRICT_LIES[lie]
    assert ran(JSON_TEXT, "mutating") == [ARGS] * 3
    monkeypatch.setattr(texts, "read_call_object", lambda value, keys: call)
    monkeypatch.setattr(reader, "read_call_object", lambda value: call)
    assert call.args not in ran(text, "mutating")
    with contextlib.suppress(UnusableInput):
        found = reader.read_given(json.loads(text), {}, Beside())
        assert found.call.raw is not None
