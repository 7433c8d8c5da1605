"""What stands beside the arguments of a call, and says that it is not to be made as it stands."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from selfcorrect import StrategyMap, repair_call
from selfcorrect.model import Safety
from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs

sys.path.insert(0, str(Path(__file__).parent))
from judging import classes

MAPS = [StrategyMap.load(name) for name in ("default", "local_model")]
CALL = {"name": "lock_user", "arguments": {"user_id": "u7"}}


def tools(effect=None):
    schema = {"type": "object", "properties": {"user_id": {"type": "string"}}}
    names = ("lock_user", "delete_user", "free_user")
    return tool_specs([ToolSpec.from_schema({"name": name, "description": "", "parameters": schema}, effect=effect) for name in names])  # fmt: skip


BESIDE = [
    {"execute": False}, {"confirm": False}, {"requires_confirmation": True}, {"condition": "only if inactive"}, {"schedule": "2026-12-01"},
    {"status": "cancelled"}, {"type": "example"}, {"note": "do not execute"}, {"result": "ok"}, {"error": "declined"}, {"role": "user"},
    {"alternatives": [{"name": "free_user", "arguments": {"user_id": "u7"}}]}, {"tool": "free_user"},
]  # fmt: skip


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("effect", [None, "mutating", "destructive"])
def test_what_limits_a_call_that_acts_refuses_it(beside, effect):
    texts = [json.dumps(CALL | beside), json.dumps(beside | CALL), f"<tool_call>{CALL | beside}</tool_call>", json.dumps([CALL | beside])]  # fmt: skip
    if "tool" not in beside:
        texts.append(json.dumps({"type": "function", "function": CALL} | beside))
    for text in texts:
        assert classes(text, tools(effect)) <= {Safety.LOSSY}, text
        for strategies in MAPS:
            assert not repair_call(text, tools(effect).values(), strategies=strategies).ready, text
    assert not repair_call(CALL | beside, tools(effect).values()).ready


METADATA = [
    {"id": "1"}, {"type": "function"}, {"type": "tool_use", "id": "1"}, {"type": "function_call", "status": "completed", "id": "1"}, {"index": 0}, {"thought": "Lock it."}, {"error": None},
    {"role": "assistant"}, {"type": "tool_call", "call_id": "1"},
]  # fmt: skip


@pytest.mark.parametrize("beside", METADATA)
def test_what_is_known_to_mean_nothing_changes_nothing(beside):
    (call,) = read_calls(json.dumps(CALL | beside), tools()).calls
    assert (call.name, call.args) == ("lock_user", {"user_id": "u7"})


def test_of_a_reading_tool_too_what_stands_beside_is_not_left_out_unasked():
    assert classes(json.dumps(CALL | {"priority": 1}), tools("read_only")) == {Safety.LOSSY}
    assert not repair_call(CALL | {"priority": 1}, tools("read_only").values()).ready
    twice = json.dumps(CALL | {"tool": "free_user"})
    assert classes(twice, tools("read_only")) == {Safety.LOSSY}
    assert not repair_call(twice, tools("read_only").values()).ready


def test_messages_of_others_and_choices_hold_no_calls():
    assert read_calls(json.dumps({"role": "user", "content": CALL}), tools()).calls == ()
    either = json.dumps([CALL, "or", CALL | {"name": "free_user"}])
    for effect in (None, "read_only"):
        assert classes(either, tools(effect)) == {Safety.LOSSY}
        assert not any(call.args for call in repair_call(either, tools(effect).values()).calls)


@pytest.mark.parametrize(
    "comment",
    ["// or u8?", "// TODO: ask the user", "# placeholder", "/* 3 more */", "// and the rest", '// , "user_id": "u8"'],
)  # fmt: skip
def test_a_comment_that_doubts_a_value_is_not_skipped(comment):
    text = '{"name": "lock_user", "arguments": {%s\n"user_id": "u7"}}'
    for each in (comment, "// the user"):
        assert classes(text % each, tools()) <= {Safety.LOSSY}
        assert not repair_call(text % each, tools().values()).ready
    assert len(read_calls(text % "// the user", tools("read_only")).calls) == 1


@pytest.mark.parametrize("key", ["result", "error", "example", "default", "old"])
def test_arguments_under_a_key_that_tells_of_others_are_not_moved_up(key):
    call = {"name": "lock_user", "arguments": {key: {"user_id": "u7"}}}
    assert not repair_call(call, tools().values()).ready


@pytest.mark.parametrize(
    "text",
    ["delete_user(user_id='u7'", '{"name": "delete_user", "arguments": {"user_id": "u7"', f"[{json.dumps(CALL)}, "],
)  # fmt: skip
def test_a_text_that_may_go_on_is_cut(text):
    refusal = read_calls(text, tools()).refusal
    assert refusal is not None
    assert refusal.code == "cut"
