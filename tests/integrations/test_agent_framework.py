"""Microsoft agent-framework with a scripted client."""

from __future__ import annotations

import asyncio

import agent_framework as af
import pytest
from frameworks_kit import EACH, TEXT, Cabin, Case, World, check

from selfcorrect.integrations.agent_framework import MendingMiddleware


class Script(af.FunctionInvocationLayer, af.ChatMiddlewareLayer, af.BaseChatClient):
    def __init__(self, case: Case, world: World) -> None:
        super().__init__()
        self.case, self.world = case, world

    async def _inner_get_response(self, *, messages, stream=False, options=None, **kwargs):
        self.world.turns += 1
        last = messages[-1].contents[-1]
        if last.type == "function_result" and str(last.result) == "booked":
            said = "done"
        elif self.world.turns > 1:
            said = called("book_flight", TEXT, self.world.turns)
        else:
            said = self.case.said or called(self.case.name, self.case.text, 1)
        return af.ChatResponse(messages=[af.Message("assistant", [said])])


def called(name: str, arguments: str, n: int):
    return af.Content.from_function_call(f"c{n}", name, arguments=arguments)


def run(case: Case, *, with_us: bool) -> World:
    """One run of an agent whose model writes this call."""
    world = World()

    def book_flight(
        to: str, day: str, passengers: int, meals: list[str], cabin: Cabin = "economy"
    ) -> str:
        """Book a flight."""
        return world.book(to, day, passengers, meals, cabin)

    middleware = [MendingMiddleware()] if with_us else None
    agent = af.Agent(Script(case, world), tools=[book_flight], middleware=middleware)
    try:
        asyncio.run(agent.run("book"))
    except Exception as error:
        world.error = type(error).__name__
    return world


@pytest.mark.parametrize("title", EACH)
def test_a_call_is_mended_before_anybody_runs_it(title):
    check(run, title)
