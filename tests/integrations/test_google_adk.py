"""google-adk with a scripted model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from frameworks_kit import EACH, GOOD, Cabin, Case, World, check
from google.adk.agents import Agent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from selfcorrect.integrations.google_adk import MendingPlugin


def content(part: types.Part) -> Any:
    return LlmResponse(content=types.Content(role="model", parts=[part]))


def called(name: str, args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


class Script(BaseLlm):
    case: Any = None
    world: Any = None

    async def generate_content_async(self, llm_request, stream=False):
        self.world.turns += 1
        answer = llm_request.contents[-1].parts[-1].function_response
        if answer is not None and answer.response == {"result": "booked"}:
            yield content(types.Part(text="done"))
        elif self.world.turns > 1:
            yield content(called("book_flight", GOOD))
        elif self.case.said:
            yield content(types.Part(text=self.case.said))
        else:
            yield content(called(self.case.name, readable(self.case.args)))


def readable(args: Any) -> Any:
    """Gemini parses arguments itself; what is no JSON comes as one text."""
    if isinstance(args, dict):
        return args
    try:
        return json.loads(args)
    except ValueError:
        return {"arguments": args}


def run(case: Case, *, with_us: bool) -> World:
    """One run of an agent whose model writes this call."""
    world = World()

    def book_flight(
        to: str, day: str, passengers: int, meals: list[str], cabin: Cabin = "economy"
    ) -> str:
        """Book a flight."""
        return world.book(to, day, passengers, meals, cabin)

    async def go() -> None:
        agent = Agent(
            name="a", model=Script(model="s", case=case, world=world), tools=[book_flight]
        )
        plugins = [MendingPlugin()] if with_us else []
        runner = InMemoryRunner(app=App(name="x", root_agent=agent, plugins=plugins))
        session = await runner.session_service.create_session(app_name="x", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="book")])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
            if world.turns > 6:
                break

    try:
        asyncio.run(go())
    except Exception as error:
        world.error = type(error).__name__
    return world


UNPARSED = frozenset({"quotes of Python"})
"""ADK has arguments as objects: what is no JSON reaches it as one text, if at all."""


@pytest.mark.parametrize("title", EACH)
def test_a_call_is_mended_before_anybody_runs_it(title):
    check(run, title, asks_again=UNPARSED)
