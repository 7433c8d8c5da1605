"""The behaviours in openai-agents' own runner."""

import asyncio
import json

import pytest

pytest.importorskip("agents")
from agents import (
    Agent,
    Runner,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    function_tool,
    set_tracing_disabled,
)
from agents.testing import ModelStep, ScriptedModel
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from world import EFFECTS, check, each_behaviour, text_of

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
