"""Which calls in a text are made: those that are the text; of tools that only read, some more."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from selfcorrect import StrategyMap, build_graph, repair_call
from selfcorrect.errors import MapError
from selfcorrect.model import Safety
from selfcorrect.protocols import TextPolicy
from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs

sys.path.insert(0, str(Path(__file__).parent))
from judging import classes

SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}, "urgent": {"type": "boolean", "default": False}},
    "required": ["to", "amount"],
}  # fmt: skip
ACTING = [None, "mutating", "destructive", "idempotent"]
J = '{"name": "pay", "arguments": {"to": "ann", "amount": 5}}'
F = "pay(to='ann', amount=5)"
X = '<invoke name="pay"><parameter name="to">ann</parameter><parameter name="amount">5</parameter></invoke>'
CALLS = {"json": J, "code": F, "tags": X, "hermes": f"<tool_call>{J}</tool_call>", "fenced": f"```json\n{J}\n```", "mistral": f"[TOOL_CALLS][{J}]"}  # fmt: skip
LOCAL = StrategyMap.load("local_model")
EDGE, OFF = TextPolicy("edge"), TextPolicy("off")


def tools(effect=None, call=None):
    schema = {"name": "pay", "description": "", "parameters": SCHEMA}
    return tool_specs([ToolSpec.from_schema(schema, call=call, effect=effect)])


def made(text, effect=None, **more):
    return [dict(call.args) for call in read_calls(text, tools(effect), **more).calls]


words = st.text(st.characters(codec="utf-8", exclude_characters="<[{(`|"), min_size=1).filter(
    lambda text: any(char.isalpha() for char in text)
)
"""Words of any language, which form no call and no token of a form."""


@given(words, words, st.sampled_from(sorted(CALLS)), st.sampled_from(ACTING), st.sampled_from(["before", "behind", "both"]), st.sampled_from([" ", "\n", "\n\n"]))  # fmt: skip
@example("Example:", "", "json", None, "before", "\n")
@example("NOT", "", "hermes", None, "before", " ")
@example("", "Action:", "code", None, "behind", "\n")
def test_words_around_a_call_that_acts_hand_it_on(before, behind, form, effect, where, gap):
    assume("thought" not in before.lower() and "Action" not in before)
    text = CALLS[form]
    if where != "behind":
        text = before + gap + text
    if where != "before":
        text = text + gap + behind
    reading = read_calls(text, tools(effect))
    assert reading.calls == ()
    assert reading.refusal is not None


@pytest.mark.parametrize("form", CALLS)
@pytest.mark.parametrize("effect", [*ACTING, "read_only"])
def test_a_call_that_is_the_text_is_made_in_every_form(form, effect):
    call = CALLS[form]
    for text in (call, f"\n{call}\n", f"<think>Pay? No: example only.</think>{call}", f"<|im_start|>assistant\n{call}<|im_end|>", f"[{call}]" if form == "code" else call):  # fmt: skip
        assert made(text, effect) == [{"to": "ann", "amount": 5}]


@pytest.mark.parametrize("around", ["> {}", "# {}", "// {}", "~~{}~~", "<!-- {} -->", "/* {} */", "{}?", "- {}", "x = {}", "\u274c {}", "<example>{}</example>", "<tool_call draft='1'>{}</tool_call>", "```example\n{}\n```", "{} # not yet", "not {}", '"{}".', "<|draft|>{}"])  # fmt: skip
def test_marks_that_are_no_token_of_a_form_are_words(around):
    assert made(around.replace("{}", F)) == []


# --- what stands beside a call ---------------------------------------------------------------------

KNOWN = {"id", "name", "tool", "tool_name", "arguments", "args", "parameters", "params", "tool_args", "input", "to", "amount", "urgent"}  # fmt: skip
values = st.one_of(st.booleans(), st.integers(), st.text(min_size=1), st.lists(st.integers(), min_size=1), st.dictionaries(st.text(min_size=1), st.booleans(), min_size=1))  # fmt: skip
keys = st.sampled_from(
    ["approved", "dry_run", "execute", "status", "result", "when", "note", "type", "role", "condition", "schedule"]
) | st.text(st.characters(codec="ascii", categories=["L"]), min_size=3)  # fmt: skip
ENVELOPES = {
    "bare": lambda call, beside: call | beside,
    "openai": lambda call, beside: {"type": "function", "id": "1", "function": call} | beside,
    "openai, inside": lambda call, beside: {"type": "function", "function": call | beside},
    "list": lambda call, beside: [call, beside],
    "in a list": lambda call, beside: [call | beside],
    "tool_calls": lambda call, beside: {"role": "assistant", "tool_calls": [call | beside]},
    "one key": lambda call, beside: {"function_call": call} | beside,
    "parameters": lambda call, beside: {"name": "pay", "parameters": call["arguments"]} | beside,
}


@given(keys, values, st.sampled_from(sorted(ENVELOPES)), st.sampled_from(["read_only", None, "destructive"]))  # fmt: skip
@example("type", "example", "bare", None)
@example("role", "user", "bare", None)
@example("dry_run", True, "openai", None)
@example("approved", False, "tool_calls", "read_only")
@example("type", [0], "list", "read_only")
def test_an_unknown_key_or_value_beside_a_call_makes_it_lossy(key, value, envelope, effect):
    assume(key.lower() not in KNOWN and key not in ("function", "thought", "reasoning"))
    call = {"name": "pay", "arguments": {"to": "ann", "amount": 5}}
    offered = tools(effect)
    text = json.dumps(ENVELOPES[envelope](call, {key: value}))
    known = {"type": ["function", "tool_use"], "role": ["assistant"], "index": [0]}
    assume(value not in known.get(key, ()) and key not in ("created", "index", "content", "text"))
    if not any(found.args.keys() - {"to", "amount"} for found in read_calls(text, offered).calls):
        assert classes(text, offered) <= {Safety.LOSSY}
    if effect != "read_only":
        assert not repair_call(text, offered.values(), strategies=LOCAL).ready


CALL = {"name": "pay", "arguments": {"to": "ann", "amount": 5}}
SMUGGLED = [
    '{"do_not_run": ["pay(to=\'ann\', amount=5)"]}', '["Example: pay(to=\'ann\', amount=5)"]', '["pay(to=\'ann\', amount=5)", "or wait"]', f"<function=example>{J}</function>",
    f"<tool_call dry_run='true'>{J}</tool_call>", X.replace('"to">', '"to" example="true">'), "pay(to='ann', amount=5 # or 6\n)", '{"name": "pay", "arguments": {"to": "ann", "amount": 5 /* 6 */}}',
    "assert pay(to='ann', amount=5)", f"\u201c{J}\u201d", f"'{J}'", f"{F} # later",
    *map(json.dumps, [
        {"status": "cancelled", "tool_calls": [CALL]}, CALL | {"id": "do not run"}, {"role": "assistant", "tool_calls": [CALL], "id": "not yet approved"},
        {"choices": [{"message": {"tool_calls": [CALL]}, "finish_reason": "stop"}], "dry_run": True}, {"draft": CALL}, {"tool_call": CALL, "approved": False},
        {"actions": [CALL], "when": "tomorrow"}, CALL | {"params": "dry"}, {"pay": CALL["arguments"], "dry_run": True}, {"name": "pay", "to": "ann", "amount": 5, "status": "draft"},
        [CALL, {"type": "note", "text": "x"}], [CALL, "or", CALL],
    ]),
]  # fmt: skip


@pytest.mark.parametrize("text", SMUGGLED)
@pytest.mark.parametrize("strategies", ["default", LOCAL])
def test_no_call_runs_unasked_whose_envelope_says_more(text, strategies):
    assert not repair_call(text, tools().values(), strategies=strategies).ready
    value = json.loads(text) if text.startswith(("{", "[")) and "/*" not in text else None
    if isinstance(value, dict):
        assert not repair_call(value, tools().values(), strategies=strategies).ready


# --- the map's word --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", CALLS)
def test_at_an_edge_a_call_is_made_where_the_map_says_so(form):
    call = CALLS[form]
    for text in (f"I pay her.\n{call}", f"{call}\nI paid her.", f"I pay.\n{call}<|im_end|>\n<|im_start|>user\nThanks, never again."):  # fmt: skip
        assert made(text, policy=EDGE) == [{"to": "ann", "amount": 5}]
        assert made(text) == []
    inline = [f"I pay: {call}", f"{call} is what I do."] if form != "fenced" else []
    for text in (f"I pay.\n{call}\nDone.", f"{call}\nor\n{call.replace('5', '6')}", *inline):
        assert made(text, policy=EDGE) == []


def test_at_an_edge_a_name_on_a_line_may_be_joined_to_a_sentence():
    call = 'pay\n{"to": "ann", "amount": 5}'
    for mark in ".!?":
        assert made(f"I will pay her{mark}{call}", policy=EDGE) == [{"to": "ann", "amount": 5}]
        assert made(f"I will pay her{mark}{call}", "read_only") == []
        assert made(f"I will pay her{mark}{call}\nThen I rest.", policy=EDGE) == []
    for before in ("Never", "Never ", "not-", "No. ", "the tool's "):
        assert made(before + call, policy=EDGE) == []
    assert made(f"I will pay her.{F}", policy=EDGE) == []


@pytest.mark.parametrize("text", [f"['{F.replace(chr(39), chr(34))}]", f'[{F}"]', f"['{F}']"])
def test_a_quote_between_a_call_and_the_bracket_of_its_list_is_no_word(text):
    assert made(text) == [{"to": "ann", "amount": 5}]
    assert made(f"not {text}") == made(text.replace("]", " maybe]")) == []


@pytest.mark.parametrize("key", ["tools_call", "toolCalls", "call_tool", "function_calls"])
def test_calls_in_strings_under_a_key_that_says_the_same(key):
    assert made(json.dumps({key: [F]})) == [{"to": "ann", "amount": 5}]
    for other in ("notes", "example_calls", "no_calls", ""):
        assert made(json.dumps({other: [F]})) == []


def test_at_an_edge_a_tool_that_destroys_needs_to_know_what_was_said():
    text = f"I pay her.\n{J}"
    assert made(text, "destructive", policy=EDGE) == []
    assert made(text, "destructive", policy=EDGE, request="pay ann") == [{"to": "ann", "amount": 5}]
    assert made(text, "destructive", policy=EDGE, in_context=True) == [{"to": "ann", "amount": 5}]


def test_only_the_forms_that_the_map_names_are_read():
    policy = TextPolicy(forms=("json",))
    assert len(made(J, policy=policy)) == 1
    assert made(F, policy=policy) == []
    assert made(X, policy=policy) == []
    assert made(J, policy=TextPolicy(forms=("code",))) == []


def test_where_texts_are_not_read_none_is_a_call():
    for effect in (*ACTING, "read_only"):
        assert made(J, effect, policy=OFF) == []


def test_maps_say_which_calls_are_read_and_are_merged():
    child = StrategyMap(extends="local_model", reading={"forms": ["json", "code"]})
    assert child.reading == TextPolicy("edge", ("json", "code"))
    assert StrategyMap.load("default").reading == TextPolicy()
    with pytest.raises(MapError, match=r"reading\.text"):
        StrategyMap(reading={"text": "edges"})
    with pytest.raises(MapError, match=r"reading\.forms"):
        StrategyMap(reading={"forms": ["yaml"]})


# --- in a run --------------------------------------------------------------------------------------


def run(raw, *, strategies=None, effect="mutating", **given):
    paid = []
    offered = tools(effect, call=lambda **args: paid.append(args) or "paid")
    out = build_graph(offered.values(), strategies=strategies).invoke({"raw": raw, **given})
    return paid, out


@pytest.mark.parametrize(
    ("raw", "detail"),
    [(f"Sure!\n{J}", "the text holds a call; it was not made"), ("I cannot help.", "the text holds no call")],
)  # fmt: skip
def test_a_text_that_is_not_the_call_ends_the_run_as_no_call(raw, detail):
    paid, out = run(raw)
    assert paid == []
    assert (out["failure"]["reason"], out["failure"]["detail"]) == ("no_call", detail)
    done = repair_call(raw, tools("mutating").values())
    assert (done.outcome, done.reason, done.detail) == ("failed", "no_call", detail)


NATIVE = [{"name": "pay", "args": {"to": "ann", "amount": 5}, "id": "1"}]
OTHER = [{"name": "pay", "args": {"to": "bob", "amount": 7}, "id": "1"}]
MADE = {
    "LangChain": [AIMessage("", tool_calls=NATIVE), ToolMessage("paid", tool_call_id="1")],
    "OpenAI": [{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "pay", "arguments": '{"amount": 5.0, "to": "ann"}'}}]}],
    "default": [AIMessage("", tool_calls=[{**NATIVE[0], "args": {"to": "ann", "amount": 5, "urgent": False}}])],
    "Anthropic": [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "pay", "input": {"to": "ann", "amount": 5}}]}],
    "a text": [{"role": "assistant", "content": F}, {"role": "tool", "content": "paid"}],
}  # fmt: skip
SAID = {
    "a tool": [ToolMessage(f"Now do {J}", tool_call_id="1")],
    "a tool, in other quotes": [ToolMessage(f"Now do {J}".replace('"', "'"), tool_call_id="1")],
    "a tool, in JSON": [{"role": "tool", "content": json.dumps({"page": f"<tool_call>{J}</tool_call>"})}],
    "a tool, in JSON in JSON": [{"role": "tool", "content": json.dumps({"page": json.dumps({"text": J})})}],
    "a tool, in another form": [{"role": "tool", "content": f"Do this:\n{F}"}],
    "a document": [HumanMessage([{"type": "document", "source": {"data": f"Step 1: {J}"}}])],
    "the user": [("user", f"What does this do? {J}")],
    "the system": [SystemMessage(f"Calls look like {J}")],
}  # fmt: skip


@pytest.mark.parametrize("before", [*MADE.values(), *SAID.values()], ids=[*MADE, *SAID])
@pytest.mark.parametrize("raw", [J, f"<tool_call>{J}</tool_call>", F])
@pytest.mark.parametrize("strategies", [None, "local_model"])
def test_a_text_repeats_no_call_that_was_made_and_quotes_none(before, raw, strategies):
    messages = [HumanMessage("Pay Ann, please."), *before]
    paid, out = run(raw, messages=messages, strategies=strategies)
    assert paid == []
    assert out["failure"]["reason"] == "no_call"


def test_what_nobody_said_before_is_made():
    messages = [HumanMessage("Pay Ann 5."), AIMessage("", tool_calls=OTHER), ToolMessage("paid bob", tool_call_id="1")]  # fmt: skip
    for raw in (J, F):
        assert run(raw, messages=messages)[0] == [{"to": "ann", "amount": 5}]


def test_a_text_beside_calls_that_were_made_as_such_makes_none():
    messages = [HumanMessage("Pay them."), AIMessage(J, tool_calls=OTHER)]
    assert run(J, messages=messages)[0] == []


def test_the_request_is_the_users_word():
    assert run(J, request=f"What would {J} do?")[0] == []
    assert run(J, request="Pay Ann 5.")[0] == [{"to": "ann", "amount": 5}]


# --- texts that are cut ----------------------------------------------------------------------------

OPEN = [
    "pay(to='ann', amount=5", "[pay(to='ann', amount=5", "pay(to='ann', amount=5, ", '{"name": "pay", "arguments": {"to": "ann", "amount": 5', '<tool_call>{"name": "pay", "arguments": {"to": "ann", "amount": 5 ',
    '{"name": "pay", "to": "ann", "amount": 5 ', '{"pay": {"to": "ann", "amount": 5 ', 'pay\n{"to": "ann", "amount": 5 ', '{"name": "pay", "arguments": "{\\"to\\": \\"ann\\", \\"amount\\": 5 ',
    '[TOOL_CALLS]pay{"to": "ann", "amount": 5 ', '{"name": "pay", "arguments": "{\\"to\\": \\"ann\\", \\"amount\\": 5 "}',
]  # fmt: skip
CLOSED = [
    '{"name": "pay", "arguments": {"to": "ann", "amount": 5}', '[{"name": "pay", "arguments": {"to": "ann", "amount": 5}', "[pay(to='ann', amount=5)",
    '<tool_call>{"name": "pay", "arguments": {"to": "ann", "amount": 5}', '{"tool_calls": [{"name": "pay", "arguments": {"to": "ann", "amount": 5}',
]  # fmt: skip


@pytest.mark.parametrize("text", OPEN)
@pytest.mark.parametrize("effect", ACTING)
def test_arguments_that_are_not_closed_themselves_are_refused(text, effect):
    assert made(text, effect) == []


@pytest.mark.parametrize("text", CLOSED)
@pytest.mark.parametrize("effect", [None, "mutating", "idempotent", "read_only"])
def test_closers_behind_closed_arguments_are_supplied(text, effect):
    assert made(text, effect) == [{"to": "ann", "amount": 5}]


@pytest.mark.parametrize("text", ["pay(to='ann', amount=5", '{"name": "pay", "arguments": {"to": "ann", "amount": 5'])  # fmt: skip
def test_of_a_tool_that_only_reads_any_closer_is_supplied(text):
    assert made(text, "read_only") == made(text, finish_reason="stop") == [{"to": "ann", "amount": 5}]  # fmt: skip


@given(st.integers(1, len(J) - 1))
def test_no_cut_call_that_acts_is_made_with_less_than_it_said(size):
    for whole in (J, F, X):
        assert made(whole[: min(size, len(whole) - 1)]) in ([], [{"to": "ann", "amount": 5}])


@pytest.mark.parametrize("key", ["a", "b"])
def test_a_string_does_not_swallow_a_key_behind_its_comma(key):
    text = f'{{"name": "pay", "arguments": {{"to": "Invoice",{{"{key}": 5}}}}}}'
    assert made(text, "read_only") == []


def test_json_in_json_stops_at_eight_levels():
    text = J
    for level in range(1, 11):
        text = json.dumps(text)
        assert bool(made(text)) == (level <= 8)


@pytest.mark.parametrize("part", ["\u201c{", "\u2018{", "/*{", "{/*", "{\u201ca\u201c:", "<!--", "> pay() ", ">>>", "Thought:\n"])  # fmt: skip
def test_a_long_text_takes_as_long_per_character_as_a_short_one(part):
    def seconds(size):
        started = time.perf_counter()
        read_calls(part * (size // len(part)), tools())
        return time.perf_counter() - started

    short = min(seconds(8_000) for _ in range(3))
    assert min(seconds(128_000) for _ in range(2)) < 0.5 + 16 * 2.5 * short
