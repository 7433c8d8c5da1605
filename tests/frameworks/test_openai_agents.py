"""The behaviours in openai-agents' own runner."""

import asyncio
import json

import pytest

pytest.importorskip("agents")
from agents import (
    Agent,
    AgentsException,
    FunctionTool,
    ModelBehaviorError,
    ModelResponse,
    Runner,
    SQLiteSession,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    Usage,
    UserError,
    function_tool,
    set_tracing_disabled,
)
from agents.testing import ModelStep, ScriptedModel
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from world import EFFECTS, World, check, each_behaviour, text_of

from selfcorrect.integrations.openai_agents import MendedModel

set_tracing_disabled(True)


def run(world, *, stream, gate):
    model = MendedModel(ScriptedModel(steps(world.next_turn)), effects=EFFECTS)

    def judge(data):
        world.judge(data.context.tool_name, json.loads(data.context.tool_arguments))
        return ToolGuardrailFunctionOutput.allow()

    gates = [ToolInputGuardrail(judge)] if gate else []
    tools = [function_tool(tool, tool_input_guardrails=gates) for tool in world.tools]
    agent = Agent("payer", model=model, tools=tools)
    try:
        world.end = asyncio.run(streamed(agent) if stream else whole(agent))
    except Exception as error:
        world.end = f"{type(error).__name__}: {error}"


async def whole(agent):
    return (await Runner.run(agent, "go")).final_output


async def streamed(agent):
    result = Runner.run_streamed(agent, "go")
    async for event in result.stream_events():
        assert event
    return result.final_output


def steps(write):
    """Return the turns of a model: what `write` answers to the texts of the last items."""

    def respond(call):
        turn = write(*(item.get("output", item.get("content", "")) for item in call.input[-3:]))
        return [text_item(turn["text"])] if "text" in turn else [*map(call_item, turn["calls"])]

    return [ModelStep(responder=respond)] * 40


def call_item(call):
    name, args, call_id = call
    return ResponseFunctionToolCall(
        name=name, arguments=text_of(args), call_id=call_id, type="function_call"
    )


def text_item(text):
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="m", role="assistant", status="completed", type="message", content=[part]
    )


@each_behaviour({})
def test_behaviour(name):
    check(name, run)


def ends(*turns, plays=(), tools=None, **options):
    """Run an agent on scripted turns; return the world."""
    world = World({"turns": [*turns], "plays": [*plays]})
    model = MendedModel(ScriptedModel(steps(world.next_turn)), effects=EFFECTS)
    tools = [function_tool(tool) for tool in world.tools] if tools is None else tools
    agent = Agent("payer", model=model, tools=tools)
    world.end = asyncio.run(Runner.run(agent, "go", **options)).final_output
    return world


PAY = ["pay", {"to": "ann", "amount": 5}, "a"]


def test_a_healthy_turn_is_the_same_object():
    response = ModelResponse([call_item(PAY)], Usage(), None)
    wrapped = ScriptedModel()

    async def get_response(*_, **__):
        return response

    wrapped.get_response = get_response
    tools = [function_tool(tool) for tool in World({"turns": []}).tools]
    answer = MendedModel(wrapped).get_response(None, "go", None, tools, None, [], None)
    assert asyncio.run(answer) is response


def test_a_hopeless_call_ends_the_run():
    turns = [{"calls": [["pay", {"to": "ann", "amount": "lots"}, str(i)]]} for i in range(3)]
    with pytest.raises(ModelBehaviorError, match="lots"):
        ends(*turns)


@pytest.mark.parametrize("key", ["previous_response_id", "conversation_id"])
def test_a_thread_that_the_server_keeps_is_refused(key):
    with pytest.raises(UserError, match="session"):
        ends({"text": "x"}, **{key: "x"})


def test_an_argument_with_a_default_may_be_left_out():
    ran = []

    @function_tool
    def book(to: str, cabin: str = "economy", seat: str | None = "window") -> str:
        """Book."""
        ran.append((to, cabin, seat))
        return "ok"

    ends({"calls": [["book", {"to": "CDG"}, "a"]]}, tools=[book])
    assert ran == [("CDG", "economy", "window")]


def test_an_argument_that_a_schema_does_not_require_may_be_left_out():
    ran = []

    async def book(_, args):
        ran.append(json.loads(args))
        return "ok"

    text = {"type": "string"}
    schema = {"type": "object", "properties": {"to": text, "seat": text}, "required": ["to"]}
    tool = FunctionTool("book", "Book.", schema, book, strict_json_schema=False)
    ends({"calls": [["book", {"to": "CDG"}, "a"]]}, tools=[tool])
    assert ran == [{"to": "CDG"}]


def test_a_call_that_timed_out_is_not_made_again():
    ran = []

    @function_tool(timeout=0.01)
    async def book(to: str) -> str:
        """Book."""
        ran.append(to)
        await asyncio.sleep(1)

    calls = [{"calls": [["book", {"to": "CDG"}, name]]} for name in "ab"]
    world = ends(*calls, tools=[book])
    assert ran == ["CDG"]
    assert "nobody knows" in str(world.read)


def test_a_stream_shows_repaired_calls_alone():
    world = World({"turns": []})
    items = [text_item("Paying."), call_item(["Pay", {"to": "ann", "amount": "5"}, "a"])]
    model = MendedModel(ScriptedModel([items, [text_item("done")]]), effects=EFFECTS)
    agent = Agent("payer", model=model, tools=[function_tool(world.pay)])

    async def events():
        result = Runner.run_streamed(agent, "go")
        return [event.data async for event in result.stream_events() if hasattr(event, "data")]

    seen = asyncio.run(events())
    # A turn without such a call is shown event by event.
    assert "done" in [getattr(event, "delta", None) for event in seen]
    assert "Pay" not in [getattr(getattr(event, "item", None), "name", None) for event in seen]
    assert world.ran == [["pay", {"to": "ann", "amount": 5}]]


def test_a_call_that_ended_its_run_is_not_made_again_in_its_session():
    ran, session = [], SQLiteSession("a")

    @function_tool(failure_error_function=None)
    def book(to: str) -> str:
        """Book."""
        ran.append(to)
        raise TimeoutError

    write = World({"turns": [{"calls": [["book", {"to": "CDG"}, name]]} for name in "abcd"]})
    model = MendedModel(ScriptedModel(steps(write.next_turn)), effects=EFFECTS)
    agent = Agent("clerk", model=model, tools=[book])
    for error in ("Error running tool", "nobody knows"):
        with pytest.raises(AgentsException, match=error):
            asyncio.run(Runner.run(agent, "go", session=session))
    session.close()
    assert ran == ["CDG"]


def test_a_thread_that_begins_as_another_one_has_no_doubt_of_it():
    world = World({"turns": [{"calls": [PAY]}, {"text": "paid"}, {"text": "Sure?"}]})
    model = MendedModel(ScriptedModel(steps(world.next_turn)), effects=EFFECTS)
    agent = Agent("payer", model=model, tools=[function_tool(world.pay)])
    asyncio.run(Runner.run(agent, "Pay ann."))
    other = asyncio.run(Runner.run(agent, "Pay ann."))
    world.turns = [{"calls": [PAY]}]
    asyncio.run(Runner.run(agent, [*other.to_input_list(), {"role": "user", "content": "Yes."}]))
    assert len(world.ran) == 2
