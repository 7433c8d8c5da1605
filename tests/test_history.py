"""`Mender.history`: threads in the form of any provider become valid, once and for all."""

import copy
import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st
from kit import output_of, table
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from selfcorrect import Mender, SelfCorrection
from selfcorrect.testing import ScriptedModel

TOOL = {"name": "look", "parameters": {"properties": {"query": {"type": "string"}}}}
MENDER = Mender([TOOL])
ARGS = '{"query": "x"}'

# A thread is a list of events: ("calls", [(id, name, arguments as text)]), ("answer", id, name,
# text) or ("say", text). Each form writes it, and reads the ids back.


def object_or_text(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


class Chat:
    @staticmethod
    def write(events):
        for kind, *rest in events:
            if kind == "calls":
                calls = [
                    {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
                    for i, n, a in rest[0]
                ]
                yield {"role": "assistant", "content": None, "tool_calls": calls}
            elif kind == "answer":
                yield {"role": "tool", "tool_call_id": rest[0], "content": rest[2]}
            else:
                yield {"role": "user", "content": rest[0]}

    @staticmethod
    def rows(messages):
        for each in messages:
            if "tool_calls" in each:
                for call in each["tool_calls"]:
                    assert isinstance(json.loads(call["function"]["arguments"]), dict)
                yield "calls", [call["id"] for call in each["tool_calls"]]
            elif each["role"] == "tool":
                yield "answers", [each["tool_call_id"]]
            else:
                yield "say", []


class Responses:
    @staticmethod
    def write(events):
        for kind, *rest in events:
            if kind == "calls":
                yield {"type": "reasoning", "summary": []}
                for i, n, a in rest[0]:
                    yield {"type": "function_call", "call_id": i, "name": n, "arguments": a}
            elif kind == "answer":
                yield {"type": "function_call_output", "call_id": rest[0], "output": rest[2]}
            else:
                yield {"role": "user", "content": rest[0]}

    @staticmethod
    def rows(messages):
        calls = []
        for each in [*messages, {}]:
            if each.get("type") == "function_call":
                assert isinstance(json.loads(each["arguments"]), dict)
                calls.append(each["call_id"])
                continue
            if each.get("type") == "reasoning":
                continue
            if calls:
                yield "calls", calls
                calls = []
            if each.get("type") == "function_call_output":
                yield "answers", [each["call_id"]]
            elif each:
                yield "say", []


class Anthropic:
    @staticmethod
    def write(events):
        last = None
        for kind, *rest in events:
            if kind == "calls":
                blocks = [
                    {"type": "tool_use", "id": i, "name": n, "input": object_or_text(a)}
                    for i, n, a in rest[0]
                ]
                last = {"role": "assistant", "content": [{"type": "text", "text": "t"}, *blocks]}
            elif kind == "answer":
                block = {"type": "tool_result", "tool_use_id": rest[0], "content": rest[2]}
                if _is_answer(last):
                    last["content"].append(block)
                    continue
                last = {"role": "user", "content": [block]}
            else:
                block = {"type": "text", "text": rest[0]}
                if _is_answer(last):
                    last["content"].append(block)
                    last = None
                    continue
                last = {"role": "user", "content": [block]}
            yield last

    @staticmethod
    def rows(messages):
        for each in messages:
            calls, answers = [], []
            for block in each["content"]:
                if block["type"] == "tool_use":
                    assert isinstance(block["input"], dict)
                    calls.append(block["id"])
                elif block["type"] == "tool_result":
                    assert len(answers) == each["content"].index(block)
                    answers.append(block["tool_use_id"])
            assert not answers or each["role"] == "user"
            if calls or answers:
                yield ("calls", calls) if calls else ("answers", answers)
            else:
                yield "say", []


def _is_answer(message):
    return message is not None and message["content"][0]["type"] == "tool_result"


class Gemini:
    @staticmethod
    def write(events):
        for kind, *rest in events:
            if kind == "calls":
                parts = [
                    {"functionCall": {"id": i, "name": n, "args": object_or_text(a)}, "thought": 1}
                    for i, n, a in rest[0]
                ]
                yield {"role": "model", "parts": parts}
            elif kind == "answer":
                inner = {"id": rest[0], "name": rest[1], "response": {"result": rest[2]}}
                yield {"role": "function", "parts": [{"functionResponse": inner}]}
            else:
                yield {"role": "user", "parts": [{"text": rest[0]}]}

    @staticmethod
    def rows(messages):
        for each in messages:
            inner = [next(iter(part.values())) for part in each["parts"]]
            # Without ids, the names in their order say what belongs together.
            ids = [part.get("id") or part["name"] for part in inner if isinstance(part, dict)]
            if each["role"] == "model":
                assert all(isinstance(part["args"], dict) for part in inner)
                yield "calls", ids
            else:
                yield ("answers", ids) if ids else ("say", [])


class GeminiWithoutIds(Gemini):
    @staticmethod
    def write(events):
        for message in Gemini.write(events):
            for part in message["parts"]:
                for inner in part.values():
                    if isinstance(inner, dict):
                        del inner["id"]
            yield message


class LangChain:
    @staticmethod
    def write(events):
        for kind, *rest in events:
            if kind == "calls":
                good, bad = [], []
                for i, n, a in rest[0]:
                    args = object_or_text(a)
                    one = {"name": n, "id": i, "args": args, "type": "tool_call"}
                    if isinstance(args, dict):
                        good.append(one)
                    else:
                        bad.append({**one, "args": a, "error": "", "type": "invalid_tool_call"})
                yield AIMessage("", tool_calls=good, invalid_tool_calls=bad)
            elif kind == "answer":
                yield ToolMessage(rest[2], tool_call_id=rest[0])
            else:
                yield HumanMessage([{"type": "text", "text": rest[0]}])

    @staticmethod
    def rows(messages):
        for each in messages:
            if isinstance(each, ToolMessage):
                yield "answers", [each.tool_call_id]
            elif isinstance(each, AIMessage):
                assert not each.invalid_tool_calls
                yield "calls", [call["id"] for call in each.tool_calls]
            else:
                yield "say", []


class Mistral(Chat):
    pass


FORMS = [Chat, Responses, Anthropic, Gemini, GeminiWithoutIds, LangChain, Mistral]
NAME = "[a-zA-Z0-9_-]{1,64}"
IDS = {Chat: "(?s).{1,40}", Anthropic: NAME, Mistral: "[a-zA-Z0-9]{9}"}
BY_ID = [each for each in FORMS if each is not GeminiWithoutIds]


def said_names(value):
    """Yield the names of the tools that calls and answers of a thread name."""
    if isinstance(value, list):
        for each in value:
            yield from said_names(each)
    elif isinstance(value, dict):
        if "name" in value and not {"arguments", "args", "input", "response"}.isdisjoint(value):
            yield value["name"]
        yield from said_names(list(value.values()))


def said_texts(value):
    """Yield the texts of the blocks of a thread."""
    if isinstance(value, list):
        for each in value:
            yield from said_texts(each)
    elif isinstance(value, dict):
        if "text" in value:
            yield value["text"]
        yield from said_texts([each for key, each in value.items() if key != "response"])


def history_of(form, messages):
    return MENDER.history(messages, "mistral" if form is Mistral else None)


def check(form, messages):
    """Assert that a strict provider takes the thread."""
    pattern = "[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}" if form in (Gemini, GeminiWithoutIds) else NAME
    assert all(re.fullmatch(pattern, each) for each in said_names(plain(messages)))
    if form in (Anthropic, Gemini):
        assert all(each.strip() for each in said_texts(messages))
    roles = [each["role"] for each in messages] if form is Mistral else []
    assert ("tool", "user") not in pairwise(roles)
    waiting, seen = [], set()
    for kind, ids in form.rows(messages):
        if kind == "answers":
            assert ids == waiting[: len(ids)] != []
            del waiting[: len(ids)]
            continue
        assert waiting == []
        if form not in (Gemini, GeminiWithoutIds):
            assert all(re.fullmatch(IDS.get(form, "(?s).{1,64}"), each) for each in ids)
        if form is not GeminiWithoutIds:
            real = [each for each in ids if form is not Gemini or each not in FITTING]
            assert not seen & {*real}
            assert len({*real}) == len(real)
            seen |= {*real}
        waiting = [*ids]
    assert waiting == []


def plain(messages):
    return [each if isinstance(each, dict) else each.model_dump() for each in messages]


ids = st.sampled_from(["", "a", "a_2", "b", "a", "functions.look:0", "b " * 40, "123456789"])
NAMES = ["look", "find", "look", "run shell cmd", "", "fenêtre", "x" * 80, "a.b", "1:2"]
names = st.sampled_from(NAMES)
FITTING = {re.sub("[^a-zA-Z0-9_-]+", "_", each)[:64] or "unknown" for each in NAMES} | {
    "_1:2",
    "_1_2",
    "a.b",
}
texts = st.text(max_size=5) | st.sampled_from(["\ud83d", "\ude00x", "é\udfff"])
arguments = st.sampled_from([ARGS, ARGS, "{}", "", '{"query": "a', "[1]", '"x"'])
events = st.one_of(
    st.tuples(st.just("calls"), st.lists(st.tuples(ids, names, arguments), min_size=1, max_size=3)),
    st.tuples(st.just("answer"), ids, names, texts),
    st.tuples(st.just("say"), texts),
)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=80, deadline=None)
@given(st.lists(events, max_size=8))
def test_any_thread_becomes_valid_once_and_for_all(form, thread):
    messages = list(form.write(thread))
    before = copy.deepcopy(messages)
    found = history_of(form, messages)
    assert messages == before
    check(form, found.value)
    json.dumps(plain(found.value), ensure_ascii=False, default=str).encode()
    assert found.outcome == ("repaired" if found.changes else "valid")
    assert (found.value == messages) == (found.changes == ())
    assert all(each.reason for each in found.changes)
    again = history_of(form, found.value)
    assert (again.value, again.outcome) == (found.value, "valid")
    assert len(found.calls) == sum(len(each[1]) for each in thread if each[0] == "calls")


HEALTHY = [
    ("say", "hi"),
    ("calls", [("a", "look", ARGS), ("b", "find", "{}")]),
    ("answer", "a", "look", "one"),
    ("answer", "b", "find", "two"),
    ("say", "thanks"),
]


@pytest.mark.parametrize("form", BY_ID)
def test_a_valid_thread_keeps_its_messages(form):
    thread = MENDER.history(list(form.write(HEALTHY))).value
    found = MENDER.history(thread)
    assert found.outcome == "valid"
    assert all(a is b for a, b in zip(found.value, thread, strict=True))


@pytest.mark.parametrize("form", BY_ID)
@pytest.mark.parametrize(("what", "thread", "reasons"), table("history.txt", "corrupt"))
def test_each_change_has_its_reason(form, what, thread, reasons):
    found = MENDER.history(list(form.write(thread)))
    assert [each.reason for each in found.changes] == reasons
    assert found.outcome == "repaired"


def test_a_lost_answer_says_that_nobody_knows():
    for form in FORMS:
        found = MENDER.history(list(form.write(HEALTHY[:3])))
        assert "Nobody knows" in json.dumps(plain(found.value), default=str)


def test_an_answer_without_an_id_belongs_to_the_call_of_its_tool():
    call, *_ = Gemini.write(HEALTHY[1:2])
    answers = [*GeminiWithoutIds.write([HEALTHY[3], ("say", "well"), HEALTHY[2]])]
    (_, found, _) = MENDER.history([call, *answers]).value
    inner = [part["functionResponse"] for part in found["parts"]]
    assert [(each["id"], each["response"]["result"]) for each in inner] == [
        ("a", "one"),
        ("b", "two"),
    ]


@pytest.mark.parametrize("form", [Chat, Responses, Anthropic, Gemini])
def test_a_message_of_any_form_is_repaired(form):
    calls = ("calls", [("a", "Look", '{"Query": "x"}'), ("b", "look", "{'query': 5}")])
    (*_, message), items = [*form.write([calls])], [*form.write([calls])]
    found = MENDER.message({"output": items} if form is Responses else message)
    assert [(each.name, each.args, each.id) for each in found.ready] == [
        ("look", {"query": "x"}, "a"),
        ("look", {"query": "5"}, "b"),
    ]


def test_a_thread_without_langchain_loads_none():
    code = (
        "import sys; from selfcorrect import Mender;"
        " Mender([{'name': 'f', 'parameters': {}}]).history([{'role': 'user', 'content': 'x'}]);"
        "print([n for n in sys.modules if n.startswith('lang')])"
    )
    assert output_of(code) == "[]"


@pytest.mark.parametrize(("what", "message", "beside"), table("history.txt", "withheld"))
def test_what_a_provider_withholds_is_no_call(what, message, beside):
    found = MENDER.message({"role": "assistant", **message}, **beside)
    assert (found.ready, found.reason) == ((), "no_call")
    free = {k: v for k, v in message.items() if k not in ("refusal", "stop_reason", "finishReason")}
    if what != "a refusal among items":
        assert MENDER.message({"role": "assistant", **free}).ready


def test_an_agent_makes_no_call_that_a_provider_withholds():
    ran = []

    def look(query: str) -> str:
        """Look."""
        ran.append(query)
        return "found"

    for turn in table("history.txt", "withheld turns"):
        model = ScriptedModel([AIMessage(**turn), "done"])
        agent = create_agent(model, [look], middleware=[SelfCorrection()])
        assert "found" not in str(agent.invoke({"messages": "hi"}))
    assert ran == []
