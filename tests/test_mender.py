"""`Mender`: every provider's form in, the same form out, each call for itself."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from pydantic import BaseModel

from selfcorrect import MendedCall, Mender, repair_call
from selfcorrect.model import Call

BOOK = {
    "name": "book_flight",
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "day": {"type": "string", "format": "date"},
            "passengers": {"type": "integer"},
            "cabin": {"enum": ["economy", "business"]},
            "id": {"type": "string"},
        },
        "required": ["to", "day", "passengers"],
    },
}
MENDER = Mender([BOOK, {"name": "get_time", "parameters": {"properties": {}}}])
GOOD = {"to": "CDG", "day": "2026-10-26", "passengers": 2}
WRONG = {"to": "CDG", "day": "2026/10/26", "passengers": "2"}
UNREADABLE = "{'to': 'CDG', 'day': '2026-10-26', 'passengers': 2,}"
MISSING = {"to": "CDG", "passengers": "2"}


def text(args: Any) -> Any:
    """Arguments where a provider writes them as text."""
    return args if isinstance(args, str) else json.dumps(args)


def chat(name, args, n=0):
    function = {"name": name, "arguments": text(args), "x_inner": None}
    return {"id": f"c{n}", "type": "function", "function": function, "x_vendor": [n]}


def of_responses(name, args, n=0):
    return {
        "type": "function_call",
        "id": f"fc{n}",
        "call_id": f"c{n}",
        "name": name,
        "arguments": text(args),
        "status": "completed",
        "x_vendor": n,
    }


def tool_use(name, args, n=0):
    return {"type": "tool_use", "id": f"c{n}", "name": name, "input": args, "x_vendor": n}


def function_call(name, args, n=0):
    call = {"id": f"c{n}", "name": name, "args": args, "x_inner": n}
    return {"functionCall": call, "thoughtSignature": "QQ==", "x_vendor": n}


def of_bedrock(name, args, n=0):
    return {"toolUse": {"toolUseId": f"c{n}", "name": name, "input": args, "x_inner": n}}


def of_ollama(name, args, n=0):
    return {"function": {"index": n, "name": name, "arguments": args}, "x_vendor": n}


def of_langchain(name, args, n=0):
    return {"name": name, "args": args, "id": f"c{n}", "type": "tool_call", "x_vendor": n}


def of_mcp(name, args, n=0):
    params = {"name": name, "arguments": args, "_meta": {"progressToken": n}}
    return {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params}


def plain(name, args, n=0):
    return {"tool": name, "parameters": args, "id": f"c{n}"}


FORMS = {
    "OpenAI, chat": chat,
    "OpenAI, Responses": of_responses,
    "Anthropic": tool_use,
    "Gemini": function_call,
    "Bedrock": of_bedrock,
    "Ollama": of_ollama,
    "LangChain": of_langchain,
    "MCP": of_mcp,
    "plain": plain,
}
MESSAGES = {
    "OpenAI, chat": (chat, lambda *calls: {"role": "assistant", "content": None, "tool_calls": [*calls], "x": 1}),
    "OpenAI, a response": (chat, lambda *calls: {"id": "r", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [*calls]}, "x": {}}], "x": 1}),
    "OpenAI, Responses": (of_responses, lambda *calls: {"object": "response", "status": "completed", "output": [{"type": "reasoning", "summary": []}, *calls], "tools": [BOOK], "x": 1}),
    "Anthropic": (tool_use, lambda *calls: {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Booking."}, *calls], "stop_reason": "tool_use", "x": 1}),
    "Gemini": (function_call, lambda *calls: {"candidates": [{"content": {"role": "model", "parts": [{"text": "Booking."}, *calls]}, "finishReason": "STOP"}], "x": 1}),
    "Bedrock": (of_bedrock, lambda *calls: {"output": {"message": {"role": "assistant", "content": [{"text": "Booking."}, *calls]}}, "stopReason": "tool_use", "x": 1}),
    "Ollama": (of_ollama, lambda *calls: {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [*calls]}, "done": True, "done_reason": "stop", "x": 1}),
    "LangChain, dumped": (of_langchain, lambda *calls: {"type": "ai", "content": "", "tool_calls": [*calls], "x": 1}),
    "content alone": (tool_use, lambda *calls: [{"type": "text", "text": "Booking."}, *calls]),
    "MCP, a batch": (of_mcp, lambda *calls: [*calls]),
    "calls alone": (plain, lambda *calls: [*calls]),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_call_comes_back_in_its_own_form(form):
    given = form("Book-Flight", WRONG, 1)
    before = deepcopy(given)
    done = MENDER.message(given)
    assert done.outcome == "repaired", done.detail
    assert done.value == form("book_flight", GOOD, 1)
    assert list(done.value) == list(given)
    assert given == before
    (call,) = done.calls
    call_id = {of_mcp: 1, of_ollama: None}.get(form, "c1")
    assert (call.name, call.args, call.id) == ("book_flight", GOOD, call_id)
    assert done.ready == (Call("book_flight", GOOD, None if call_id is None else str(call_id)),)
    assert {change.path for change in done.changes} == {"/name", "/args/day", "/args/passengers"}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_arguments_that_are_text_are_read_into_what_the_form_has(form):
    done = MENDER.message(form("book_flight", UNREADABLE))
    assert done.outcome == "repaired", done.detail
    wanted = form("book_flight", GOOD)
    if form in (plain, of_ollama):  # these keep what they came as
        wanted = form("book_flight", json.dumps(GOOD))
    assert done.value == wanted


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_valid_call_is_the_very_same_object(form):
    for args in (GOOD, json.dumps(GOOD)):
        given = form("book_flight", args)
        done = MENDER.message(given)
        if args is GOOD or form in (chat, of_responses, of_ollama, plain):
            assert (done.outcome, done.changes) == ("valid", ())
            assert done.value is given
        assert done.calls[0].args == GOOD


@pytest.mark.parametrize(("form", "message"), MESSAGES.values(), ids=MESSAGES)
def test_each_call_of_a_message_stands_for_itself(form, message):
    calls = [
        form("book_flight", GOOD, 0),
        form("book_flight", WRONG, 1),
        form("book_flight", MISSING, 2),
        form("fly_me_to_the_moon", {"when": 1}, 3),
        form("book_flight", UNREADABLE, 4),
    ]
    given = message(*calls)
    before = deepcopy(given)
    done = MENDER.message(given)
    assert given == before
    assert [call.outcome for call in done.calls] == [
        "valid",
        "repaired",
        "ask",
        "failed",
        "repaired",
    ]
    assert (done.outcome, done.model_calls) == ("failed", 0)
    assert [call.name for call in done.ready] == ["book_flight"] * 3
    assert [call.args for call in done.ready] == [GOOD] * 3
    kept = done.value
    last = json.dumps(GOOD) if form in (plain, of_ollama) else GOOD
    wanted = [
        form("book_flight", GOOD, 0),
        form("book_flight", GOOD, 1),
        calls[2],
        calls[3],
        form("book_flight", last, 4),
    ]
    assert kept == message(*wanted)
    missing, unknown = done.calls[2], done.calls[3]
    assert (missing.args, missing.partial) == (None, {"to": "CDG", "passengers": 2})
    assert missing.reason == "needs_person"
    assert "day" in missing.for_model
    assert (unknown.args, unknown.partial) == (None, {"when": 1})
    assert "fly_me_to_the_moon" in unknown.for_model or "no such tool" in unknown.for_model


@pytest.mark.parametrize(("form", "message"), MESSAGES.values(), ids=MESSAGES)
def test_a_healthy_message_is_the_very_same_object(form, message):
    given = message(form("book_flight", GOOD), form("get_time", {}, 1))
    for done in (MENDER.message(given), MENDER.message(given)):
        assert (done.outcome, done.changes, len(done.calls)) == ("valid", (), 2)
        assert done.value is given


CUT = {
    "OpenAI, a response": ("choices", 0, "finish_reason", "length"),
    "OpenAI, Responses": ("status", "incomplete"),
    "Anthropic": ("stop_reason", "max_tokens"),
    "Gemini": ("candidates", 0, "finishReason", "MAX_TOKENS"),
    "Bedrock": ("stopReason", "max_tokens"),
    "Ollama": ("done_reason", "length"),
}


@pytest.mark.parametrize("title", CUT)
def test_only_the_last_call_of_a_message_that_was_cut_off_may_not_run(title):
    form, message = MESSAGES[title]
    given = message(form("book_flight", WRONG), form("book_flight", GOOD, 1))
    *way, key, said = CUT[title]
    place = given
    for step in way:
        place = place[step]
    place[key] = said
    done = MENDER.message(given)
    assert [call.outcome for call in done.calls] == ["repaired", "failed"]
    assert "cut off" in done.calls[1].detail
    assert done.calls[1].id == "c1" or form is of_ollama


SAID = '<tool_call>{"name": "book_flight", "arguments": ' + json.dumps(WRONG) + "}</tool_call>"
IN_TEXT = {
    "OpenAI, chat": ({"role": "assistant", "content": SAID, "x": 1}, lambda v: (v["content"], v["tool_calls"][0]["function"])),
    "OpenAI, a response": ({"choices": [{"message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}]}, lambda v: (v["choices"][0]["finish_reason"], v["choices"][0]["message"]["tool_calls"][0]["function"])),
    "OpenAI, Responses": ({"output": [{"type": "reasoning"}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]}]}, lambda v: (v["output"][0]["type"], v["output"][1])),
    "Anthropic": ({"role": "assistant", "content": [{"type": "text", "text": SAID}], "stop_reason": "end_turn"}, lambda v: (v["stop_reason"], v["content"][0])),
    "Gemini": ({"candidates": [{"content": {"role": "model", "parts": [{"text": SAID}]}, "finishReason": "STOP"}]}, lambda v: ("gemini", v["candidates"][0]["content"]["parts"][0]["functionCall"])),
    "Bedrock": ({"output": {"message": {"role": "assistant", "content": [{"text": SAID}]}}, "stopReason": "end_turn"}, lambda v: (v["stopReason"], v["output"]["message"]["content"][0]["toolUse"])),
    "Ollama": ({"message": {"role": "assistant", "content": SAID}, "done": True}, lambda v: (v["message"]["content"], v["message"]["tool_calls"][0]["function"])),
}  # fmt: skip
STOPS = [None, "tool_calls", "reasoning", "tool_use", "gemini", "tool_use", ""]


@pytest.mark.parametrize(("title", "stop"), [*zip(IN_TEXT, STOPS, strict=True)])
def test_a_call_in_the_text_of_a_message_is_written_where_calls_belong(title, stop):
    given, look = IN_TEXT[title]
    done = MENDER.message(given)
    assert (done.outcome, [call.args for call in done.ready]) == ("repaired", [GOOD])
    said, call = look(done.value)
    assert said == stop
    assert call["name"] == "book_flight"
    args = next(call[key] for key in ("arguments", "input", "args") if key in call)
    assert (json.loads(args) if isinstance(args, str) else args) == GOOD
    again = MENDER.message(done.value)
    assert (again.outcome, again.value) == ("valid", done.value)
    assert done.calls[0].id is not None
    assert again.calls[0].id in (None, done.calls[0].id)


@pytest.mark.parametrize("title", IN_TEXT)
def test_an_answer_in_words_stays_as_it_is(title):
    given = json.loads(
        json.dumps(IN_TEXT[title][0]).replace(json.dumps(SAID)[1:-1], "Good day (really).")
    )
    done = MENDER.message(given)
    assert (done.outcome, done.calls, done.changes) == ("valid", (), ())
    assert done.value is given
    assert MENDER.call(given).outcome == "failed"


def test_text_comes_back_as_text():
    done = MENDER.message(SAID)
    assert json.loads(done.value) == {"name": "book_flight", "arguments": GOOD}
    both = MENDER.call("[book_flight(to='CDG', day='2026-10-26', passengers=2), get_time()]")
    assert [call["name"] for call in json.loads(both.value)] == ["book_flight", "get_time"]
    words = "I would book_flight() for you."
    assert MENDER.message(words).value is words
    assert MENDER.message("").value == ""


def test_a_text_whose_one_call_cannot_be_mended_stays_as_it_is():
    said = "[get_time(), book_flight(to='CDG')]"
    done = MENDER.message(said)
    assert (done.outcome, done.ready, done.value) == ("ask", (), said)
    assert [call.outcome for call in done.calls] == ["repaired", "ask"]


def test_messages_of_others_and_what_a_server_ran_itself_are_left_alone():
    for other in (
        {"role": "user", "content": SAID},
        {"role": "tool", "content": SAID, "tool_call_id": "c"},
        {"role": "user", "parts": [{"text": SAID}]},
        HumanMessage(SAID).model_dump(),
        {"role": "user", "content": [tool_use("book_flight", WRONG)]},
        {"role": "assistant", "content": [{"type": "server_tool_use", "name": "web_search", "input": {}, "id": "s"}]},
        {"role": "assistant", "content": None},
    ):  # fmt: skip
        done = MENDER.message(other)
        assert (done.outcome, done.value is other, done.calls) == ("valid", True, ())


class Function(BaseModel, extra="allow"):
    name: str
    arguments: str


class ToolCall(BaseModel):
    id: str
    function: Function
    type: str = "function"


class Message(BaseModel):
    role: str
    content: str | None = None
    tool_calls: list[ToolCall] | None = None


def test_objects_of_an_sdk_come_back_as_they_are():
    function = Function(name="book_flight", arguments=json.dumps(WRONG), extra=1)
    given = Message(role="assistant", tool_calls=[ToolCall(id="c", function=function)])
    done = MENDER.message(given)
    (call,) = done.value.tool_calls
    assert json.loads(call.function.arguments) == GOOD
    assert (type(done.value), call.id, call.function.model_extra) == (Message, "c", {"extra": 1})
    assert json.loads(given.tool_calls[0].function.arguments) == WRONG


def test_the_text_of_an_object_of_an_sdk_is_read_too():
    done = MENDER.message(Message(role="assistant", content=SAID))
    (call,) = done.value.tool_calls
    assert call.id == done.calls[0].id
    assert (type(done.value), done.value.content) == (Message, None)
    assert json.loads(call.function.arguments) == GOOD
    words = Message(role="assistant", content="Good day (really).")
    assert MENDER.message(words).value is words


@pytest.mark.parametrize(
    "other",
    [HumanMessage(SAID), ToolMessage(SAID, tool_call_id="c"), Message(role="user", content=SAID)],
)
def test_what_somebody_else_said_is_no_call_of_the_model(other):
    for done in (MENDER.message(other), MENDER.call(other)):
        assert (done.ready, done.value is other) == ((), True)


# --- LangChain ------------------------------------------------------------------------------------


def ai(*calls, unread=(), **more):
    made = [{"name": name, "args": args, "id": f"c{n}"} for n, (name, args) in enumerate(calls)]
    bad = [{"name": "book_flight", "args": args, "id": "u", "error": "?"} for args in unread]
    return AIMessage("", tool_calls=made, invalid_tool_calls=bad, id="m", **more)


def test_a_langchain_message_comes_back_with_its_calls_mended():
    raw = [chat("book_flight", WRONG, 0), chat("get_time", {}, 1)]
    given = ai(
        ("book_flight", WRONG), ("get_time", {}), additional_kwargs={"tool_calls": raw, "x": 1}
    )
    done = MENDER.message(given)
    assert [call["args"] for call in done.value.tool_calls] == [GOOD, {}]
    kwargs = done.value.additional_kwargs
    assert [json.loads(each["function"]["arguments"]) for each in kwargs["tool_calls"]] == [
        GOOD,
        {},
    ]
    assert (done.value.id, kwargs["x"], kwargs["tool_calls"][0]["x_vendor"]) == ("m", 1, [0])
    healthy = ai(("get_time", {}))
    assert MENDER.message(healthy).value is healthy


def test_what_langchain_could_not_parse_is_read_or_left():
    raw = [
        {
            "id": "u",
            "type": "function",
            "function": {"name": "book_flight", "arguments": UNREADABLE},
        }
    ]
    done = MENDER.message(ai(unread=[UNREADABLE], additional_kwargs={"tool_calls": raw}))
    assert [call["args"] for call in done.value.tool_calls] == [GOOD]
    assert done.value.invalid_tool_calls == []
    told = done.value.additional_kwargs["tool_calls"][0]["function"]["arguments"]
    assert json.loads(told) == GOOD
    both = MENDER.message(ai(("book_flight", WRONG), unread=['{"to": "C']))
    assert [call.outcome for call in both.calls] == ["repaired", "failed"]
    assert [call["args"] for call in both.value.tool_calls] == [GOOD]
    assert [call["args"] for call in both.value.invalid_tool_calls] == ['{"to": "C']


def test_a_streamed_message_is_mended_from_what_was_streamed():
    chunk = {"name": "book_flight", "args": UNREADABLE, "id": "1", "index": 0}
    done = MENDER.message(AIMessageChunk("", tool_call_chunks=[chunk]))
    assert [(call["id"], call["args"]) for call in done.value.tool_calls] == [("1", GOOD)]


def test_a_call_in_the_text_of_a_langchain_message_becomes_one():
    done = MENDER.message(AIMessage(SAID, id="m"))
    (call,) = done.value.tool_calls
    assert (call["args"], call["id"]) == (GOOD, done.calls[0].id)
    assert (done.value.content, done.value.id) == ("", "m")


# --- what always holds ----------------------------------------------------------------------------

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)
FIELDS = st.dictionaries(
    st.text("abcxyz_", min_size=3, max_size=8),
    JSON_VALUES,
    max_size=2,
)
MARKED = {title: form for title, form in FORMS.items() if form is not plain}


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(MARKED)), FIELDS, st.sampled_from([GOOD, WRONG, MISSING, {}]))
def test_unknown_fields_survive(title, fields, args):
    given_call = {**MARKED[title]("book_flight", args), **fields}
    done = MENDER.message(given_call)
    assert {key: done.value[key] for key in fields} == fields
    assert list(done.value) == list(given_call)
    assert done.value == given_call or done.outcome == "repaired"
    again = MENDER.message(done.value)
    assert again.value == done.value


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(MESSAGES)),
    st.lists(st.sampled_from(["good", "wrong", "missing", "unknown"]), min_size=1, max_size=6),
)
def test_a_bad_neighbour_holds_nothing_up(title, kinds):
    form, message = MESSAGES[title]
    made = {
        "good": lambda n: form("book_flight", GOOD, n),
        "wrong": lambda n: form("book_flight", WRONG, n),
        "missing": lambda n: form("book_flight", MISSING, n),
        "unknown": lambda n: form("nope", {}, n),
    }
    done = MENDER.message(message(*(made[kind](n) for n, kind in enumerate(kinds))))
    told = {"good": "valid", "wrong": "repaired", "missing": "ask", "unknown": "failed"}
    assert [call.outcome for call in done.calls] == [told[kind] for kind in kinds]
    assert done.outcome == max(
        map(told.get, kinds), key=("valid", "repaired", "ask", "failed").index
    )
    expected = [made["good" if kind == "wrong" else kind](n) for n, kind in enumerate(kinds)]
    assert done.value == message(*expected)


def test_one_mender_serves_many_threads():
    form, message = MESSAGES["OpenAI, a response"]
    values = [message(form("book_flight", {**WRONG, "passengers": str(n)}, n)) for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(MENDER.message, values))
    assert [each.ready[0].args["passengers"] for each in done] == list(range(200))


@pytest.mark.parametrize("value", [None, 5, b"x", {}, [], {"choices": [{}, {}]}, object()])
def test_what_holds_no_call_is_told_and_never_raised(value):
    for done in (MENDER.call(value), MENDER.message(value)):
        assert (done.outcome, done.reason, done.value is value) == ("failed", "invalid_input", True)


def test_a_mended_call_can_be_handed_over_again():
    done = MENDER.call(plain("book_flight", MISSING))
    assert isinstance(done.calls[0], MendedCall)
    assert MENDER.call(done.calls[0]).calls[0].partial == done.calls[0].partial


def test_a_sensitive_value_stands_in_partial_as_it_is():
    secret = {"type": "string", "x-sensitive": True}
    parameters = {
        "properties": {"iban": secret, "n": {"type": "integer"}},
        "required": ["iban", "n"],
    }
    done = Mender([{"name": "pay", "parameters": parameters}]).call(
        {"name": "pay", "args": {"iban": "DE89"}}
    )
    assert done.calls[0].partial == {"iban": "DE89"}
    assert "DE89" not in json.dumps(done.calls[0].failure)


def test_it_is_awaited_where_a_model_is_async():
    async def both():
        return await MENDER.acall(plain("book_flight", WRONG)), await MENDER.amessage("Good day.")

    called, said = asyncio.run(both())
    assert called.ready[0].args == GOOD
    assert said.outcome == "valid"


def test_a_call_that_stands_twice_in_a_message_is_one_call():
    dumped = AIMessage(
        [
            {"type": "text", "text": "Booking."},
            {"type": "tool_use", "id": "c0", "name": "book_flight", "input": WRONG},
        ],
        tool_calls=[{"name": "book_flight", "args": WRONG, "id": "c0"}],
    ).model_dump()
    done = MENDER.message(dumped)
    assert [call.args for call in done.calls] == [GOOD]
    assert done.value["content"][1]["input"] == done.value["tool_calls"][0]["args"] == GOOD
    twice = {"role": "assistant", "tool_calls": [chat("get_time", {}), chat("get_time", {})]}
    assert len(MENDER.message(twice).calls) == 2
    old = chat("book_flight", WRONG)["function"]
    both = {"role": "assistant", "function_call": old, "tool_calls": [chat("book_flight", WRONG)]}
    assert len(MENDER.message(both).calls) == 1


def test_a_dumped_message_keeps_what_can_be_parsed_apart_from_what_cannot():
    bad = [
        {"name": "book_flight", "args": args, "id": id_, "error": "?", "type": "invalid_tool_call"}
        for id_, args in (("u", UNREADABLE), ("v", '{"to": "C'))
    ]
    dumped = {"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": bad}
    done = MENDER.message(dumped)
    assert done.value["tool_calls"] == [
        {"name": "book_flight", "args": GOOD, "id": "u", "type": "tool_call"}
    ]
    assert done.value["invalid_tool_calls"] == [bad[1]]
    assert [call.outcome for call in done.calls] == ["repaired", "failed"]


@pytest.mark.parametrize(
    "given",
    [
        {"tool_calls": [{"name": "book_flight", "arguments": GOOD, "approved": "no"}]},
        {"type": "tool_use", "id": "t1", "name": "book_flight", "input": GOOD, "after": False},
        {"type": "function", "function": {"name": "book_flight", "arguments": json.dumps(GOOD), "type": "draft"}},
    ],
)  # fmt: skip
def test_what_a_model_may_have_written_beside_a_call_is_not_ignored(given):
    assert MENDER.call(given).outcome not in ("valid", "repaired")
    assert repair_call(given, [BOOK]).outcome not in ("valid", "repaired")
