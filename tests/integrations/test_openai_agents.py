"""openai-agents with a scripted model."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import httpx
import pytest
from agents import (
    Agent,
    Model,
    ModelSettings,
    ModelTracing,
    OpenAIChatCompletionsModel,
    Runner,
    WebSearchTool,
    function_tool,
    set_tracing_disabled,
)
from agents.agent_output import AgentOutputSchema
from agents.exceptions import ModelBehaviorError, ModelRefusalError
from agents.items import ModelResponse
from agents.usage import Usage
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
    not_handed_on,
)
from openai import AsyncOpenAI
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseFunctionWebSearch,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_output_item import ImageGenerationCall

from selfcorrect.integrations.openai_agents import MendedModel

set_tracing_disabled(True)


def said(*texts: str, refusal: str = "") -> Any:
    parts: list[Any] = [
        ResponseOutputText(text=text, type="output_text", annotations=[]) for text in texts
    ]
    if refusal:
        parts.append(ResponseOutputRefusal(refusal=refusal, type="refusal"))
    return ResponseOutputMessage(
        id="m", role="assistant", status="completed", type="message", content=parts
    )


def called(name: str, arguments: str, n: int) -> Any:
    return ResponseFunctionToolCall(
        arguments=arguments, call_id=f"c{n}", name=name, type="function_call"
    )


class Script(Model):
    def __init__(self, case: Case, world: World) -> None:
        self.case, self.world = case, world

    async def get_response(self, system_instructions, input, *args, **kwargs):  # noqa: A002
        self.world.turns += 1
        last = input[-1] if isinstance(input, list) else {}
        if last.get("type") == "function_call_output" and last["output"] == "booked":
            item = said("done")
        elif self.world.turns > 1:
            item = called("book_flight", TEXT, self.world.turns)
        elif self.case.said:
            item = said(self.case.said)
        else:
            item = called(self.case.name, self.case.text, 1)
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def run(case: Case, *, with_us: bool) -> World:
    """One run of an agent whose model writes this call."""
    world = World()

    @function_tool
    def book_flight(
        to: str, day: str, passengers: int, meals: list[str], cabin: Cabin = "economy"
    ) -> str:
        """Book a flight."""
        return world.book(to, day, passengers, meals, cabin)

    model = Script(case, world)
    agent = Agent(name="a", model=MendedModel(model) if with_us else model, tools=[book_flight])
    try:
        asyncio.run(Runner.run(agent, "book"))
    except Exception as error:
        world.error = type(error).__name__
    return world


@pytest.mark.parametrize("title", EACH)
def test_a_call_is_mended_before_anybody_runs_it(title):
    check(run, title)


# --- a message is mended in place -----------------------------------------------------------------


@function_tool
def double(n: int) -> int:
    """Double a number."""
    return 2 * n


@function_tool
def web_searcher(query: str) -> str:
    """Search our own site."""
    return query


class Once(Model):
    """Answers with these items, whole or as a stream."""

    def __init__(self, *items: Any) -> None:
        self.response = ModelResponse(
            output=list(items),
            usage=Usage(requests=1, input_tokens=3),
            response_id="resp_1",
            request_id="req_1",
        )

    async def get_response(self, *args: Any, **kwargs: Any) -> Any:
        return self.response

    async def stream_response(self, *args: Any, **kwargs: Any):
        whole = Response(
            id="resp_1",
            created_at=0.0,
            model="m",
            object="response",
            output=self.response.output,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
            metadata={"mine": "yes"},
        )
        whole._request_id = "req_1"
        yield ResponseCompletedEvent(response=whole, sequence_number=7, type="response.completed")


def asked(**more: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("previous_response_id", "conversation_id", "prompt", "tracing"))
    given = {"system_instructions": None, "input": "hi", "model_settings": ModelSettings()}
    return {**nothing, **given, "tools": [double], "output_schema": None, "handoffs": [], **more}


def answered(*items: Any, **more: Any) -> Any:
    return asyncio.run(MendedModel(Once(*items)).get_response(**asked(**more)))


def call(**more: Any) -> Any:
    given = {"id": "fc_1", "call_id": "c1", "status": "completed", "type": "function_call"}
    return ResponseFunctionToolCall(
        **{**given, "name": "double", "arguments": '{"n": "2"}', **more}
    )


THINKS = ResponseReasoningItem(id="r_1", summary=[], type="reasoning", encrypted_content="e")
EXTRA = {"thought_signature": "c2ln", "provider_data": {"x": 1}, "namespace": "n"}


def test_nothing_but_the_arguments_changes():
    items = (THINKS, said("Doubling."), call(**EXTRA))
    before = [item.model_dump() for item in items]
    after = answered(*items)
    pairs = zip(before, [item.model_dump() for item in after.output], strict=True)
    assert [changed(*pair) for pair in pairs] == [{}, {}, {"/arguments": '{"n": 2}'}]
    assert [item.model_dump() for item in items] == before
    assert (after.response_id, after.request_id, after.usage.input_tokens) == ("resp_1", "req_1", 3)


def test_the_last_event_of_a_stream_keeps_all_else():
    items = (THINKS, call(**EXTRA))

    async def go() -> Any:
        stream = MendedModel(Once(*items)).stream_response(**asked())
        return [event async for event in stream]

    [event] = asyncio.run(go())
    assert changed(items[1].model_dump(), event.response.output[1].model_dump()) == {
        "/arguments": '{"n": 2}'
    }
    assert (event.sequence_number, event.response.metadata) == (7, {"mine": "yes"})
    assert event.response._request_id == "req_1"


def test_a_call_of_a_hosted_tool_is_not_renamed_onto_one_of_ours():
    hosted = call(name="web_search", arguments='{"query": "x"}')
    assert WebSearchTool().name == "web_search"
    after = answered(hosted, tools=[WebSearchTool(), web_searcher])
    assert after.output == [hosted]


def test_a_call_in_a_text_stands_after_all_that_was_said():
    text, more = said('{"name": "double", "arguments": {"n": "2"}}'), said("")
    after = answered(THINKS, text, more)
    assert [after.output[0], after.output[1], after.output[3]] == [THINKS, text, more]
    made = after.output[2]
    assert (made.type, made.name, made.arguments) == ("function_call", "double", '{"n": 2}')


SEARCHED = ResponseFunctionWebSearch(
    id="w", status="completed", type="web_search_call", action={"type": "search", "query": "x"}
)
PICTURE = ImageGenerationCall(id="i", result="x", status="completed", type="image_generation_call")
SAYS_A_CALL = '{"name": "double", "arguments": {"n": "2"}}'


@pytest.mark.parametrize("beside", [SEARCHED, PICTURE])
def test_whatever_is_no_text_stands_around_a_call_too(beside):
    for items in ([said(SAYS_A_CALL), beside], [beside, said(SAYS_A_CALL)]):
        assert answered(*items).output == items


def test_a_call_that_may_not_be_one_is_left_out():
    none = {"model_settings": ModelSettings(tool_choice="none")}
    text = said("No.")
    assert answered(text, call(), **none).output == [text]
    refused = said("", refusal="No.")
    assert answered(refused, call()).output == [refused]
    # The runner would take an answer without output from the events before it.
    with pytest.raises(ModelBehaviorError, match="no call"):
        answered(call(), **none)


def test_an_item_that_is_plain_json_is_left_alone():
    model, odd = Once(), {"type": "function_call", "name": "double", "arguments": "{}"}
    model.response.output = [odd]
    assert asyncio.run(MendedModel(model).get_response(**asked())).output == [odd]


# --- what the request allows ----------------------------------------------------------------------


def completing(case: Said) -> Model:
    """The framework's own model for chat completions, with a provider that answers this."""
    turns = 0

    def answer(_: httpx.Request) -> httpx.Response:
        nonlocal turns
        turns += 1
        done = json.dumps({"action": "none", "to": "nobody", "amount": 0}) if case.form else "done"
        message: dict[str, Any] = {"role": "assistant", "content": done}
        reason = "stop"
        if turns == 1:
            message["content"] = "\n".join(case.texts)
            message["refusal"] = "I will not." if case.ended == "refusal" else None
            reason = "content_filter" if case.ended == "filter" else "stop"
        choice = {"index": 0, "finish_reason": reason, "message": message}
        whole = {"id": "r", "object": "chat.completion", "created": 0, "model": "m"}
        return httpx.Response(200, json={**whole, "choices": [choice]})

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    return OpenAIChatCompletionsModel("m", AsyncOpenAI(api_key="none", http_client=client))


def paid(
    case: Said, *, apart: bool = False, model: Model | None = None, form: Any = Action
) -> tuple[int, ...]:
    """The amounts with which `pay` runs in an agent whose model says this."""
    amounts: list[int] = []
    refusal = "I will not." if case.ended == "refusal" else ""
    texts = [(text,) for text in case.texts] if apart else [case.texts]

    class Say(Model):
        turns = 0

        async def get_response(self, *args: Any, **kwargs: Any) -> Any:
            self.turns += 1
            items = [said(*each, refusal=refusal) for each in texts]
            if self.turns > 1:
                done = json.dumps({"action": "none", "to": "nobody", "amount": 0})
                items = [said(done if case.form else "done")]
            return ModelResponse(output=items, usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    @function_tool
    def pay(to: str, amount: int) -> str:
        """Pay."""
        amounts.append(amount)
        return "paid"

    agent = Agent(
        name="a",
        model=MendedModel(model or Say()),
        tools=[pay],
        model_settings=ModelSettings(tool_choice="none") if case.choice else ModelSettings(),
        output_type=AgentOutputSchema(form) if case.form else None,
    )
    # A refusal, and an answer that is not in its form, end the run.
    with suppress(ModelRefusalError, ModelBehaviorError):
        asyncio.run(Runner.run(agent, "hi"))
    return tuple(amounts)


# Of the other models the runner breaks off an answer that a filter ended.
@pytest.mark.parametrize("apart", [False, True], ids=["one message", "a message each"])
@pytest.mark.parametrize("title", [title for title in SAID if title != "a content filter"])
def test_a_text_is_a_call_only_where_the_request_allows_it(title, apart):
    assert paid(SAID[title], apart=apart) == SAID[title].pays


@pytest.mark.parametrize("forbids", [each for each in ATTACKS if each != "a filter"])
def test_what_may_be_no_call_becomes_none(forbids):
    made = {case: paid(case) for case in ATTACKS[forbids]}
    assert {case: amounts for case, amounts in made.items() if amounts != case.pays} == {}


def test_a_chat_completion_says_how_it_ended():
    cases = [*SAID.values(), *(each for group in ATTACKS.values() for each in group)]
    whole = [each for each in cases if not (each.form and len(each.texts) > 1)]
    made = {case: paid(case, model=completing(case)) for case in whole}
    assert {case: amounts for case, amounts in made.items() if amounts != case.pays} == {}


ENDS = {"a filter": "content_filter", "the end": "stop"}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("title", ENDS)
def test_how_chat_completions_end_counts_in_a_stream_too(title, stream):
    head = {"id": "r", "created": 0, "model": "m"}

    def answer(request: httpx.Request) -> httpx.Response:
        end = {"index": 0, "finish_reason": ENDS[title]}
        message = {"role": "assistant", "content": SAYS_A_CALL}
        if not json.loads(request.content).get("stream"):
            whole = {**head, "object": "chat.completion", "choices": [{**end, "message": message}]}
            return httpx.Response(200, json=whole)
        first = {"index": 0, "delta": message, "finish_reason": None}
        told = [
            {**head, "object": "chat.completion.chunk", "choices": [each]}
            for each in (first, {**end, "delta": {}})
        ]
        text = "".join(f"data: {json.dumps(each)}\n\n" for each in told) + "data: [DONE]\n\n"
        headers = {"content-type": "text/event-stream", "x-request-id": "req_1"}
        return httpx.Response(200, headers=headers, text=text)

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    inner = OpenAIChatCompletionsModel("m", AsyncOpenAI(api_key="none", http_client=client))
    given = {**asked(), "tracing": ModelTracing.DISABLED}

    async def go() -> Any:
        if not stream:
            return await MendedModel(inner).get_response(**given)
        events = [event async for event in MendedModel(inner).stream_response(**given)]
        assert events[-1].response._request_id == "req_1"
        return events[-1].response

    made = [item.arguments for item in asyncio.run(go()).output if item.type == "function_call"]
    assert made == ([] if title == "a filter" else ['{"n": 2}'])


# --- a wrapper hands on what it does not change ---------------------------------------------------


def test_every_public_name_reaches_the_wrapped_model():
    own = frozenset({"get_response", "stream_response"})
    assert not not_handed_on(MendedModel, Model, own)


def test_what_the_runner_calls_and_what_the_model_has_of_its_own_reach_it():
    class Inner(Once):
        base_url, cleaned, closed = "https://here", False, False

        async def _cleanup_on_run_end(self, owner: object) -> None:
            self.cleaned = True

        async def close(self) -> None:
            self.closed = True

    inner = Inner(said("done"))
    wrapper = MendedModel(inner)
    asyncio.run(Runner.run(Agent(name="a", model=wrapper), "hi"))
    asyncio.run(wrapper.close())
    assert (inner.cleaned, inner.closed, wrapper.base_url) == (True, True, "https://here")
    wrapper.base_url = "https://there"
    assert inner.base_url == "https://there"
    with pytest.raises(AttributeError, match="Inner"):
        _ = wrapper.nothing


def test_an_answer_that_the_framework_wraps_is_no_call():
    case = Said(SAID["a call in another form"].texts, form=True)
    assert paid(case, form=list[Action]) == ()
