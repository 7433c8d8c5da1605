"""Logs of every form that people have become recorded calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, messages_to_dict
from test_first import CALL, Plant, learned

from selfcorrect import build_graph
from selfcorrect.learning.calls import RecordedCall, Unreadable, from_line
from selfcorrect.learning.logs import Skipped, declared, recorded
from selfcorrect.recalling.named import schema_mark
from selfcorrect.tools import ToolSpec

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def read(*lines: Any, **more: Any) -> list[RecordedCall]:
    found = list(recorded(((f"log:{n}", line) for n, line in enumerate(lines, 1)), **more))
    assert not [each for each in found if isinstance(each, Skipped)], found
    return [each for each in found if isinstance(each, RecordedCall)]


def test_a_line_goes_in_and_comes_out_as_it_was():
    line = {"task_id": "t", "seq": 3, "tool": "f", "arguments": {"a": 1}, "error": None,
            "effect": "read_only", "schema": SCHEMA, "request": "go", "result": [1]}  # fmt: skip
    assert from_line(line).as_line() == line
    bare = {"task_id": "t", "seq": 3, "tool": "f", "arguments": {}, "error": "no"}
    assert from_line(bare).as_line() == bare


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"tool": ""}, "tool"),
        ({"arguments": "{}"}, "arguments"),
        ({"error": 3}, "error"),
        ({"seq": "1"}, "seq"),
        ({"seq": True}, "seq"),
        ({"effect": "harmless"}, "effect"),
        ({"schema": [1]}, "schema"),
    ],
)
def test_what_is_wrong_with_a_line_is_named(wrong, named):
    line = {"task_id": "t", "seq": 0, "tool": "f", "arguments": {}, "error": None}
    with pytest.raises(Unreadable, match=f"`{named}`"):
        from_line(line | wrong)
    (skipped,) = recorded([("log:1", line | wrong)])
    assert isinstance(skipped, Skipped)


@pytest.mark.parametrize("value", [None, 3, "x", [], [1], {}, {"messages": []}, {"trail": 1}])
def test_a_line_of_no_known_form_is_left_out_and_told(value):
    (skipped,) = recorded([("log:1", value)])
    assert isinstance(skipped, Skipped)
    assert "neither a recorded call" in skipped.why


def test_a_trail_holds_every_execution_with_effect_and_mark():
    plant = Plant()
    out = build_graph(plant.tools, strategies=learned()).invoke(CALL)
    calls = read({"title": "x", "input": CALL | {"request": "Start it.", "task_id": "t1"}, **out})
    assert [(each.tool, each.error is None) for each in calls] == [
        ("start_pump", False),
        ("open_valve", True),
        ("start_pump", True),
    ]
    assert {each.task_id for each in calls} == {"t1"}
    assert [each.seq for each in calls] == [0, 1, 2]
    assert calls[0].error == "The valve Main-7 is shut."
    assert calls[0].request == "Start it."
    assert calls[1].effect == "idempotent"
    assert calls[1].schema == schema_mark(plant.tools[0].schema)
    assert calls[2].result == "running"


def test_a_trail_tells_the_call_as_it_was_made():
    def book(cabin: str, seats: int) -> str:
        return cabin

    tool = ToolSpec.from_function(book, effect="read_only")
    given = {"call": {"name": "book", "args": {"cabin": "x", "seats": "2"}}}
    (call,) = read(build_graph([tool]).invoke(given))
    assert call.arguments == {"cabin": "x", "seats": 2}


def test_what_is_known_of_the_tools_beside_completes_a_call():
    tools = declared([{"name": "f", "parameters": SCHEMA, "effect": "read_only"}])
    line = {"task_id": "t", "seq": 0, "tool": "f", "arguments": {}, "error": None, "schema": "12"}
    (call,) = read(line, tools=tools)
    assert (call.schema, call.effect) == (SCHEMA, "read_only")


# --- chats ----------------------------------------------------------------------------------------

ASKED = "How is the weather in Oslo?"
NO = "There is no such city."


def openai_messages() -> list[dict[str, Any]]:
    function = {"name": "weather", "arguments": '{"city": "Osol"}'}
    again = {"name": "weather", "arguments": '{"city": "Oslo"}'}
    return [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": ASKED},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": function}]},
        {"role": "tool", "tool_call_id": "a", "content": json.dumps({"error": NO})},
        {"role": "assistant", "tool_calls": [{"id": "b", "function": again}]},
        {"role": "tool", "tool_call_id": "b", "content": "fine"},
    ]


def langchain_messages() -> list[Any]:
    return [
        HumanMessage(ASKED),
        AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Osol"}, "id": "a"}]),
        ToolMessage(NO, tool_call_id="a", status="error"),
        AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Oslo"}, "id": "b"}]),
        ToolMessage("fine", tool_call_id="b"),
    ]


def anthropic_messages() -> list[dict[str, Any]]:
    def use(key: str, city: str) -> dict[str, Any]:
        block = {"type": "tool_use", "id": key, "name": "weather", "input": {"city": city}}
        return {"role": "assistant", "content": [block]}

    def result(key: str, text: str, **more: Any) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": key, "content": text, **more}
        return {"role": "user", "content": [block]}

    asked = {"role": "user", "content": ASKED}
    return [asked, use("a", "Osol"), result("a", NO, is_error=True), use("b", "Oslo"),
            result("b", "fine")]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        openai_messages(),
        {"messages": openai_messages(), "thread_id": "t"},
        {"request": {"messages": openai_messages()}, "response": {"choices": []}},
        {"messages": messages_to_dict(langchain_messages())},
        {"values": {"messages": [message.model_dump() for message in langchain_messages()]}},
        [dumpd(message) for message in langchain_messages()],
        anthropic_messages(),
    ],
)
def test_a_conversation(line):
    first, second = read(line)
    assert (first.tool, first.arguments) == ("weather", {"city": "Osol"})
    assert first.error is not None
    assert NO in first.error
    assert (second.arguments, second.error) == ({"city": "Oslo"}, None)
    assert first.request == ASKED
    assert first.task_id == second.task_id
    assert first.seq < second.seq


def test_what_each_request_repeats_is_read_once():
    messages = openai_messages()
    lines = [{"messages": messages[:4]}, {"messages": messages}]
    assert [call.error is None for call in read(*lines)] == [False, True]


def test_tools_and_usage_of_a_request_are_read():
    function = {"name": "weather", "parameters": SCHEMA}
    line = {
        "request": {"messages": openai_messages(), "tools": [{"function": function}]},
        "response": {"usage": {"total_tokens": 70}},
    }
    assert {(json.dumps(call.schema), call.tokens) for call in read(line)} == {
        (json.dumps(SCHEMA), 70)
    }


# --- spans ----------------------------------------------------------------------------------------


def attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def span(start: int, city: str, error: str | None = None) -> dict[str, Any]:
    told = [
        attribute("gen_ai.operation.name", "execute_tool"),
        attribute("gen_ai.tool.name", "weather"),
        attribute("gen_ai.tool.call.arguments", json.dumps({"city": city})),
    ]
    status: dict[str, Any] = {} if error is None else {"code": 2, "message": error}
    return {"traceId": "t", "startTimeUnixNano": str(start), "attributes": told, "status": status}


def test_spans_of_executions_are_read():
    other = {"traceId": "t", "attributes": [attribute("gen_ai.operation.name", "chat")]}
    spans = [span(9, "Oslo"), other, span(5, "Osol", NO)]
    line = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    assert sorted((call.seq, call.arguments["city"], call.error) for call in read(line)) == [
        (5, "Osol", NO),
        (9, "Oslo", None),
    ]


@pytest.mark.parametrize("name", ["chats", "spans", "trails"])
def test_hostile_lines_raise_nothing_of_their_own(name, tmp_path: Path):
    lines = {
        "chats": [{"messages": [{"role": "assistant", "tool_calls": 3}]},
                  [{"role": "tool", "content": {"a": 1}}],
                  {"messages": [{"role": "user", "content": [1, None]}], "tools": [1]}],
        "spans": [{"resourceSpans": [1, {"scopeSpans": [{"spans": [{"attributes": 3}]}]}]}],
        "trails": [{"trail": [1]}, {"trail": [{"node": "execute", "attempt": 1}]},
                   {"trail": [{"changes": [{"path": "/args"}]}]}],
    }  # fmt: skip
    for line in lines[name]:
        list(recorded([("log:1", line)]))
