"""A call that is only a part of a larger piece of code is not made; nor is a variable text."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from selfcorrect.kernel.standing import classes
from selfcorrect.model import Extent, Safety
from selfcorrect.protocols import TextPolicy
from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs

KINDS = {"s": {"type": "string"}, "i": {"type": "integer"}, "ss": {"type": "array", "items": {"type": "string", "enum": ["pharmacy", "park"]}}}  # fmt: skip


def spec(name, **parameters):
    schema = {"type": "object", "properties": {name: KINDS[kind] for name, kind in parameters.items()}}  # fmt: skip
    return ToolSpec.from_schema(
        {"name": name, "description": "", "parameters": schema}, effect="idempotent"
    )


TOOLS = tool_specs(
    [
        spec("card.freeze", card_id="s"),
        spec("roll_dice", count="i", sides="i"),
        spec("bank.get_balance", account_id="s"),
        spec("home.lights", room="s", state="s"),
        spec("find_player", rank="s", county="s", gender="s"),
        spec("places", kinds="ss"),
    ]
)
F, G = "card.freeze(card_id='C-1')", "card.freeze(card_id='C-2')"
FROZEN, SECOND = ("card.freeze", {"card_id": "C-1"}), ("card.freeze", {"card_id": "C-2"})
D = "roll_dice(count=1, sides=6)"


def calls(text, request=None):
    return [(call.name, dict(call.args)) for call in read_calls(text, TOOLS, request=request).calls]


RESULTS = [
    f"2 * {D}", f"10 / {D}", f"{D} // 2", f"{D} ** 2", f"{D} % 2", f"({D}) + 2", f"[{D}] * 3", f"x = 3 - {D}", f"print({D} + 2)",
    f"The total is 2 * {D}", f"{D} + 2", f"1. {D} * 3", f"{D}+1", f"{D}*2", f"{D}!=1", f"~{D}", f"{D} @ 3", f"{D} > 3", f"x == {D}",
    f"10 > {D}", f"<tool_call>{D} + 2</tool_call>", f"result = (\n    {D}\n    + 2\n)", f"{D}['sum'] == 7", f"[{D}['sum'] == 7]",
    f"{D}.result", f"({D}).data", f"{D}['amount']", f"{D}[0]['x']", f"{D}[-1]", f"[{D}][1]", f"await {D}.x",
]  # fmt: skip
CHAINED = [
    f"{F}.close()", f"x = {F}.get('a')", f"{F}.then(r => console.log(r))", f"{F}\n  .then(x)", f"max({F}, {G})", f"del x[{F}]",
    f"any({F} for c in cards)", f"x = {F} or None", f"`{F} or {G}`", f"{F} or {G}", f"[{F} or {G}]", f"{D} and {F}", f"{F} and None",
    f"confirmed and {F}", f"confirmed or {F}", f"confirmed && {F}", f"```\n{F} || {G}\n```", f"{F} |> go()", f"1 < 2 < {D}",
]  # fmt: skip
CONDITIONAL = [
    f"{F} if user_confirms else None", f"[{F} if confirmed else None]", f"x = {F} if lost else {G}", f"lost ? {F} : {G}", f"{F} if lost",
    f"{F} unless declined", f"{F} once confirmed", f"if lost: {F}", f"if lost:\n    {F}", f"if (lost) {F};", f"if (lost) {{\n  {F};\n}}",
    f"if {D} > 5:\n    {F}", f"```python\nif lost:\n    {F}\nelse:\n    {G}\n```", f"else: {F}", f"for c in cards: {F}",
    f"Sure:\n\nfor c in cards:\n    {F}\n", f"while True:\n    x = 1\n    {F}", f"try:\n    pass\nexcept Exception:\n    {F}",
]  # fmt: skip
COMPREHENSIONS = [
    f"[{F} for c in cards if c.lost]", f"[{D} for _ in range(3)]", f"{{{F} for c in cards}}", f"list({F} for c in cards)",
    f"x = [{F} for c in cards]", f"[\n    {F}\n    for c in cards\n]", f"Sure! [{F} for c in cards]", f"Sure:\n[\n  {F}\n  for c in cards\n]",
    f"[TOOL_CALLS][{F} for c in cards]", f"total = sum({D} for _ in range(3))",
]  # fmt: skip
BODIES = [
    f"def roll():\n    return {D}", f"```python\ndef roll():\n    return {D}\n```", f"class A:\n    x = {D}", f"f = lambda: {D}",
    f"lambda x: {F}", f"cards.map(c => {F})", f"const f = () => {F}", f"function roll() {{\n  return {D};\n}}", f"({'lambda'}: {F})()",
    f"def go():\n\n    x = 1\n    {F}\n\ngo()", f"async def main():\n    await {F}", f"Sure, here is the code:\n\ndef freeze():\n    return {F}\n\nI hope this helps.",
]  # fmt: skip
TEXTS = [
    f'```python\ndef helper():\n    """Example: {F}"""\n    pass\n```', f'"""Example: {F}"""', f'text = "call {F} later"', f'print("Example: {F}")',
]  # fmt: skip


LATER = f"{F}\n  .then(x)"
"""It is made, whatever becomes of its result."""


@pytest.mark.parametrize(
    ("effect", "policy"),
    [("idempotent", "whole"), ("read_only", "whole"), ("read_only", "edge"), ("mutating", "edge")],
)
@pytest.mark.parametrize("text", CHAINED + CONDITIONAL + COMPREHENSIONS + BODIES + TEXTS)
def test_code_around_a_call_is_not_thrown_away(text, effect, policy):
    tools = {name: replace(tool, effect=effect) for name, tool in TOOLS.items()}
    reading = read_calls(text, tools, policy=TextPolicy(text=policy), request="Freeze it")
    assert reading.calls == () or (text == LATER and effect != "idempotent")


@pytest.mark.parametrize(
    "text", ["if lost:\n    {}", "if (lost) {{\n  {}\n}}", "[\n{}\nfor c in d]"]
)
def test_the_kernel_sees_the_body_that_a_call_stands_in(text):
    said = text.format(F)
    extent = Extent(FROZEN[0], FROZEN[1], said.index(F), said.index(F) + len(F))
    assert classes(said, [extent], reads=True, edge=True) == (None,)
    prose = said.replace(":", ".").replace("{", ".").replace("[", ".").replace("for", "]for")
    assert classes(prose, [extent], reads=True, edge=True) == (Safety.INFERRED,)


@pytest.mark.parametrize("text", RESULTS)
def test_a_call_of_a_tool_that_acts_is_not_made_out_of_other_code(text):
    reading = read_calls(text, TOOLS)
    assert reading.calls == ()
    assert reading.refusal.code == "no_call"


ALONE = [
    f"print({F})", f"{F}<|im_end|>", f"{F}</s>", f"<tool_call>{F}</tool_call>", f"[TOOL_CALLS]{F}[/TOOL_CALLS]", f"`{F}`", "card.freeze(\n    card_id='C-1',\n)",
]  # fmt: skip
AROUND = [
    f"{F} - this freezes the card", f"{F} for the card of Ann", f"**{F}**", f"*{F}*", f"- {F}", f"* {F}", f"+ {F}", f"1. {F}", f"1) {F}",
    f"1 - {F}", f"Step 1 - {F}", f"x = {F}", f"x: dict = {F}", f"x = await {F}", f"const x = await {F};", f"print('Card:', {F})",
    f"{F}.", f"{F}. It is quick.", f"{F}  # freeze it", f"{F} // freeze it", f"[{F}] // done",
    f"return {F}", f"return [{F}]", f"[{F}][0]", f">>> {F}", f"$ {F}",
    f"python\n{F}", f"- [ ] {F}", f"'{F}'", f'"""\n[{F}]\n"""', f"Answer: [{F}]", f"Card => {F}", f"{F}\n- card: C-1", f"{F}\n* The card is C-1",
    f"{F}\n+ the card is C-1", f"{F}\n\n---\n\nNote: it is quick.", f"{F} - Ann", f"with client:\n    x = {F}", f"try:\n    x = {F}\nexcept Exception as e:\n    print(e)",
    f"x = {F}\nif x['ok']:\n    print(x['amount'] + 2)", f"x = {F}\nprint([y for y in x])", f"for x in {F}:\n    print(x)", f"# freeze it\nx = {F}\n# show it\nprint(x)",
    f"def freeze(card_id):\n    ...\n\n{F}", f'print(f"Card: {{{F}}}")', f"{F}  # wait for the result",
]  # fmt: skip


@pytest.mark.parametrize("text", ALONE)
def test_a_call_that_is_the_text_is_made(text):
    assert calls(text) == [FROZEN]


@pytest.mark.parametrize("text", AROUND)
def test_other_words_and_code_around_a_call_that_acts_hand_it_on(text):
    reading = read_calls(text, TOOLS)
    assert reading.calls == ()
    assert reading.refusal.code == "no_call"
    assert [(call.name, dict(call.args)) for call in reading.doubted] == [FROZEN]


@pytest.mark.parametrize(
    "text",
    [f"{F}; {G}", f"[{F}, {G}]", f"({F}, {G})", f"[{F}][{G}]", f"[{F} {G}]", f"{F}\n{G}", f"```\n{F}\n```\n```\n{G}\n```"],
)  # fmt: skip
def test_several_whole_calls(text):
    assert calls(text) == [FROZEN, SECOND]


@pytest.mark.parametrize(
    "text",
    [f"a = {F}\nb = {G}\nprint(a > b)", f"1. [{F}]\n2. [{G}]", f"- Ann: {F}\n- Bob: {G}", f"{F} - Ann\n{G} - Bob", f"I will call `{F}` and `{G}`.",
     f"First I call {F} and then I call {G}."],
)  # fmt: skip
def test_several_calls_among_words_are_handed_on_together(text):
    reading = read_calls(text, TOOLS)
    assert reading.calls == ()
    assert len(reading.doubted) == 2


VARIABLES = [
    "acct = 'A-7'\nbank.get_balance(account_id=acct)", "acct = get_default()\nprint(bank.get_balance(account_id=acct))", "bank.get_balance(account_id=acct)",
    "bank.get_balance(account_id=id)", "bank.get_balance(account_id=account)", "bank.get_balance(account_id=balance)", "for card in cards: pass\ncard.freeze(card_id=card)",
    "ACCT = 'A-7'\nbank.get_balance(account_id=ACCT)", "with open('x') as room: pass\nhome.lights(room=room, state=off)", "let room = pick();\nhome.lights(room=room, state=Off)",
    "Kinds = load()\nplaces(kinds=[Kinds])", "park = 1\nplaces(kinds=[park])",
]  # fmt: skip


@pytest.mark.parametrize("text", VARIABLES)
@pytest.mark.parametrize(
    "request_", [None, "Freeze my card, the balance of my account id in room off"]
)
def test_a_variable_is_not_its_own_name(text, request_):
    assert calls(text, request_) == []


def test_bare_words_of_the_request_are_text():
    text = "find_player(rank=Queen, county=Santa Clara county)"
    assert calls(text) == [("find_player", {"rank": "Queen", "county": "Santa Clara county"})]
    text = "find_player(rank=Queen, gender=female)"
    assert calls(text, "A female queen, please") == [("find_player", {"rank": "Queen", "gender": "female"})]  # fmt: skip
    assert calls(text, "Any queen, please") == []
    assert calls("places(kinds=[pharmacy, park])") == [("places", {"kinds": ["pharmacy", "park"]})]


@pytest.mark.parametrize("moment", ["2025-09-01", "2025-10-11", "2025-09-01T10:00:00Z", "09:30"])
def test_a_date_without_quotes_is_no_difference(moment):
    assert calls(f"home.lights(room='Hall', state={moment})") == [("home.lights", {"room": "Hall", "state": moment})]  # fmt: skip
    assert calls(f"roll_dice(count=1, sides={moment})") == []


HOSTILE = [
    f"{D} + ", f"def f():\n  {D}\n", f"```\n{F}\n```\n", f"[{F} for x in y] ", f"x = {F}\n", f"{F}.a ", "for x in y ", f"if x:\n {D}\n", f"`{D}` ",
    f"<a>{D} ", f"{D}\nor\n", f"(x => {D} ", "a, b = ", '"""', "lambda a, b", f"{D} == ", "def f(a, b", "=> {\n",
]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_code_takes_linear_time(part):
    small, large = (part * (size // len(part)) for size in (2_000, 20_000))
    short = min(seconds(small) for _ in range(2))
    assert seconds(large) < 1 + 40 * short


def seconds(text):
    started = time.perf_counter()
    read_calls(text, TOOLS)
    return time.perf_counter() - started
