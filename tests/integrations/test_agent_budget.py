"""What a whole run of an agent may cost, and what is done where that is used up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents_kit import World, answers, calling, check_history, run
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from selfcorrect import SelfCorrection
from selfcorrect.errors import CorrectionFailed, GraphSetupError
from selfcorrect.loop.context import SystemTime
from selfcorrect.policies import AgentBudget, Checkpoint, Extend, Hooks, Stop
from selfcorrect.testing import ScriptedModel

THREAD: Any = {"configurable": {"thread_id": "t"}}


def found(number: int) -> AIMessage:
    return calling(("find_flights", {"query": f"CDG {number}"}))


SCRIPT = [found(number) for number in range(40)]


def unbounded(**bounds: Any) -> AgentBudget:
    return AgentBudget(**{"turns": None, "tool_calls": None, "seconds": None} | bounds)


def agent_of(world: World, script: Any, *, saver: Any = None, **options: Any) -> Any:
    model = ScriptedModel(list(script), tokens_per_call=options.pop("tokens_per_call", 10))
    agent = create_agent(
        model, world.tools, middleware=[SelfCorrection(**options)], checkpointer=saver
    )
    return agent, model


def told(message: Any) -> Any:
    return message.response_metadata["selfcorrect"]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("budget", "turns", "done", "why"),
    [
        (unbounded(turns=3), 3, 3, "3 of at most 3 turns"),
        (unbounded(tool_calls=2), 3, 2, "2 of at most 2 tool calls"),
        (unbounded(same_tool=2), 3, 2, "2 calls of 'find_flights' in a row"),
        (unbounded(argument_bytes=5), 1, 0, "arguments of 18 bytes"),
        (unbounded(tokens=100), 6, 6, "of at most 100 tokens"),
    ],
)
def test_a_run_ends_within_its_budget_and_says_so(budget, turns, done, why, is_async):
    world = World()
    agent, model = agent_of(world, SCRIPT, budget=budget)
    given = {"messages": [HumanMessage("please")]}
    out = asyncio.run(agent.ainvoke(given)) if is_async else agent.invoke(given)
    messages = out["messages"]
    check_history(messages)
    assert (len(model.prompts), len(world.done)) == (turns, done)
    assert why in messages[-1].text
    assert told(messages[-1]) == {"reason": "limit_reached", "what": "budget"}


def test_without_a_budget_nothing_is_counted():
    world = World()
    agent, _ = agent_of(world, [*SCRIPT[:12], "done"], saver=InMemorySaver())
    assert run(agent, config=THREAD)[-1].text == "done"
    assert not agent.get_state(THREAD).values.get("selfcorrect", {}).get("spent")


def test_a_run_that_fits_is_left_alone():
    world = World()
    agent, _ = agent_of(world, [*SCRIPT[:2], "done"], budget=AgentBudget(turns=3, tool_calls=2))
    assert [message.text for message in run(agent)][-1] == "done"


def test_or_raises_where_exceptions_are_wanted():
    agent, _ = agent_of(World(), SCRIPT, budget=unbounded(turns=1), on_failure="raise")
    with pytest.raises(CorrectionFailed, match="1 of at most 1 turns"):
        run(agent)


def test_of_several_calls_all_are_made_or_none():
    several = calling(*(("find_flights", {"query": str(n)}) for n in range(3)))
    world = World()
    agent, _ = agent_of(world, [found(0), several, "done"], budget=unbounded(tool_calls=3))
    messages = run(agent)
    assert len(world.done) == 1
    assert [told(each)["reason"] for each in answers(messages)[1:]] == ["limit_reached"] * 3
    assert "3 tool calls" in messages[-1].text


def test_a_call_in_a_text_counts_too():
    text = '{"name": "find_flights", "arguments": {"query": "CDG"}}'
    world = World()
    agent, _ = agent_of(world, [text, text], budget=unbounded(tool_calls=0))
    messages = run(agent)
    assert world.done == []
    assert "0 of at most 0 tool calls" in messages[-1].text


def test_where_the_model_is_asked_again_within_a_turn_that_is_one_more():
    world = World()
    agent, model = agent_of(world, [calling(("fly", {}))] * 9, budget=unbounded(turns=2))
    messages = run(agent)
    assert len(model.prompts) == 2
    assert "2 of at most 2 turns" in messages[-1].text


class Flight(BaseModel):
    to: str


def test_a_structured_answer_is_no_call_of_a_tool():
    world = World()
    model = ScriptedModel([found(0), calling(("Flight", {"to": "CDG"}))])
    middleware = SelfCorrection(budget=unbounded(tool_calls=1))
    agent = create_agent(
        model, world.tools, middleware=[middleware], response_format=ToolStrategy(Flight)
    )
    assert agent.invoke({"messages": "please"})["structured_response"] == Flight(to="CDG")


def test_a_structured_answer_stands_where_there_is_no_room_for_the_call_beside_it():
    world = World()
    both = calling(("Flight", {"to": "CDG"}), ("find_flights", {"query": "CDG"}))
    middleware = SelfCorrection(budget=unbounded(tool_calls=0))
    agent = create_agent(
        ScriptedModel([both]),
        world.tools,
        middleware=[middleware],
        response_format=ToolStrategy(Flight),
    )
    out = agent.invoke({"messages": "please"})
    check_history(out["messages"])
    assert (out["structured_response"], world.done) == (Flight(to="CDG"), [])


def test_a_new_message_of_the_user_has_a_budget_of_its_own():
    world = World()
    script = [found(0), "one", found(1), "two"]
    agent, _ = agent_of(world, script, saver=InMemorySaver(), budget=unbounded(turns=2))
    assert run(agent, config=THREAD)[-1].text == "one"
    assert run(agent, config=THREAD)[-1].text == "two"


def test_what_is_spent_survives_a_checkpoint():
    world, saver, bounds = World(), InMemorySaver(), {"budget": unbounded(turns=3)}
    world.errors = [KeyboardInterrupt()]  # the process dies in the first call
    agent, _ = agent_of(world, SCRIPT, saver=saver, **bounds)
    with pytest.raises(KeyboardInterrupt):
        run(agent, config=THREAD)
    agent, model = agent_of(world, SCRIPT[1:], saver=saver, **bounds)
    out = agent.invoke(None, THREAD)
    assert len(model.prompts) == 2
    assert "3 of at most 3 turns" in out["messages"][-1].text


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(SystemTime, "monotonic", lambda _: self.now)

    def passing(self, seconds: float, answer: Any) -> Any:
        def later(_: Any) -> Any:
            self.now += seconds
            return answer

        return later


def test_time(monkeypatch):
    clock, world = Clock(monkeypatch), World()
    script = [clock.passing(40, message) for message in SCRIPT]
    agent, model = agent_of(world, script, budget=unbounded(seconds=100))
    messages = run(agent)
    assert (len(model.prompts), len(world.done)) == (3, 2)  # what was late is not made any more
    assert "120 of at most 100 seconds" in messages[-1].text


def test_the_time_of_a_pause_does_not_count(monkeypatch):
    clock, saver = Clock(monkeypatch), InMemorySaver()
    script = [clock.passing(40, message) for message in SCRIPT[:1]]
    agent = create_agent(
        ScriptedModel([*script, "done"]),
        World().tools,
        middleware=[SelfCorrection(budget=unbounded(seconds=100))],
        checkpointer=saver,
        interrupt_before=["tools"],
    )
    agent.invoke({"messages": "please"}, THREAD)
    clock.now += 10_000
    out = agent.invoke(None, THREAD)
    assert out["messages"][-1].text == "done"
    assert agent.get_state(THREAD).values["selfcorrect"]["spent"]["seconds"] == 40


def test_tokens_that_nobody_tells_are_estimated():
    long = calling(("find_flights", {"query": "x"}), text="x" * 4_000)
    agent, model = agent_of(World(), [long] * 9, budget=unbounded(tokens=2_500), tokens_per_call=0)
    messages = run(agent)
    assert len(model.prompts) == 2
    assert "of at most 2500 tokens" in messages[-1].text


def test_the_models_that_mend_count_too():
    broken = calling(("find_flights", '{"query": "x" "limit" 2 ]}'))
    mender = ScriptedModel(
        ["prose", {"name": "find_flights", "arguments": {"query": "x"}}], tokens_per_call=500
    )
    world, saver = World(), InMemorySaver()
    budget = unbounded(tokens=900)
    agent, model = agent_of(world, [broken, "done"], saver=saver, budget=budget, model=mender)
    messages = run(agent, config=THREAD)
    assert len(world.done) == 1
    assert len(model.prompts) == 1
    assert "1010 of at most 900 tokens" in messages[-1].text


def test_also_where_a_call_was_executed_and_mended():
    world = World()
    world.errors = [ValueError("'limit' must be one of 1, 2")]
    mender = ScriptedModel([{"limit": 2}] * 9, tokens_per_call=500)
    call = calling(("find_flights", {"query": "x", "limit": 9}))
    agent, model = agent_of(world, [call, "done"], budget=unbounded(tokens=400), model=mender)
    messages = run(agent)
    assert (len(world.done), len(mender.prompts), len(model.prompts)) == (2, 1, 1)
    assert "510 of at most 400 tokens" in messages[-1].text


# --- what is decided -----------------------------------------------------------------------------


def test_extend_goes_on_as_often_as_is_decided():
    seen: list[Any] = []

    def more(reached: Any) -> Any:
        seen.append(reached)
        return Extend(turns=reached.limits.turns + 2) if len(seen) < 3 else Stop()

    world = World()
    agent, model = agent_of(world, SCRIPT, budget=unbounded(turns=2), on_limit=more)
    messages = run(agent)
    assert len(model.prompts) == 6
    assert [each.limits.turns for each in seen] == [2, 4, 6]
    assert "6 of at most 6 turns" in messages[-1].text


def test_extend_makes_the_calls_there_was_no_room_for():
    world = World()
    more = {"on_limit": lambda reached: Extend(tool_calls=5)}
    agent, model = agent_of(world, SCRIPT, budget=unbounded(tool_calls=1), **more)
    run(agent)
    assert (len(world.done), len(model.prompts)) == (5, 6)


def test_who_always_gives_more_ends_all_the_same():
    world = World()
    more = {"on_limit": lambda reached: Extend(turns=reached.limits.turns + 1)}
    agent, model = agent_of(world, SCRIPT, budget=unbounded(turns=1), **more)
    run(agent)
    assert len(model.prompts) == 9


@pytest.mark.parametrize("decision", [Checkpoint(), Stop(), None, "more", Extend(turns=1.5)])
def test_anything_else_ends_it(decision):
    options = {"on_limit": lambda reached: decision}
    agent, model = agent_of(World(), SCRIPT, budget=unbounded(turns=2), **options)
    messages = run(agent)
    assert len(model.prompts) == 2
    assert "2 of at most 2 turns" in messages[-1].text


MORE = {"action": "extend", "limits": {"turns": 4, "tool_calls": 4}}


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("bounds", "asked", "ended"),
    [({"turns": 2}, (2, 2), (4, 4)), ({"tool_calls": 2}, (3, 2), (6, 4))],
)
def test_a_checkpoint_waits_for_a_person_and_pays_nothing_twice(bounds, asked, ended, is_async):
    world, model = World(), ScriptedModel(SCRIPT)
    middleware = SelfCorrection(budget=unbounded(**bounds), on_limit=lambda reached: Checkpoint())
    agent = create_agent(model, world.tools, middleware=[middleware], checkpointer=InMemorySaver())

    def go(given: Any) -> Any:
        if is_async:
            return asyncio.run(agent.ainvoke(given, THREAD))
        return agent.invoke(given, THREAD)

    out = go({"messages": [HumanMessage("please")]})
    assert "2 of at most 2" in out["__interrupt__"][0].value["limit"]
    assert (len(model.prompts), len(world.done)) == asked
    out = go(Command(resume=MORE))
    assert "4 of at most 4" in out["__interrupt__"][0].value["limit"]
    assert (len(model.prompts), len(world.done)) == ended
    out = go(Command(resume={"action": "reject"}))
    assert (len(model.prompts), len(world.done)) == ended
    check_history(out["messages"])
    assert "4 of at most 4" in out["messages"][-1].text


def test_a_checkpoint_while_the_model_is_asked_again_pays_nothing_twice_either():
    world = World()
    agent, model = agent_of(
        world,
        [calling(("fly", {})), calling(("fly", {})), found(0), "done"],
        saver=InMemorySaver(),
        budget=unbounded(turns=1),
        on_limit=lambda reached: Checkpoint(),
    )
    out = agent.invoke({"messages": [HumanMessage("please")]}, THREAD)
    assert len(model.prompts) == 1
    assert out["__interrupt__"]
    out = agent.invoke(Command(resume={"action": "extend", "limits": {"turns": 9}}), THREAD)
    check_history(out["messages"])
    assert (len(model.prompts), len(world.done)) == (4, 1)
    assert out["messages"][-1].text == "done"


def test_where_nothing_can_be_kept_a_checkpoint_ends_the_run():
    options = {"budget": unbounded(turns=1), "on_limit": lambda reached: Checkpoint()}
    agent, model = agent_of(World(), ["", "done"], saver=InMemorySaver(), **options)
    messages = run(agent, config=THREAD)
    assert len(model.prompts) == 1
    assert "1 of at most 1 turns" in messages[-1].text


# --- who is told ---------------------------------------------------------------------------------


def test_the_threshold_is_told_once_and_before():
    near: list[Any] = []
    model_calls: list[int] = []

    def on_threshold(*what: Any) -> None:
        near.append(what)
        model_calls.append(len(model.prompts))

    options = {"hooks": Hooks(on_threshold=on_threshold), "budget": unbounded(turns=5)}
    agent, model = agent_of(World(), SCRIPT, **options)
    run(agent)
    assert near == [("turns", 4, 5)]
    assert model_calls == [3]


def test_what_a_hook_raises_changes_nothing():
    def broken(*_: Any) -> None:
        raise RuntimeError("hook")

    options = {"hooks": Hooks(on_threshold=broken), "budget": unbounded(turns=2)}
    agent, _ = agent_of(World(), [found(0), "done"], **options)
    assert run(agent)[-1].text == "done"


@pytest.mark.parametrize(
    "bounds",
    [
        {"turns": 0},
        {"tool_calls": -1},
        {"seconds": 0},
        {"seconds": float("inf")},
        {"seconds": "5"},
        {"tokens": True},
        {"same_tool": 1.5},
        {"argument_bytes": 0},
    ],
    ids=str,
)
def test_a_budget_that_can_never_be_meant_is_refused(bounds):
    with pytest.raises(GraphSetupError, match="AgentBudget"):
        AgentBudget(**bounds)


def test_a_budget_is_one():
    with pytest.raises(GraphSetupError, match="budget"):
        SelfCorrection(budget={"turns": 3})  # type: ignore[arg-type]
