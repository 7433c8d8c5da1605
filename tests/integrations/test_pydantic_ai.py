"""pydantic-ai with a scripted model."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
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
    not_handed_on,
)
from pydantic_ai import Agent, BinaryContent, PromptedOutput, ToolOutput
from pydantic_ai.messages import (
    FilePart,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from selfcorrect.integrations.pydantic_ai import MendedModel


def run(case: Case, *, with_us: bool) -> World:
    """One run of an agent whose model writes this call."""
    world = World()

    def script(messages, info):
        world.turns += 1
        last = messages[-1].parts[-1]
        if isinstance(last, ToolReturnPart) and last.content == "booked":
            return ModelResponse([TextPart("done")])
        if world.turns > 1:
            return ModelResponse([ToolCallPart("book_flight", GOOD)])
        if case.said:
            return ModelResponse([TextPart(case.said)])
        return ModelResponse([ToolCallPart(case.name, case.args)])

    model = FunctionModel(script)
    agent = Agent(MendedModel(model) if with_us else model)

    @agent.tool_plain
    def book_flight(
        to: str, day: str, passengers: int, meals: list[str], cabin: Cabin = "economy"
    ) -> str:
        """Book a flight."""
        return world.book(to, day, passengers, meals, cabin)

    try:
        agent.run_sync("book")
    except Exception as error:
        world.error = type(error).__name__
    return world


@pytest.mark.parametrize("title", EACH)
def test_a_call_is_mended_before_anybody_runs_it(title):
    check(run, title)


# --- a message is mended in place -----------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
DETAILS = {"thought_signature": "c2ln"}
CALL = ToolCallPart(
    "double", '{"n": "2"}', "c1", id="fc_1", provider_name="p", provider_details=DETAILS
)
SAYS = TextPart("Doubling.", id="m_1", provider_name="p", provider_details=DETAILS)
THINKS = ThinkingPart("hm", id="r_1", signature="s", provider_name="p")
SEARCH = NativeToolCallPart("double", {"n": "2"}, "s1", provider_name="p")
FOUND = NativeToolReturnPart("double", "4", "s1", provider_name="p")
WHOLE = ModelResponse(
    [THINKS, SAYS, SEARCH, FOUND, CALL],
    usage=RequestUsage(input_tokens=3, output_tokens=4, details={"reasoning": 1}),
    model_name="m",
    provider_name="p",
    provider_details={"x": 1},
    provider_response_id="resp_1",
    finish_reason="tool_call",
    run_id="run",
    metadata={"mine": True},
)


def answered(response: ModelResponse, **parameters: Any) -> ModelResponse:
    tools = [ToolDefinition(name="double", parameters_json_schema=SCHEMA)]
    asked = ModelRequestParameters(function_tools=tools, **parameters)
    model = MendedModel(FunctionModel(lambda messages, info: response))
    return asyncio.run(model.request([], None, asked))


def test_nothing_but_the_arguments_changes():
    before = replace(WHOLE, parts=[replace(part) for part in WHOLE.parts])
    after = answered(WHOLE)
    assert [type(part) for part in after.parts] == [type(part) for part in before.parts]
    pairs = zip(before.parts, after.parts, strict=True)
    assert [changed(asdict(old), asdict(new)) for old, new in pairs] == [
        *({}, {}, {}, {}),
        {"/args": '{"n": 2}'},
    ]
    others = {"parts", "timestamp", "usage", "model_name"}
    assert {k: v for k, v in vars(after).items() if k not in others} == {
        k: v for k, v in vars(before).items() if k not in others
    }
    assert after.usage.details == {"reasoning": 1}


def test_the_models_own_object_is_not_touched():
    answered(WHOLE)
    assert json.loads(WHOLE.parts[-1].args) == {"n": "2"}


def test_a_call_in_a_text_stands_after_all_that_was_said():
    text = TextPart('{"name": "double", "arguments": {"n": "2"}}', id="m_2", provider_name="p")
    blank = TextPart(" ")
    after = answered(replace(WHOLE, parts=[THINKS, text, blank]))
    assert [*after.parts[:2], after.parts[3]] == [THINKS, text, blank]
    assert (after.parts[2].tool_name, after.parts[2].args) == ("double", {"n": 2})


@pytest.mark.parametrize(
    "beside", [SEARCH, FOUND, FilePart(BinaryContent(b"x", media_type="image/png"))]
)
def test_whatever_is_no_text_stands_around_a_call_too(beside):
    text = TextPart('{"name": "double", "arguments": {"n": "2"}}')
    for parts in ([text, beside], [beside, text]):
        assert answered(replace(WHOLE, parts=parts)).parts == parts


@pytest.mark.parametrize(
    "ended", [{"finish_reason": "content_filter"}, {"provider_details": {"refusal": "No."}}]
)
def test_a_call_that_the_provider_refused_is_left_out(ended):
    assert answered(replace(WHOLE, **ended)).parts == WHOLE.parts[:-1]


@pytest.mark.parametrize("choice", ["none", []])
def test_without_calls_only_an_output_tool_is_called(choice):
    form = ToolDefinition(name="final_result", parameters_json_schema=SCHEMA)
    response = replace(WHOLE, parts=[replace(CALL, tool_name="final_result")])
    parameters = ModelRequestParameters(
        function_tools=[ToolDefinition(name="double", parameters_json_schema=SCHEMA)]
    )
    for asked, args in ((parameters, None), (replace(parameters, output_tools=[form]), '{"n": 2}')):
        model = MendedModel(FunctionModel(lambda messages, info: response))
        parts = asyncio.run(model.request([], {"tool_choice": choice}, asked)).parts
        assert [part.args for part in parts] == ([args] if args else [])


# --- what the request allows ----------------------------------------------------------------------


def paid(case: Said, output: Any = PromptedOutput) -> tuple[int, ...]:
    """The amounts with which `pay` runs in an agent whose model says this."""
    amounts: list[int] = []

    def script(messages, info):
        if len(messages) > 1:
            done = json.dumps({"action": "none", "to": "nobody", "amount": 0})
            tools = info.output_tools
            return ModelResponse([ToolCallPart(tools[0].name, done) if tools else TextPart(done)])
        return ModelResponse([TextPart(text) for text in case.texts], **ending(case))

    agent = Agent(
        MendedModel(FunctionModel(script)), output_type=output(Action) if case.form else str
    )

    @agent.tool_plain
    def pay(to: str, amount: int) -> str:
        amounts.append(amount)
        return "paid"

    agent.run_sync("hi", model_settings={"tool_choice": "none"} if case.choice else None)
    return tuple(sorted(amounts))  # pydantic-ai runs them at once


@pytest.mark.parametrize("output", [PromptedOutput, ToolOutput])
@pytest.mark.parametrize("title", SAID)
def test_a_text_is_a_call_only_where_the_request_allows_it(title, output):
    assert paid(SAID[title], output) == SAID[title].pays


@pytest.mark.parametrize("forbids", ATTACKS)
def test_what_may_be_no_call_becomes_none(forbids):
    made = {case: paid(case) for case in ATTACKS[forbids]}
    assert {case: amounts for case, amounts in made.items() if amounts != case.pays} == {}


def ending(case: Said) -> dict[str, Any]:
    if case.ended == "filter":
        return {"finish_reason": "content_filter"}
    return {"provider_details": {"refusal": "I will not."}} if case.ended else {}


def test_the_settings_of_the_model_itself_count():
    text = TextPart('{"name": "double", "arguments": {"n": 2}}')
    response = ModelResponse([text])
    inner = FunctionModel(lambda messages, info: response, settings={"tool_choice": "none"})
    tools = [ToolDefinition(name="double", parameters_json_schema=SCHEMA)]
    asked = ModelRequestParameters(function_tools=tools)
    assert asyncio.run(MendedModel(inner).request([], None, asked)).parts == [text]


def test_a_faulty_answer_in_one_of_several_forms_is_no_call():
    other = {"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]}
    forms = [
        ToolDefinition(
            name="final_result_Action", parameters_json_schema=Action.model_json_schema()
        ),
        ToolDefinition(name="final_result_Other", parameters_json_schema=other),
    ]
    text = TextPart('{"action": "double", "to": "ann", "amount": "5"}')
    response = ModelResponse([text])
    assert answered(response, output_tools=forms).parts == [text]


# --- a wrapper hands on what it does not change ---------------------------------------------------

OWN = frozenset({"request", "wrapped"})


def test_every_public_name_reaches_the_wrapped_model():
    assert not not_handed_on(
        MendedModel, Model, OWN | {"request_stream"}, _answers_requests_itself=False
    )


def test_a_stream_reaches_the_wrapped_model():
    class Inner(FunctionModel):
        @asynccontextmanager
        async def request_stream(self, *_):
            yield "stream"

    async def go() -> None:
        wrapped = Inner(lambda messages, info: WHOLE)
        async with MendedModel(wrapped).request_stream([], None, None) as stream:
            assert stream == "stream"

    asyncio.run(go())


def test_the_wrapped_model_is_opened_and_closed():
    events: list[str] = []

    class Inner(FunctionModel):
        async def __aenter__(self):
            events.append("in")
            return self

        async def __aexit__(self, *_):
            events.append("out")

    async def go() -> None:
        async with MendedModel(Inner(lambda messages, info: WHOLE)):
            events.append("open")

    asyncio.run(go())
    assert events == ["in", "open", "out"]


def test_an_answer_in_one_of_several_prompted_forms_is_no_call():
    forms = {"anyOf": [Action.model_json_schema(), SCHEMA]}
    form = {"type": "object", "properties": {"result": forms}, "required": ["result"]}
    text = TextPart('{"action": "double", "to": "ann", "amount": "5", "n": 2}')
    asked = {"output_mode": "prompted", "output_object": OutputObjectDefinition(json_schema=form)}
    assert answered(ModelResponse([text]), **asked).parts == [text]
