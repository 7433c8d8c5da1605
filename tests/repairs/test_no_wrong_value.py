"""Values that look mendable and are not: what a careful person would not sign never runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect import build_graph, repair_call
from selfcorrect.tools import ToolSpec

TEXT, INT, NUM = {"type": "string"}, {"type": "integer"}, {"type": "number"}
DAY = {"type": "string", "format": "date"}


def tool(name: str, properties: dict[str, Any], required: tuple[str, ...] = (), **more: Any) -> Any:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec.from_schema({"name": name, "parameters": parameters}, **more)


def mended(schema: dict[str, Any], value: Any, key: str = "x") -> Any:
    out = repair_call({"name": "act", "arguments": {key: value}}, [tool("act", {key: schema})])
    return out.ready[0].args[key] if out.ready else None


def told(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


PAY = tool("pay", {"to": TEXT, "amount": NUM, "note": TEXT}, ("to", "amount"))
LOOK = tool("lookup", {"q": TEXT}, ("q",), effect="read_only")
JSON = '{"name": "pay", "arguments": {"to": "ann", "amount": 5}}'
MORE = '{"name": "pay", "arguments": {"to": "ann", "amount": 6}}'
CODE = "pay(to='ann', amount=5)"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        # a point that may group thousands
        (INT, "1.000"),
        (INT, "12.500"),
        (NUM, "\u20ac1.250"),
        (NUM, "$1.250"),
        # an amount that is counted otherwise than in the currency
        (told(NUM, "Amount in thousands of dollars"), "$5"),
        (told(NUM, "Budget (in millions, USD)"), "5 USD"),
        (told(NUM, "The amount, in cents."), "$5"),
        # five percent written as 0.05
        (told(NUM, "Interest rate, e.g. 0.05 means 5%"), "5%"),
        (told(NUM, "Rate (percentage / 100)"), "5%"),
        (told(NUM, "Tax percent, between 0 and 1"), "20%"),
        # minutes and months
        ({"enum": ["1m", "1M"]}, "1 mm"),
        ({"enum": ["5m", "15m", "1h", "1M"]}, "1m"),
        ({"enum": ["5m", "15m", "1h", "1M"]}, "15M"),
        # lists of numbers with a comma inside
        ({"type": "array", "items": NUM}, "59,9, 10,7"),
        # words for nothing, and words that exclude
        ({"type": "array", "items": TEXT}, "none"),
        ({"type": "array", "items": TEXT}, "n/a"),
        ({"type": "array", "items": TEXT}, "not red, green"),
        # a description that names two orders
        (
            told({"type": "array", "items": INT}, "width and height, or height and width"),
            {"height": 1, "width": 2},
        ),
    ],
)
def test_a_value_with_two_meanings_is_refused(schema, value):
    assert mended(schema, value) is None


@pytest.mark.parametrize(
    ("schema", "value", "after"),
    [
        (NUM, "1.255", 1.255),
        (INT, "5.0", 5),
        (told(NUM, "Amount in US dollars"), "$1,250.00", 1250.0),
        (told(NUM, "Discount in percent (0 to 100)"), "5%", 5),
        (told(NUM, "Percent, e.g. 0.5%"), "5%", 5),
        ({"enum": ["5m", "15m", "1h", "1M"]}, "1H", "1h"),
        ({"enum": ["5m", "15m", "1h", "1M"]}, "15 m", "15m"),
        ({"type": "array", "items": NUM}, "59.9, 10.7", [59.9, 10.7]),
        (
            told({"type": "array", "items": NUM}, "Longitude, latitude"),
            {"lat": 1, "lng": 2},
            [2, 1],
        ),
    ],
)
def test_the_same_with_one_meaning_is_mended(schema, value, after):
    assert mended(schema, value) == after


def test_names_and_messages_are_not_split_at_commas():
    texts = {"type": "array", "items": TEXT}
    assert mended(texts, "smith, john", "names") is None
    assert mended(texts, "hello, world", "messages") is None
    assert mended(texts, "a@x.org, b@x.org", "contacts") == ["a@x.org", "b@x.org"]


@pytest.mark.parametrize(
    "name", ["cancel", "undo", "simulate", "explain", "schedule", "do_not_call", "ask_permission"]
)
def test_a_call_inside_another_action_is_not_taken_out(name):
    inner = {"name": "pay", "arguments": {"to": "ann", "amount": 5}}
    assert not repair_call({"name": name, "arguments": inner}, [PAY]).ready


@pytest.mark.parametrize("name", ["execute", "call_function", "func2", "invoke_tool"])
def test_a_call_inside_a_dispatcher_is(name):
    inner = {"name": "pay", "arguments": {"to": "ann", "amount": 5}}
    out = repair_call({"name": name, "arguments": inner}, [PAY])
    assert out.ready[0].args == {"to": "ann", "amount": 5}


@pytest.mark.parametrize(
    "name", ["simulate:pay", "preview/pay", "dry.pay", "sandbox.pay", "undo.pay", "soft.pay"]
)
def test_a_namespace_that_makes_another_action_is_kept(name):
    assert not repair_call({"name": name, "arguments": {"to": "ann", "amount": 5}}, [PAY]).ready


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_text_may_clear_a_field(value):
    update = tool("update_task", {"id": TEXT, "due": DAY}, ("id",))
    create = tool("create_task", {"id": TEXT, "due": DAY}, ("id",))
    args = {"id": "1", "due": value}
    assert not repair_call({"name": "update_task", "arguments": args}, [update]).ready
    out = repair_call({"name": "create_task", "arguments": args}, [create])
    assert out.ready[0].args == {"id": "1"}


def test_a_word_for_null_clears_a_field_that_takes_null():
    due = {"anyOf": [DAY, {"type": "null"}]}
    update = tool("update_task", {"id": TEXT, "due": due}, ("id",))
    out = repair_call({"name": "update_task", "arguments": {"id": "1", "due": "null"}}, [update])
    assert out.ready[0].args == {"id": "1", "due": None}


@pytest.mark.parametrize(
    "text",
    [
        # forbidden, called off, or not yet
        f"Do not execute {JSON}",
        f"Never do this: {JSON}",
        f"The user asked not to {JSON}",
        f"{JSON} -- do not run this",
        f"I cannot run {JSON}",
        f"Cancel {JSON}",
        f"If approved, I will call:\n{JSON}",
        f"Once you confirm, I'll run:\n```json\n{JSON}\n```",
        f"Before I do it, please confirm:\n```\n{CODE}\n```",
        f"{JSON}\n\nShall I proceed?",
        f"{JSON}\nPlease confirm.",
        f"{JSON}\n(pending approval)",
        # taken back
        f"{JSON}\nWait, that is wrong.",
        f"{JSON}\nActually, amount should be 6.",
        # told, not made
        f"{JSON} was rejected.",
        f"Error: the call {JSON} was invalid",
        f"Previously:\n{JSON}\nNow: done.",
        f"For example: {JSON}",
        f"Here is what the call would look like:\n{JSON}",
        f"Wrong:\n{JSON}",
        f"<tool_result>{JSON}</tool_result>",
        f"[TOOL_RESULTS]{JSON}",
        f"<example>{JSON}</example>",
        # one of two
        f"Option A: {JSON}\nOption B: {MORE}",
        f"{JSON} or {MORE}",
        f"Either\n{JSON}\nor\n{MORE}",
        # commented out, or under a condition
        f"# {CODE}",
        f"// {JSON}",
        f"<!-- {JSON} -->",
        f"```python\n# don't run\n{CODE}\n```",
        f"```python\nif ok:\n    {CODE}\n```",
        f"```python\nfor i in range(3):\n    {CODE}\n```",
        # expressions between quotes
        JSON.replace('"ann"', '"ann" or "bob"'),
        JSON.replace('"ann"', '"ann" + "x"'),
        JSON.replace('"ann"', '"ann" if x else "bob"'),
        "pay(to=f'x', amount=5)",
        "pay(to=b'x', amount=5)",
        "pay(to=to, amount=5)",
        # arguments in two places
        '{"name": "pay", "arguments": {"to": "a", "amount": 5}, "parameters": {"to": "b"}}',
    ],
)
def test_a_call_that_is_not_made_here_and_now(text):
    out = repair_call(text, [PAY, LOOK])
    assert out.outcome == "failed", out.ready
    assert not out.ready


AMONG_WORDS = [
    f"{JSON}\nCorrection: {MORE}",
    f"Old: {JSON}\nNew: {MORE}",
    f"I don't know the balance, so I pay now:\n{JSON}",
    f"Sure!\n{JSON}\nLet me know if you need anything else.",
    f"Before paying I checked the invoice. {JSON}",
    f"Here is the call:\n```json\n{JSON}\n```\nI hope that helps.",
    f"I'll pay at the next stop.\n{JSON}",
]


@pytest.mark.parametrize("text", AMONG_WORDS)
def test_a_call_among_words_is_handed_on_whatever_the_words_say(text):
    out = repair_call(text, [PAY, LOOK])
    assert (out.outcome, out.reason, out.ready) == ("failed", "no_call", ())


@pytest.mark.parametrize(
    ("text", "amounts"),
    [(JSON, [5]), (f"```json\n{JSON}\n```", [5]), (f"{JSON}\n{MORE}", [5, 6])],
)
def test_a_call_that_is_the_text_is_made(text, amounts):
    out = repair_call(text, [PAY, LOOK])
    assert [call.args["amount"] for call in out.ready] == amounts


# --- money and measures ---------------------------------------------------------------------------

CURRENCIES = {
    "USD": ("USD", "US dollars", "U.S. dollars", "US$"),
    "CAD": ("CAD", "Canadian dollars"),
    "EUR": ("EUR", "euros", "\u20ac"),
    "GBP": ("GBP", "pounds sterling", "\u00a3"),
    "JPY": ("JPY", "yen"),
    "MXN": ("MXN",),
    "CHF": ("CHF",),
    "XAU": (
        "grams of gold",
        "points",
        "Jamaican dollars",
        "pesos",
        "the local currency",
        "bitcoin",
    ),
}
WRITTEN = {
    "USD": ("5 USD", "USD 5", "US$5"),
    "CAD": ("5 CAD",),
    "EUR": ("5 EUR", "\u20ac5", "5 euros"),
    "GBP": ("5 GBP", "\u00a35"),
    "JPY": ("5 JPY", "5 yen"),
    "MXN": ("5 MXN", "MXN 5"),
    "CHF": ("5 CHF",),
}
PHRASES = ("Amount in {}", "Price ({})", "The total, in {}.", "{} to pay", "How much: {}")


@settings(max_examples=100)
@given(
    st.sampled_from(sorted(WRITTEN)).flatmap(
        lambda code: st.tuples(st.just(code), st.sampled_from(WRITTEN[code]))
    ),
    st.sampled_from(sorted(CURRENCIES)).flatmap(
        lambda code: st.tuples(st.just(code), st.sampled_from(CURRENCIES[code]))
    ),
    st.sampled_from(PHRASES),
    st.sampled_from(["amount", "price", "x", "total"]),
)
def test_money_runs_only_in_the_very_currency(written, named, phrase, key):
    found = mended(told(NUM, phrase.format(named[1])), written[1], key)
    assert found == (5 if written[0] == named[0] else None)


@pytest.mark.parametrize("value", ["$5", "5 dollars"])
@pytest.mark.parametrize(
    ("named", "runs"),
    [
        *((name, True) for name in ("USD", "US dollars", "dollars", "$", "US$")),
        *((name, False) for name in ("Canadian dollars", "Jamaican dollars", "CAD", "MXN", "A$")),
        *((name, False) for name in ("USD or CAD", "EUR", "money", "the currency of the account")),
    ],
)
def test_a_dollar_is_one_of_several(value, named, runs):
    assert (mended(told(NUM, f"Amount in {named}"), value) == 5) is runs


SAME_UNIT = (
    *(("5 km", "km"), ("5 km", "kilometers"), ("5 kilometres", "km"), ("5 miles", "miles")),
    *(("5 mg", "mg"), ("5 milligrams", "mg"), ("5 MB", "MB"), ("5 MB", "megabytes")),
    *(("5 lbs", "lbs"), ("5 kWh", "kWh"), ("5 hours", "hours"), ("5 h", "hours")),
)
OTHER_UNIT = (
    *(("5 Mb", "MB"), ("5 mb", "MB"), ("5 Mb", "megabytes"), ("5 Gb", "GB"), ("5 KM", "km")),
    *(("5 Mg", "mg"), ("5 MG", "mg"), ("5 M", "m"), ("5 S", "s"), ("5 c", "C"), ("5 KW", "kW")),
    *(("5 miles", "nautical miles"), ("5 nautical miles", "miles"), ("5 m", "square meters")),
    *(("5 m", "meters per second"), ("5 km", "km/h"), ("5 m", "m^2"), ("5 m", "m\u00b2")),
    *(("5 oz", "fluid ounces"), ("5 oz", "troy ounces"), ("5 tons", "metric tons")),
    *(("5 tons", "tonnes"), ("5 gal", "imperial gallons"), ("5 days", "business days")),
    *(("5 hours", "person hours"), ("5 years", "light years"), ("5 minutes", "minutes of arc")),
    *(("5 lbs", "pounds sterling"), ("5 pounds", "GBP"), ("5 lb", "pounds"), ("5 m", "minutes")),
    *(("5 km", "km or miles"), ("5 km", "miles, not km"), ("5 m", "thousands of miles")),
)
FORMS = ("Value in {}", "The value ({})", "Value, {}")


@settings(max_examples=100)
@given(
    st.sampled_from(SAME_UNIT), st.sampled_from(FORMS), st.sampled_from(["x", "value", "amount"])
)
def test_a_unit_that_the_schema_names_runs(pair, form, key):
    assert mended(told(NUM, form.format(pair[1])), pair[0], key) == 5


@settings(max_examples=100)
@given(
    st.sampled_from(OTHER_UNIT), st.sampled_from(FORMS), st.sampled_from(["x", "value", "amount"])
)
def test_another_unit_is_refused(pair, form, key):
    assert mended(told(NUM, form.format(pair[1])), pair[0], key) is None


UNITS = ("km", "miles", "m", "mg", "kg", "lbs", "MB", "hours", "days", "litres", "people")
QUALIFIERS = ("nautical", "square", "cubic", "fluid", "business", "light", "metric", "board", "per")


@settings(max_examples=100)
@given(
    st.sampled_from(UNITS),
    st.sampled_from(QUALIFIERS) | st.from_regex("[a-z]{4,8}", fullmatch=True),
    st.sampled_from(["{} {}", "{}-{}", "{}_{}"]),
)
def test_a_word_before_a_unit_makes_another_of_it(unit, qualifier, form):
    name = form.format(qualifier, unit)
    if qualifier in ("whole", "many", "degrees"):
        return
    assert mended(told(NUM, f"Value in {name}"), f"5 {unit}") is None
    if qualifier in QUALIFIERS:
        assert mended(NUM, f"5 {unit}", re.sub("[ -]", "_", name)) is None


@settings(max_examples=100)
@given(st.sampled_from(UNITS), st.sampled_from(["distance", "x", "amount", "limit", "size", "to"]))
def test_a_number_with_a_unit_that_nobody_names_is_refused(unit, key):
    assert mended(NUM, f"5 {unit}", key) is None


def test_a_keyword_of_the_schema_may_name_them():
    assert mended({**NUM, "x-unit": "km"}, "5 km") == 5
    assert mended({**NUM, "x-unit": "miles"}, "5 km") is None
    assert mended({**NUM, "x-currency": "USD"}, "5 USD") == 5
    assert mended({**NUM, "x-currency": "USD"}, "5 MXN") is None


# --- listed values, list items, bounds ------------------------------------------------------------

STEMS = ("approv", "activ", "standar", "busines", "premium", "monthl", "direc", "northeas")
ENDINGS = (
    "e",
    "ed",
    "y",
    "s",
    "al",
    "ing",
    "ation",
    "ard",
    "d",
    "t",
    "_plus",
    "_review",
    " flight",
)


@settings(max_examples=100)
@given(
    st.sampled_from(STEMS),
    st.lists(st.sampled_from(ENDINGS), min_size=2, max_size=4, unique=True),
    st.sampled_from([str.lower, str.title, str.upper]),
)
def test_the_beginning_of_two_listed_values_is_neither(stem, endings, case):
    members = [stem + ending for ending in endings]
    assert mended({"enum": members}, case(stem)) is None


@settings(max_examples=100)
@given(st.data())
def test_an_edit_of_a_digit_makes_another_value(data):
    prefix = data.draw(st.sampled_from(["", "v", "gpt-", "size ", "room_", "Q", "2025-"]))
    numbers = data.draw(st.lists(st.integers(0, 999), min_size=2, max_size=6, unique=True))
    members = [f"{prefix}{number}" for number in numbers[1:]]
    assert mended({"enum": members}, f"{prefix}{numbers[0]}") is None
    keys = dict.fromkeys((f"line{number}" for number in numbers[1:]), TEXT)
    out = repair_call({"name": "act", "arguments": {f"line{numbers[0]}": "x"}}, [tool("act", keys)])
    assert not out.ready


BEGINNINGS = ("in", "un", "non", "dis", "im", "not", "out", "re", "off", "a")
REST = ("active", "available", "paid", "visible", "abled", "possible", "opened", "typical")


@settings(max_examples=100)
@given(st.sampled_from(BEGINNINGS), st.sampled_from(REST), st.sampled_from([" ", "  ", "_", "\t"]))
@pytest.mark.parametrize("beside", [(), ("other",)])
def test_a_word_that_is_pulled_apart_is_another(beside, beginning, rest, space):
    members = [beginning + rest, *beside]
    assert mended({"enum": members}, beginning + space + rest) is None
    listed = {"type": "array", "items": {"enum": members}}
    assert mended(listed, f"{beginning}{space}{rest}, {members[-1]}") is None


@pytest.mark.parametrize(
    ("member", "value"),
    [("email", "e-mail"), ("fulltime", "Full Time"), ("full_time", "full time"), ("wifi", "Wi-Fi")],
)
def test_a_word_in_another_spelling_is_the_same(member, value):
    assert mended({"enum": [member, "x"]}, value) == member


HOLDERS = ("]", "[", "...", "\u2026", "<{}>", "${}", "${{{}}}", "{{{{{}}}}}", "%{}%", "{}]", "[{}")
HOLDERS += ("{}...", "{}, ...", "{}\u2026", "<{}", "{}>", "`", '"', "|", "-", "--", "`{}`")


@settings(max_examples=100)
@given(
    st.sampled_from(HOLDERS),
    st.sampled_from(["tags", "TAGS", "item", "your_tags", "a b"]),
    st.sampled_from(["{}", "red;{}", "{};red", "- red\n- {}", "[red, {}]", "red, {}"]),
)
def test_what_only_holds_the_place_of_an_item_is_none(holder, word, form):
    listed = {"type": "array", "items": TEXT}
    assert mended(listed, form.format(holder.format(word))) is None


@pytest.mark.parametrize("effect", ["read_only", "mutating", "destructive"])
@pytest.mark.parametrize("strategies", ["default", "local_model", "development", "rest_api"])
@pytest.mark.parametrize("text", ["limit must be <= 10", "Value for 'limit' must be at most 10"])
def test_a_number_that_only_an_error_tells_runs_nowhere(effect, strategies, text):
    asked = []

    def find(limit: int) -> str:
        asked.append(limit)
        raise ValueError(text)

    graph = build_graph([ToolSpec.from_function(find, effect=effect)], strategies=strategies)
    graph.invoke({"call": {"name": "find", "args": {"limit": 50}}})
    assert set(asked) == {50}


EXPRESSIONS = (
    *("{}*{}", "{} * {}", "{}/{}", "{}-{}", "{} - {}", "{}+{}", "{} x {}", "{}^{}", "{}**{}"),
    *("{}%{}", "max({}, {})", "{}e3*{}", "={}+{}", "{} plus {}", "{} times {}", "{}:{}"),
)


@settings(max_examples=100)
@given(
    st.sampled_from(EXPRESSIONS),
    st.integers(1, 99),
    st.sampled_from(["30.48", "2", "100", "0.5", "7"]),
    st.sampled_from(["", " km", " USD", "%"]),
    st.sampled_from([INT, NUM, {"type": "array", "items": NUM}, {"enum": [1, 2, 5, 7, 14]}]),
)
def test_no_expression_is_evaluated_and_no_number_taken_out_of_one(form, one, other, unit, schema):
    written = form.format(one, other) + unit
    assert mended(told(schema, "Distance in km"), written) is None
    out = repair_call(f"[act(x={form.format(one, other)})]", [tool("act", {"x": schema})])
    assert not out.ready
