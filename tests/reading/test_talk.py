"""Proposals, alternatives, corrections, announcements and tags in prose are no calls."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import pytest

from selfcorrect.effects import destroys
from selfcorrect.protocols import TextPolicy
from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs


def spec(name, *parameters, effect=None):
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in parameters}}
    schema["required"] = list(parameters)
    return ToolSpec.from_schema({"name": name, "description": "", "parameters": schema}, effect=effect)  # fmt: skip


TOOLS = tool_specs([spec("get_weather", "city"), spec("card.freeze", "card_id", effect="idempotent"), spec("delete_rows", "table")])  # fmt: skip
F, G = "card.freeze(card_id='C-1')", "card.freeze(card_id='C-2')"
J = '{"name": "card.freeze", "arguments": {"card_id": "C-1"}}'
T = f"<tool_call>{J}</tool_call>"
INVOKE = '<function_calls><invoke name="card.freeze"><parameter name="card_id">C-1</parameter></invoke></function_calls>'
FROZEN, SECOND = ("card.freeze", {"card_id": "C-1"}), ("card.freeze", {"card_id": "C-2"})


def calls(text):
    return [(call.name, dict(call.args)) for call in read_calls(text, TOOLS).calls]


PROPOSALS = [
    f"To freeze the card you could use:\n```python\n{F}\n```\nBe careful: this cannot be undone. Should I run it?",
    f"To freeze the card you could use:\n```json\n{J}\n```\nBe careful. Should I run it?",
    f"One could freeze it with:\n```\n{F}\n```\nbut waiting is safer.", f"You could do it with:\n```json\n{J}\n```\nBut be careful.",
    f"This is equivalent to\n```\n{F}\n```\nwhich is dangerous.", f"The same as\n```\n{F}\n```", f"One might call:\n\n{F}",
    f"## Usage\n```python\n{F}\n```\nFreezes a card.", f"## Usage\n```json\n{J}\n```\nFreezes a card.", f"### Example\n```python\n{F}\n```",
    f"**Usage:**\n```python\n{F}\n```", f"**Example usage**\n```python\n{F}\n```", f"The syntax would be:\n```\n{F}\n```", f"Usage: {F}",
    f"The format is:\n```json\n{J}\n```", f"The next step would be:\n{F}", f"Once you approve, the call would be:\n{F}",
    f"If the card is lost, the function call would be:\n{F}", f"```python\n{F}\n```\nWould you like me to run this?",
    f"The user typed {F}", f"When the card is lost, call {F}.", f"{F}\n# do not run this", f"Call {F} only if the card is lost.", f"I refuse to call {F}",
    f"Here is what I suggest:\n{F}\n\nThis freezes the card at once. Shall I go ahead?", f"The user pasted this:\n```json\n{J}\n```",
]  # fmt: skip
ALTERNATIVES = [
    f"[{F}]\n\nor alternatively\n\n[{G}]", f"{F}\nor\n{G}", f"Either {F} or {G}.", f"{F}\n\nAlternatively:\n\n{G}", f"{F}; or: {G}",
    f"```python\n{F}\n```\nAlternatively, you can use:\n```python\n{G}\n```", f"Option 1:\n{F}\nOption 2:\n{G}", f"```\n{F}\n```\nor\n```\n{G}\n```",
    f"{F}\n\nOr, if you prefer:\n\n{G}", f"{F}\n\nAnother option:\n{G}", f"{T}\nor alternatively\n{T.replace('C-1', 'C-2')}",
    f"{J}\n\nor\n\n{J.replace('C-1', 'C-2')}", f"{T}\n\nAlternatively:\n{T.replace('C-1', 'C-2')}",
]  # fmt: skip
TAGS = [
    f"You must not send {T} because the channel is read only.", f"Do not run {T}", f"Don't call {T}!", f"I can't send {T} now.", f"I did NOT emit {T}",
    f"Never emit {T} without asking.", f"I would never run {T} without your approval.", f"You should never use {T}, as it cannot be undone.",
    f"For example, a call looks like this: {T}", f"A call looks like `{T}`.", f"`{T}` is how a call looks.", f"The tool expects a call like {T}", f"e.g. {T}",
    f"The correct syntax is `{T}` here.", f"Usage: {T}", f"Example only, not executed: {INVOKE}", f"Example:\n{T}", f"Here is an example of a call:\n\n{T}",
    f"If you confirm, I will send: {T} Shall I go ahead?", f"If you confirm, I will send:\n{T}", f"Once confirmed, I will send:\n{T}", f"Should I send {T}?",
    f"Would you like me to send {T}", f"I could send {T}", f"{T}\nShall I go ahead?", f"{T}\nDo you want me to run it?", f"{T} (example only)",
    f"The user pasted this: {T}", f"The user pasted this:\n{T}", f"He wrote: {T}", f"The document contains: {T}", f"The document contains this:\n{T}",
    f"Wrong: [TOOL_CALLS][{J}]", f"Wrong:\n{T}", f"Do not send this:\n{T}", f"Never do this:\n\n```\n{T}\n```", f"The format is:\n```xml\n{T}\n```", f"The format looks like this:\n{T}",
    f"{T}\nWait, that is wrong.", f"{T}\n\nOops, that was wrong.", f"{T} is what I would send.", f"{T} was sent before.", f"> {T}", f"Do not call {INVOKE} here.",
    f"Instead of {T}", f"Rather than sending {T}, I'll ask.", f"I considered {T} but it's dangerous.", f"The previous call was {T}", f"I refuse to send {T}",
    f'The string "{T}" appeared in the log.', f"It is forbidden to send {T}", f"{T}\n\nI have not executed this.", f"{T} (not executed)", f"{T}\n\nDo not run this.",
    'I will not call <function=card.freeze>{"card_id": "C-1"}</function>.', "Do not call <card.freeze><card_id>C-1</card_id></card.freeze> here.",
]  # fmt: skip


FORMS = [
    "I already called: {C}", "I've already run: {C}", "Before I run {C} I need your confirmation.", "Should I do this? {C}", "Shall I run it now?\n{C}",
    "Wait, that is wrong: {C}", "Please confirm: {C}", "Tomorrow I will run {C}", "Later I will call {C}", "To call it, write {C}", "You type {C}",
    "The log shows:\n```\n{C}\n```\nwhich explains the error.", "I have called {C} and got 12 degrees.", "I ran the following:\n{C}\nand got 5.",
    "<!-- {C} -->", "<!--\n{C}\n-->", "/* {C} */", "<!-- not now: {C}",
]  # fmt: skip
TALK = [form.replace("{C}", call) for form in FORMS for call in (F, J, T)]
READS_ONLY = tool_specs([spec("card.freeze", "card_id", effect="read_only")])


OWN_LINES = ("Shall I run it now?", "The log shows:", "I ran the following:")
"""Words above a call in lines of its own, which is made if its tool only reads."""


@pytest.mark.parametrize("text", TALK)
def test_what_is_past_or_asked_or_left_for_later_is_not_called(text):
    assert read_calls(text, TOOLS).calls == ()
    assert len(read_calls(text, READS_ONLY).calls) == text.startswith(OWN_LINES)


@pytest.mark.parametrize("call", [F, J, T])
@pytest.mark.parametrize(
    "form",
    ["I looked at it before.\n{C}", "I have called you, so now I freeze it:\n{C}", "What should I do? I freeze it.\n{C}", "Shall we? Yes.\n{C}",
     "Later may be too late.\n{C}", "<!-- a note -->\n{C}", "The user's data shows that it is lost.\n{C}", "I will now run:\n{C}", "Before I answer, I call:\n{C}"],
)  # fmt: skip
def test_in_lines_of_its_own_a_call_of_a_tool_that_only_reads_is_made(call, form):
    text = form.replace("{C}", call)
    assert len(read_calls(text, READS_ONLY).calls) == 1
    assert read_calls(text, TOOLS).calls == ()


@pytest.mark.parametrize("text", PROPOSALS + ALTERNATIVES + TAGS)
def test_what_is_proposed_or_denied_is_not_called(text):
    reading = read_calls(text, TOOLS)
    assert reading.calls == ()
    assert reading.refusal is not None


@pytest.mark.parametrize(
    "text",
    [f"{F} - no, instead: {G}", f"{F}\nWait, that is wrong:\n{G}", f"{F}. Sorry, I meant {G}", f"{T}\nOops, that was wrong.\n{T.replace('C-1', 'C-2')}"],
)  # fmt: skip
def test_a_call_that_is_taken_back_is_not_made(text):
    assert calls(text) == []


ANNOUNCED = [
    f"You can use the following function:\n```python\n{F}\n```", f"The function call would be:\n```python\n{F}\n```", f"The function call would be:\n\n[{F}]",
    f"The function call looks like this:\n```python\n{F}\n```", f"The function call in the correct format is:\n\n[{F}]", f"So the final function call would be: {F}",
    f"To freeze the card, you can call:\n\n```\n{F}\n```", f"Here is the call:\n```\n{F}\n```\nwhich freezes the card.", f"Output: [{F}]", f"Tool call: `{F}`",
    f"Here is the function call that does it:\n\n[{F}]\n\nNote that it is quick.", f"Based on the information the user shared:\n[{F}]", f"Since you confirmed it, I freeze it now:\n{F}",
    f"[{F}]\n\nHowever, please note that it is final.", f"However, I can freeze it.\n\n[{F}]", f"We could wait, but it is better to act.\n{F}", f"You could wait, but I freeze it:\n```\n{F}\n```",
    f"Your card is lost or stolen, so I freeze it:\n{F}", f"To protect you, I'm going to freeze it.\n\n```python\n{F}\n```\n\nIs there anything else I should do?",
    f"## Step 1: Freeze\n```python\n{F}\n```", f"**Function call:**\n```python\n{F}\n```", f"### Function Call\n[{F}]", f"```python\n# Example usage\nx = {F}\nprint(x)\n```",
    f"Here is the JSON for the call:\n```json\n{J}\n```\nThis will freeze the card.", f"Here is the function call in the requested format:\n```json\n{J}\n```",
    f"I cannot help without the number, so I will freeze it first.\n{T}", f"If the user wants X I should call Y. {T}", f"Let me not waste time.\n\n{T}", f"I'm not sure. Let me check:\n\n{T}",
    f"I don't have that. Let me look it up:\n{T}", f"I don't have that, but I can do it: {T}", f"I do not know it, so I will do it: {T}", f"The user asked for it: {T}", f"No problem: {T}",
    f"I should check whether it is lost or not. If so, I could wait.\n\n{T}", f"Before I answer, I must not guess. Calling the tool now:\n{T}", f"Sure! {T}", f"{T}\nThis is what I need.",
    f"{T}\n\nLet me know if you need anything else!", f"{T}\nWould you like me to do anything else?", f"{T} I will tell you once I have it.", f"{T}\n\nIf you need more, just ask.",
    f"The user wrote that the card is lost, so:\n{T}", f"The user wants to know if he should freeze it:\n{T}", f"I already know the card, now freeze it: {T}",
    f"Calling the tool:\n```xml\n{T}\n```", f"In the required format:\n{T}", f"Right: [TOOL_CALLS][{J}]", f"I'll look.\n\n{INVOKE}", f"I will not guess; I act.\n\n{INVOKE}",
    'No problem, I can do this without your help: <function=card.freeze>{"card_id": "C-1"}</function>',
]  # fmt: skip


@pytest.mark.parametrize("text", ANNOUNCED)
def test_not_even_what_is_announced_is_called(text):
    reading = read_calls(text, TOOLS)
    assert reading.calls == ()
    assert reading.refusal.code == "no_call"


ALONE = [
    F, J, T, INVOKE, f"```xml\n{T}\n```", f"`{T}`", f"[TOOL_CALLS][{J}]", f"<think>I should not guess.</think>\n{T}", f"<|im_start|>assistant\n{T}<|im_end|>",
    'Thought: I should use the tool or I cannot answer.\nAction: card.freeze\nAction Input: {"card_id": "C-1"}',
]  # fmt: skip


@pytest.mark.parametrize("text", ALONE)
def test_a_call_that_is_the_text_is_made(text):
    assert calls(text) == [FROZEN]


@pytest.mark.parametrize(
    "tag", ["example", "draft", "email", "blockquote", "tool_response", "del", "my_tag"]
)
@pytest.mark.parametrize("call", [F, J, T])
def test_any_other_tag_is_a_word(tag, call):
    for form in ("<{t}>{c}</{t}>", "<{t}>\n{c}\n</{t}>", "```{t}\n{c}\n```"):
        assert read_calls(form.replace("{t}", tag).replace("{c}", call), TOOLS).calls == ()


def test_an_unreadable_description_of_parameters_is_no_call():
    described = """{'card_id': {'type': 'string', 'description': 'the 'name': 'card.freeze''}}"""
    text = f"```json\n{J}\n```\n\nThe parameters are:\n\n{described}"
    assert len(read_calls(text, READS_ONLY).calls) == 1
    assert calls(text) == []


def test_a_destroying_name_counts_where_no_effect_is_declared():
    edge, text = TextPolicy("edge"), "I empty the table:\ndelete_rows(table='logs')"
    assert calls("delete_rows(table='logs')") == [("delete_rows", {"table": "logs"})]
    assert read_calls(text, TOOLS, policy=edge).calls == ()
    assert len(read_calls(text, TOOLS, policy=edge, in_context=True).calls) == 1
    declared = tool_specs([spec("delete_rows", "table", effect="idempotent")])
    assert len(read_calls(text, declared, policy=edge).calls) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [("delete_rows", True), ("deleteuser", True), ("removeUser", True), ("shop.cancelOrder", True), ("find_and_delete", True), ("kubectl.delete", True), ("rm", True),
     ("get_cancellation_policy", False), ("cancellation_policy", False), ("list_deleted", False), ("dropout", False), ("create_order", False), ("get_delete_log", False)],
)  # fmt: skip
def test_names_that_destroy(name, expected):
    assert destroys(spec(name, "x")) is expected
    assert not destroys(spec(name, "x", effect="mutating"))
    assert destroys(spec(name, "x", effect="destructive"))
