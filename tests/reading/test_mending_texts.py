"""`repair_call` on what models write: every deviation is a change that the policy has judged."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json

import pytest

from selfcorrect.batch.repairing import repair_call
from selfcorrect.model import Call, Safety
from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs

TEXT = {"type": "string"}


def spec(name, effect="mutating", required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    described = {"name": name, "description": "", "parameters": schema}
    return ToolSpec.from_schema(described, effect=effect)


TOOLS = [
    spec("get_weather", "read_only", ["city"], city=TEXT, days={"type": "integer"}),
    spec("store", rows={"type": "array"}, filter={"type": "object"}, size={"type": "integer"}),
    spec("pay", amount={"type": "number", "x-sensitive": True}, to=TEXT),
    spec("delete_all", "destructive", city=TEXT),
]
OSLO = Call("get_weather", {"city": "Oslo"})


def test_each_of_several_calls_tells_what_was_read_into_it():
    done = repair_call(
        "[get_weather(city='Oslo'), functions.get_weather(city='Rome', days='3')]", TOOLS
    )
    assert done.outcome == "repaired"
    assert done.ready == (OSLO, Call("get_weather", {"city": "Rome", "days": 3}))
    told = [(change.path, change.strategy, change.safety.value) for change in done.changes]
    assert told == [
        ("/name", "fix-json", "exact"),
        ("/args", "fix-json", "exact"),
        ("/raw", "fix-json", "exact"),
        ("/name", "fix-json", "exact"),
        ("/args", "fix-json", "exact"),
        ("/raw", "fix-json", "exact"),
        ("/name", "rename-tool", "exact"),
        ("/args/days", "convert-type", "exact"),
    ]
    assert all(change.rule for change in done.changes)


INFERRED = "First\nget_weather(city=Oslo)\nand then\nget_weather('Rome')"
SENSITIVE = "[pay(to='ann', amount=5), pay(to='bob', amount=6"


@pytest.mark.parametrize(
    ("text", "strategies", "outcome"),
    [
        (INFERRED, None, "repaired"),
        (INFERRED, "strict", "failed"),
        ("[get_weather(city='Oslo'), get_weather(city='Rome')]", "strict", "repaired"),
        ("[pay(to='ann', amount=5), pay(to='bob', amount=6)]", None, "repaired"),
        ("Sure: [pay(to='ann', amount=5), pay(to='bob', amount=6)]", None, "failed"),
        ("Sure: pay(to='ann', amount=5)", None, "failed"),
        ("Sure: functions.pay(to='ann', amount=5)", None, "failed"),
        (SENSITIVE, None, "failed"),
    ],
)
def test_an_inferred_reading_meets_the_policy(text, strategies, outcome):
    done = repair_call(text, TOOLS, strategies=strategies)
    assert done.outcome == outcome, done
    assert bool(done.ready) == (outcome == "repaired")
    if outcome == "repaired" and text == INFERRED:
        assert {change.safety for change in done.changes} == {Safety.INFERRED}


def test_ids_survive():
    listed = [{"name": "get_weather", "args": {"city": "Oslo"}, "id": f"c{n}"} for n in (1, 2)]
    tagged = f"<tool_call>{json.dumps(listed[0])}</tool_call>"
    (call,) = repair_call(tagged, TOOLS).ready
    assert call.id == "c1"
    both = repair_call(
        "\n".join(json.dumps(item) for item in [listed[0], listed[1] | {"args": {"city": "Rome"}}]),
        TOOLS,
    )
    assert [call.id for call in both.ready] == ["c1", "c2"]
    invalid = {"name": "get_weather", "args": "{'city': 'Oslo'}", "id": "c1", "error": "x"}
    invalid["type"] = "invalid_tool_call"
    assert repair_call(invalid, TOOLS).ready == (Call("get_weather", {"city": "Oslo"}, "c1"),)


@pytest.mark.parametrize(
    ("beside", "args"),
    [
        ({"days": 3}, {"city": "Oslo", "days": 3}),
        ({"index": 0}, {"city": "Oslo"}),
        ({"city": "Oslo"}, {"city": "Oslo"}),
    ],
)
def test_a_parameter_beside_the_arguments_is_brought_in(beside, args):
    given = {"name": "get_weather", "args": {"city": "Oslo"}}
    if "city" in beside:
        given["args"] = {}
    done = repair_call(given | beside, TOOLS)
    assert done.ready == (Call("get_weather", args),)
    assert (done.outcome == "valid") == ("index" in beside)
    assert all(change.safety is Safety.INFERRED for change in done.changes)


def test_a_misspelt_parameter_beside_the_arguments_is_never_dropped():
    given = {"name": "get_weather", "args": {"city": "Oslo"}, "dayss": 3}
    done = repair_call(given, TOOLS)
    assert all(call.args.get("days") == 3 for call in done.ready)
    assert done.outcome != "valid"


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        ({"name": "call_tool", "args": {"name": "get_weather", "arguments": {"city": "Oslo"}}}, (OSLO,)),
        ("func1(name='get_weather', params={'city': 'Oslo'})", (OSLO,)),
        ({"name": "call_tool", "args": {"name": "delete_all", "arguments": {"city": "x"}}}, ()),
        ({"name": "call_tool", "args": {"name": "nope", "arguments": {"city": "x"}}}, ()),
    ],
)  # fmt: skip
def test_a_call_that_another_one_only_passes_on(given, calls):
    assert repair_call(given, TOOLS).ready == calls


CUT = '{"name": "store", "arguments": {"rows": ["a", "b'


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (CUT, None),
        ('{"name": "store", "arguments": {"rows": ["a"]', "length"),
        ("store(rows=['a']", "length"),
        ("store(rows=['a', 'b", None),
        ("store(rows=[1, 2", None),
        ({"name": "store", "args": '{"rows": ["a", "b'}, None),
        ({"name": "store", "args": '{"rows": ["a"]'}, "max_tokens"),
    ],
)
def test_what_was_cut_off_ends_in_a_report_that_says_so(given, reason):
    done = repair_call(given, TOOLS, finish_reason=reason)
    assert (done.outcome, done.ready) == ("failed", ())
    finding = done.failure["findings"][0]
    assert (finding["code"], finding["rule"]) == ("cut", "default/cut-off")
    assert "line 1, column" in finding["text"]


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ('{"name": "store"}, "arguments": {"rows": []}}', {"rows": []}),
        ('{"name": "store", "arguments": {"rows": []}}, "size": 3}', None),
        ('{"name": "store", "arguments": {"size": 1}, "rows": [1]}}', None),
        ('{"name": "store", "arguments": {"rows": 1}, "size": 2}}', {"rows": 1, "size": 2}),
        ('{"name": "store", "arguments": {"filter": {"a": 1}}, "size": 3}}', None),
        ('{"name": "store", "arguments": {"filter": {"a": 1}}}, "size": 3}', None),
        ('{"name": "store"}, "size": 3}', {"size": 3}),
        ('{"name": "store"}, "other": 3}', None),
        ('store\n{"filter": {"a": 1}}, "size": 3}', None),
        ('{"tool_calls": [{"name": "store", "arguments": {"rows": ["a"]], "size": 3}}]}', None),
        ("store(rows=[['a', 'x'], ['b', 'y']", None),
        ("store(size=3, rows=[1]", None),
    ],
)
def test_a_closing_bracket_too_many_or_too_few_loses_no_argument(text, args):
    found = [dict(call.args) for call in read_calls(text, tool_specs(TOOLS)).calls]
    assert found == ([] if args is None else [args])


def test_a_name_that_is_nearly_a_tools_is_mended_after_the_text():
    for text in (
        "[functions.get_weather(city='Oslo')]",
        "<tool_call>{'name': 'getWeather', 'arguments': {'city': 'Oslo'}}</tool_call>",
        "get_wether(city='Oslo')",
    ):
        done = repair_call(text, TOOLS)
        assert done.ready == (OSLO,), text
        assert [c.path for c in done.changes] == ["/name", "/args", "/raw", "/name"]
    assert repair_call("purge_all(city='Oslo')", TOOLS).ready == ()


def test_what_the_user_wrote_is_known_to_the_reader():
    text = "get_weather(city=my_city)"
    assert repair_call(text, TOOLS).ready == ()
    done = repair_call(text, TOOLS, request="weather in my_city")
    assert done.ready == (Call("get_weather", {"city": "my_city"}),)


@pytest.mark.parametrize("key", ["finish_reason", "request"])
def test_odd_input_is_reported(key):
    done = repair_call("[get_weather(city='a'), get_weather(city='b')]", TOOLS, **{key: "odd"})
    assert done.outcome == "repaired"
