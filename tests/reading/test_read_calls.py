"""Calls in every format, the choice between them, and what is no call."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect import repair_call
from selfcorrect.model import Call, Safety
from selfcorrect.ports import Beside
from selfcorrect.reading.contract import ToolCallKeys
from selfcorrect.reading.envelopes import read_call_object
from selfcorrect.reading.known_tool import read_arguments
from selfcorrect.reading.reader import read_given
from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs

sys.path.insert(0, str(Path(__file__).parent))
from judging import classes

TEXT, WHOLE, TEXTS = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "array", "items": {"type": "string"}},
)


def spec(name, properties, required=(), effect="mutating"):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    description = {"name": name, "description": "", "parameters": schema}
    return ToolSpec.from_schema(description, call=lambda **given: given, effect=effect)


TOOLS = tool_specs(
    [
        spec("get_weather", {"city": TEXT, "days": WHOLE}, ["city"], "read_only"),
        spec("mail.send", {"to": TEXT, "body": TEXT, "cc": TEXTS}, ["to"]),
        spec("store", {"rows": {"type": "array", "items": {"type": "object"}}, "filter": {"type": "object", "properties": {"a": WHOLE, "b": WHOLE}}}),
        spec("grid", {"cells": {"type": "array"}}),
        spec("ping", {}, effect="read_only"),
        spec("delete_all", {"city": TEXT}, ["city"], "destructive"),
    ]
)  # fmt: skip
OSLO = ("get_weather", {"city": "Oslo"})


def calls(text, tools=TOOLS, **more):
    return [(call.name, dict(call.args)) for call in read_calls(text, tools, **more).calls]


STRICT = [
    '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    '{"tool": "get_weather", "args": {"city": "Oslo"}}',
    '{"tool_name": "get_weather", "parameters": {"city": "Oslo"}, "tool_call_id": "1"}',
    '{"name": "get_weather", "tool_args": {"city": "Oslo"}, "id": "1"}',
    '{"params": {"city": "Oslo"}, "name": "get_weather"}',
    '{"type": "function", "id": "1", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}}',
    '{"type": "tool_use", "id": "1", "name": "get_weather", "input": {"city": "Oslo"}}',
    '{"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}',
    '{"toolUse": {"toolUseId": "1", "name": "get_weather", "input": {"city": "Oslo"}}}',
]  # fmt: skip


@pytest.mark.parametrize("text", STRICT)
def test_a_strictly_valid_call_passes_untouched(text):
    reading = read_calls(text, TOOLS)
    assert reading.strict
    assert reading.refusal is reading.finding is None
    assert reading.calls[0].deviations == ()
    assert reading.calls[0].call == Call(*OSLO, id="1" if '"1"' in text else None)


EXACT = [
    '{"get_weather": {"city": "Oslo"}}',
    "{'name': 'get_weather', 'args': {'city': 'Oslo',}}",
    '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```',
    '"{\\"name\\": \\"get_weather\\", \\"arguments\\": {\\"city\\": \\"Oslo\\"}}"',
    '{"name": "get_weather", "arguments": "{\'city\': \'Oslo\'}"}',
    '{"name": "get_weather<|channel|>commentary", "arguments": {"city": "Oslo"}}',
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    '<functioncall> {"name": "get_weather", "arguments": \'{"city": "Oslo"}\'} <|endoftext|>',
    '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}<|eom_id|>',
    '<|python_tag|>get_weather(city="Oslo")',
    '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
    '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}}]</s>',
    '[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}',
    '<function=get_weather>{"city": "Oslo"}</function>',
    "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>",
    '<invoke name="get_weather"><parameter name="city">Oslo</parameter></invoke>',
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>",
    '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>',
    '<|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{"city": "Oslo"}',
    'get_weather\n{"city": "Oslo"}',
    '<get_weather>{"city": "Oslo"}</get_weather>',
    '<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>get_weather\n```json\n{"city": "Oslo"}\n```<\uff5ctool\u2581call\u2581end\uff5c>',
    '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>',
    '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}}]}',
    '{"type": "ai", "content": "", "invalid_tool_calls": [{"name": "get_weather", "args": "{\'city\': \'Oslo\'}", "id": "1", "error": "x"}]}',
    '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}}]}}]}',
    '{"output": {"message": {"content": [{"text": "ok"}, {"toolUse": {"toolUseId": "1", "name": "get_weather", "input": {"city": "Oslo"}}}]}}}',
    '[{"tool_name": "get_weather", "parameters": {"city": "Oslo"}}]',
    '{"action": "get_weather", "action_input": {"city": "Oslo"}}',
    "[get_weather(city='Oslo')]",
    "```[get_weather(city='Oslo')]```",
    "```python\nget_weather(city='Oslo')\n```",
    "get_weather(city='Oslo');",
    "get\\_weather(city='Oslo')",
    "['get_weather(city=\"Oslo\")']",
    '{"calls": ["get_weather(city=\'Oslo\')"]}',
    "get_weather({'city': 'Oslo'})",
    "get_weather(**{'city': 'Oslo'})",
    "get_weather(**dict(city='Oslo'))",
    '<|im_start|>assistant\n{"name": "get_weather", "arguments": {"city": "Oslo"}}<|im_end|>',
]  # fmt: skip


@pytest.mark.parametrize("text", EXACT)
def test_another_form_of_the_same_call_is_exact(text):
    assert calls(text) == [OSLO]
    # What stands in a container of its own is taken out of it.
    safety = Safety.INFERRED if "dict(" in text else Safety.EXACT
    assert classes(text, TOOLS) == {safety}
    assert not read_calls(text, TOOLS).strict


INFERRED = [
    ('Sure!\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\nDone.', OSLO),
    ('I look it up.\nAction: get_weather\nAction Input: {"city": "Oslo"}\nObservation: fine', OSLO),
    ("get_weather('Oslo')", OSLO),
    ("get_weather('Oslo', 3)", ("get_weather", {"city": "Oslo", "days": 3})),
    ("get_weather(city='Oslo'", OSLO),
    ("[get_weather(city='Oslo'", OSLO),
    ("[get_weather(city='Oslo']", OSLO),
    ("[get_weather(city='Oslo']\n```\nThis asks for the weather.", OSLO),
    ("get_weather(city: 'Oslo')", OSLO),
    ("get_weather(city: 'Oslo', days: 3)", ("get_weather", {"city": "Oslo", "days": 3})),
    ("mail.send(to='a', cc=['b', 'c')", ("mail.send", {"to": "a", "cc": ["b", "c"]})),
    ("store(filter={'a': 1, 'b': 2)", ("store", {"filter": {"a": 1, "b": 2}})),
    ("store(filter={'a': 1, 'b': 2}})", ("store", {"filter": {"a": 1, "b": 2}})),
    ("mail.send(to='a', cc=['b', 'c']])", ("mail.send", {"to": "a", "cc": ["b", "c"]})),
    ("grid(cells=[[1, 2], [3, 4]]])", ("grid", {"cells": [[1, 2], [3, 4]]})),
    ("get_weather(city=Oslo)", OSLO),
    ("['get_weather(city=New York, NY, days=3)']", ("get_weather", {"city": "New York, NY", "days": 3})),
    ("mail.send(to='a@b.c', body='Let's meet at 10')", ("mail.send", {"to": "a@b.c", "body": "Let's meet at 10"})),
    ("mail.send(to=a@b.c, cc=[Ann B, Bob])", ("mail.send", {"to": "a@b.c", "cc": ["Ann B", "Bob"]})),
    ('{"name": "get_weather", "arguments": {"city": "Oslo"}', OSLO),
    ('<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}</tool_call>', OSLO),
    ('{"arguments": {"city": "Oslo", "name": "get_weather"}', OSLO),
    ('{"name": "get_weather", "arguments": {"city": "Oslo"}, "days": 3}', ("get_weather", {"city": "Oslo", "days": 3})),
    ('{"name": "get_weather", "city": "Oslo"}', OSLO),
    ('{"tool_calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}]}', OSLO),
    ('{"name": "ping", "arguments": ""}', ("ping", {})),
    ('<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>\nIt is sunny.\n', OSLO),
    ("```python\nget_weather(city='Oslo')\n```\n### Instruction:\nNow do Rome.\nget_weather(city='Rome')", OSLO),
    ('{"name": "get_weather", "arguments": {"city": "Oslo"}}\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}', OSLO),
]  # fmt: skip


@pytest.mark.parametrize(("text", "call"), INFERRED)
def test_one_best_reading_is_inferred(text, call):
    assert calls(text) == [call]
    assert Safety.INFERRED in classes(text, TOOLS)


SEVERAL = [
    ("[get_weather(city='Oslo'), ping()]", [OSLO, ("ping", {})]),
    ("get_weather(city='Oslo')\nping()", [OSLO, ("ping", {})]),
    ("['get_weather(city=\"Oslo\")', 'ping()']", [OSLO, ("ping", {})]),
    ('[{"get_weather": {"city": "Oslo"}}, {"ping": {}}]', [OSLO, ("ping", {})]),
    ('{"name": "ping", "args": {}}\n<|im_start|>\n{"name": "get_weather", "args": {"city": "Oslo"}}', [("ping", {}), OSLO]),
    ('[{"name": "ping", "args": {}}, {"name": "ping", "args": {}}]', [("ping", {}), ("ping", {})]),
    ("First:\n```\nget_weather(city='Oslo')\n```\nthen:\n```\nping()\n```", [OSLO, ("ping", {})]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SEVERAL)
def test_several_calls_in_one_text(text, expected):
    assert calls(text) == expected
    finding = read_calls(text, TOOLS).finding
    assert finding is not None
    assert finding.code == "several_calls"


NO_CALL = [
    'Sure! {"name": "get_weather", "arguments": {"city": "Oslo"}} Done.', 'I need the weather.get_weather\n{"city": "Oslo"}',
    "The call is `get_weather(city='Oslo')`.", "x = get_weather(city='Oslo')",
    "", "  ", "I cannot help with that.", "\x00\x00", "{}", "[]", "[1, 2, 3]", '{"city": "Oslo"}', '{"name": "Bob"}',
    'The result of get_weather: {"temp": 5}', "Use get_weather(city) for this.", "You could try get_weather().",
    '{"name": "get_weather", "description": "d", "parameters": {"type": "object", "properties": {}}}',
    "def get_weather(city='Oslo'):\n    pass", "Call [nope(city='Oslo')] please", "print(range(5))",
    '<tool_call>{"arguments": {"city": "Oslo"}}</tool_call>',
    '{"role": "tool", "name": "ping", "content": "pong"}', '[{"name": "ping", "result": {}}]',
    "I will not call ping().", "Never run get_weather(city='Oslo') here.", "I can't use `get_weather(city='Oslo')`.",
    "Sure.\nUser: and Rome?\nget_weather(city='Rome')",
    'user\nwhat about Rome?\n<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}',
]  # fmt: skip


@pytest.mark.parametrize("text", NO_CALL)
def test_text_without_a_call_is_left_alone(text):
    reading = read_calls(text, TOOLS)
    assert reading.calls == ()
    assert reading.refusal is not None
    assert (reading.refusal.code, reading.refusal.types) == ("no_call", ("MalformedCall",))


REFUSED = [
    ('{"name": "mail.send", "arguments": {"to": "a", "body": "the end is', "cut"),
    ("mail.send(to='a', body='the end is", "cut"),
    ('<tool_call>{"name": "mail.send", "arguments": {"to": "a", "body": "x</tool_call>', "cut"),
    ('<tool_call>{"arguments": {"to": "a"}, "name":', "cut"),
    ('{"name": "ping", "args": {}}\n<tool_call>\n{"name": "mail.send", "args": {"to": "a", "cc": ["b",', "cut"),
    ('<invoke name="get_weather"><parameter name="city">Os', "cut"),
    ('<invoke name="get_weather"><parameter name="city">Oslo</parameter>', "cut"),
    ("store(rows=[1, 2", "cut"),
    ("[grid(cells=[[1, 2], [3, 'x']", "cut"),
    ("store(rows=[[1, 2", "cut"),
    ("store(rows=[1, 2)], filter={'a': 1})", "malformed_json"),
    ("store(\n  rows=[1, 2),\n  filter={'a': 1}\n)", "malformed_json"),
    ("store(\n  rows=[1, 2)\n  , filter={'a': 1}\n)", "malformed_json"),
    ("ping([)", "malformed_json"),
    ("ping(()", "malformed_json"),
    ("get_weather(city: str, days: int)", "malformed_json"),
    ("get_weather(city: Oslo)", "malformed_json"),
    ("store(rows=[1, {)", "malformed_json"),
    ("[get_weather(city='Oslo'], get_weather(city='Rome')]", "malformed_json"),
    ("[get_weather(city='Oslo', get_weather(city='Rome')]", "malformed_json"),
    ("get_weather(city: Oslo, days=3)", "malformed_json"),
    # an argument that the tool does not know is no part of the text before it
    ("get_weather(city: 'Oslo', unit: 'C')", "malformed_json"),
    ("get_weather(city='Oslo' unit='C')", "malformed_json"),
    ("get_weather(city='Oslo', unit='C', days=3d)", "malformed_json"),
    ("mail.send(to='a', bcc='x', body='it's')", "malformed_json"),
    # what the line below goes on with belongs to the call
    ("mail.send(to='a', cc=['b', 'c')\n+ ['d'])", "malformed_json"),
    ("mail.send(to='a', cc=['b', 'c')\n# more\n, 'd'])", "malformed_json"),
    ("store(filter={'a': 1)\n  b-c: 2})", "malformed_json"),
    ("[get_weather(city='Oslo', days=5]\n.5)", "malformed_json"),
    # closed before its last argument
    ("get_weather(city='Oslo'), days=3)", "malformed_json"),
    ("get_weather(city='Oslo')\n, days=3)", "malformed_json"),
    ("get_weather(city='Oslo')\ndays=3)", "malformed_json"),
    ("grid(cells=[[1, 2], 3, 4]])", "malformed_json"),
    ("grid(cells=[1, 2]])", "malformed_json"),
    ('{"name": "ping"', "cut"),
    ('<tool_call>\n{"name": "ping", "id": "1"', "cut"),
    ('{"name": "store", "arguments": {"rows": [1, 2', "cut"),
    ('{"name": "get_weather", "arguments": ""}', "malformed_json"),
    ('{"name": "get_weather", "arguments": "Oslo"}', "malformed_json"),
    ('{"name": "get_weather", "arguments": {"city": "Oslo"}, "city": "Rome"}{', "malformed_json"),
    ("get_weather(city=user_city)", "malformed_json"),
    ("get_weather(city='a' + 'b')", "malformed_json"),
    ("get_weather(city=open('/etc/passwd').read())", "malformed_json"),
    ("get_weather(city=__import__('os').system('id'))", "malformed_json"),
    ("get_weather(city=f'{x}')", "malformed_json"),
    ("get_weather(city='Oslo' or 'Rome')", "malformed_json"),
    ("get_weather(city='Oslo', city='Rome')", "malformed_json"),
    ("get_weather('Oslo', city='Oslo')", "malformed_json"),
    ("get_weather('a', 2, 3)", "malformed_json"),
    ("get_weather(['Oslo'])", "malformed_json"),
    ("store(rows=[x for x in range(9)])", "malformed_json"),
    ("store(rows=[1, 2, ...])", "malformed_json"),
    ("store(rows=[1]*1000000000)", "malformed_json"),
    ("store(rows=9**9**9)", "malformed_json"),
    ("[ping(), get_weather(city=ping())]", "malformed_json"),
    ('{"name": "store", "arguments": {"filter": {"a": 1, "b": 2}', "cut"),
    ('{"name": "delete_all", "arguments": {"city": "a", "city": "b"}}', "malformed_json"),
    ('{"name": "mail.send", "arguments": {"to": oops}, "x": {"name": "delete_all", "arguments": {"city": "Oslo"}}}', "malformed_json"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_what_is_cut_or_has_no_one_reading_is_refused(text, code):
    if '"filter"' in text:
        tools = tool_specs([spec("store", {"filter": {"type": "object"}, "b": WHOLE})])
    else:
        tools = TOOLS
    reading = read_calls(text, tools)
    assert reading.calls == ()
    assert reading.refusal is not None
    assert (reading.refusal.code, reading.refusal.paths) == (code, ("/raw",))
    assert "line " in reading.refusal.text


@pytest.mark.parametrize(
    "text",
    [
        "It has to be delete_all(city='Oslo').",
        'Shall I? delete_all\n{"city": "Oslo"}',
        'So {"delete_all": {"city": "Oslo"}} will do.',
    ],
)
def test_a_destructive_tool_is_not_called_by_talking_about_it(text):
    refusal = read_calls(text, TOOLS).refusal
    assert refusal is not None
    assert refusal.code == "no_call"
    assert calls("delete_all(city='Oslo')") == [("delete_all", {"city": "Oslo"})]
    tagged = '<tool_call>{"name": "delete_all", "arguments": {"city": "Oslo"}}</tool_call>'
    assert calls(tagged) == [("delete_all", {"city": "Oslo"})]
    assert calls(f"Now.\n{tagged}") == []
    inside = '{"arguments": {"city": "Oslo", "name": "delete_all"}}'
    assert classes(inside, TOOLS) == {Safety.LOSSY}


def test_calls_inside_arguments_are_not_calls():
    inner = '{"name": "delete_all", "arguments": {"city": "Oslo"}} delete_all(city="Oslo")'
    for text in (
        json.dumps({"name": "mail.send", "arguments": {"to": "a", "body": inner}}),
        repr({"name": "mail.send", "arguments": {"to": "a", "body": inner}}),
        f"mail.send(to='a', body={inner!r})",
        f'<invoke name="mail.send"><parameter name="body">{inner}</parameter></invoke>',
    ):
        assert {name for name, _ in calls(text)} == {"mail.send"}


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "content_filter"])
def test_nothing_is_completed_where_the_provider_says_it_was_cut(reason):
    for text in (
        '{"name": "get_weather", "arguments": {"city": "Oslo"}',
        "get_weather(city='Oslo'",
        '{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\""}',
    ):
        refusal = read_calls(text, TOOLS, finish_reason=reason).refusal
        assert refusal is not None
        assert refusal.code == "cut"
    assert calls('{"name": "ping", "args": {}}', finish_reason=reason) == [("ping", {})]


def test_a_number_at_the_very_end_counts_if_the_model_stopped_or_the_tool_only_reads():
    cut = '{"name": "%s", "arguments": {"%s": 1'
    code = "get_weather(city='Oslo', days=1"
    assert calls(code) == [("get_weather", {"city": "Oslo", "days": 1})]
    assert calls(cut % ("get_weather", "days")) == [("get_weather", {"days": 1})]
    assert calls(cut % ("store", "rows")) == []
    assert calls(cut % ("store", "rows"), finish_reason="who knows") == []
    assert calls(cut % ("store", "rows"), finish_reason="stop") == [("store", {"rows": 1})]


def test_the_schema_decides_where_a_lost_bracket_stood():
    text = '{"name": "store", "arguments": {"filter": {"a": 1, "b": 2}'
    assert calls(text, finish_reason="stop") == [("store", {"filter": {"a": 1, "b": 2}})]
    assert calls(text) == []


POINTS = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}


def test_the_schema_decides_between_a_lost_bracket_and_one_too_many():
    tools = tool_specs([spec("area", {"points": POINTS}), spec("all", {"points": {}})])
    text = "[{name}(points=[[(1, 2), (3, 4)])]"
    assert calls(text.format(name="area"), tools) == [("area", {"points": [[1, 2], [3, 4]]})]
    assert calls(text.format(name="all"), tools) == []


def test_the_schema_decides_where_a_lost_opening_bracket_stood():
    tools = tool_specs([spec("area", {"points": POINTS}), spec("all", {"points": {}})])
    text = '{{"name": "{name}", "arguments": {{"points": [1, 2], [3, 4]]}}}}'
    assert calls(text.format(name="area"), tools) == [("area", {"points": [[1, 2], [3, 4]]})]
    assert calls(text.format(name="all"), tools) == []


def test_numbers_without_names_are_not_spread_over_lists():
    lists = {name: {"type": "array", "items": {"type": "number"}} for name in ("values", "parts")}
    tools = tool_specs([spec("describe", {**lists, "digits": {"type": "integer"}})])
    assert calls("describe(1.5, 2.5, 9)", tools) == []
    assert calls("describe([1.5], [2.5], 9)", tools) == [
        ("describe", {"values": [1.5], "parts": [2.5], "digits": 9})
    ]


def test_a_bare_name_for_anything_is_text_only_if_the_user_wrote_it():
    tools = tool_specs([spec("train", {"data": {}})])
    assert calls("train(data=my_data)", tools) == []
    assert calls("train(data=df)", tools, request="train it on the pdf") == []
    assert calls("train(data=my_data)", tools, request="train it on my_data") == [
        ("train", {"data": "my_data"})
    ]


def test_a_bare_name_is_text_only_if_the_user_wrote_it():
    text = "get_weather(city=my_city)"
    assert calls(text) == []
    assert calls(text, request="weather in my_city, please") == [
        ("get_weather", {"city": "my_city"})
    ]


@pytest.mark.parametrize("between", [", ", "; ", "\n"])
def test_a_call_of_no_tool_in_one_row_with_others_is_not_left_out(between):
    text = between.join(["get_weather(city='Oslo')", "get_news(city='Oslo')"])
    assert [name for name, _ in calls(text)] == ["get_weather", "get_news"]
    assert calls(f"{text}{between}len(found)") == []


def test_code_of_its_own_around_a_call_is_left_out():
    text = "from news import find\nfound = find(city='Oslo')\nprint(get_weather(city='Oslo'))"
    assert calls(text) == [OSLO]


def test_names_are_kept_as_they_were_written():
    assert calls("[functions.get_weather(city='Oslo')]") == [
        ("functions.get_weather", {"city": "Oslo"})
    ]
    assert calls("[getWeather(city='Oslo')]") == [("getWeather", {"city": "Oslo"})]
    assert calls("[unheard_of(city='Oslo')]") == [("unheard_of", {"city": "Oslo"})]


def test_keys_can_be_added():
    text = '{"fn": "ping", "with": {}}'
    assert calls(text) == []
    keys = ToolCallKeys(name=("fn",), arguments=("with",))
    assert read_calls(text, TOOLS, keys=keys).strict


def test_more_calls_than_anybody_means_are_refused():
    many = "\n".join(f"get_weather(city='{n}')" for n in range(1_500))
    refusal = read_calls(many, TOOLS).refusal
    assert refusal is not None
    assert refusal.code == "several_calls"


OBJECTS = [
    ({"name": "f", "arguments": {"a": 1}}, Call("f", {"a": 1})),
    ({"tool": "f", "args": None}, Call("f", {})),
    ({"tool_name": "f"}, Call("f", {})),
    ({"name": "f", "arguments": '{"a": 1}', "id": "x"}, Call("f", {"a": 1}, "x")),
    ({"name": "f", "arguments": "{'a': 1}"}, Call("f", {}, None, "{'a': 1}")),
    ({"name": "f", "arguments": ""}, Call("f", {}, None, "")),
    ({"name": "f", "arguments": [1]}, Call("f", {}, None, "[1]")),
    ({"name": "f", "arguments": '{"a": NaN}'}, Call("f", {}, None, '{"a": NaN}')),
    ({"name": "f", "a": 1}, Call("f", {}, None, '{"a": 1}')),
    ({"type": "function", "id": "x", "function": {"name": "f", "arguments": "{}"}}, Call("f", {}, "x")),
    ({"name": "f", "args": {"a": 1}, "id": "x", "type": "tool_call"}, Call("f", {"a": 1}, "x")),
    ({"name": "f", "args": {}, "trace": 1}, Call("f", {})),
    ({"arguments": {}}, None), ({"name": 5}, None), ({"name": ""}, None), ([], None), ("f", None), (None, None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "call"), OBJECTS)
def test_calls_as_objects(value, call):
    assert read_call_object(value) == call


def test_parameters_beside_the_arguments_are_never_lost():
    given = {"name": "get_weather", "arguments": {"city": "Oslo"}, "days": 3, "trace": 1}
    call = read_given(given, TOOLS, Beside()).call
    assert (call.name, call.args) == ("", {})
    assert calls(call.raw) == [("get_weather", {"city": "Oslo", "days": 3})]
    assert classes(call.raw, TOOLS) == {Safety.LOSSY}
    del given["days"]
    misspelt = read_given(given | {"dayz": 3}, TOOLS, Beside()).call
    assert calls(misspelt.raw) == [("get_weather", {"city": "Oslo", "dayz": 3})]
    twice = read_given(given | {"city": "Rome"}, TOOLS, Beside()).call
    assert read_calls(twice.raw or "", TOOLS).refusal is not None
    del given["trace"]
    assert read_given(given, TOOLS, Beside()).call == Call("get_weather", {"city": "Oslo"})


deep: object = 1
for _ in range(5_000):
    deep = [deep]


@pytest.mark.parametrize("value", [{"name": "f", "arguments": deep}, {"name": "f", "x": deep}])
def test_objects_nested_too_deeply_are_no_arguments(value):
    call = read_call_object(value)
    assert call is not None
    assert (call.args, call.raw) == ({}, "")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"city": "Oslo"}', {"city": "Oslo"}),
        ("{'city': 'Oslo',}", {"city": "Oslo"}),
        ('```json\n{"city": "Oslo"}\n```', {"city": "Oslo"}),
        ('Here you are: {"city": "Oslo"}', None),
        ('arguments: {"city": "Oslo"}', {"city": "Oslo"}),
        ('<tool_call>{"city": "Oslo"}', {"city": "Oslo"}),
        ('<arguments>{"city": "Oslo"}</arguments>', {"city": "Oslo"}),
        ('`{"city": "Oslo"}`', {"city": "Oslo"}),
        ('"{\\"city\\": \\"Oslo\\"}"', {"city": "Oslo"}),
        ('{"city": "Oslo"}}', {"city": "Oslo"}),
        ('["Oslo", 3]', {"city": "Oslo", "days": 3}),
        ('[{"city": "Oslo"}]', {"city": "Oslo"}),
        ("city='Oslo', days=3", {"city": "Oslo", "days": 3}),
        ('{"city": "Oslo", "days": 3', {"city": "Oslo", "days": 3}),
        ("", None),
        ("Oslo", None),
        ("5", None),
        ('{"city": "Os', None),
        ('{"city": {"x": {}}, "days": 1}}', {"city": {"x": {}}, "days": 1}),
        ('{"city": {"x": {}}, "y": 1}}', None),
        ('"city": {"x": "Oslo"}}', {"city": {"x": "Oslo"}}),
        ('"city": "Oslo", "days": 3}', {"city": "Oslo", "days": 3}),
        ('"city": "Oslo"', {"city": "Oslo"}),
        ('city": "Oslo"}', None),
        ('{"city": "Oslo"}{"city": "Oslo"}', {"city": "Oslo"}),
        ('{"city": "Oslo"}\n{"city": "Oslo"}', {"city": "Oslo"}),
        ("get_weather(city='Oslo')", {"city": "Oslo"}),
        ("get_weather(city='Oslo') and more", None),
        ("delete_all(city='Oslo')", None),
        ('{"city": "Oslo"} {"city": "Rome"}', None),
        ("city='Oslo'), delete_all(city='Oslo'", None),
    ],
)
def test_arguments_of_a_known_tool(text, value):
    read = read_arguments(text, TOOLS["get_weather"])
    assert read.value == value
    assert (read.fault is None) == (value is not None)


@pytest.mark.parametrize("before", ["Here you are:", "city:", "Never", "not", "example ="])
def test_words_before_the_arguments_of_a_known_tool_keep_them_from_running(before):
    call = {"name": "get_weather", "arguments": f'{before} {{"city": "Oslo"}}'}
    assert not repair_call(call, TOOLS.values()).ready


ARGUMENTS = st.dictionaries(
    st.sampled_from(["city", "days", "note", "rows"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=12),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
)  # fmt: skip


@given(ARGUMENTS, st.sampled_from(ToolCallKeys().name), st.sampled_from(ToolCallKeys().arguments))
def test_every_valid_call_is_read_strictly_as_what_it_is(args, name, arguments):
    text = json.dumps({name: "get_weather", arguments: args})
    reading = read_calls(text, TOOLS)
    assert reading.strict
    assert reading.calls[0].call == Call("get_weather", args)


@given(ARGUMENTS, st.sampled_from(EXACT))
def test_arguments_survive_every_form(args, form):
    if "Oslo" not in form or '{"city": "Oslo"}' not in form:
        return
    text = form.replace('{"city": "Oslo"}', json.dumps(args))
    assert calls(text) in ([("get_weather", args)], []) or not args


@given(st.text(max_size=200) | st.text("{}[]()\"'\\,:=<>|/`get_weather ping\n", max_size=120))
def test_any_text_is_read_or_refused(text):
    for reason in (None, "length", "stop"):
        reading = read_calls(text, TOOLS, finish_reason=reason)
        assert bool(reading.calls) != bool(reading.refusal)
        for call in reading.calls:
            json.dumps(dict(call.args or {})).encode()
    read_arguments(text, TOOLS["get_weather"])


CALL = json.dumps({"name": "mail.send", "arguments": {"to": "a@b.c", "body": "It's \"done\", see [1]", "cc": ["x", "y"]}})  # fmt: skip


@given(st.integers(0, len(CALL) - 1))
def test_a_call_cut_anywhere_is_never_another_call_when_the_cut_is_known(size):
    assert calls(CALL[:size], finish_reason="length") == []


@given(st.integers(0, len(CALL) - 1), st.sampled_from("{}[]\",:'"), st.booleans())
def test_a_call_with_one_wrong_character_is_the_same_call_or_refused(at, char, insert):
    text = CALL[:at] + char + CALL[at + (not insert) :]
    try:
        json.loads(text)
    except ValueError:
        found = calls(text)
        assert all(name == "mail.send" for name, _ in found)
        original = json.loads(CALL)["arguments"]
        if char not in "'\"" or not insert:
            assert not found or found[0][1].get("to", "a@b.c") == original["to"] or char in "\"'"


HOSTILE = [
    "[", "{", "(", "[{", '{"name": "ping", "arguments": ', "f(", "ping(", "get_weather(city=", "get_weather(city='",
    "get_weather(city='it's') ", "get_weather(x) ", "get_weather(city='x') ", "print(ping(", '{"x": 1} ',
    '{"name": "ping", "args": {}}\n', '{"name": "ping", "args": {} ', "<tool_call>", "<function=ping>",
    '<invoke name="ping">', '<invoke name="ping"><parameter name="a">', "```json\n", "Action: ping\nAction Input: {",
    "to=ping {", "to=ping {} ", "ping\n{", "User: x\n", "<|", "[TOOL_CALLS]{", "\x00", '"', "'", "\\", "\n", " ",
    "It's (John's) dog. ", "a.", "a\\_", "“", "['ping()', ", "get_weather(city=New York, ", ") ", "ping()]", "#\n",
]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_takes_linear_time(part):
    small, large = (part * (size // len(part)) for size in (2_000, 30_000))
    short = min(seconds(small) for _ in range(2))
    assert min(seconds(large) for _ in range(2)) < 0.5 + 60 * short


@pytest.mark.parametrize("part", ["[", "{"])
def test_a_megabyte_of_brackets_is_not_far_slower_than_one_of_prose(part):
    size = 1_000_000
    prose = "The quick brown fox (and its friend) isn't here; see [1]. "
    plain = seconds(prose * (size // len(prose)))
    assert seconds(part * (size // len(part))) < 0.5 + 6 * plain


def seconds(text):
    started = time.perf_counter()
    read_calls(text, TOOLS)
    return time.perf_counter() - started


def test_hundreds_of_kilobytes_are_read_in_bounded_memory():
    rows = ", ".join(f"{{'id': {n}, 'name': 'n{n}', 'ok': True}}" for n in range(8_000))
    text = "{'name': 'store', 'arguments': {'rows': [" + rows + "]}}"
    tracemalloc.start()
    read = calls(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(read[0][1]["rows"]) == 8_000
    assert peak < 60 * len(text)


def test_megabytes_of_prose_hold_no_call():
    prose = "The quick brown fox (and its friend) isn't here; see [1]. " * 20_000
    assert read_calls(prose, TOOLS).refusal is not None
    assert calls(prose + '\n<tool_call>{"name": "ping", "args": {}}</tool_call>') == [("ping", {})]
