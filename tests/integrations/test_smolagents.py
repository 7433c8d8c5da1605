"""smolagents' ToolCallingAgent with a scripted model."""

from __future__ import annotations

import pytest
from frameworks_kit import EACH, GOOD, Case, World, check
from smolagents import ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
)

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
