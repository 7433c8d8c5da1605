"""pydantic-ai with a scripted model."""

from __future__ import annotations

import pytest
from frameworks_kit import EACH, GOOD, Cabin, Case, World, check
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

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
