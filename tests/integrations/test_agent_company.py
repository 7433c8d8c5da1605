"""The middleware among others, in every way in which an agent can be run."""

from __future__ import annotations

import asyncio
from itertools import permutations
from typing import Any

import pytest
from agents_kit import World, agent_of, answers, calling, check_history, run
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelRetryMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
)
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from selfcorrect import SelfCorrection
from selfcorrect.integrations import tool_calls
from selfcorrect.testing import ScriptedModel

FOUND = ("find_flights", {"query": "CDG", "limit": 3})
BROKEN_FIND = ("find_flights", {"query": "CDG", "limit": "3"})
BOOKED = ("book_flight", {"to": "CDG", "day": "2026-10-26", "seats": 2})
BROKEN_BOOK = ("book_flight", {"to": "CDG", "day": "Oct 26, 2026", "seats": "two"})
HALF_A_SEAT = ("book_flight", {"to": "CDG", "day": "2026-10-26", "seats": 2.5})


def thread(name: str = "t") -> Any:
    return {"configurable": {"thread_id": name}}


def others() -> list[Any]:
    return [
        HumanInTheLoopMiddleware(interrupt_on={"book_flight": True}),
        ToolRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False),
        ModelRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False),
        ToolCallLimitMiddleware(run_limit=20),
        ModelCallLimitMiddleware(run_limit=20),
    ]


@pytest.mark.parametrize("place", range(6))
def test_a_person_approves_the_mended_call_wherever_it_stands(place: int) -> None:
    world = World()
    middleware = others()
    middleware.insert(place, SelfCorrection())
    agent, model = agent_of(
        world,
        [calling(BROKEN_BOOK, BROKEN_FIND), "done"],
        *middleware,
        checkpointer=InMemorySaver(),
    )
    asked = agent.invoke({"messages": [HumanMessage("please")]}, thread())
    assert world.done == []
    requests = asked["__interrupt__"][0].value["action_requests"]
    assert [request["args"] for request in requests] == [BOOKED[1]]
    out = agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread())
    check_history(out["messages"])
    assert sorted(world.done) == sorted([BOOKED, FOUND])
    assert len(model.prompts) == 2


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("sibling", [True, False])
def test_nobody_is_asked_to_approve_what_cannot_run(place: int, *, sibling: bool) -> None:
    world = World()
    middleware: list[Any] = [HumanInTheLoopMiddleware(interrupt_on={"book_flight": True})]
    middleware.insert(place, SelfCorrection())
    calls = [HALF_A_SEAT, FOUND] if sibling else [HALF_A_SEAT]
    script = [calling(*calls), "How many seats?"]
    agent, _ = agent_of(world, script, *middleware, checkpointer=InMemorySaver())
    out = agent.invoke({"messages": [HumanMessage("please")]}, thread())
    assert "__interrupt__" not in out
    check_history(out["messages"])
    assert out["messages"][-1].text == "How many seats?"
    assert world.done == ([FOUND] if sibling else [])


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize(
    ("decision", "done"),
    [
        ({"type": "approve"}, [BOOKED]),
        ({"type": "reject", "message": "no"}, []),
        (
            {
                "type": "edit",
                "edited_action": {"name": "book_flight", "args": {**BOOKED[1], "seats": "3"}},
            },
            [("book_flight", {**BOOKED[1], "seats": 3})],
        ),
    ],
)
def test_every_decision_of_a_person_holds(
    place: int, mode: Any, decision: dict[str, Any], done: list[Any]
) -> None:
    world = World()
    middleware: list[Any] = [SelfCorrection()]
    resume: Any = {"decisions": [decision]}
    try:
        approval = HumanInTheLoopMiddleware({"book_flight": True}, interrupt_mode=mode)
        resume = decision if mode == "per_call" else resume
    except TypeError:  # older versions ask about all calls of a message together
        approval = HumanInTheLoopMiddleware({"book_flight": True})
    middleware.insert(place, approval)
    script = [calling(BROKEN_BOOK), "done"]
    agent, _ = agent_of(world, script, *middleware, checkpointer=InMemorySaver())
    agent.invoke({"messages": [HumanMessage("please")]}, thread())
    out = agent.invoke(Command(resume=resume), thread())
    while mode == "per_call" and "__interrupt__" in out:
        out = agent.invoke(Command(resume=resume), thread())
    check_history(out["messages"])
    if decision["type"] == "edit" and place == 1:
        # Newer versions put the edit in behind the back of whoever stands before them.
        assert world.done in (done, [("book_flight", decision["edited_action"]["args"])])
    else:
        assert world.done == done


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_retries_of_others_never_repeat_what_may_have_been_done(order: tuple[int, ...]) -> None:
    world = World()
    world.errors = [ValueError("seats: 2 must not be even")] * 9
    parts = [SelfCorrection(), others()[2], ToolCallLimitMiddleware(run_limit=20)]
    script = [calling(BOOKED), "It failed."]
    agent, _ = agent_of(world, script, *[parts[place] for place in order])
    assert run(agent)[-1].text == "It failed."
    assert world.done == [BOOKED]


def test_async_is_the_same() -> None:
    world = World()
    world.errors = [ConnectionResetError("reset by peer")]
    script = [calling(BROKEN_FIND), calling(("nope", {})), AIMessage(""), "done"]
    agent, model = agent_of(world, script, SelfCorrection())
    out = asyncio.run(agent.ainvoke({"messages": [HumanMessage("please")]}))
    check_history(out["messages"])
    assert world.done == [FOUND, FOUND]
    assert len(model.prompts) == 4


@pytest.mark.parametrize("is_async", [True, False])
def test_parallel_calls_each_get_their_own_answer(*, is_async: bool) -> None:
    world = World()
    calls = [("find_flights", {"query": f"q{n}", "limit": str(n + 1)}) for n in range(20)]
    agent, _ = agent_of(world, [calling(*calls), "done"], SelfCorrection())
    given = {"messages": [HumanMessage("please")]}
    out = asyncio.run(agent.ainvoke(given)) if is_async else agent.invoke(given)
    check_history(out["messages"])
    assert [answer.status for answer in answers(out["messages"])] == ["success"] * 20
    assert len(world.done) == 20


def test_one_failing_call_does_not_lose_its_siblings() -> None:
    world = World()
    world.errors = [PermissionError("forbidden")]
    script = [calling(FOUND, ("find_flights", {"query": "LHR"})), "done"]
    agent, _ = agent_of(world, script, SelfCorrection())
    messages = run(agent)
    assert sorted(answer.status for answer in answers(messages)) == ["error", "success"]


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("mode", ["updates", "values", "messages", "custom"])
def test_streaming_shows_the_mended_call_and_its_record(mode: str, *, is_async: bool) -> None:
    agent, _ = agent_of(World(), [calling(BROKEN_FIND), "done"], SelfCorrection())
    given = {"messages": [HumanMessage("please")]}

    async def streamed() -> list[Any]:
        return [part async for part in agent.astream(given, stream_mode=mode)]

    parts = asyncio.run(streamed()) if is_async else list(agent.stream(given, stream_mode=mode))
    shown = str(parts)
    assert parts
    if mode == "custom":
        assert "/args/limit" in shown
    elif mode != "messages":
        assert "'limit': 3" in shown


def test_an_agent_as_a_tool_of_another() -> None:
    world = World()
    inner, _ = agent_of(world, [calling(BROKEN_FIND), "found it"], SelfCorrection())

    @tool
    def ask_scout(question: str) -> str:
        """Ask the scout."""
        out = inner.invoke({"messages": [HumanMessage(question)]})
        return str(out["messages"][-1].text)

    outer = create_agent(
        ScriptedModel(script=[calling(("askScout", {"question": "CDG?"})), "thanks"]),
        [ask_scout],
        middleware=[SelfCorrection()],
    )
    messages = run(outer)
    assert answers(messages)[0].text == "found it"
    assert world.done == [FOUND]


def test_concurrent_runs_do_not_share_their_counters() -> None:
    middleware = SelfCorrection(max_misses=2)

    async def one() -> str:
        script = [calling(("nope", {})), calling(("nope", {})), "gave up"]
        for number, message in enumerate(script[:2]):
            message.id = f"m{number}"
        agent, _ = agent_of(World(), script, middleware)
        out = await agent.ainvoke({"messages": [HumanMessage("please")]})
        return str(out["messages"][-1].text)

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(one() for _ in range(5)))

    assert asyncio.run(all_of_them()) == ["gave up"] * 5


class Weather(BaseModel):
    """The weather."""

    degrees: int


def test_structured_answers_are_left_alone() -> None:
    script = [calling(BROKEN_FIND), calling(("Weather", {"degrees": 20}))]
    agent, _ = agent_of(World(), script, SelfCorrection(), response_format=Weather)
    out = agent.invoke({"messages": [HumanMessage("please")]})
    assert out["structured_response"] == Weather(degrees=20)
    check_history(out["messages"])


def test_injected_state_and_commands_pass_through() -> None:
    @tool
    def remember(what: str, runtime: ToolRuntime) -> Command[Any]:
        """Remember something."""
        from langchain_core.messages import ToolMessage

        count = len(runtime.state["messages"])
        message = ToolMessage(f"{what} after {count}", tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [message]})

    model = ScriptedModel(script=[calling(("Remember", {"What": "it"})), "done"])
    agent = create_agent(model, [remember], middleware=[SelfCorrection()])
    assert answers(run(agent))[0].text == "it after 2"


def test_a_tool_that_interrupts_is_resumed_and_runs_once() -> None:
    told: list[str] = []

    @tool
    def ask_user(question: str) -> str:
        """Ask the user."""
        answer = str(interrupt({"question": question}))
        told.append(answer)
        return answer

    model = ScriptedModel(script=[calling(("askUser", {"question": "why?"})), "done"])
    agent = create_agent(
        model, [ask_user], middleware=[SelfCorrection()], checkpointer=InMemorySaver()
    )
    out = agent.invoke({"messages": [HumanMessage("please")]}, thread())
    assert out["__interrupt__"][0].value == {"question": "why?"}
    out = agent.invoke(Command(resume="because"), thread())
    assert told == ["because"]
    check_history(out["messages"])


def test_a_person_may_be_asked_before_anything_is_executed() -> None:
    world = World()
    agent, _ = agent_of(
        world,
        [calling(HALF_A_SEAT, FOUND), "done"],
        SelfCorrection(ask_person=True),
        checkpointer=InMemorySaver(),
    )
    out = agent.invoke({"messages": [HumanMessage("please")]}, thread())
    assert "seats" in out["__interrupt__"][0].value["question"]
    assert BOOKED not in world.done
    out = agent.invoke(Command(resume=2), thread())
    check_history(out["messages"])
    assert world.done.count(BOOKED) == 1
    assert world.done.count(FOUND) == 1


def test_a_question_after_an_execution_does_not_execute_again() -> None:
    world = World()
    world.errors = [ValueError("seats: 2 must be one of 1, 3")]
    tools = world.tools
    tools[1].metadata = {"effect": "idempotent"}
    agent = create_agent(
        ScriptedModel(script=[calling(BOOKED), "done"]),
        tools,
        middleware=[SelfCorrection(ask_person=True)],
        checkpointer=InMemorySaver(),
    )
    out = agent.invoke({"messages": [HumanMessage("please")]}, thread())
    if "__interrupt__" not in out:
        pytest.fail(f"nobody was asked: {answers(out['messages'])}")
    assert len(world.done) == 1
    out = agent.invoke(Command(resume=3), thread())
    assert [args["seats"] for _, args in world.done] == [2, 3]
    check_history(out["messages"])


@pytest.mark.parametrize("most", [0, 1])
@pytest.mark.parametrize("effect", ["mutating", "destructive"])
def test_what_was_executed_before_a_question_is_not_executed_again(
    most: int, effect: str, monkeypatch
) -> None:
    monkeypatch.setattr(tool_calls, "_MOST_WAITING", most)
    world = World()
    world.errors = [ValueError("seats: 2 must be one of 1, 3")] * 2
    tools = world.tools
    tools[1].metadata = {"effect": effect}
    agent = create_agent(
        ScriptedModel(script=[calling(BOOKED), calling(BOOKED), "done", "done"]),
        tools,
        middleware=[SelfCorrection(ask_person=True)],
        checkpointer=InMemorySaver(),
    )
    ones = [{"configurable": {"thread_id": name}} for name in ("first", "second")]
    for one in ones:
        assert "__interrupt__" in agent.invoke({"messages": [HumanMessage("please")]}, one)
    assert len(world.done) == 2
    # Of the first only the ledger knows any more: what was refused is not tried once more.
    for one in ones:
        check_history(agent.invoke(Command(resume=3), one)["messages"])
    assert [args["seats"] for _, args in world.done] == [2, 2, 3, 3]


def test_the_state_of_the_middleware_is_its_own() -> None:
    agent, _ = agent_of(World(), [calling(("nope", {})), "done"], SelfCorrection())
    out = agent.invoke({"messages": [HumanMessage("please")]})
    assert set(out) == {"messages"}
    assert "selfcorrect" not in agent.get_input_jsonschema()["properties"]
