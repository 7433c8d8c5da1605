"""Unreadable text beside a call, and calls that were begun and cut off."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs

sys.path.insert(0, str(Path(__file__).parent))
from forms import MODELS, Written


def spec(name, effect, *parameters):
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in parameters}}
    schema["required"] = list(parameters)
    return ToolSpec.from_schema({"name": name, "description": "", "parameters": schema}, effect=effect)  # fmt: skip


TOOLS = tool_specs(
    [spec("get_weather", "read_only", "city"), spec("send_mail", None, "to", "body")]
)
JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
CALLS = [f"<tool_call>{JSON}</tool_call>", JSON, f"[TOOL_CALLS][{JSON}]", '<function=get_weather>{"city": "Oslo"}</function>',
    '<invoke name="get_weather"><parameter name="city">Oslo</parameter></invoke>', "get_weather(city='Oslo')"]  # fmt: skip
PROSE = [
    "Use {placeholder} then:\n", "{1,2,3}\n", "The set {1,2,3} is fine.\n", "So \\frac{a}{b} is right.\n", "```python\nd = {x: y}\n```\n",
    "I fill {city} in:\n", "{x: y}\n", 'The body is {"temp": 5 degrees}.\n', "${name} and {{x}} are filled in.\n", "f(x) = {x | x > 1}\n", '{"query": x y}\n',
]  # fmt: skip


@pytest.mark.parametrize("prose", PROSE)
@pytest.mark.parametrize("call", CALLS)
def test_a_bracket_in_prose_refuses_nothing(prose, call):
    for text in (prose + call, f"{call}\n{prose}"):
        found = read_calls(text, TOOLS).calls
        assert [(each.name, each.args) for each in found] == [("get_weather", {"city": "Oslo"})]


MAYBE_CALLS = [
    '{"name": "send_mail", "arguments": {"to" "x"}}', '<tool_call>{"name": "mail", oops}</tool_call>', '{"arguments": {"to": x y}, "name": "send_mail"}',
    '{"arguments": {"to": "a"b"}"}, "name": "send_mail"}', "<tool_call>{to: x y}</tool_call>", '{"name": "unknown", "arguments": {"to" "x"}}',
    "{name: send_mail, arguments: {to: x y}}", '{"tool": "send_mail" "to": "x y"', '<function=send_mail>{"to" "x"}</function>',
    'Action: send_mail\nAction Input: {"to" "x"}', "[TOOL_CALLS]send_mail{to: x y}", '<invoke name="send_mail"><parameter name="to">x',
    '<function=send_mail>{"to": "x', '<invoke name="send_mail">', "[TOOL_CALLS]send_mail[ARGS]{",
    '{"name": "send_', '<tool_call>\n{"name": "send_', '<tool_call>{"name": "mail", x}</tool_call>',
]  # fmt: skip


@pytest.mark.parametrize("broken", MAYBE_CALLS)
def test_what_may_be_a_second_call_is_refused(broken):
    for call in CALLS[:2]:
        reading = read_calls(f"{call}\n{broken}", TOOLS)
        assert reading.calls == ()
        assert reading.refusal is not None
        assert reading.refusal.code in ("malformed_json", "cut")


WRITTEN = [Written("send_mail", {"to": "a@b.c", "body": "Hello there"})]
UNSEEN = ("apertus", "claude 2 xml", "cline", "phi 4")
"""Forms in which a call that was cut off early looks like anything else."""


@pytest.mark.parametrize("form", [form for form in MODELS if form not in UNSEEN])
def test_a_call_that_was_cut_off_is_said_to_be_cut_off(form):
    text = MODELS[form](WRITTEN)
    for inside in ("a@b", "Hello th"):
        refusal = read_calls(text[: text.index(inside) + len(inside)], TOOLS).refusal
        assert refusal is not None
        assert refusal.code == "cut"
        assert "line " in refusal.text


BAR, SEP = "\uff5c", "\u2581"
BEGUN = [
    "<|channel|>commentary to=functions.send_mail<|message|>{", "<|channel|>commentary to=functions.send_mail <|constrain|>json<|message|>",
    "[TOOL_CALLS]send_mail[ARGS]", "[TOOL_CALLS]send_mail[ARGS", "[TOOL_CALLS]send_mail", "[TOOL_CALLS]send_mail{", "[TOOL_CALLS]", "[TOOL_CALLS] [{",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.send_mail:0<|tool_call_argument_begin|>", "<|tool_call_begin|>functions.send_mail:0<|tool_call_arg",
    f"<{BAR}tool{SEP}call{SEP}begin{BAR}>function<{BAR}tool{SEP}sep{BAR}>send_mail\n```json\n", f"<{BAR}tool{SEP}call{SEP}begin{BAR}>send_mail<{BAR}tool{SEP}sep{BAR}>{{",
    '<invoke name="send_mail">', '<function_calls>\n<invoke name="send_mail">\n<param', '<function_calls>\n<invoke name="send_m', "<function=send_mail>{", "<function=send_mail>",
    "<function=send_mail>\n<parameter=to>\nx", "<tool_call>", "<tool_call>\n{", '<tool_call>\n{"na', "<tool_call>send_mail\n<arg_key>to</arg_key>", "I look.\n<tool_call>\n",
    'Thought: x\nAction: send_mail\nAction Input: {"s": "te', "Action: send_mail\nAction Input:", "Action: send_mail\nAction Input: {", "send_mail(to", "send_mail(",
    "<send_mail><to>x</to><body", 'send_mail\n{"to": "te', '<send_mail>\n{"to": "te',
]  # fmt: skip


@pytest.mark.parametrize("text", BEGUN)
def test_a_call_that_was_only_begun_is_cut_off(text):
    refusal = read_calls(text, TOOLS).refusal
    assert refusal is not None
    assert refusal.code == "cut"


@pytest.mark.parametrize(
    "text",
    [
        "I use <invoke> here.",
        "The weather is fine (",
        "Use send_mail to",
        "",
        "A [",
        "Then {",
        "x <",
    ],
)
def test_a_text_that_begins_no_call_holds_none(text):
    refusal = read_calls(text, TOOLS).refusal
    assert refusal is not None
    assert refusal.code == "no_call"


@pytest.mark.parametrize(
    "stray",
    [
        "<tool_call>",
        "[TOOL_CALLS]",
        "<tool_call>\n<tool_call>",
        '<tool_call>\n{"arguments": {"to": "x',
    ],
)
def test_a_stray_tag_behind_a_call_changes_nothing(stray):
    assert len(read_calls(f"{CALLS[0]}\n{stray}", TOOLS).calls) == 1


@pytest.mark.parametrize(
    "part",
    ["{x", "{x: y} ", "{placeholder} name: a arguments: b ", "<tool_call>{x y ", "to=send_mail {x y ", "[TOOL_CALLS]send_mail{x y", "Action: send_mail\nAction Input: {x\n",
     "{name: a, arguments: b ", '<invoke name="send_mail">', "<function=send_mail>", '{"name": "send_mail" x ', "send_mail("],
)  # fmt: skip
def test_unreadable_text_takes_linear_time(part):
    started = time.perf_counter()
    read_calls(part * (60_000 // len(part)), TOOLS)
    assert time.perf_counter() - started < 3
