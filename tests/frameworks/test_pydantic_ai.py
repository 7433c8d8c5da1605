"""The behaviours in pydantic-ai's own runner."""

import asyncio

import pytest

pytest.importorskip("pydantic_ai")
from functools import wraps

from pydantic_ai import Agent, ToolFailed, capture_run_messages
from pydantic_ai.capabilities import Hooks
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from world import EFFECTS, check, each_behaviour, text_of

from selfcorrect.integrations.pydantic_ai import MendedModel


def run(world, *, stream, gate):
    def write(messages, _info):
        turn = world.next_turn(*(getattr(part, "content", "") for part in messages[-1].parts))
        calls = [ToolCallPart(name, text_of(args), i) for name, args, i in turn.get("calls", ())]
        return ModelResponse([TextPart(turn["text"])] if "text" in turn else calls)

    async def judge(_context, *, call, tool_def, args):
        world.judge(call.tool_name, args)
        return args

    hooks = [Hooks(before_tool_execute=judge)] if gate else []
    model = MendedModel(FunctionModel(write), effects=EFFECTS)
    agent = Agent(model, retries=3, tools=list(map(told, world.tools)), capabilities=hooks)
    try:
        world.end = asyncio.run(streamed(agent)) if stream else agent.run_sync("go").output
    except Exception as error:
        world.end = f"{type(error).__name__}: {error}"


async def streamed(agent):
    async with agent.run_stream("go") as answer:
        return await answer.get_output()


def told(tool):
    """Return a tool whose exception the model reads; pydantic-ai ends the run otherwise."""

    @wraps(tool)
    def call(**args):
        try:
            return tool(**args)
        except TimeoutError as error:
            raise ToolFailed(str(error)) from error

    return call


def test_a_run_that_an_exception_ended_does_not_repeat_its_call():
    ran = []

    def pay(to: str) -> str:
        ran.append(to)
        raise TimeoutError("no answer")

    def write(messages, _info):
        return ModelResponse([ToolCallPart("pay", {"to": "ann"}, f"c{len(messages)}")])

    agent = Agent(MendedModel(FunctionModel(write)), tools=[pay])
    with capture_run_messages() as messages, pytest.raises(TimeoutError):
        agent.run_sync("go")
    assert "nobody knows" in agent.run_sync("go on", message_history=messages).output
    assert ran == ["ann"]


@each_behaviour({})
def test_behaviour(name):
    check(name, run)
