"""Threads are made valid for any provider: ids, arguments, answers, characters."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from selfcorrect.agents.calls import with_calls
from selfcorrect.agents.history import pair
from selfcorrect.agents.thread import answer_to, open_calls, valid_thread


def call(call_id, name="look", **args):
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def turn(*ids, **more):
    return AIMessage("", tool_calls=[call(each) for each in ids], **more)


def malformed(call_id, text='{"query": "a'):
    wrong = {"name": "look", "args": text, "id": call_id, "error": "", "type": "invalid_tool_call"}
    raw = {"id": call_id, "type": "function", "function": {"name": "look", "arguments": text}}
    return AIMessage("", invalid_tool_calls=[wrong], additional_kwargs={"tool_calls": [raw]})


def answer(call_id, text="r", name=None):
    return ToolMessage(text, tool_call_id=call_id, name=name)


def two_tools(call_id):
    return AIMessage("", tool_calls=[call(call_id, "look"), call(call_id, "find")])


def said(thread):
    """Return a thread as a table: the ids of each call, and the id and text of each answer."""
    rows = []
    for each in thread:
        if isinstance(each, ToolMessage):
            rows.append((each.tool_call_id, each.text[:20]))
        elif isinstance(each, AIMessage) and each.tool_calls:
            rows.append([one["id"] for one in each.tool_calls])
        else:
            rows.append(each.text)
    return rows


def is_valid(thread):
    """Say whether a strict provider takes the thread."""
    seen, at = set(), 0
    while at < len(thread):
        message, at = thread[at], at + 1
        if isinstance(message, ToolMessage):
            return False
        ids = [each["id"] for each in getattr(message, "tool_calls", ())]
        answers = thread[at : at + len(ids)]
        if [getattr(each, "tool_call_id", None) for each in answers] != ids or seen & {*ids}:
            return False
        if "" in ids or len({*ids}) < len(ids) or getattr(message, "invalid_tool_calls", ()):
            return False
        seen |= {*ids}
        at += len(ids)
    json.dumps([each.model_dump() for each in thread], ensure_ascii=False, default=str).encode()
    return True


LOST = "The answer to this c"
HELLO = HumanMessage("b")
THREADS = {
    "whole": ([turn("c1"), answer("c1"), HELLO], [["c1"], ("c1", "r"), "b"]),
    "dangling": ([turn("c1"), HELLO], [["c1"], ("c1", LOST), "b"]),
    "one of two": (
        [turn("c1", "c2"), answer("c2"), HELLO],
        [["c1", "c2"], ("c1", LOST), ("c2", "r"), "b"],
    ),
    "in another order": (
        [turn("c1", "c2"), answer("c2", "two"), answer("c1", "one")],
        [["c1", "c2"], ("c1", "one"), ("c2", "two")],
    ),
    "orphan": ([answer("c0"), HELLO, answer("c9")], ["b"]),
    "answered late": ([turn("c1"), HELLO, answer("c1")], [["c1"], ("c1", "r"), "b"]),
    "answered twice": ([turn("c1"), answer("c1", "1"), answer("c1", "2")], [["c1"], ("c1", "1")]),
    "an id in two messages": (
        [turn("c1"), answer("c1", "1"), HELLO, turn("c1"), answer("c1", "2")],
        [["c1"], ("c1", "1"), "b", ["c1_2"], ("c1_2", "2")],
    ),
    "an id twice in one message": (
        [turn("c1", "c1"), answer("c1", "1"), answer("c1", "2")],
        [["c1", "c1_2"], ("c1", "1"), ("c1_2", "2")],
    ),
    "an id twice, answered by name": (
        [two_tools("c1"), answer("c1", "1", "find"), answer("c1", "2", "look")],
        [["c1", "c1_2"], ("c1", "2"), ("c1_2", "1")],
    ),
    "an id twice, one answered by name": (
        [two_tools("c1"), answer("c1", "1", "find"), HELLO],
        [["c1", "c1_2"], ("c1", LOST), ("c1_2", "1"), "b"],
    ),
    "the new id is taken": (
        [turn("c1"), answer("c1"), turn("c1", "c1_2"), answer("c1", "2"), answer("c1_2", "3")],
        [["c1"], ("c1", "r"), ["c1_3", "c1_2"], ("c1_3", "2"), ("c1_2", "3")],
    ),
    "no id": ([turn(""), answer("")], [["call_2"], ("call_2", "r")]),
    "malformed": ([malformed("c1"), HELLO], [["c1"], ("c1", "This call was not ma"), "b"]),
}


@pytest.mark.parametrize("name", THREADS)
def test_a_thread_is_made_valid(name):
    thread, expected = THREADS[name]
    found = valid_thread(thread)
    assert said(found) == expected
    assert is_valid(found)


def test_a_valid_thread_keeps_its_messages():
    thread = [HELLO, turn("c1"), answer("c1"), AIMessage("ok")]
    assert all(a is b for a, b in zip(valid_thread(thread), thread, strict=True))


ids = st.sampled_from(["", "a", "a_2", "b"])
texts = st.text(max_size=5) | st.sampled_from(["\ud83d", "\ude00x", "é\udfff"])
messages = st.one_of(
    st.lists(ids, min_size=1, max_size=3).map(lambda each: turn(*each)),
    st.builds(answer, ids, texts),
    st.builds(malformed, ids, texts),
    st.builds(HumanMessage, texts),
    st.builds(AIMessage, texts.map(lambda each: [{"type": "text", "text": each}])),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(messages, max_size=8))
def test_any_thread_becomes_valid_once_and_for_all(thread):
    before = [each.model_copy(deep=True) for each in thread]
    found = valid_thread(thread)
    assert is_valid(found)
    assert thread == before
    assert all(a is b for a, b in zip(valid_thread(found), found, strict=True))
    kept = [each for each in thread if not isinstance(each, ToolMessage)]
    assert len([each for each in found if not isinstance(each, ToolMessage)]) == len(kept)


@given(st.lists(st.one_of(ids, st.lists(ids, min_size=1).map(tuple))))
def test_every_answer_is_used_once_or_belongs_to_no_call(entries):
    steps = pair(entries)
    used = [step.at for step in steps if step.call and step.at is not None]
    assert len(used) == len({*used})
    asked = [call_id for each in entries if isinstance(each, tuple) for call_id in each]
    assert len([step for step in steps if step.call]) == len(asked)
    for at, entry in enumerate(entries):
        before = [i for e in entries[:at] if isinstance(e, tuple) for i in e]
        if isinstance(entry, str) and entry not in before:
            assert at not in used


def test_pairing_serves_hosts_without_langchain():
    code = "import sys, selfcorrect.agents.history; print([n for n in sys.modules if 'lang' in n])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


OPEN = {
    "none": ([HELLO], []),
    "all": ([turn("a", "b")], ["a", "b"]),
    "one": ([turn("a", "b"), answer("a")], ["b"]),
    "behind the user's word": ([turn("a"), HELLO, answer("a")], []),
    "of the last turn only": ([turn("a"), HELLO, turn("b")], ["b"]),
    "an id of an earlier turn": ([turn("a"), answer("a"), turn("a")], ["a"]),
    "the turn has ended": ([turn("a"), AIMessage("done")], []),
}


@pytest.mark.parametrize("name", OPEN)
def test_open_calls_are_those_of_the_last_turn_without_an_answer(name):
    thread, expected = OPEN[name]
    assert [each["id"] for each in open_calls(thread)] == expected


@pytest.mark.parametrize(("answered", "name"), [("find", "look"), ("look", "find")])
def test_of_calls_with_one_id_that_is_answered_whose_tool_the_answer_names(answered, name):
    thread = [two_tools(""), answer("", name=answered)]
    assert [each["name"] for each in open_calls(thread)] == [name]


def test_the_answer_of_a_call_is_found_wherever_it_stands():
    thread = [turn("a"), answer("a", "old"), turn("a", "b"), HELLO, answer("b", "late")]
    assert answer_to("a", thread) is None
    assert answer_to("b", thread).text == "late"
    assert answer_to("c", thread) is None


OLD = {"kind": "bar", "width": "20"}
TEXT = json.dumps(OLD)
FORMS = {
    "anthropic": {
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "SIGN"},
            {"type": "tool_use", "id": "c1", "name": "Draw", "input": OLD},
        ]
    },
    "langchain": {
        "content": [
            {"type": "tool_call", "id": "c1", "name": "Draw", "args": OLD, "extras": "SIGN"}
        ]
    },
    "responses": {
        "content": [
            {"type": "reasoning", "id": "r", "encrypted_content": "SIGN"},
            {"type": "function_call", "call_id": "c1", "name": "Draw", "arguments": TEXT},
        ]
    },
    "chat": {
        "content": "",
        "additional_kwargs": {
            "reasoning": "SIGN",
            "tool_calls": [{"id": "c1", "function": {"name": "Draw", "arguments": TEXT}}],
        },
    },
    "gemini": {
        "content": [{"type": "text", "text": "x", "extras": "SIGN"}],
        "additional_kwargs": {"function_call": {"name": "Draw", "arguments": TEXT}},
    },
}


@pytest.mark.parametrize("name", FORMS)
def test_a_call_that_was_repaired_stands_the_same_everywhere_in_its_message(name):
    message = AIMessage(tool_calls=[call("c1", "Draw", **OLD)], **FORMS[name])
    found = with_calls(message, [call("c2", "draw", kind="bar", width=20)])
    written = json.dumps([found.content, found.additional_kwargs])
    assert "Draw" not in written
    assert '20\\"' not in written.replace('"20"', '20\\"')
    assert "SIGN" in written
    assert ("c2" in written) == (name != "gemini")
    assert with_calls(found, found.tool_calls) is found


def test_a_block_of_a_call_that_the_message_has_not_is_left_out():
    ghost = {"type": "tool_use", "id": "c9", "name": "look", "input": {}}
    (found, _) = valid_thread([AIMessage([ghost], tool_calls=[call("c1")])])
    assert found.content == []


def test_a_call_without_a_block_gets_one_where_only_the_content_is_sent_back():
    message = AIMessage(
        [{"type": "text", "text": "x"}],
        tool_calls=[call("c1")],
        response_metadata={"output_version": "v1"},
    )
    (found, _) = valid_thread([message])
    assert found.content[1] == call("c1")
    assert valid_thread([found])[0] is found
