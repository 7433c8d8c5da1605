"""Threads are made valid for any provider: ids, arguments, answers, characters."""

import json

import pytest
from kit import table
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from selfcorrect.langchain.calls import shown_calls, with_calls
from selfcorrect.langchain.thread import answer_to, open_calls, valid_thread
from selfcorrect.threads.forms import ThreadCall


def call(call_id, name="look", **args):
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def turn(*ids):
    """Return a turn with a call of each id, of the tool that is named behind the id."""
    return AIMessage("", tool_calls=[call(*each.split(" ")) for each in ids])


def malformed(call_id, text='{"query": "a'):
    wrong = {"name": "look", "args": text, "id": call_id, "error": "", "type": "invalid_tool_call"}
    raw = {"id": call_id, "type": "function", "function": {"name": "look", "arguments": text}}
    return AIMessage("", invalid_tool_calls=[wrong], additional_kwargs={"tool_calls": [raw]})


def answer(call_id, text="r", name=None):
    return ToolMessage(text, tool_call_id=call_id, name=name)


def messages_of(thread):
    """Yield the messages of a thread of the data file."""
    for row in thread:
        if isinstance(row, str):
            yield HumanMessage(row)
        elif isinstance(row, dict):
            ((about, text),) = row.items()
            call_id, _, name = about.partition(" ")
            yield answer(call_id, text, name or None)
        else:
            yield malformed(row[0][:-2]) if row and row[0].endswith("?") else turn(*row)


def said(thread):
    """Return a thread as the data file has it, with the beginnings of its answers."""
    rows = []
    for each in thread:
        if isinstance(each, ToolMessage):
            rows.append({each.tool_call_id: each.text[:20]})
        elif isinstance(each, AIMessage) and each.tool_calls:
            rows.append([one["id"] for one in each.tool_calls])
        else:
            rows.append(each.text)
    return rows


@pytest.mark.parametrize(("name", "thread", "expected"), table("thread.txt", "threads"))
def test_a_thread_is_made_valid(name, thread, expected):
    assert said(valid_thread([*messages_of(thread)])) == expected


@pytest.mark.parametrize(("name", "thread", "expected"), table("thread.txt", "open"))
def test_open_calls_are_those_of_the_last_turn_without_an_answer(name, thread, expected):
    assert [each.id for each in open_calls([*messages_of(thread)])] == expected


@pytest.mark.parametrize(("answered", "name"), [("find", "look"), ("look", "find")])
def test_of_calls_with_one_id_that_is_answered_whose_tool_the_answer_names(answered, name):
    thread = [turn("", " find"), answer("", name=answered)]
    assert [each.name for each in open_calls(thread)] == [name]


def test_the_answer_of_a_call_is_found_wherever_it_stands():
    thread = [turn("a"), answer("a", "old"), turn("a", "b"), HumanMessage("b"), answer("b", "late")]
    assert answer_to("a", thread) is None
    assert answer_to("b", thread).text == "late"
    assert answer_to("c", thread) is None


OLD = {"kind": "bar", "width": "20"}


@pytest.mark.parametrize(("name", "fields"), table("thread.txt", "forms"))
def test_a_call_that_was_repaired_stands_the_same_everywhere_in_its_message(name, fields):
    message = AIMessage(tool_calls=[call("c1", "Draw", **OLD)], **fields)
    found = with_calls(message, [ThreadCall("c2", "draw", {"kind": "bar", "width": 20})])
    written = json.dumps([found.content, found.additional_kwargs])
    assert "Draw" not in written
    assert '20\\"' not in written.replace('"20"', '20\\"')
    assert "SIGN" in written
    assert ("c2" in written) == (name != "gemini")
    assert with_calls(found, shown_calls(found)) is found


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
