"""The agent's own model fails: dropped connections are tried again, the rest is decided."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from agents_kit import World, agent_of, calling, run
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage

from selfcorrect import SelfCorrection
from selfcorrect.policies import RespondWith, Rethrow, RetryModel
from selfcorrect.testing import ScriptedModel

FOUND = ("find_flights", {"query": "CDG", "limit": 3})
ASKED: dict[str, Any] = {"messages": [HumanMessage("please")]}


class Busy(Exception):
    """As a provider's client says that its server is busy."""

    status_code = 503


class Retrying(ScriptedModel):
    """A model whose client tries again by itself."""

    max_retries: int = 2


@pytest.mark.parametrize("is_async", [False, True])
def test_a_dropped_connection_is_tried_again(is_async):
    script = [ConnectionResetError("x"), calling(FOUND), Busy("y"), Busy("y"), "done"]
    world = World()
    agent, model = agent_of(world, script, SelfCorrection())
    out = asyncio.run(agent.ainvoke(ASKED)) if is_async else agent.invoke(ASKED)
    assert out["messages"][-1].text == "done"
    assert (world.done, len(model.prompts)) == ([FOUND], 5)


def test_three_times_in_all_and_the_original_is_raised():
    errors = [ConnectionResetError(str(n)) for n in range(9)]
    agent, model = agent_of(World(), errors, SelfCorrection())
    start = time.monotonic()
    with pytest.raises(ConnectionResetError) as caught:
        run(agent)
    assert caught.value is errors[2]
    assert len(model.prompts) == 3
    assert time.monotonic() - start >= 0.7


@pytest.mark.parametrize("error", [TimeoutError(), ValueError("no"), PermissionError(13, "no")])
def test_not_where_repeating_does_not_help(error):
    agent, model = agent_of(World(), [error] * 5, SelfCorrection())
    with pytest.raises(type(error)):
        run(agent)
    assert len(model.prompts) == 1


def test_nor_where_the_client_does_it_itself():
    model = Retrying(script=[ConnectionResetError("x")] * 9)
    agent = create_agent(model, World().tools, middleware=[SelfCorrection()])
    with pytest.raises(ConnectionResetError):
        agent.invoke(ASKED)
    assert len(model.prompts) == 1


def test_nor_where_the_answer_is_streamed():
    agent, model = agent_of(World(), [ConnectionResetError("x")] * 9, SelfCorrection())
    with pytest.raises(ConnectionResetError):
        list(agent.stream(ASKED, stream_mode="messages"))
    assert len(model.prompts) == 1


def test_a_handler_is_asked_at_every_failure_and_may_change_its_mind():
    asked: list[Exception] = []

    def decide(error: Exception) -> Any:
        asked.append(error)
        return RetryModel(5, 0.0) if len(asked) < 3 else RespondWith("not today")

    errors = [ValueError(str(n)) for n in range(9)]
    agent, model = agent_of(World(), errors, SelfCorrection(on_model_error=decide))
    assert run(agent)[-1].text == "not today"
    assert (asked, len(model.prompts)) == (errors[:3], 3)


def test_its_budget_is_one_turns():
    script = [ValueError("1"), calling(FOUND), ValueError("2"), "done"]
    middleware = SelfCorrection(on_model_error=lambda error: RetryModel(2, 0.0))
    agent, model = agent_of(World(), script, middleware)
    assert run(agent)[-1].text == "done"
    assert len(model.prompts) == 4


def test_exhaustion_raises_the_original():
    errors = [ValueError(str(n)) for n in range(9)]
    middleware = SelfCorrection(on_model_error=lambda error: RetryModel(3, 0.0))
    agent, _ = agent_of(World(), errors, middleware)
    with pytest.raises(ValueError) as caught:
        run(agent)
    assert caught.value is errors[2]


@pytest.mark.parametrize("decision", [None, Rethrow()])
def test_rethrow_keeps_the_original(decision):
    error = ValueError("mine")
    agent, _ = agent_of(World(), [error], SelfCorrection(on_model_error=lambda e: decision))
    with pytest.raises(ValueError) as caught:
        run(agent)
    assert caught.value is error


def test_an_answer_may_make_calls_and_must_be_a_message():
    world = World()
    answers = iter([RespondWith(calling(FOUND)), RespondWith(AIMessage("done"))])
    errors = [ValueError("1"), ValueError("2")]
    agent, _ = agent_of(world, errors, SelfCorrection(on_model_error=lambda e: next(answers)))
    assert run(agent)[-1].text == "done"
    assert world.done == [FOUND]
    agent, _ = agent_of(
        world, [ValueError()], SelfCorrection(on_model_error=lambda e: RespondWith({"a": 1}))
    )
    with pytest.raises(TypeError, match="an AIMessage or text, not dict"):
        run(agent)
