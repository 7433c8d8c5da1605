"""google-adk with a scripted model."""

from __future__ import annotations

import asyncio
import gc
import json
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from frameworks_kit import (
    ATTACKS,
    EACH,
    GOOD,
    SAID,
    Action,
    Cabin,
    Case,
    Said,
    World,
    changed,
    check,
)
from google.adk.agents import Agent, ParallelAgent
from google.adk.apps import App
from google.adk.events.event_actions import EventActions
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.set_model_response_tool import SetModelResponseTool
from google.genai import types

from selfcorrect.integrations.google_adk import MendingPlugin


def content(part: types.Part) -> Any:
    return LlmResponse(content=types.Content(role="model", parts=[part]))


def called(name: str, args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


class Script(BaseLlm):
    case: Any = None
    world: Any = None

    async def generate_content_async(self, llm_request, stream=False):
        self.world.turns += 1
        answer = llm_request.contents[-1].parts[-1].function_response
        if answer is not None and answer.response == {"result": "booked"}:
            yield content(types.Part(text="done"))
        elif self.world.turns > 1:
            yield content(called("book_flight", GOOD))
        elif self.case.said:
            yield content(types.Part(text=self.case.said))
        else:
            yield content(called(self.case.name, readable(self.case.args)))


def readable(args: Any) -> Any:
    """Gemini parses arguments itself; what is no JSON comes as one text."""
    if isinstance(args, dict):
        return args
    try:
        return json.loads(args)
    except ValueError:
        return {"arguments": args}


def run(case: Case, *, with_us: bool) -> World:
    """One run of an agent whose model writes this call."""
    world = World()

    def book_flight(
        to: str, day: str, passengers: int, meals: list[str], cabin: Cabin = "economy"
    ) -> str:
        """Book a flight."""
        return world.book(to, day, passengers, meals, cabin)

    async def go() -> None:
        agent = Agent(
            name="a", model=Script(model="s", case=case, world=world), tools=[book_flight]
        )
        plugins = [MendingPlugin()] if with_us else []
        runner = InMemoryRunner(app=App(name="x", root_agent=agent, plugins=plugins))
        session = await runner.session_service.create_session(app_name="x", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="book")])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
            if world.turns > 6:
                break

    try:
        asyncio.run(go())
    except Exception as error:
        world.error = type(error).__name__
    return world


UNPARSED = frozenset({"quotes of Python"})
"""ADK has arguments as objects: what is no JSON reaches it as one text, if at all."""


@pytest.mark.parametrize("title", EACH)
def test_a_call_is_mended_before_anybody_runs_it(title):
    check(run, title, asks_again=UNPARSED)


# --- a message is mended in place -----------------------------------------------------------------


def double(n: int) -> int:
    """Double a number."""
    return 2 * n


def a_model_call() -> Any:
    """What ADK hands to the callbacks of one model call."""
    return SimpleNamespace(actions=EventActions(), invocation_id="i", agent_name="a")


def answered(response: Any, plugin: Any = None, tool: Any = double, **config: Any) -> Any:
    plugin, context = plugin or MendingPlugin(), a_model_call()
    request = LlmRequest(config=types.GenerateContentConfig(**config))
    request.append_tools([FunctionTool(tool)])

    async def go() -> Any:
        await plugin.before_model_callback(callback_context=context, llm_request=request)
        return await plugin.after_model_callback(callback_context=context, llm_response=response)

    # What it would return ends the callbacks of everybody else.
    assert asyncio.run(go()) is None
    return response


CALL = {"id": "c1", "name": "double", "args": {"n": "2"}, "will_continue": False}
SIGNED: dict[str, Any] = {"thought_signature": b"sig", "part_metadata": {"x": 1}}


def whole(*parts: types.Part, **more: Any) -> Any:
    response = LlmResponse(content=types.Content(role="model", parts=[*parts]), **more)
    return response, response.content, response.model_dump()


def test_nothing_but_the_arguments_changes():
    thinks = types.Part(text='{"name": "double", "arguments": {"n": "9"}}', thought=True)
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=3)
    response, content, before = whole(
        thinks,
        types.Part(text="Doubling.", **SIGNED),
        types.Part(function_call=types.FunctionCall(**CALL), **SIGNED),
        usage_metadata=usage,
        custom_metadata={"mine": True},
    )
    assert changed(before, answered(response).model_dump()) == {
        "/content/parts/2/function_call/args/n": 2
    }
    assert content.model_dump() == before["content"]


def test_a_call_in_a_text_stands_after_all_that_was_said():
    text = '{"name": "double", "arguments": {"n": "2"}}'
    response, content, _ = whole(types.Part(text=text, **SIGNED), types.Part(text=""))
    after = answered(response).content.parts
    assert [after[0], after[2]] == content.parts
    assert (after[1].function_call.name, after[1].function_call.args) == ("double", {"n": 2})


def test_a_call_that_the_service_makes_itself_is_left_alone():
    theirs = types.ToolCall(id="t1", tool_type="GOOGLE_SEARCH_WEB", args={"n": "2"})
    response, _, before = whole(types.Part(tool_call=theirs), types.Part(text="done"))
    assert changed(before, answered(response).model_dump()) == {}


# --- what is known of a request lives as long as it -----------------------------------------------


def test_a_call_is_mended_after_a_thousand_newer_ones():
    plugin, request = MendingPlugin(), LlmRequest()
    request.append_tools([FunctionTool(double)])
    response, _, _ = whole(types.Part(function_call=types.FunctionCall(**CALL)))

    async def go() -> None:
        calls = [a_model_call() for _ in range(1_200)]
        await plugin.before_model_callback(callback_context=calls[0], llm_request=request)
        for each in calls[1:]:
            await plugin.before_model_callback(callback_context=each, llm_request=LlmRequest())
        await plugin.after_model_callback(callback_context=calls[0], llm_response=response)

    asyncio.run(go())
    assert response.content.parts[0].function_call.args == {"n": 2}
    gc.collect()
    assert not plugin._asked


def before_tool(tool: Any, args: Any) -> Any:
    """What a plugin that knows nothing of a call makes of it."""
    context = SimpleNamespace(invocation_id="unknown", agent_name="a")
    callback = MendingPlugin().before_tool_callback
    return asyncio.run(callback(tool=tool, tool_args=args, tool_context=context))


def test_a_call_that_nobody_saw_is_refused_where_it_cannot_be_mended():
    args = {"n": "7 or 8"}
    refused = before_tool(FunctionTool(double), args)
    assert "`n`" in refused["error"]
    assert args == {"n": "7 or 8"}


def test_a_call_that_nobody_saw_is_mended_there_and_then():
    args = {"n": "7"}
    assert before_tool(FunctionTool(double), args) is None
    assert args == {"n": 7}


def test_a_call_of_a_tool_that_declares_nothing_is_refused():
    assert before_tool(BaseTool(name="double", description="?"), {"n": 7})["error"]


@pytest.mark.parametrize("how", ["done", "left", "broken off", "cancelled"])
def test_nothing_is_kept_of_an_invocation_that_is_over(how):
    plugin = MendingPlugin()

    class Say(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            if how == "broken off":
                raise ValueError(how)
            if how == "cancelled":
                await asyncio.sleep(60)
            yield content(types.Part(text="done"))

    async def go() -> None:
        agents = [Agent(name=f"a{n}", model=Say(model="s"), tools=[double]) for n in range(3)]
        agent = ParallelAgent(name="all", sub_agents=agents)
        runner = InMemoryRunner(app=App(name="x", root_agent=agent, plugins=[plugin]))
        session = await runner.session_service.create_session(app_name="x", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="hi")])
        events = runner.run_async(user_id="u", session_id=session.id, new_message=message)
        async for _ in events:
            if how == "left":
                break
        await events.aclose()

    with suppress(ValueError, TimeoutError):
        asyncio.run(asyncio.wait_for(go(), 0.5) if how == "cancelled" else go())
    gc.collect()
    assert not plugin._asked


TEXT_CALL = types.Part(text='{"name": "double", "arguments": {"n": "2"}}')
BESIDE = {
    "a picture": types.Part(inline_data=types.Blob(data=b"\xff", mime_type="image/png")),
    "code": types.Part(executable_code=types.ExecutableCode(code="x", language="PYTHON")),
}


@pytest.mark.parametrize("title", BESIDE)
def test_whatever_is_no_text_stands_around_a_call_too(title):
    for parts in ([TEXT_CALL, BESIDE[title]], [BESIDE[title], TEXT_CALL]):
        assert answered(whole(*parts)[0]).content.parts == parts


def test_thoughts_and_their_signatures_say_nothing_around_a_call():
    thinks = types.Part(text="If Bob agrees.", thought=True, thought_signature=b"\xff")
    signed = types.Part(thought_signature=b"\xff")
    after = answered(whole(thinks, TEXT_CALL, signed)[0]).content.parts
    assert [bool(part.function_call) for part in after] == [False, False, True, False]


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"])
@pytest.mark.parametrize("n", [2, "2"])
def test_a_call_that_may_not_be_one_is_left_out(n, reason):
    said = types.Part(text="No.")
    made = types.Part(function_call=types.FunctionCall(name="double", args={"n": n}))
    assert answered(whole(said, made, finish_reason=reason)[0]).content.parts == [said]
    config = {"tool_config": CHOICE}
    assert answered(whole(said, made)[0], **config).content.parts == [said]


# --- what the request allows ----------------------------------------------------------------------

NONE = types.FunctionCallingConfigMode.NONE
CHOICE = types.ToolConfig(function_calling_config=types.FunctionCallingConfig(mode=NONE))
SCHEMA = types.Schema(
    type="OBJECT",
    properties={
        "action": types.Schema(type="STRING"),
        "to": types.Schema(type="STRING"),
        "amount": types.Schema(type="INTEGER"),
    },
    required=["action", "to", "amount"],
)
FORMS: dict[str, Any] = {
    "a model": {"response_schema": Action},
    "a list of models": {"response_schema": list[Action]},
    "Gemini's schema": {"response_schema": SCHEMA},
    "a JSON Schema": {"response_json_schema": Action.model_json_schema()},
    "any JSON": {},
}
ENDS = {
    "filter": [
        *({"finish_reason": reason} for reason in ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST")),
        {"error_code": "SAFETY"},
    ],
    "refusal": [{"finish_reason": "RECITATION"}, {"finish_reason": "SPII"}],
    "": [{"finish_reason": "STOP"}, {}],
}


PLUGIN = MendingPlugin()


def pay(to: str, amount: int) -> str:
    """Pay."""
    return "paid"


def paid(case: Said, form: str = "a model", **end: Any) -> tuple[int, ...]:
    """The amounts of the calls of `pay` in what is made of a message."""
    config: dict[str, Any] = {"tool_config": CHOICE} if case.choice else {}
    if case.form:
        config |= {"response_mime_type": "application/json", **FORMS[form]}
    parts = [types.Part(text=text) for text in case.texts]
    response, given, _ = whole(*parts, **(end or ENDS[case.ended][0]))
    after = answered(response, PLUGIN, tool=pay, **config).content.parts
    calls = [part.function_call for part in after if part.function_call]
    assert [part for part in after if not part.function_call] == given.parts
    return tuple(each.args["amount"] for each in calls)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("title", SAID)
def test_a_text_is_a_call_only_where_the_request_allows_it(title, form):
    case = SAID[title]
    if case.form and form == "a list of models":
        case = replace(case, texts=tuple(f"[{text}]" for text in case.texts))
    assert {paid(case, form, **end) for end in ENDS[case.ended]} == {case.pays}


@pytest.mark.parametrize("forbids", ATTACKS)
def test_what_may_be_no_call_becomes_none(forbids):
    made = {case: paid(case) for case in ATTACKS[forbids]}
    assert {case: amounts for case, amounts in made.items() if amounts != case.pays} == {}


def test_the_answer_that_a_tool_of_adk_takes_is_no_call():
    response, given, _ = whole(types.Part(text='{"action": "pay", "to": "ann", "amount": 5}'))
    request, context, plugin = LlmRequest(), a_model_call(), MendingPlugin()
    request.append_tools([FunctionTool(pay), SetModelResponseTool(Action)])

    async def go() -> None:
        await plugin.before_model_callback(callback_context=context, llm_request=request)
        await plugin.after_model_callback(callback_context=context, llm_response=response)

    asyncio.run(go())
    assert response.content.parts == given.parts
