"""Microsoft agent-framework with a scripted client."""

from __future__ import annotations

import asyncio
import json
from inspect import signature
from typing import Any

import agent_framework as af
import pytest
from frameworks_kit import (
    ATTACKS,
    EACH,
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

from selfcorrect.integrations.agent_framework import MendingMiddleware


class Script(af.FunctionInvocationLayer, af.ChatMiddlewareLayer, af.BaseChatClient):
    def __init__(self, case: Case, world: World) -> None:
        super().__init__()
        self.case, self.world = case, world

    async def _inner_get_response(self, *, messages, stream=False, options=None, **kwargs):
        self.world.turns += 1
        last = messages[-1].contents[-1]
        if last.type == "function_result" and str(last.result) == "booked":
            said = "done"
        elif self.world.turns > 1:
            said = called("book_flight", TEXT, self.world.turns)
        else:
            said = self.case.said or called(self.case.name, self.case.text, 1)
        return af.ChatResponse(messages=[af.Message("assistant", [said])])


def called(name: str, arguments: str, n: int):
    return af.Content.from_function_call(f"c{n}", name, arguments=arguments)


def run(case: Case, *, with_us: bool) -> World:
    """One run of an agent whose model writes this call."""
    world = World()

    def book_flight(
        to: str, day: str, passengers: int, meals: list[str], cabin: Cabin = "economy"
    ) -> str:
        """Book a flight."""
        return world.book(to, day, passengers, meals, cabin)

    middleware = [MendingMiddleware()] if with_us else None
    agent = af.Agent(Script(case, world), tools=[book_flight], middleware=middleware)
    try:
        asyncio.run(agent.run("book"))
    except Exception as error:
        world.error = type(error).__name__
    return world


@pytest.mark.parametrize("title", EACH)
def test_a_call_is_mended_before_anybody_runs_it(title):
    check(run, title)


# --- a message is mended in place -----------------------------------------------------------------


class Once(af.FunctionInvocationLayer, af.ChatMiddlewareLayer, af.BaseChatClient):
    """Answers with these messages, then that it is done; whole or streamed."""

    def __init__(self, *messages: af.Message, then: str = "done", **more: Any) -> None:
        super().__init__()
        self.responses = [
            af.ChatResponse(messages=list(messages), response_id="resp_1", **more),
            *(af.ChatResponse(messages=[af.Message("assistant", [then])]) for _ in range(5)),
        ]
        self.options: list[Any] = []

    def _inner_get_response(self, *, messages, stream=False, options=None, **kwargs):
        self.options.append(options)
        response = self.responses.pop(0)
        if not stream:
            return asyncio.sleep(0, response)
        updates = [
            af.ChatResponseUpdate(
                role="assistant",
                contents=each.contents,
                finish_reason=response.finish_reason,
                raw_representation=response.raw_representation,
            )
            for each in response.messages
        ]

        async def stream_of():
            for each in updates:
                yield each

        return af.ResponseStream(stream_of(), finalizer=af.ChatResponse.from_updates)


def call(arguments: Any = '{"n": "2"}', name: str = "double", **more: Any) -> af.Content:
    return af.Content.from_function_call(
        more.pop("call_id", "c1"), name, arguments=arguments, **more
    )


def of(*contents: Any, **more: Any) -> af.Message:
    return af.Message("assistant", list(contents), **more)


ran: list[int] = []


def double(n: int) -> int:
    """Double a number."""
    ran.append(n)
    return 2 * n


def run_once(client: Once, *, stream: bool = False, **options: Any) -> Any:
    """What an agent with `double` does on this client, and which messages came of it."""
    ran.clear()
    agent = af.Agent(client, tools=[double], middleware=[MendingMiddleware()])

    async def go() -> Any:
        if not stream:
            return await agent.run("hi", options=options)
        return await agent.run("hi", stream=True, options=options).get_final_response()

    return asyncio.run(go())


MINE = {"fc_id": "fc_1", "thought_signature": "c2ln"}


@pytest.mark.parametrize(
    ("arguments", "mended"), [('{"n": "2"}', {"": '{"n": 2}'}), ({"n": "2"}, {"/n": 2})]
)
def test_nothing_but_the_arguments_changes(arguments, mended):
    given = call(arguments, additional_properties=MINE, raw_representation=object())
    thinks = af.Content.from_text_reasoning(text="hm", protected_data="e")
    message = of(thinks, "Doubling.", given, message_id="m_1", additional_properties={"x": 1})
    response = af.ChatResponse(
        messages=[message], finish_reason="tool_calls", usage_details={"x": 3}
    )
    context = af.ChatContext(Once(), [], {"tools": [double]})

    async def call_next() -> None:
        context.result = response

    before = message.to_dict()
    asyncio.run(MendingMiddleware().process(context, call_next))
    [after] = context.result.messages
    assert changed(before, after.to_dict()) == {
        f"/contents/2/arguments{path}": each for path, each in mended.items()
    }
    assert after.contents[2].raw_representation is given.raw_representation
    assert (context.result.usage_details, message.to_dict()) == ({"x": 3}, before)


ELSEWHERE = {
    "for the transcript only": {"informational_only": True},
    "hosted": {"hosted": True},
    "hosted, with its server": {"hosted": True, "server_name": "s"},
}
if "hosted" not in signature(af.Content.from_function_call).parameters:  # in older versions
    ELSEWHERE = {title: marks for title, marks in ELSEWHERE.items() if "hosted" not in marks}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["double", "duoble"])
@pytest.mark.parametrize("title", ELSEWHERE)
def test_what_the_service_has_done_itself_is_not_done_again(title, name, stream):
    theirs = call(name=name, **ELSEWHERE[title])
    final = run_once(Once(of(theirs, "done")), stream=stream)
    assert ran == []
    [kept] = [part for each in final.messages for part in each.contents if part.type != "text"]
    assert (kept.name, kept.arguments) == (name, '{"n": "2"}')


def test_a_call_of_ours_beside_theirs_is_mended_and_run():
    theirs = call(call_id="s1", informational_only=True)
    run_once(Once(of(theirs, call('{"n": "3"}'))))
    assert ran == [3]


def test_a_call_that_is_answered_is_left_alone():
    theirs, answer = call(), af.Content.from_function_result("c1", result="4")
    final = run_once(Once(of(theirs), af.Message("tool", [answer]), of("done")))
    calls = [part for each in final.messages for part in each.contents if part.type == theirs.type]
    assert [each.arguments for each in calls] == ['{"n": "2"}']


def test_a_call_in_a_text_stands_after_all_that_was_said():
    text = '{"name": "double", "arguments": {"n": "2"}}'
    final = run_once(Once(of(text)))
    assert ran == [2]
    kinds = [part.type for each in final.messages for part in each.contents]
    assert kinds == ["text", "function_call", "function_result", "text"]
    assert final.messages[0].text == text


TEXT_CALL = '{"name": "double", "arguments": {"n": "2"}}'
BESIDE = {
    "a picture": af.Content.from_data(b"x", "image/png"),
    "an error": af.Content.from_error(message="no"),
    "a call of the service": call(informational_only=True),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("title", BESIDE)
def test_whatever_is_no_text_stands_around_a_call_too(title, stream):
    for contents in ((TEXT_CALL, BESIDE[title]), (BESIDE[title], TEXT_CALL)):
        run_once(Once(of(*contents)), stream=stream)
        assert ran == []


def test_thoughts_and_costs_say_nothing_around_a_call():
    thinks = af.Content.from_text_reasoning(text="If Bob agrees.")
    run_once(Once(of(thinks, TEXT_CALL, af.Content.from_usage({"input_token_count": 3}))))
    assert ran == [2]


FORBIDDEN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a filter": ({"finish_reason": "content_filter"}, {}),
    "a refusal": ({"raw_representation": {"choices": [{"delta": {"refusal": "No."}}]}}, {}),
    "the tool choice": ({}, {"tool_choice": "none"}),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("args", ['{"n": 2}', '{"n": "2"}'])
@pytest.mark.parametrize("title", FORBIDDEN)
def test_a_call_that_may_not_be_one_is_left_out(title, args, stream):
    more, options = FORBIDDEN[title]
    final = run_once(Once(of("No.", call(args)), **more), stream=stream, **options)
    assert ran == []
    assert final.messages[0].text == "No."


def test_a_call_in_a_text_that_is_streamed_runs():
    run_once(Once(of('{"name": "double", "arguments": {"n": "2"}}')), stream=True)
    assert ran == [2]


# --- what the request allows ----------------------------------------------------------------------

FORMS = {
    "a model": Action,
    "a schema": {
        "type": "json_schema",
        "json_schema": {"name": "action", "schema": Action.model_json_schema()},
    },
}


def paid(case: Said, form: str = "a model", *, apart: bool = False) -> tuple[int, ...]:
    """The amounts with which `pay` runs in an agent whose model says this."""
    amounts: list[int] = []
    raw = {"type": "refusal", "refusal": "I will not."} if case.ended == "refusal" else None
    texts = [af.Content.from_text(text, raw_representation=raw) for text in case.texts]
    messages = [of(text) for text in texts] if apart else [of(*texts)]

    def pay(to: str, amount: int) -> str:
        """Pay."""
        amounts.append(amount)
        return "paid"

    done = json.dumps({"action": "none", "to": "nobody", "amount": 0})
    ended = {"finish_reason": "content_filter"} if case.ended == "filter" else {}
    client = Once(*messages, then=done, **ended)
    agent = af.Agent(client, tools=[pay], middleware=[MendingMiddleware()])
    options: dict[str, Any] = {"tool_choice": "none"} if case.choice else {}
    options |= {"response_format": FORMS[form]} if case.form else {}
    asyncio.run(agent.run("hi", options=options))
    return tuple(amounts)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("apart", [False, True], ids=["one message", "a message each"])
@pytest.mark.parametrize("title", SAID)
def test_a_text_is_a_call_only_where_the_request_allows_it(title, apart, form):
    assert paid(SAID[title], form, apart=apart) == SAID[title].pays


@pytest.mark.parametrize("forbids", ATTACKS)
def test_what_may_be_no_call_becomes_none(forbids):
    made = {case: paid(case) for case in ATTACKS[forbids]}
    assert {case: amounts for case, amounts in made.items() if amounts != case.pays} == {}


def test_a_choice_that_is_an_object_counts():
    run_once(Once(of('{"name": "double", "arguments": {"n": 2}}')), tool_choice={"mode": "none"})
    assert ran == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("args", ['{"n": 2}', '{"n": "2"}'])
def test_a_call_of_another_tool_than_was_asked_for_is_left_out(args, stream):
    def halve(n: int) -> int:
        """Halve a number."""
        return n // 2

    ran.clear()
    client = Once(of(call(args)))
    agent = af.Agent(client, tools=[double, halve], middleware=[MendingMiddleware()])
    choice = {"mode": "required", "required_function_name": "halve"}

    async def go() -> None:
        answer = agent.run("hi", stream=stream, options={"tool_choice": choice})
        await (answer.get_final_response() if stream else answer)

    asyncio.run(go())
    assert ran == []


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_that_one_part_alone_tells_counts(stream):
    raw = {"type": "refusal", "refusal": "No."}
    run_once(Once(of(af.Content.from_text(TEXT_CALL, raw_representation=raw))), stream=stream)
    assert ran == []
