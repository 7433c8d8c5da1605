"""smolagents' ToolCallingAgent with a scripted model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from frameworks_kit import (
    ATTACKS,
    EACH,
    GOOD,
    PAY,
    SAID,
    Action,
    Case,
    Said,
    World,
    changed,
    check,
    not_handed_on,
)
from smolagents import ActionStep, ToolCallingAgent, tool
from smolagents.models import (
    REMOVE_PARAMETER,
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
    OpenAIModel,
)
from smolagents.monitoring import TokenUsage

from selfcorrect.integrations.smolagents import MendedModel


class Script(Model):
    def __init__(self, case: Case, world: World) -> None:
        super().__init__()
        self.case, self.world = case, world

    def generate(self, messages, **kwargs):
        self.world.turns += 1
        if self.world.ran:
            return called("final_answer", {"answer": "done"})
        if self.world.turns > 1:
            return called("book_flight", GOOD)
        if self.case.said:
            return ChatMessage(role=MessageRole.ASSISTANT, content=self.case.said)
        return called(self.case.name, self.case.args)


def called(name, args) -> ChatMessage:
    function = ChatMessageToolCallFunction(name=name, arguments=args)
    call = ChatMessageToolCall(id="x", type="function", function=function)
    return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def run(case: Case, *, with_us: bool) -> World:
    """One run of an agent whose model writes this call."""
    world = World()

    @tool
    def book_flight(
        to: str, day: str, passengers: int, meals: list[str], cabin: str = "economy"
    ) -> str:
        """Book a flight.

        Args:
            to: airport
            day: ISO date
            passengers: how many
            meals: for whom
            cabin: which (choices: ["economy", "business"])
        """
        return world.book(to, day, passengers, meals, cabin)

    model = Script(case, world)
    agent = ToolCallingAgent(
        tools=[book_flight],
        model=MendedModel(model) if with_us else model,
        max_steps=5,
        verbosity_level=0,
    )
    try:
        agent.run("book")
    except Exception as error:
        world.error = type(error).__name__
    return world


@pytest.mark.parametrize("title", EACH)
def test_a_call_is_mended_before_anybody_runs_it(title):
    check(run, title)


# --- a message is mended in place -----------------------------------------------------------------


@tool
def double(n: int) -> int:
    """Double a number.

    Args:
        n: the number
    """
    return 2 * n


class Once(Model):
    """Answers with this message."""

    def __init__(self, message: ChatMessage, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.message = message

    def generate(self, messages, **kwargs):
        return self.message


def message_of(content: Any, *args: Any, raw: Any = None) -> ChatMessage:
    functions = [ChatMessageToolCallFunction(each, "double", "Doubles.") for each in args]
    calls = [ChatMessageToolCall(each, f"c{n}", "function") for n, each in enumerate(functions)]
    usage = TokenUsage(input_tokens=3, output_tokens=4)
    return ChatMessage(MessageRole.ASSISTANT, content, calls or None, raw, usage)


@pytest.mark.parametrize(
    ("args", "mended"), [({"n": "2"}, {"/n": 2}), ('{"n": "2"}', {"": '{"n": 2}'})]
)
def test_nothing_but_the_arguments_changes(args, mended):
    content = [{"type": "text", "text": "Doubling."}, {"type": "image", "image": "x"}]
    message = message_of(content, args, {"n": 3}, raw={"fc_id": "fc_1"})
    before = asdict(message)
    after = MendedModel(Once(message)).generate([], tools_to_call_from=[double])
    place = "/tool_calls/0/function/arguments"
    assert changed(before, asdict(after)) == {f"{place}{k}": each for k, each in mended.items()}
    assert after.tool_calls[1] is message.tool_calls[1]
    assert message.tool_calls[0].function.arguments == args


def test_a_call_in_one_of_several_parts_stands_beside_them():
    content = [
        {"type": "text", "text": ""},
        {"type": "text", "text": '{"name": "double", "arguments": {"n": "2"}}'},
        {"type": "text", "text": " "},
    ]
    after = MendedModel(Once(message_of(content))).generate([], tools_to_call_from=[double])
    assert after.content == content
    assert [each.function.arguments for each in after.tool_calls] == [{"n": 2}]


# --- what the request allows ----------------------------------------------------------------------

FORM = {"type": "json_schema", "json_schema": {"schema": Action.model_json_schema()}}


@tool
def pay(to: str, amount: int) -> str:
    """Pay.

    Args:
        to: whom
        amount: how much
    """
    return "paid"


def paid(case: Said) -> tuple[int, ...]:
    """The amounts with which `pay` is called in what is made of a message."""
    reason = "content_filter" if case.ended == "filter" else "stop"
    refusal = {"refusal": "I will not."} if case.ended == "refusal" else {}
    raw = {"choices": [{"finish_reason": reason, "message": refusal}]}
    content = [{"type": "text", "text": text} for text in case.texts]
    settings = {"tool_choice": "none"} if case.choice else {}
    more = {"response_format": FORM} if case.form else {}
    wrapper = MendedModel(Once(message_of(content, raw=raw), **settings))
    message = wrapper.generate([], tools_to_call_from=[pay], **more)
    assert message.content == content
    return tuple(each.function.arguments["amount"] for each in message.tool_calls or ())


@pytest.mark.parametrize("title", SAID)
def test_a_text_is_a_call_only_where_the_request_allows_it(title):
    assert paid(SAID[title]) == SAID[title].pays


@pytest.mark.parametrize("forbids", ATTACKS)
def test_what_may_be_no_call_becomes_none(forbids):
    made = {case: paid(case) for case in ATTACKS[forbids]}
    assert {case: amounts for case, amounts in made.items() if amounts != case.pays} == {}


@pytest.mark.parametrize(
    ("settings", "pays"),
    [
        ({}, True),
        ({"tool_choice": REMOVE_PARAMETER, "response_format": REMOVE_PARAMETER}, True),
        ({"tool_choice": "none"}, False),
        ({"tool_choice": {"type": "function", "function": {"name": "double"}}}, False),
        ({"response_format": {"type": "json_object"}}, False),
    ],
)
def test_the_agents_own_parser_makes_no_call_of_an_answer(settings, pays):
    model = Once(message_of(PAY), **settings)
    agent = ToolCallingAgent(tools=[pay], model=MendedModel(model), max_steps=1, verbosity_level=0)
    agent.run("hi")
    told = [step.observations for step in agent.memory.steps if isinstance(step, ActionStep)]
    assert ("paid" in str(told)) == pays


PICTURE = {"type": "image", "image": "x"}


@pytest.mark.parametrize("beside", [PICTURE, {"type": "new"}, "But only if Bob agrees."])
def test_whatever_is_no_text_stands_around_a_call_too(beside):
    text = {"type": "text", "text": '{"name": "double", "arguments": {"n": "2"}}'}
    for content in ([text, beside], [beside, text]):
        after = MendedModel(Once(message_of(content))).generate([], tools_to_call_from=[double])
        assert after.tool_calls is None


@pytest.mark.parametrize(
    ("raw", "settings"),
    [
        ({"choices": [{"finish_reason": "content_filter"}]}, {}),
        ({"choices": [{"message": {"refusal": "No."}}]}, {}),
        (None, {"tool_choice": "none"}),
    ],
)
def test_a_call_that_may_not_be_one_is_left_out(raw, settings):
    wrapper = MendedModel(Once(message_of("No.", {"n": 2}, raw=raw), **settings))
    after = wrapper.generate([], tools_to_call_from=[double])
    assert (after.content, after.tool_calls) == ("No.", None)


@pytest.mark.parametrize(
    ("text", "pays"),
    [
        (PAY, True),
        (f"{PAY}\nBut only if Bob agrees.", False),
        (f"Example: {PAY}", False),
        (PAY.replace("5}", '5, "amount": 6}'), False),
    ],
)
def test_the_agents_own_parser_makes_no_call_of_more_than_a_call(text, pays):
    model = Once(message_of(text))
    agent = ToolCallingAgent(tools=[pay], model=MendedModel(model), max_steps=1, verbosity_level=0)
    agent.run("hi")
    told = [step.observations for step in agent.memory.steps if isinstance(step, ActionStep)]
    assert ("paid" in str(told)) == pays


def test_the_keys_of_the_model_are_the_keys_of_its_calls():
    said = '{"tool": "double", "with": {"n": 2}}'
    keys = {"tool_name_key": "tool", "tool_arguments_key": "with"}
    for text, reads in ((said, True), (f"{said} Or not.", False)):
        wrapper = MendedModel(Once(message_of(text), **keys))
        message = wrapper.generate([], tools_to_call_from=[double])
        if reads:
            assert wrapper.parse_tool_calls(message).tool_calls[0].function.arguments == {"n": 2}
        else:
            with pytest.raises(ValueError, match="a call alone"):
                wrapper.parse_tool_calls(message)


# --- a wrapper hands on what it does not change ---------------------------------------------------

OWN = frozenset({"generate", "generate_stream", "parse_tool_calls"})


@pytest.mark.parametrize("base", [Model, OpenAIModel])
def test_every_public_name_reaches_the_wrapped_model(base):
    assert not not_handed_on(MendedModel, base, OWN)


def test_the_wrapped_model_reads_its_own_texts():
    class Inner(Once):
        def parse_tool_calls(self, message):
            message.tool_calls = ["read by the model itself"]
            return message

    text = message_of("double two")
    wrapper = MendedModel(Inner(text))
    said = wrapper.generate([], tools_to_call_from=[double])
    assert wrapper.parse_tool_calls(said).tool_calls == ["read by the model itself"]
    other = MendedModel(Once(text, tool_name_key="tool", tool_arguments_key="with"))
    read = other.parse_tool_calls(message_of('{"tool": "double", "with": {"n": 2}}'))
    assert read.tool_calls[0].function.name == "double"


def test_an_agent_that_streams_is_told_that_streams_are_not_mended():
    class Inner(Once):
        def generate_stream(self, *_, **__):
            yield "unmended"

    with pytest.raises(ValueError, match="generate_stream"):
        ToolCallingAgent(tools=[], model=MendedModel(Inner(message_of(""))), stream_outputs=True)


def test_what_is_set_on_the_wrapper_is_set_on_the_model():
    inner = Once(message_of(""), model_id="a")
    wrapper = MendedModel(inner)
    wrapper.model_id = "b"
    wrapper.note = "mine"
    assert (inner.model_id, wrapper.model_id, wrapper.note) == ("b", "b", "mine")
    assert not hasattr(inner, "note")
