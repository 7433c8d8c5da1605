"""A message that says that it was cut off, or that a call could not be parsed, is believed."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json

import pytest

from selfcorrect import repair_call
from selfcorrect.kernel.metadata import CUT_REASONS, DONE_REASONS, ended
from selfcorrect.reading.envelopes import read_call_object
from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs


def spec(name, required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec.from_schema({"name": name, "description": "", "parameters": schema})


TOOLS = tool_specs(
    [spec("find", ["q"], q={"type": "string"}), spec("clear", deep={"type": "boolean"})]
)
CUT = '{"q": "x"'
FIND = [("find", {"q": "x"})]


def calls(value, **more):
    text = value if isinstance(value, str) else json.dumps(value)
    return [(call.name, dict(call.args or {})) for call in read_calls(text, TOOLS, **more).calls]


def function(args, name="find"):
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": args}}


def openai(reason, args=CUT, name="find"):
    message = {"role": "assistant", "content": None, "tool_calls": [function(args, name)]}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def responses(args=CUT, **more):
    item = {"type": "function_call", "call_id": "c", "name": "find", "arguments": args}
    return {"object": "response", "output": [item], **more}


def block(name="clear", given=None):
    return {"type": "tool_use", "id": "c", "name": name, "input": given or {}}


def gemini(call, reason):
    return {"candidates": [{"content": {"parts": [{"functionCall": call}]}, "finishReason": reason}]}  # fmt: skip


def invalid(args, **more):
    return {"name": "clear", "args": args, "id": "c", "error": "not valid JSON", **more}


TYPE = {"type": "invalid_tool_call"}
CUT_OFF = [
    openai("length"), openai("content_filter"), openai("length", "", "clear"), openai("LENGTH"),
    responses(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
    responses(incomplete_details={"reason": "max_output_tokens"}), responses(status="incomplete"),
    {"output": [{"type": "function_call", "name": "find", "arguments": CUT, "status": "incomplete"}]},
    {"type": "function_call", "call_id": "c", "name": "find", "arguments": CUT, "status": "incomplete"},
    {"type": "function_call", "call_id": "c", "name": "clear", "arguments": "", "status": "incomplete"},
    {"role": "assistant", "content": [block()], "stop_reason": "max_tokens"},
    gemini({"name": "clear", "args": {}}, "MAX_TOKENS"), gemini({"name": "clear"}, "FinishReason.MAX_TOKENS"),
    {"output": {"message": {"content": [{"toolUse": {"toolUseId": "c", "name": "clear", "input": {}}}]}}, "stopReason": "max_tokens"},
    {"message": {"tool_calls": [function(CUT)]}, "finish_reason": "MAX_TOKENS"},
    {"choices": [{"message": {"content": "", "tool_calls": [function(CUT)]}, "finish_reason": "model_length"}]},
    {"message": {"tool_calls": [{"function": {"name": "clear", "arguments": {}}}]}, "done_reason": "length"},
    {"type": "ai", "tool_calls": [{"name": "clear", "args": {}, "id": "c"}], "response_metadata": {"stop_reason": "max_tokens"}},
    {"type": "ai", "invalid_tool_calls": [{"name": "find", "args": CUT, "id": "c"}], "response_metadata": {"finish_reason": "length"}},
    {"tool_calls": [function("", "clear")], "response_metadata": {"incomplete_details": {"reason": "max_output_tokens"}}},
]  # fmt: skip


@pytest.mark.parametrize("value", CUT_OFF, ids=range(len(CUT_OFF)))
@pytest.mark.parametrize("reason", [None, "stop"])
def test_the_reason_in_the_message_says_that_it_was_cut(value, reason):
    refusal = read_calls(json.dumps(value), TOOLS, finish_reason=reason).refusal
    assert refusal is not None
    assert refusal.code == "cut"


@pytest.mark.parametrize(
    "value",
    [openai("stop"), openai(None, '{"q": "x"}'), openai("tool_calls"), openai("length", '{"q": "x"}'),
     responses(status="completed"), responses('{"q": "x"}', status="incomplete"),
     {"content": [block("find", {"q": "x"})], "stop_reason": "max_tokens"}],
)  # fmt: skip
def test_what_is_whole_is_read(value):
    assert calls(value) == FIND


def test_one_reason_of_two_is_enough():
    assert calls(openai("stop"), finish_reason="length") == []
    assert calls(openai("length"), finish_reason="stop") == []
    number = '{"q": "x", "n": 3'
    assert calls(openai("stop", number)) == [("find", {"q": "x", "n": 3})]
    assert calls(openai(None, number)) == []
    both = [openai("stop", number), openai(None, number)]
    assert calls(both) == []


def test_a_reason_among_the_arguments_is_no_reason():
    given = {"q": "x", "finish_reason": "length", "status": "incomplete"}
    assert calls({"tool_calls": [{"name": "find", "arguments": given}]}) == [("find", given)]
    assert calls({"tool_calls": [{"name": "clear", "arguments": {"deep": True}}], "status": "x"})


WHOLE = [
    '{"name": "clear", "arguments": {}}', '<tool_call>{"name": "clear", "arguments": {}}</tool_call>',
    json.dumps(function("{}", "clear")),
]  # fmt: skip
EMPTIED = [
    block(), {"name": "clear", "args": {}, "id": "c", "type": "tool_call"}, function("", "clear"),
    {"content": [block()]}, {"functionCall": {"name": "clear", "args": {}}}, {"toolUse": {"name": "clear", "input": {}}},
]  # fmt: skip


@pytest.mark.parametrize("text", WHOLE)
def test_empty_arguments_that_the_model_wrote_are_whole(text):
    assert calls(text, finish_reason="length") == [("clear", {})]


@pytest.mark.parametrize("value", EMPTIED)
def test_empty_arguments_that_a_provider_made_may_be_lost(value):
    assert calls(value) == calls(value, finish_reason="tool_use") == [("clear", {})]
    assert calls(value, finish_reason="max_tokens") == []


@pytest.mark.parametrize("args", [None, "", " ", {}])
@pytest.mark.parametrize("reason", [None, "stop"])
def test_arguments_that_could_not_be_parsed_are_not_empty(args, reason):
    for value in (
        invalid(args, **TYPE),
        {"type": "ai", "tool_calls": [], "invalid_tool_calls": [invalid(args)]},
        {"type": "ai", "invalid_tool_calls": [invalid(args, **TYPE)]},
        {"message": {"invalid_tool_calls": [{"name": "clear", "args": args}]}},
    ):
        refusal = read_calls(json.dumps(value), TOOLS, finish_reason=reason).refusal
        assert refusal is not None
        assert "could not be parsed" in refusal.text
    call = read_call_object(invalid(args, **TYPE))
    assert call is not None
    assert (call.name, bool(call.raw)) == ("", True)


@pytest.mark.parametrize("args", ["{}", {"deep": True}, '{"deep": true}', "{'deep': True}"])
def test_arguments_that_were_kept_are_read(args):
    (call,) = calls(invalid(args, **TYPE))
    assert call == ("clear", {} if args == "{}" else {"deep": True})


DICTS = [
    ({"name": "clear", "args": {}, "id": "c"}, "length", "failed"),
    ({"name": "clear", "args": {}}, "length", "failed"), (block(), "max_tokens", "failed"),
    ({"name": "clear", "args": {}, "id": "c"}, "stop", "valid"), ({"name": "clear", "args": {}}, None, "valid"),
    ({"name": "clear", "args": {"deep": True}}, "length", "valid"),
    (invalid(None, **TYPE), None, "failed"), (invalid({}, **TYPE), "stop", "failed"), (invalid("", **TYPE), None, "failed"),
    ({"type": "function_call", "name": "find", "arguments": CUT, "status": "incomplete"}, None, "failed"),
    ({"type": "function_call", "name": "find", "arguments": CUT, "status": "completed"}, None, "repaired"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "reason", "outcome"), DICTS)
def test_calls_that_come_as_objects(call, reason, outcome):
    assert repair_call(call, list(TOOLS.values()), finish_reason=reason).outcome == outcome


def test_reasons_have_one_spelling():
    assert not CUT_REASONS & DONE_REASONS
    for reason in ("max-tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS", " length "):
        assert ended(reason) is False
    for reason in (None, "", "x", "pause_turn"):
        assert ended(reason) is None
