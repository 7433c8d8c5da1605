"""A message is mended on a full copy: nothing that a provider or a model wrote there is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from pydantic import BaseModel, ConfigDict, PrivateAttr

from selfcorrect import Mender, ToolSpec
from selfcorrect.forms.calls import FORMS, form_of

FIND = {
    "name": "find",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
}
READS = ToolSpec.from_schema(FIND, effect="read_only")
WRONG, RIGHT = {"Q": "x"}, {"q": "x"}
OWN: dict[str, Any] = {"thought_signature": "S", "fc_id": "f", "new": {"deep": [1, {"a": None}]}}


def name_and(key: str, args: Any) -> dict[str, Any]:
    return {"name": "Find", key: args, **OWN}


FORM_OF: dict[str, Any] = {
    "mcp": {"jsonrpc": "2.0", "method": "tools/call", "params": name_and("arguments", WRONG)},
    "chat": {"id": "c", "type": "function", "function": name_and("arguments", json.dumps(WRONG))},
    "responses": {
        "type": "function_call",
        "call_id": "c",
        "id": "fc_1",
        "status": "completed",
        **name_and("arguments", json.dumps(WRONG)),
    },
    "anthropic": {"type": "tool_use", "id": "c", **name_and("input", WRONG)},
    "langchain": {"type": "tool_call", "id": "c", **name_and("args", WRONG)},
    "langchain, streamed": {
        "type": "tool_call_chunk",
        "id": "c",
        "index": 0,
        **name_and("args", json.dumps(WRONG)),
    },
    "bedrock": {"toolUse": {"toolUseId": "c", **name_and("input", WRONG)}},
    "gemini": {"functionCall": {"id": "c", **name_and("args", WRONG)}},
    "one function": {"function_call": name_and("arguments", json.dumps(WRONG))},
    "gemini, in Python": {"function_call": {"id": "c", **name_and("args", WRONG)}},
}
AROUND: dict[str, Any] = {
    "alone": lambda call: call,
    "a list": lambda call: [{"type": "text", "text": "Let me look.", **OWN}, call],
    "content": lambda call: {
        **OWN,
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, call, {"odd": 1}],
    },
    "a response": lambda call: {
        "candidates": [{"content": {"parts": [call, {"text": "Wait."}], **OWN}, **OWN}],
        **OWN,
    },
    "items": lambda call: {"output": [{"type": "reasoning", "encrypted": "E"}, call], **OWN},
}


def bare(value: Any) -> Any:
    """A value without what mending may change."""
    if isinstance(value, dict):
        changed = ("name", "args", "arguments", "input")
        return {key: bare(item) for key, item in value.items() if key not in changed}
    return [bare(item) for item in value] if isinstance(value, list) else value


def test_the_table_has_every_form() -> None:
    assert FORM_OF.keys() == FORMS.keys()
    assert all(form_of(call) is FORMS[name] for name, call in FORM_OF.items())


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("form", FORM_OF)
def test_every_field_of_every_form_is_kept(form: str, around: Any) -> None:
    given = around({**FORM_OF[form], **OWN})
    before = json.dumps(given)
    done = Mender([FIND]).message(given)
    assert [(call.name, call.args) for call in done.ready] == [("find", RIGHT)]
    assert bare(done.value) == bare(given)
    assert json.dumps(given) == before


@pytest.mark.parametrize(
    "key", ["hosted", "informational_only", "provider_executed", "providerExecuted"]
)
@pytest.mark.parametrize("form", FORM_OF)
def test_a_call_that_its_provider_makes_is_not_touched(form: str, key: str) -> None:
    given = {"content": [{**FORM_OF[form], key: True}]}
    mender = Mender([FIND])
    done = mender.message(given)
    assert (done.outcome, done.calls, done.value is given) == ("valid", (), True)
    assert mender.call(given).ready == ()
    own = {"content": [{**FORM_OF[form], key: True}, FORM_OF["anthropic"]]}
    assert len(mender.message(own).ready) == 1
    assert mender.message(own).value["content"][0] == given["content"][0]


SERVERS = [
    {"type": "server_tool_use", "id": "s", "name": "Find", "input": WRONG},
    {"type": "mcp_tool_use", "id": "s", "name": "Find", "input": WRONG},
    {"type": "mcp_call", "id": "s", "name": "Find", "arguments": json.dumps(WRONG)},
    {"type": "web_search_call", "id": "s", "action": {"type": "search", "query": "x"}},
    {"type": "server_tool_call", "id": "s", "name": "Find", "args": WRONG},
    {"type": "custom_tool_call", "call_id": "s", "name": "Find", "input": "x"},
    {"executableCode": {"language": "PYTHON", "code": "find(q='x')"}},
]


@pytest.mark.parametrize("part", SERVERS)
@pytest.mark.parametrize("key", ["content", "output", "parts"])
def test_a_call_of_a_server_is_not_touched(part: Any, key: str) -> None:
    given = {key: [part]}
    done = Mender([FIND]).message(given)
    assert (done.outcome, done.calls, done.value is given) == ("valid", (), True)


CHAT = {"role": "assistant", "content": None, "tool_calls": [FORM_OF["chat"]]}
THREADS: dict[str, Any] = {
    "chat": ([CHAT, {"role": "tool", "tool_call_id": "c", "content": "ok"}], CHAT),
    "anthropic": (
        [
            {"role": "assistant", "content": [FORM_OF["anthropic"]]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]},
        ],
        {"role": "assistant", "content": [FORM_OF["anthropic"]]},
    ),
    "responses": (
        [FORM_OF["responses"], {"type": "function_call_output", "call_id": "c", "output": "ok"}],
        FORM_OF["responses"],
    ),
}


@pytest.mark.parametrize(("thread", "again"), THREADS.values(), ids=THREADS)
def test_a_call_that_was_answered_is_not_touched(thread: list[Any], again: Any) -> None:
    mender = Mender([FIND])
    done = mender.message(thread)
    assert (done.outcome, done.calls, done.value is thread) == ("valid", (), True)
    assert mender.call(thread).reason == "no_call"
    # A later message that counts its ids anew makes a call.
    more = mender.message([*thread, again])
    assert [call.args for call in more.ready] == [RIGHT]
    assert more.value[: len(thread)] == thread
    items = {"output": [*thread, again]}
    assert len(mender.message(items).ready) == 1


TEXT = 'Let me look.\n```json\n{"name": "find", "arguments": {"q": "x"}}\n```\nOne moment.'
LEFT = "Let me look.\nOne moment."
ALONE = '{"name": "find", "arguments": {"q": "x"}}'


def texts(value: Any) -> list[str]:
    """Every text of a message, in order."""
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        inner = [value["content"]] if isinstance(value.get("content"), str) else []
        rest = (texts(item) for key, item in value.items() if key != "arguments")
        return [*own, *inner, *(text for found in rest for text in found)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return []


def said(text: str) -> dict[str, Any]:
    part = {"type": "text", "text": text, "citations": [1]}
    item = {"type": "output_text", "text": text, "annotations": [1]}
    return {
        "chat": {"role": "assistant", "content": text, "reasoning_content": "hm", **OWN},
        "anthropic": {"content": [{"type": "thinking", "signature": "s"}, part], **OWN},
        "gemini": {
            "candidates": [{"content": {"parts": [{"text": text, "thoughtSignature": "S"}]}}]
        },
        "bedrock": {"output": {"message": {"role": "assistant", "content": [{"text": text}]}}},
        "responses": {"output": [{"type": "message", "id": "m", "content": [item]}], **OWN},
    }


@pytest.mark.parametrize("form", said(TEXT))
def test_the_words_around_a_call_stay(form: str) -> None:
    done = Mender([READS]).message(said(TEXT)[form])
    assert [call.args for call in done.ready] == [RIGHT]
    assert texts(done.value) == [LEFT]


@pytest.mark.parametrize("form", said(ALONE))
def test_what_stands_beside_a_text_stays(form: str) -> None:
    given = said(ALONE)[form]
    done = Mender([READS]).message(given)
    assert [call.args for call in done.ready] == [RIGHT]
    assert texts(done.value) == []
    assert {key: done.value.get(key) for key in OWN if key in given} == (
        OWN if "new" in given else {}
    )
    assert ("thoughtSignature" in json.dumps(done.value)) is (form == "gemini")


@pytest.mark.parametrize(
    "given",
    [
        {"content": [{"type": "text", "text": ALONE}, {"type": "text", "text": "But only if."}]},
        {"parts": [{"text": ALONE}, {"text": "But only if Bob agrees."}]},
        {"role": "assistant", "content": [{"text": ALONE}, {"text": "But only if Bob agrees."}]},
        {
            "output": [
                {"type": "message", "content": [{"type": "output_text", "text": ALONE}]},
                {"type": "message", "content": [{"type": "output_text", "text": "But only if."}]},
            ]
        },
        AIMessage([{"type": "text", "text": ALONE}, {"type": "text", "text": "But only if."}]),
    ],
)
def test_a_second_part_stands_around_the_call_in_the_first(given: Any) -> None:
    done = Mender([FIND]).message(given)
    assert (done.outcome, done.ready, done.value is given) == ("valid", (), True)


def test_a_call_in_text_stands_beside_calls_that_others_make() -> None:
    hosted = {**FORM_OF["chat"], "hosted": True}
    given = {"role": "assistant", "content": ALONE, "tool_calls": [hosted]}
    done = Mender([FIND]).message(given)
    assert done.value["tool_calls"][0] == hosted
    assert len(done.value["tool_calls"]) == 2


def test_the_same_call_once_more_says_the_same() -> None:
    copy = {"name": "Find", "arguments": json.dumps(WRONG), "more": 1}
    function = {"name": "Find", "arguments": json.dumps(WRONG)}
    given = {"tool_calls": [{"id": "c", "function": function}], "function_call": copy}
    done = Mender([FIND]).message(given)
    told = {"name": "find", "arguments": json.dumps(RIGHT)}
    assert done.value["function_call"] == {**told, "more": 1}
    assert done.value["tool_calls"][0]["function"] == told


RAW = {"name": "Find", "arguments": json.dumps(WRONG), "more": 1}


def langchain(kind: Any = AIMessage, **more: Any) -> Any:
    return kind(
        [{"type": "thinking", "thinking": "hm", "signature": "s"}],
        tool_calls=[{"name": "Find", "args": WRONG, "id": "c"}],
        additional_kwargs={
            "tool_calls": [{"id": "c", "type": "function", "function": RAW, "extra_content": 1}],
            "function_call": RAW,
            "__signatures__": {"c": "S"},
            "new": 1,
        },
        response_metadata={"finish_reason": "tool_calls"},
        id="m",
        informational=1,
        **more,
    )


class OwnMessage(AIMessage):
    """A message of somebody's own class."""

    more: int = 1


@pytest.mark.parametrize("kind", [AIMessage, OwnMessage])
def test_a_message_of_langchain_keeps_its_fields(kind: Any) -> None:
    given = langchain(kind)
    done = Mender([FIND]).message(given).value
    assert type(done) is kind
    assert done.tool_calls[0]["args"] == RIGHT
    told = {"name": "find", "arguments": json.dumps(RIGHT), "more": 1}
    kwargs = done.additional_kwargs
    assert kwargs["tool_calls"][0] == {
        "id": "c",
        "type": "function",
        "function": told,
        "extra_content": 1,
    }
    assert (kwargs["function_call"], kwargs["__signatures__"]) == (told, {"c": "S"})
    assert (kwargs["new"], done.informational, done.content) == (1, 1, given.content)
    assert given.tool_calls[0]["args"] == WRONG


def test_a_streamed_message_keeps_its_fields() -> None:
    done = Mender([FIND]).message(langchain(AIMessageChunk)).value
    assert (type(done), done.informational, done.id) == (AIMessage, 1, "m")
    assert done.tool_calls[0]["args"] == RIGHT


def test_words_and_thoughts_of_a_message_of_langchain_stay() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    for content in (TEXT, [thought, {"type": "text", "text": TEXT}], [thought, TEXT]):
        done = Mender([READS]).message(AIMessage(content, id="m")).value
        assert done.tool_calls[0]["args"] == RIGHT
        assert done.text == LEFT
        assert not isinstance(content, list) or thought in done.content


class Message(BaseModel):
    model_config = ConfigDict(extra="allow")
    role: str = "assistant"
    content: str | None = None
    _request_id: str = PrivateAttr("")


def test_an_object_of_an_sdk_keeps_what_is_no_field() -> None:
    given = Message(content=ALONE, fresh={"a": 1})
    given._request_id = "r"
    done = Mender([FIND]).message(given).value
    assert (done._request_id, done.fresh, done.content) == ("r", {"a": 1}, None)
    assert given.content == ALONE
