"""litellm's completions, with the loop around them that its documentation shows."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from frameworks_kit import (
    ATTACKS,
    EACH,
    GOOD,
    PAY,
    SAID,
    TEXT,
    Action,
    Cabin,
    Case,
    Said,
    World,
    changed,
    check,
)
from litellm.types.utils import Choices, Message, ModelResponse, Usage

from selfcorrect.integrations.litellm import MendingLogger

MEALS = {"type": "array", "items": {"type": "string"}}
SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "day": {"type": "string"},
        "passengers": {"type": "integer"},
        "meals": MEALS,
        "cabin": {"type": "string", "enum": ["economy", "business"]},
    },
    "required": ["to", "day", "passengers", "meals"],
}
TOOLS = [{"type": "function", "function": {"name": "book_flight", "parameters": SCHEMA}}]
_MOST = 5


def run(case: Case, *, with_us: bool) -> World:
    """One run of a loop whose model writes this call."""
    world = World()
    litellm.callbacks = [MendingLogger()] if with_us else []

    def book_flight(
        to: str, day: str, passengers: int, meals: list[str], cabin: Cabin = "economy"
    ) -> str:
        return world.book(to, day, passengers, meals, cabin)

    functions = {"book_flight": book_flight}

    async def loop() -> None:
        told = ""
        while world.turns < _MOST:
            message = (await completion(case, world, told)).choices[0].message
            if not message.tool_calls:
                return
            for call in message.tool_calls:
                function = functions[call.function.name]
                told = function(**json.loads(call.function.arguments))

    try:
        asyncio.run(loop())
    except Exception as error:
        world.error = type(error).__name__
    return world


async def completion(case: Case, world: World, told: str):
    """What the model answers, through litellm's own mocks."""
    world.turns += 1
    messages = [{"role": "user", "content": told or "book"}]
    if told == "booked":
        return await litellm.acompletion("gpt-4o", messages, tools=TOOLS, mock_response="done")
    name, text = (case.name, case.text) if world.turns == 1 else ("book_flight", TEXT)
    if world.turns == 1 and case.said:
        return await litellm.acompletion("gpt-4o", messages, tools=TOOLS, mock_response=case.said)
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": text}}
    return await litellm.acompletion(
        "gpt-4o", messages, tools=TOOLS, mock_response="", mock_tool_calls=[call]
    )


assert json.loads(TEXT) == GOOD


@pytest.mark.parametrize("title", [title for title in EACH if title != "two readings"])
def test_a_call_is_mended_before_anybody_runs_it(title):
    check(run, title)


def test_what_cannot_be_mended_comes_as_it_is_for_the_caller_to_check():
    world = run(EACH["two readings"], with_us=True)
    assert [one["passengers"] for one in world.ran] == ["2 or 3"]


# --- a message is mended in place -----------------------------------------------------------------

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
DOUBLE = {"type": "function", "function": {"name": "double", "parameters": NUMBER}}


def call(**more: Any) -> dict[str, Any]:
    function = {"name": "double", "arguments": '{"n": "2"}'}
    return {"id": "c1", "type": "function", "function": function, "index": 0, **more}


def response_of(*messages: Message, reason: str = "tool_calls", **more: Any) -> ModelResponse:
    choices = [Choices(reason, n, each, **more) for n, each in enumerate(messages)]
    response = ModelResponse(id="r1", model="m", choices=choices, usage=Usage(prompt_tokens=3))
    response._hidden_params = {"response_cost": 0.1}
    response._response_ms = 7
    return response


def answered(response: ModelResponse, **asked: Any) -> ModelResponse:
    hook = MendingLogger().async_post_call_success_deployment_hook
    return asyncio.run(hook({"tools": [DOUBLE], **asked}, response, None))


WHOLE: dict[str, Any] = {
    "content": "Doubling.",
    "reasoning_content": "hm",
    "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
    "provider_specific_fields": {"x": 1},
}


def test_nothing_but_the_arguments_changes():
    signed = call(provider_specific_fields={"thought_signature": "c2ln"})
    response = response_of(
        Message(tool_calls=[signed, call(id="c2")], **WHOLE), Message(content="no call")
    )
    before = response.model_dump()
    after = answered(response)
    assert changed(before, after.model_dump()) == {
        f"/choices/0/message/tool_calls/{n}/function/arguments": '{"n": 2}' for n in (0, 1)
    }
    assert (after._hidden_params, after._response_ms) == (response._hidden_params, 7)
    assert response.model_dump() == before
    assert after.choices[1] is response.choices[1]


def test_a_call_in_a_text_stands_beside_all_that_was_said():
    text = '{"name": "double", "arguments": {"n": "2"}}'
    response = response_of(Message(**{**WHOLE, "content": text}), reason="stop")
    before, after = response.model_dump(), answered(response).model_dump()
    made = after["choices"][0]["message"].pop("tool_calls")
    assert [each["function"] for each in made] == [{"name": "double", "arguments": '{"n": 2}'}]
    before["choices"][0]["message"].pop("tool_calls")
    assert changed(before, after) == {"/choices/0/finish_reason": "tool_calls"}


@pytest.mark.parametrize(
    "other",
    [
        {"type": "custom", "id": "c9", "custom": {"name": "double", "input": "n=2"}},
        call(id="srvtoolu_1", function={"name": "web_search", "arguments": '{"query": "x"}'}),
    ],
)
def test_a_call_that_is_not_ours_to_run_is_left_alone(other):
    near = {"type": "object", "properties": {"query": {"type": "string"}}}
    searcher = {"type": "function", "function": {"name": "web_searcher", "parameters": near}}
    tools = [DOUBLE, searcher, {"type": "web_search_20250305", "name": "web_search"}]
    response = response_of(Message(content=None, tool_calls=[other, call()]))
    before = response.model_dump()
    assert changed(before, answered(response, tools=tools).model_dump()) == {
        "/choices/0/message/tool_calls/1/function/arguments": '{"n": 2}'
    }


# --- what the request allows ----------------------------------------------------------------------

MONEY = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["to", "amount"],
}
PAYS = [{"type": "function", "function": {"name": "pay", "parameters": MONEY}}]
FORMS = {
    "a model": Action,
    "a schema": {
        "type": "json_schema",
        "json_schema": {"name": "action", "schema": Action.model_json_schema()},
    },
}


def amounts(message: Message) -> tuple[int, ...]:
    calls = message.tool_calls or ()
    return tuple(json.loads(each.function.arguments)["amount"] for each in calls)


def paid(case: Said, form: str = "a model") -> tuple[int, ...]:
    """The amounts of the calls of `pay` in what is made of a message."""
    reason = "content_filter" if case.ended == "filter" else "stop"
    marks = {"provider_specific_fields": {"refusal": "No."}} if case.ended == "refusal" else {}
    asked: dict[str, Any] = {"tools": PAYS, "tool_choice": "none" if case.choice else "auto"}
    asked |= {"response_format": FORMS[form]} if case.form else {}
    text = "\n".join(case.texts)  # one text is all that a message has here
    response = response_of(Message(content=text, **marks), reason=reason)
    [choice] = answered(response, **asked).choices
    assert choice.message.content == text
    return amounts(choice.message)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("title", SAID)
def test_a_text_is_a_call_only_where_the_request_allows_it(title, form):
    assert paid(SAID[title], form) == SAID[title].pays


@pytest.mark.parametrize("forbids", ATTACKS)
def test_what_may_be_no_call_becomes_none(forbids):
    made = {case: paid(case) for case in ATTACKS[forbids]}
    assert {case: amounts for case, amounts in made.items() if amounts != case.pays} == {}


BESIDE: dict[str, dict[str, Any]] = {
    "a picture": {"images": [{"type": "image_url", "image_url": {"url": "data:x"}, "index": 0}]},
    "a call of the older kind": {"function_call": {"name": "other", "arguments": "{}"}},
}


@pytest.mark.parametrize("title", BESIDE)
def test_whatever_is_no_text_stands_around_a_call_too(title):
    assert made_of({"content": PAY, **BESIDE[title]}) == []
    assert len(made_of({"content": PAY})) == 1


@pytest.mark.parametrize(
    ("reason", "more", "request_"),
    [
        ("content_filter", {}, {}),
        ("stop", {"provider_specific_fields": {"refusal": "No."}}, {}),
        ("tool_calls", {}, {"tool_choice": "none"}),
    ],
)
def test_a_call_that_may_not_be_one_is_left_out(reason, more, request_):
    function = {"name": "pay", "arguments": '{"to": "ann", "amount": 5}'}
    message = {
        "content": "No.",
        "tool_calls": [{"id": "a", "type": "function", "function": function}],
        **more,
    }
    assert made_of(message, reason, **request_) == []


def made_of(message: dict[str, Any], reason: str = "stop", **request: Any) -> list[Any]:
    """The calls that a caller sees in what is made of a message."""
    schema = {"properties": {"to": {"type": "string"}, "amount": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "pay", "parameters": schema}}]
    choice = Choices(finish_reason=reason, message=Message(**message))
    hook = MendingLogger().async_post_call_success_deployment_hook
    answer = hook({"tools": tools, **request}, ModelResponse(choices=[choice]), None)
    return asyncio.run(answer).choices[0].message.tool_calls or []


def test_the_providers_own_word_for_the_end_counts():
    response = response_of(
        Message(content=SAID["a call"].texts[0]),
        reason="stop",
        provider_specific_fields={"native_finish_reason": "UNEXPECTED_TOOL_CALL"},
    )
    assert amounts(answered(response, tools=PAYS).choices[0].message) == ()


@pytest.mark.parametrize("title", ["a call", "no tool to choose", "the answer that was asked for"])
def test_the_request_of_a_completion_reaches_the_callback(title):
    case = SAID[title]
    litellm.callbacks = [MendingLogger()]
    asked: dict[str, Any] = {"tool_choice": "none"} if case.choice else {}
    asked |= {"response_format": Action} if case.form else {}
    answer = litellm.acompletion(
        "gpt-4o",
        [{"role": "user", "content": "hi"}],
        tools=PAYS,
        mock_response=case.texts[0],
        **asked,
    )
    assert amounts(asyncio.run(answer).choices[0].message) == case.pays


def test_a_call_that_its_provider_has_made_is_left_alone():
    response = response_of(Message(tool_calls=[call(hosted=True), call(id="c2")]))
    after = answered(response).choices[0].message.tool_calls
    assert [each.function.arguments for each in after] == ['{"n": "2"}', '{"n": 2}']
