"""openai-agents with a scripted model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import Agent, Model, Runner, function_tool, set_tracing_disabled
from agents.items import ModelResponse
from agents.usage import Usage
from frameworks_kit import EACH, TEXT, Cabin, Case, World, check
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from selfcorrect.integrations.openai_agents import MendedModel

set_tracing_disabled(True)


def said(text: str) -> Any:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="m", role="assistant", status="completed", type="message", content=[part]
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
