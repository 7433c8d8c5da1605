"""litellm's completions, with the loop around them that its documentation shows."""

from __future__ import annotations

import asyncio
import json
import os

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from frameworks_kit import EACH, GOOD, TEXT, Cabin, Case, World, check

from selfcorrect.integrations.litellm import MendingLogger

MEALS = {"type": "array", "items": {"type": "string"}}
SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "day": {"type": "string"},
        "passengers": {"type": "integer"},
        "meals": MEALS,
        "cabin": {"type": "string", "enum": ["economy", "business"]},
    },
    "required": ["to", "day", "passengers", "meals"],
}
TOOLS = [{"type": "function", "function": {"name": "book_flight", "parameters": SCHEMA}}]
_MOST = 5


def run(case: Case, *, with_us: bool) -> World:
    """One run of a loop whose model writes this call."""
    world = World()
    litellm.callbacks = [MendingLogger()] if with_us else []

    def book_flight(
        to: str, day: str, passengers: int, meals: list[str], cabin: Cabin = "economy"
    ) -> str:
        return world.book(to, day, passengers, meals, cabin)

    functions = {"book_flight": book_flight}

    async def loop() -> None:
        told = ""
        while world.turns < _MOST:
            message = (await completion(case, world, told)).choices[0].message
            if not message.tool_calls:
                return
            for call in message.tool_calls:
                function = functions[call.function.name]
                told = function(**json.loads(call.function.arguments))

    try:
        asyncio.run(loop())
    except Exception as error:
        world.error = type(error).__name__
    return world


async def completion(case: Case, world: World, told: str):
    """What the model answers, through litellm's own mocks."""
    world.turns += 1
    messages = [{"role": "user", "content": told or "book"}]
    if told == "booked":
        return await litellm.acompletion("gpt-4o", messages, tools=TOOLS, mock_response="done")
    name, text = (case.name, case.text) if world.turns == 1 else ("book_flight", TEXT)
    if world.turns == 1 and case.said:
        return await litellm.acompletion("gpt-4o", messages, tools=TOOLS, mock_response=case.said)
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": text}}
    return await litellm.acompletion(
        "gpt-4o", messages, tools=TOOLS, mock_response="", mock_tool_calls=[call]
    )


assert json.loads(TEXT) == GOOD


@pytest.mark.parametrize("title", [title for title in EACH if title != "two readings"])
def test_a_call_is_mended_before_anybody_runs_it(title):
    check(run, title)


def test_what_cannot_be_mended_comes_as_it_is_for_the_caller_to_check():
    world = run(EACH["two readings"], with_us=True)
    assert [one["passengers"] for one in world.ran] == ["2 or 3"]
