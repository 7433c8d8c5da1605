"""A policy for names that no tool has hears of each miss once, and of each name that resolves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from agents_kit import World, agent_of, answers, calling, run
from langchain_core.messages import AIMessage

from selfcorrect import SelfCorrection
from selfcorrect.errors import ToolNotFoundError
from selfcorrect.policies import AutoCorrect, ImmediateRaise
from selfcorrect.policies.tool_not_found import NotFoundDecision

FOUND = ("find_flights", {"query": "CDG", "limit": 3})
MISS = calling(("fly_to_the_moon", {"query": "CDG"}))
TWO = calling(("fly_to_the_moon", {}), ("sail_to_mars", {}))
MIXED = calling(("fly_to_the_moon", {}), FOUND)
FIT = calling(FOUND)
BAD_ARGUMENTS = calling(("find_flights", {"limit": 5}))
ALL_BAD = calling(("fly_to_the_moon", {}), ("find_flights", {"limit": 5}))


def again(message: AIMessage, number: int) -> list[AIMessage]:
    return [message.model_copy(update={"id": f"m{n}"}) for n in range(number)]


class Recording:
    """A template whose runs write down what they hear."""

    def __init__(self, heard: list[Any], retries: int = 99) -> None:
        self.heard, self.retries, self.inner = heard, retries, AutoCorrect(retries)

    def fresh(self) -> Recording:
        return Recording(self.heard, self.retries)

    def handle(self, requested: str, available: Sequence[str]) -> NotFoundDecision:
        self.heard.append(requested)
        return self.inner.handle(requested, available)

    def on_tool_found(self) -> None:
        self.heard.append(None)
        self.inner.on_tool_found()


def heard_in(*script: Any, **options: Any) -> list[Any]:
    heard: list[Any] = []
    options = {"max_misses": 99, **options}
    middleware = SelfCorrection(tool_not_found=Recording(heard), **options)
    messages = [
        each.model_copy(update={"id": f"m{n}"}) if hasattr(each, "model_copy") else each
        for n, each in enumerate(script)
    ]
    agent, _ = agent_of(World(), [*messages, "done"], middleware)
    run(agent)
    return heard


def test_each_miss_is_handled_once() -> None:
    assert heard_in(MISS, MISS, MISS) == ["fly_to_the_moon"] * 3
    assert heard_in(TWO) == ["fly_to_the_moon", "sail_to_mars"]


def test_a_name_that_resolves_is_heard_of_before_the_tool_runs() -> None:
    world = World()
    seen: list[Any] = []

    class Looking(Recording):
        def fresh(self) -> Looking:
            return self

        def on_tool_found(self) -> None:
            seen.append(list(world.done))

    agent, _ = agent_of(world, [FIT, "done"], SelfCorrection(tool_not_found=Looking([])))
    run(agent)
    assert (seen, world.done) == ([[]], [FOUND])


def test_also_where_the_call_cannot_be_made() -> None:
    assert heard_in(BAD_ARGUMENTS) == [None]
    assert heard_in(MISS, BAD_ARGUMENTS, MISS) == ["fly_to_the_moon", None, "fly_to_the_moon"]


@pytest.mark.parametrize("message", [MIXED, ALL_BAD])
def test_a_message_in_which_one_name_resolves_is_no_miss_in_a_row(message: Any) -> None:
    world = World()
    policy = AutoCorrect(max_retries=1)
    script = [MISS, *again(message, 4), MISS, "done"]
    agent, model = agent_of(world, script, SelfCorrection(tool_not_found=policy, max_misses=99))
    run(agent)
    assert len(model.prompts) == len(script)


def test_and_it_does_not_end_the_run_either() -> None:
    world = World()
    found = [("find_flights", {"query": f"q{n}"}) for n in range(9)]
    script = [calling(("fly_to_the_moon", {}), each) for each in found]
    agent, model = agent_of(world, [*script, "done"], SelfCorrection(max_misses=1))
    messages = run(agent)
    assert (messages[-1].text, len(model.prompts)) == ("done", 10)
    assert world.done == found


def test_misses_in_a_row_end_it() -> None:
    policy = AutoCorrect(max_retries=2)
    script = [MISS, FIT, *again(TWO, 9)]
    agent, model = agent_of(World(), script, SelfCorrection(tool_not_found=policy, max_misses=99))
    with pytest.raises(ToolNotFoundError):
        run(agent)
    assert len(model.prompts) == 5


def test_a_policy_that_raises_at_once_does_so_beside_a_good_call_too() -> None:
    agent, _ = agent_of(World(), [MIXED], SelfCorrection(tool_not_found=ImmediateRaise()))
    with pytest.raises(ToolNotFoundError):
        run(agent)


def test_runs_side_by_side_share_no_counter() -> None:
    middleware = SelfCorrection(tool_not_found=AutoCorrect(max_retries=2), max_misses=99)
    for _ in range(3):
        agent, model = agent_of(World(), [*again(MISS, 2), "done"], middleware)
        run(agent)
        assert "There is no tool named" in answers(model.prompts[-1])[0].text


def test_one_policy_object_hears_a_whole_run() -> None:
    """Also over several turns of the model, so that a policy may count what it likes."""

    class InAll(Recording):
        def fresh(self) -> InAll:
            return InAll([])

        def handle(self, requested: str, available: Sequence[str]) -> NotFoundDecision:
            self.heard.append(requested)
            return AutoCorrect(max_retries=5 - len(self.heard)).handle(requested, available)

    script = [MISS, FIT, MISS, FIT, MISS, FIT]
    agent, model = agent_of(World(), script, SelfCorrection(tool_not_found=InAll([])))
    with pytest.raises(ToolNotFoundError):
        run(agent)
    assert len(model.prompts) == 5
