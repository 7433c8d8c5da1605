"""`Mender.history`: poisoned threads of every form can go on, and nothing else in them changes."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
import re
from copy import deepcopy

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from selfcorrect import Mender

FIND = {
    "name": "find",
    "parameters": {
        "properties": {"q": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["q"],
    },
}
MENDER = Mender([FIND])
USER = {"role": "user", "content": "Find me a lamp."}
GO_ON = {"role": "user", "content": "And now?"}
READABLE = "{'q': 'lamp', 'n': '2',}"
BROKEN = '{"q": "la'


def chat(name, args):
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": args}, "x": 1}


def said(*calls):
    return {"role": "assistant", "content": None, "tool_calls": [*calls], "x": 1}


def told(call_id="c1", **more):
    return {"role": "tool", "tool_call_id": call_id, "content": "?", **more}


def gemini(name, args):
    return {
        "role": "model",
        "parts": [{"functionCall": {"id": "c1", "name": name, "args": args}, "x": 1}],
    }


def gemini_answer(name):
    return {
        "role": "user",
        "parts": [{"functionResponse": {"id": "c1", "name": name, "response": {}}}],
    }


THREADS = {
    "chat, arguments that are no JSON": (
        [USER, said(chat("find", BROKEN)), told(), GO_ON],
        [USER, said(chat("find", "{}")), told(), GO_ON],
    ),
    "chat, arguments that can be read": (
        [USER, said(chat("find", READABLE)), told(), GO_ON],
        [USER, said(chat("find", '{"q": "lamp", "n": 2}')), told(), GO_ON],
    ),
    "chat, JSON that is no object": (
        [USER, said(chat("find", "[]")), told(), GO_ON],
        [USER, said(chat("find", "{}")), told(), GO_ON],
    ),
    "chat, no name": (
        [USER, said(chat("", '{"q": "a"}')), told(name="find"), GO_ON],
        [USER, said(chat("find", '{"q": "a"}')), told(name="find"), GO_ON],
    ),
    "chat, no name anywhere": (
        [USER, said(chat(None, '{"q": "a"}')), told(), GO_ON],
        [USER, said(chat("unknown", '{"q": "a"}')), told(), GO_ON],
    ),
    "chat, a name that providers refuse": (
        [USER, said(chat("functions.find:0", '{"q": "a"}')), told(name="functions.find:0"), GO_ON],
        [USER, said(chat("find", '{"q": "a"}')), told(name="find"), GO_ON],
    ),
    "chat, a name of no tool that providers refuse": (
        [USER, said(chat("my tool!", '{"q": "a"}')), told(name="my tool!"), GO_ON],
        [USER, said(chat("my_tool_", '{"q": "a"}')), told(name="my_tool_"), GO_ON],
    ),
    "chat, nobody answered": (
        [USER, said(chat("find", BROKEN)), GO_ON],
        [USER, said(chat("find", "{}")), told(), GO_ON],
    ),
    "Responses": (
        [USER, {"type": "function_call", "call_id": "c1", "name": "find", "arguments": BROKEN}, GO_ON],
        [USER, {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": "?"}, GO_ON],
    ),
    "Anthropic, text for an object": (
        [USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": BROKEN}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "?"}]}],
        [USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "?"}]}],
    ),
    "Anthropic, nobody answered": (
        [USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": '{"q": "a"}'}]}, GO_ON],
        [USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {"q": "a"}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "?", "is_error": True}, {"type": "text", "text": "And now?"}]}],
    ),
    "Bedrock": (
        [{"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "", "input": {"q": "a"}}}]}, {"role": "user", "content": [{"text": "And now?"}]}],
        [{"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "unknown", "input": {"q": "a"}}}]}, {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "?"}], "status": "error"}}, {"text": "And now?"}]}],
    ),
    "Gemini": (
        [gemini("my tool!", {"q": "a"}), gemini_answer("my tool!")],
        [gemini("my_tool_", {"q": "a"}), gemini_answer("my_tool_")],
    ),
    "Ollama": (
        [{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "find", "arguments": BROKEN}}]}, {"role": "tool", "content": "?"}],
        [{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "find", "arguments": "{}"}}]}, {"role": "tool", "content": "?"}],
    ),
}  # fmt: skip


def settled(thread):
    """The thread, with nothing told of why an answer is not known."""
    return json.loads(re.sub(r'"No answer is known[^"]*"', '"?"', json.dumps(thread)))


@pytest.mark.parametrize(("thread", "wanted"), THREADS.values(), ids=THREADS)
def test_a_poisoned_thread_can_go_on(thread, wanted):
    before = deepcopy(thread)
    done = MENDER.history(thread)
    assert thread == before
    assert (done.outcome, done.model_calls) == ("repaired", 0)
    assert settled(done.value) == wanted
    again = MENDER.history(done.value)
    assert (again.outcome, again.value is done.value) == ("valid", True)
    assert [call.outcome for call in done.calls] == ["repaired"]
    assert done.changes


@pytest.mark.parametrize(
    "thread",
    [
        [],
        [USER],
        [USER, said(chat("find", '{"q": 5, "when": "now"}')), told()],
        [USER, said(chat("gone", "{}")), told(), GO_ON],
        [USER, {"role": "assistant", "content": "Good day."}],
        [USER, said(chat("find", '{"q": "a"}'))],
    ],
)
def test_what_was_well_formed_stays_as_it_was_written(thread):
    done = MENDER.history(thread)
    assert (done.outcome, done.value is thread, done.calls) == ("valid", True, ())


def test_only_the_poisoned_call_of_several_changes():
    good = {**chat("find", '{"q": 1}'), "id": "c2"}
    done = MENDER.history([said(good, chat("find", BROKEN)), told("c2"), told("c1"), GO_ON])
    assert done.value[0]["tool_calls"][0] is good
    assert done.value[0]["tool_calls"][1]["function"]["arguments"] == "{}"
    assert [call.id for call in done.calls] == ["c1"]


def test_an_answer_that_is_missing_comes_after_the_ones_that_are_there():
    good = {**chat("find", '{"q": "a"}'), "id": "c2"}
    done = MENDER.history([said(good, chat("find", BROKEN)), told("c2"), GO_ON])
    assert [each.get("tool_call_id") for each in done.value] == [None, "c2", "c1", None]


def test_the_last_message_waits_for_its_answers():
    done = MENDER.history([USER, said(chat("find", BROKEN))])
    assert len(done.value) == 2


# --- LangChain ------------------------------------------------------------------------------------

RAW = {"id": "u", "type": "function", "function": {"name": "find", "arguments": BROKEN}}
INVALID = {
    "name": "find",
    "args": BROKEN,
    "id": "u",
    "error": "no JSON",
    "type": "invalid_tool_call",
}


def check_langchain(thread):
    """What any provider asks for."""
    calls = [call for each in thread if each.type == "ai" for call in each.tool_calls]
    assert all(re.fullmatch(r"[\w-]{1,64}", call["name"]) for call in calls)
    assert not any(each.invalid_tool_calls for each in thread if each.type == "ai")
    told_ids = [each.tool_call_id for each in thread if each.type == "tool"]
    assert sorted(told_ids) == sorted(call["id"] for call in calls)
    for each in thread:
        for raw in each.additional_kwargs.get("tool_calls", ()):
            assert isinstance(json.loads(raw["function"]["arguments"]), dict)


def test_a_call_that_langchain_could_not_parse_and_nobody_answered():
    broken = AIMessage(
        "",
        invalid_tool_calls=[INVALID],
        additional_kwargs={"tool_calls": [RAW], "refusal": None},
        id="m",
    )
    thread = [HumanMessage("a"), broken, HumanMessage("b")]
    done = MENDER.history(thread)
    check_langchain(done.value)
    assert [each.type for each in done.value] == ["human", "ai", "tool", "human"]
    assert done.value[1].additional_kwargs["tool_calls"][0]["function"] == {
        "name": "find",
        "arguments": "{}",
    }
    assert (done.value[1].id, "refusal" in done.value[1].additional_kwargs) == ("m", True)
    assert done.value[2].status == "error"
    assert broken.invalid_tool_calls == [INVALID]
    assert MENDER.history(done.value).value is done.value


def test_the_raw_broken_copy_goes_where_langchain_knows_no_such_call():
    broken = AIMessage("I will look.", additional_kwargs={"tool_calls": [RAW]})
    done = MENDER.history([broken, HumanMessage("b")])
    check_langchain(done.value)
    assert done.value[0].content == "I will look."
    unknown = broken.model_copy(update={"invalid_tool_calls": [], "tool_calls": []})
    (alone,) = MENDER.history([unknown]).value
    assert (alone.additional_kwargs, alone.tool_calls) == ({}, [])


def test_a_raw_copy_that_is_broken_says_what_the_call_says():
    call = {"name": "find", "args": {"q": "la"}, "id": "u"}
    broken = AIMessage("", tool_calls=[call], additional_kwargs={"tool_calls": [RAW]})
    done = MENDER.history([broken, ToolMessage("?", tool_call_id="u")])
    (raw,) = done.value[0].additional_kwargs["tool_calls"]
    assert json.loads(raw["function"]["arguments"]) == {"q": "la"}


def test_a_nameless_call_of_langchain_is_named_as_its_answer_is():
    broken = AIMessage("", tool_calls=[{"name": "", "args": {"q": "a"}, "id": "u"}])
    done = MENDER.history([broken, ToolMessage("?", tool_call_id="u", name="find")])
    check_langchain(done.value)
    assert done.value[0].tool_calls[0]["name"] == "find"


def test_a_healthy_thread_of_langchain_is_the_very_same():
    call = {"name": "find", "args": {"q": 5}, "id": "u"}
    whole = {"id": "u", "type": "function", "function": {"name": "find", "arguments": '{"q": 5}'}}
    thread = [
        AIMessage("", tool_calls=[call], additional_kwargs={"tool_calls": [whole]}),
        ToolMessage("?", tool_call_id="u"),
    ]
    assert MENDER.history(thread).value is thread
