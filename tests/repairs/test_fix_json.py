"""fix-json: from a raw text to changes of a call, with the worst class of what was accepted."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.verdicts import Step
from selfcorrect.mapping.registry import bind, resolve
from selfcorrect.model import ABSENT, Call, Changed, Diagnosis, Finding, GiveUp, Safety
from selfcorrect.pointer import apply, look
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.fix_json import FixJson
from selfcorrect.schema.slots import slots_of
from selfcorrect.tools import ToolSpec, tool_specs


def book_flight(origin: str, passengers: int = 1, note: str = "") -> str:
    """Book a flight."""
    return f"{origin} {passengers} {note}"


TOOLS = tool_specs([ToolSpec.from_function(book_flight)])
MALFORMED = Diagnosis((Finding("it is broken", ("MalformedCall",), code="malformed_json"),))


def fix(call, **context):
    context = {"tools": TOOLS, "tool": TOOLS.get(call.name)} | context
    return FixJson()(call, MALFORMED, RepairContext(**context))


MENDED = [
    (Call("", raw="{'name': 'book_flight', 'args': {'origin': 'OSL'}}"), Safety.EXACT),
    (Call("", raw='```json\n{"name": "book_flight", "arguments": {"origin": "OSL",}}\n```'), Safety.EXACT),
    (Call("", raw="<tool_call>[book_flight(origin='OSL')]</tool_call>"), Safety.EXACT),
    (Call("", raw='{"name": "book_flight", "arguments": {"origin": "OSL"}'), Safety.INFERRED),
    (Call("", raw="book_flight('OSL')"), Safety.INFERRED),
    (Call("book_flight", raw="{'origin': 'OSL'}"), Safety.EXACT),
    (Call("book_flight", raw='{"origin": "OSL"}'), Safety.EXACT),
    (Call("book_flight", id="7", raw='"{\\"origin\\": \\"OSL\\"}"'), Safety.EXACT),
]  # fmt: skip


@pytest.mark.parametrize(("call", "safety"), MENDED)
def test_a_text_becomes_a_call(call, safety):
    repair = fix(call)
    assert isinstance(repair, Changed), repair
    assert {change.safety for change in repair.changes} == {Safety.EXACT}
    tool = TOOLS["book_flight"]
    step = Step(call, apply(call, repair.changes), slots_of(tool.schema), [*TOOLS], tool.effect)
    assert judge(dataclasses.replace(step, extents=repair.extents)).safety is safety
    assert apply(call, repair.changes) == Call("book_flight", {"origin": "OSL"}, call.id)
    for change in repair.changes:
        assert change.before == look(call, change.path)
        assert change.reason
    assert repair.changes[-1].path == "/raw"
    assert repair.changes[-1].after is ABSENT


REFUSED = [
    (Call("book_flight", {"origin": "OSL"}), "strictly"),
    (Call("book_flight", raw=""), "empty"),
    (Call("book_flight", raw='{"origin": "OS'), "cut off inside a string (line 1, column 12)"),
    (Call("book_flight", raw='{"origin": "OSL", "origin": "CDG"}'), "two different values"),
    (Call("book_flight", raw="from Oslo"), "not an object"),
    (Call("", raw="I would rather not."), "no call"),
    (Call("", raw='Sure: {"name": "book_flight", "arguments": {"origin": "OSL"}}'), "not made"),
    (Call("", raw="[book_flight('OSL'), book_flight('CDG')]"), "2 calls"),
    (Call("", raw="<tool_call>{'name': 'book_flight', 'args': {'origin': 'OS"), "cut off"),
]


@pytest.mark.parametrize(("call", "reason"), REFUSED)
def test_what_has_no_one_reading_is_given_up(call, reason):
    repair = fix(call)
    assert isinstance(repair, GiveUp), repair
    assert reason in repair.reason


@pytest.mark.parametrize("raw", ['{"origin": "OSL", "passengers": 1', '{"origin": "OSL"'])
@pytest.mark.parametrize(("ended", "safety"), [(None, Safety.LOSSY), (True, Safety.INFERRED)])
def test_what_is_not_closed_is_the_kernel_s_to_judge(raw, ended, safety):
    call, tool = Call("book_flight", raw=raw), TOOLS["book_flight"]
    repair = fix(call)
    assert isinstance(repair, Changed)
    runs = apply(call, repair.changes)
    verdict = judge(Step(call, runs, slots_of(tool.schema), [*TOOLS], tool.effect, ended=ended))
    assert verdict.safety is safety


def test_nothing_is_completed_after_a_known_cut():
    call = Call("book_flight", raw='{"origin": "OSL"')
    assert isinstance(fix(call, finish_reason="stop"), Changed)
    assert isinstance(fix(call, finish_reason="length"), GiveUp)
    number = Call("book_flight", raw='{"origin": "OSL", "passengers": 1')
    assert isinstance(fix(number, finish_reason="stop"), Changed)


def test_bare_names_count_where_the_user_wrote_them():
    call = Call("", raw="book_flight(origin=my_home)")
    assert isinstance(fix(call), GiveUp)
    assert isinstance(fix(call, request="a flight from my_home"), Changed)


def test_a_map_finds_it_and_adds_keys():
    strategy = bind(resolve("fix-json"), {"name_keys": ("fn",), "arguments_keys": ("with",)})
    call = Call("", raw='{"fn": "book_flight", "with": {"origin": "OSL"}}')
    repair = strategy(call, MALFORMED, RepairContext(tools=TOOLS))
    assert isinstance(repair, Changed)
    assert apply(call, repair.changes).args == {"origin": "OSL"}


@given(st.dictionaries(st.sampled_from(["origin", "note"]), st.text(st.characters(codec="utf-8"))))
def test_valid_arguments_survive(args):
    for text in (json.dumps(args), json.dumps(args, indent=1, ensure_ascii=False)):
        repair = fix(Call("book_flight", raw=text))
        assert isinstance(repair, Changed)
        assert apply(Call("book_flight", raw=text), repair.changes).args == args


@given(st.text("{}[]()\"'\\,:=/* abc1_", max_size=60))
def test_any_raw_text_is_mended_or_given_up(text):
    for name in ("", "book_flight", "unknown"):
        call = Call(name, raw=text)
        repair = fix(call)
        assert isinstance(repair, Changed | GiveUp)
        if isinstance(repair, Changed):
            assert apply(call, repair.changes).raw is None
