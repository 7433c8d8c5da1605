"""What a request allows: under it, or after what its provider says of the end, there is no call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from selfcorrect import Mender, build_graph, repair_call
from selfcorrect.batch import repair
from selfcorrect.kernel.requests import REFUSED_REASONS, Request, runs_elsewhere, why_no_call

PAY = {
    "name": "pay",
    "parameters": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
        "required": ["to", "amount"],
    },
}
ARGS = {"to": "ann", "amount": 5}
TEXT = json.dumps({"action": "pay", **ARGS})


class Order(BaseModel):
    action: str
    to: str
    amount: int


ANSWER = Order.model_json_schema()
REASONS = [
    *("content_filter", "content-filter", "refusal", "content_filtered", "guardrail_intervened"),
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "FinishReason.SAFETY"),
    *("IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL", "ERROR_TOXIC", "sensitive", "Content_Filter"),
]
GO_ON = ["stop", "tool_calls", "length", "end_turn", "MAX_TOKENS", "", None, "refused politely"]
NONE = [
    *("none", "NONE", {"type": "none"}, {"mode": "NONE"}),
    {"function_calling_config": {"mode": "NONE"}},
    {"functionCallingConfig": {"mode": "NONE"}},
    {"tool_config": {"function_calling_config": {"mode": "NONE"}}},
    "FunctionCallingConfigMode.NONE",
    {"type": "allowed_tools", "mode": "auto", "tools": []},
    {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}},
    {"function_tools": []},
]
FREE = [
    *("auto", "any", "required", None, {"type": "auto"}, {"type": "tool", "name": "none"}),
    {"type": "function", "function": {"name": "none"}},
    {"type": "allowed_tools", "mode": "auto", "tools": [{"name": "pay"}]},
    {"auto": {}},
    {"function_calling_config": {"mode": "AUTO", "allowed_function_names": []}},
]
FORMATS = [
    ANSWER,
    {"type": "json_schema", "json_schema": {"name": "order", "schema": ANSWER}},
    {"type": "json_schema", "name": "order", "schema": ANSWER},
    {"format": {"type": "json_schema", "name": "order", "schema": ANSWER}},
    *({"type": "json_object"}, "json", True),
]


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_that_says_that_nothing_is_to_come_of_it(reason: str) -> None:
    assert why_no_call(Request(finish_reason=reason)) is not None


@pytest.mark.parametrize("reason", GO_ON)
def test_every_other_reason_says_nothing_of_calls(reason: str | None) -> None:
    assert why_no_call(Request(finish_reason=reason)) is None


@pytest.mark.parametrize("choice", NONE)
def test_a_choice_of_no_tool(choice: Any) -> None:
    assert why_no_call(Request(choice)) is not None


@pytest.mark.parametrize("choice", FREE)
def test_every_other_choice_lets_calls_be(choice: Any) -> None:
    assert why_no_call(Request(choice)) is None


@pytest.mark.parametrize("form", FORMATS)
def test_an_answer_is_no_call(form: Any) -> None:
    answer = json.loads(TEXT)
    assert why_no_call(Request(answer=form), [answer, [answer]]) is not None
    assert why_no_call(Request(answer=form)) is None  # a call of the provider's own form


@pytest.mark.parametrize("form", [None, False, {"type": "text"}, "text", {}])
def test_without_a_form_no_text_is_an_answer(form: Any) -> None:
    assert why_no_call(Request(answer=form), [json.loads(TEXT)]) is None


@pytest.mark.parametrize(
    ("value", "is_answer"),
    [
        ({"action": "pay", "to": "ann", "amount": "5"}, True),
        ({"action": "pay", "to": "ann"}, True),
        ({"action": "pay", "to": "ann", "amount": 5, "note": "x"}, True),
        ({"name": "pay", "arguments": ARGS}, False),
        ({"to": "ann", "tool": "pay", "amount": 5}, False),
        ("pay(to='ann', amount=5)", False),
        ({}, False),
    ],
)
def test_a_faulty_answer_is_one_too(*, value: Any, is_answer: bool) -> None:
    assert (why_no_call(Request(answer=ANSWER), [value]) is not None) is is_answer


@given(
    st.sampled_from([*REASONS, *GO_ON]),
    st.sampled_from([*NONE, *FREE]),
    st.sampled_from([*FORMATS, None]),
)
def test_nothing_that_a_request_says_makes_a_call_possible(
    reason: Any, choice: Any, form: Any
) -> None:
    values = [json.loads(TEXT)]
    parts = (Request(finish_reason=reason), Request(choice), Request(answer=form))
    why = why_no_call(Request(choice, reason, form), values)
    assert (why is None) is all(why_no_call(each, values) is None for each in parts)


@pytest.mark.parametrize(
    "key", ["hosted", "informational_only", "provider_executed", "providerExecuted"]
)
def test_a_call_that_its_provider_makes(key: str) -> None:
    assert runs_elsewhere({"name": "pay", key: True})
    assert not runs_elsewhere({"name": "pay", key: False})


BARRED: list[dict[str, Any]] = [
    *({"finish_reason": reason} for reason in REASONS),
    *({"tool_choice": choice} for choice in NONE),
]


def graph() -> tuple[Any, list[Any]]:
    paid: list[Any] = []

    def pay(to: str, amount: int) -> str:
        """Pay somebody."""
        paid.append((to, amount))
        return "paid"

    return build_graph([pay]), paid


@pytest.mark.parametrize("beside", BARRED)
@pytest.mark.parametrize(
    "written",
    [
        {"raw": TEXT},
        {"raw": "pay(to='ann', amount=5)"},
        {"call": {"name": "pay", "args": ARGS}},
        {"call": {"name": "pay", "args": {"to": "ann", "amount": "5"}}},
        {"call": {"name": "pay", "args": '{"to": "ann", "amount": 5'}},
    ],
)
def test_the_graph_makes_no_call_that_is_none(
    written: dict[str, Any], beside: dict[str, Any]
) -> None:
    loop, paid = graph()
    out = loop.invoke({**written, **beside})
    assert (out["failure"]["reason"], paid) == ("no_call", [])
    assert out["failure"]["for_model"].endswith("Answer without a call.")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "text",
    [
        *(TEXT, f"```json\n{TEXT}\n```", TEXT.replace('"', "'"), TEXT.replace("5", '"5"')),
        *(TEXT[:-1], f"The answer:\n{TEXT}", json.dumps(TEXT)),
    ],
)
def test_the_users_answer_is_not_run(text: str, form: Any) -> None:
    loop, paid = graph()
    assert loop.invoke({"raw": text, "answer": form})["failure"]["reason"] == "no_call"
    assert paid == []


@pytest.mark.parametrize(
    "text",
    [
        "pay(to='ann', amount=5)",
        '{"name": "pay", "arguments": {"to": "ann", "amount": 5}}',
        '<tool_call>{"name": "pay", "arguments": {"to": "ann", "amount": 5}}</tool_call>',
    ],
)
def test_a_call_that_is_not_the_answer_is_made(text: str) -> None:
    loop, paid = graph()
    loop.invoke({"raw": text, "answer": ANSWER})
    assert paid == [("ann", 5)]


def test_a_form_that_nobody_can_check_makes_no_call_possible() -> None:
    loop, paid = graph()
    form = {"type": "array", "items": {"$ref": "#/nowhere"}}
    assert loop.invoke({"raw": TEXT, "answer": form})["failure"]["reason"] == "no_call"
    assert paid == []


def test_a_list_of_answers() -> None:
    loop, paid = graph()
    form = {"type": "array", "items": ANSWER}
    failure = loop.invoke({"raw": f"[{TEXT}, {TEXT}]", "answer": form})["failure"]
    assert (failure["reason"], paid) == ("no_call", [])


CHAT = {"role": "assistant", "content": TEXT}
FUNCTION = {"id": "c", "type": "function", "function": {"name": "pay", "arguments": ""}}


def chat(reason: str | None = "stop", **message: Any) -> Any:
    return {"choices": [{"message": {**CHAT, **message}, "finish_reason": reason}]}


def gemini(reason: str, part: Any) -> Any:
    return {"candidates": [{"content": {"parts": [part]}, "finishReason": reason}]}


def items(*parts: Any, **more: Any) -> Any:
    return {"output": [{"type": "message", "role": "assistant", "content": [*parts]}], **more}


OUTPUT = {"type": "output_text", "text": TEXT}
SAID_NO: dict[str, Any] = {
    "OpenAI, filtered": chat("content_filter"),
    "OpenAI, refused": chat(refusal="I will not."),
    "a message, refused": {**CHAT, "refusal": "I will not."},
    "Responses, refused": items(OUTPUT, {"type": "refusal", "refusal": "I will not."}),
    "Responses, filtered": items(OUTPUT, incomplete_details={"reason": "content_filter"}),
    "Anthropic": {"content": [{"type": "text", "text": TEXT}], "stop_reason": "refusal"},
    "Gemini": gemini("SAFETY", {"text": TEXT}),
    "Gemini, of its own lists": gemini("BLOCKLIST", {"text": TEXT}),
    "Bedrock": {
        "output": {"message": {"role": "assistant", "content": [{"text": TEXT}]}},
        "stopReason": "guardrail_intervened",
    },
    "LangChain, OpenAI": AIMessage(TEXT, additional_kwargs={"refusal": "I will not."}),
    "LangChain, Responses": AIMessage(
        [{"type": "text", "text": TEXT}, {"type": "refusal", "refusal": "I will not."}]
    ),
    "LangChain, Anthropic": AIMessage(TEXT, response_metadata={"stop_reason": "refusal"}),
    "LangChain, Gemini": AIMessage(TEXT, response_metadata={"finish_reason": "SAFETY"}),
    "the last message": [{"role": "user", "content": "Pay."}, {**CHAT, "refusal": "No."}],
}


@pytest.mark.parametrize("value", SAID_NO.values(), ids=SAID_NO)
def test_a_message_that_its_provider_refused(value: Any) -> None:
    mender = Mender([PAY])
    done = mender.message(value)
    assert (done.outcome, done.ready, done.value is value) == ("valid", (), True)
    # Nor where the caller says that the model had finished.
    assert mender.message(value, finish_reason="stop").ready == ()
    assert mender.call(value).ready == ()


def native(**more: Any) -> Any:
    function = {"name": "pay", "arguments": json.dumps(ARGS)}
    return {"role": "assistant", "tool_calls": [{"id": "c", "function": function}], **more}


SAID_NO_TO_CALLS: dict[str, Any] = {
    "OpenAI": {"choices": [{"message": native(), "finish_reason": "content_filter"}]},
    "a message": native(refusal="I will not."),
    "Anthropic": {
        "content": [{"type": "tool_use", "id": "c", "name": "pay", "input": ARGS}],
        "stop_reason": "refusal",
    },
    "Gemini": gemini("PROHIBITED_CONTENT", {"functionCall": {"name": "pay", "args": ARGS}}),
    "LangChain": AIMessage(
        "",
        tool_calls=[{"name": "pay", "args": ARGS, "id": "c"}] * 2,
        response_metadata={"stop_reason": "refusal"},
    ),
}


@pytest.mark.parametrize("value", SAID_NO_TO_CALLS.values(), ids=SAID_NO_TO_CALLS)
def test_no_call_of_a_refused_message_is_ready(value: Any) -> None:
    done = Mender([PAY]).message(value)
    assert {call.reason for call in done.calls} == {"no_call"}
    assert (done.ready, done.value is value) == ((), True)


@pytest.mark.parametrize("said", [{"refusal": "No."}, {"stop_reason": "refusal"}])
def test_a_refusal_of_long_ago_says_nothing_of_this_message(said: dict[str, Any]) -> None:
    thread = [{**CHAT, **said}, {"role": "user", "content": "Go on."}, native()]
    assert len(Mender([PAY]).message(thread).ready) == 1
    assert Mender([PAY]).message([*thread[:2], {**native(), **said}]).ready == ()


@pytest.mark.parametrize(
    "value",
    [
        chat("content_filter", content=None),
        {**native(), "refusal": "No.", "unknown": {"a": 1}},
        {"tool_calls": [{"name": "pay", "args": ARGS}], "refusal": "No.", "unknown": {"a": 1}},
        {"output": [], "incomplete_details": {"reason": "content_filter"}},
    ],
)
def test_a_refused_message_without_a_text_is_no_call_either(value: Any) -> None:
    mender = Mender([PAY])
    assert (mender.message(value).ready, mender.call(value).ready) == ((), ())
    assert mender.call(value).reason == "no_call"


@pytest.mark.parametrize("written", [TEXT, CHAT, native(), {"name": "pay", "args": ARGS}])
@pytest.mark.parametrize("choice", NONE)
def test_a_mender_asked_without_tools(written: Any, choice: Any) -> None:
    mender = Mender([PAY])
    assert mender.message(written, tool_choice=choice).ready == ()
    assert mender.call(written, tool_choice=choice).ready == ()
    assert mender.call(written, tool_choice=choice).reason == "no_call"
    assert len(mender.message(written, tool_choice="auto").ready) == 1


@pytest.mark.parametrize("form", [*FORMATS, Order])
def test_a_mender_asked_for_an_answer(form: Any) -> None:
    mender = Mender([PAY])
    assert mender.message(CHAT, answer=form) == mender.message(CHAT, tool_choice="none")
    assert mender.call(TEXT, answer=form).reason == "no_call"
    assert repair_call(TEXT, [PAY], answer=form).reason == "no_call"
    assert len(mender.message(native(), answer=form).ready) == 1


def test_a_recorded_line_says_it_too() -> None:
    line = {"tools": [PAY], "raw": TEXT}
    barred = [{"tool_choice": "none"}, {"answer": ANSWER}, {"finish_reason": "SAFETY"}]
    answers = list(repair([line, *({**line, **each} for each in barred)]))
    assert [each["outcome"] for each in answers] == ["repaired", *["failed"] * 3]
    assert {each["reason"] for each in answers[1:]} == {"no_call"}


def test_reasons_are_written_once() -> None:
    assert {reason.lower().replace("-", "_") for reason in REASONS} >= REFUSED_REASONS - {
        "image_prohibited_content",
        "image_recitation",
    }


NAMED = [
    "pay",
    {"type": "function", "function": {"name": "pay"}},
    {"type": "function", "name": "pay"},
    {"type": "tool", "name": "pay"},
    {"tool": {"name": "pay"}},
    {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["pay"]}},
    {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["pay"]}},
    {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "pay"}]},
    {"mode": "required", "required_function_name": "pay"},
]


@pytest.mark.parametrize("choice", NAMED)
def test_a_text_makes_no_call_of_another_tool_than_the_request_names(choice):
    mender = Mender([PAY, PAY | {"name": "cancel"}])
    for name in ("cancel", "functions.cancel", "cancle", "unheard_of"):
        text = json.dumps({"name": name, "arguments": {"to": "ann", "amount": 5}})
        for each in (text, f"<tool_call>{text}</tool_call>", f"[{name}(to='ann', amount=5)]"):
            found = mender.message({"role": "assistant", "content": each}, tool_choice=choice)
            assert found.ready == ()
            assert mender.call(each, tool_choice=choice).reason == "no_call"
    text = json.dumps({"name": "functions.pay", "arguments": {"to": "ann", "amount": 5}})
    found = mender.message({"role": "assistant", "content": text}, tool_choice=choice)
    assert [call.name for call in found.ready] == ["pay"]


REFUND = {**PAY, "name": "refund"}
PAY_ALONE = [
    *("pay", {"type": "function", "function": {"name": "pay"}}, {"type": "tool", "name": "pay"}),
    {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "pay"}]},
    {"tool_config": {
        "function_calling_config": {"mode": "ANY", "allowed_function_names": ["pay"]},
        "retrieval_config": {"language_code": "en"},
    }},
]  # fmt: skip
HOSTED = [
    *({"type": "web_search"}, {"type": "file_search"}, {"type": "code_interpreter"}),
    *({"type": "mcp", "server_label": "bank"}, {"type": "mcp", "server_label": "b", "name": "pay"}),
    {"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}]},
]
FORMS = [
    '{{"name": "{0}", "arguments": {{"to": "ann", "amount": 5}}}}',
    "{{'name': '{0}', 'arguments': {{'to': 'ann', 'amount': '5'}}}}",
    '{{"name": "{0}", "arguments": {{"to": "ann", "amount": 5}}',
    "{0}(to='ann', amount=5)",
    'Action: {0}\nAction Input: {{"to": "ann", "amount": 5}}',
    '<tool_call>{{"name": "{0}", "arguments": {{"to": "ann", "amount": 5}}}}</tool_call>',
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("choice", PAY_ALONE)
@pytest.mark.parametrize("name", ["pay", "Pay", "functions.pay", "pya"])
def test_the_tool_that_is_asked_for_may_be_misspelt(choice: Any, form: str, name: str) -> None:
    mender, text = Mender([PAY, REFUND]), form.format(name)
    free = [call.name for call in mender.call(text).ready]
    assert [call.name for call in mender.call(text, tool_choice=choice).ready] == free
    assert set(free) <= {"pay"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["refund", "Refund", "functions.refund", "refnd"])
@pytest.mark.parametrize("choice", [*PAY_ALONE, *HOSTED])
def test_no_text_becomes_a_call_of_another_tool(choice: Any, form: str, name: str) -> None:
    mender = Mender([PAY, REFUND])
    for write in (mender.call, mender.message):
        assert write(form.format(name), tool_choice=choice).ready == ()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("choice", HOSTED)
def test_a_providers_own_tool_is_none_of_a_texts(choice: Any, form: str) -> None:
    mender = Mender([PAY, REFUND])
    assert mender.call(form.format("pay"), tool_choice=choice).ready == ()
    native = {"role": "assistant", "tool_calls": [{**FUNCTION, "function": {
        "name": "pay", "arguments": '{"to": "ann", "amount": "5"}'}}]}  # fmt: skip
    assert len(mender.message(native, tool_choice=choice).ready) == 1


CALL = {"type": "text", "text": FORMS[0].format("pay")}
SPEAKING: list[Any] = [
    "But only if Bob agrees.",
    {"type": "markdown", "text": "But only if Bob agrees."},
    {"type": "non_standard", "value": {"text": "But only if Bob agrees."}},
    {"type": "document", "source": {"type": "text", "data": "But only if Bob agrees."}},
    {"type": "audio", "transcript": "But only if Bob agrees."},
    {"type": "image", "source": {"type": "url", "url": "https://example.com/no.png"}},
    {"executableCode": {"code": "agreed('bob')"}},
]
SILENT: list[Any] = [
    {"type": "thinking", "thinking": "Only if Bob agrees? He did.", "signature": "s"},
    {"type": "redacted_thinking", "data": "x"},
    {"type": "text", "text": " "},
    {"text": "Only if Bob agrees? He did.", "thought": True},
    {"thoughtSignature": "s"},
    {"reasoningContent": {"reasoningText": {"text": "He did."}}},
]


def with_part(other: Any, first: Any) -> list[Any]:
    """A call in a text, and another part of the same message, in each provider's form."""
    parts = [other, CALL] if first else [CALL, other]
    bare = [{"text": CALL["text"]} if each is CALL else each for each in parts]
    output = [{**CALL, "type": "output_text"} if each is CALL else each for each in parts]
    message = {"type": "message", "role": "assistant", "content": output}
    return [
        {"role": "assistant", "content": parts},
        {"candidates": [{"content": {"role": "model", "parts": bare}, "finishReason": "STOP"}]},
        {"output": [message]},
        {"output": [{**message, "content": [output[first]]}, other]},
        *([] if "text" in other or "reasoningContent" in other else [AIMessage(parts)]),
    ]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("other", [*SPEAKING, *SILENT])
def test_every_part_of_a_message_stands_around_a_call_in_its_text(other: Any, first: Any) -> None:
    mender = Mender([PAY])
    made = [len(mender.message(each).ready) for each in with_part(other, first)]
    assert set(made) == {int(other in SILENT)}, made


# --- an answer that is misspelt ------------------------------------------------------------------

_FORM = {"properties": {"action": {}, "to": {}, "amount": {}}, "required": ["action", "to"]}
_PAY = {"properties": {"to": {"type": "string"}, "amount": {"type": "integer"}}}


@pytest.mark.parametrize("reason", [None, "stop", "completed"])
@pytest.mark.parametrize("before", ["", "```json\n"])
@pytest.mark.parametrize("ending", ["}", "", ",}", "}]", "]"])
@pytest.mark.parametrize("start", ["{", "[{"])
def test_a_structured_answer_with_a_bracket_too_few_or_too_many_is_no_call(
    start, ending, before, reason
):
    text = f'{before}{start}"action": "pay", "to": "ann", "amount": 5{ending}'
    mender = Mender([{"name": "pay", "parameters": _PAY}])
    assert mender.message(text, answer=_FORM, finish_reason=reason).ready == ()


@pytest.mark.parametrize("amount", [5, "5"])
@pytest.mark.parametrize("choice", PAY_ALONE)
def test_a_providers_own_call_of_another_tool_than_was_asked_for_is_none(choice: Any, amount: Any):
    args = json.dumps({"to": "ann", "amount": amount})
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": args}}
        for name in ("pay", "refund")
    ]
    message = {"role": "assistant", "tool_calls": calls}
    found = Mender([PAY, REFUND]).message(message, tool_choice=choice)
    assert [call.name for call in found.ready] == ["pay"]
    assert found.calls[1].reason == "no_call"


def test_a_part_of_an_answer_is_no_call():
    person = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    for form in (
        {"properties": {"response": ANSWER}, "required": ["response"]},
        {"properties": {"response": {"$ref": "#/$defs/A"}}, "$defs": {"A": ANSWER}},
        {"type": "array", "items": ANSWER},
        {"anyOf": [person, ANSWER]},
    ):
        for value in ({"action": "pay", **ARGS}, {"action": "pay", **ARGS, "amount": "5"}):
            assert why_no_call(Request(answer=form), [value]) is not None
        call = {"name": "pay", "arguments": ARGS}
        assert why_no_call(Request(answer=form), [call]) is None
