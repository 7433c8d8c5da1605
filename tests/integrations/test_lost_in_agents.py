"""What may have been done is not done again in an agent, whatever stands around the loop."""

from __future__ import annotations

from typing import Any

import pytest
from agents_kit import answers, check_history
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import RetryPolicy

from selfcorrect import NotDone, SelfCorrection, resume
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger
from selfcorrect.loop.context import AGAIN
from selfcorrect.model import Result
from selfcorrect.testing import ScriptedModel

EFFECT = {"effect": "mutating"}
ANN = {"to": "ann", "amount": 5}
FORMS = [
    ANN,
    {"amount": 5.0, "to": "ann"},
    {**ANN, "currency": "EUR"},
    {"to": "ann", "amount": "5"},
]


class World:
    """A tool that pays; its answers are lost as often as it is told."""

    def __init__(self, losses: int = 1, error: Any = TimeoutError) -> None:
        self.paid: list[tuple[str, float]] = []
        self.losses = losses
        self.error = error

    def pay(self, to: str, amount: float, currency: str = "EUR") -> str:
        """Pay."""
        self.paid.append((to, amount))
        if len(self.paid) <= self.losses:
            raise self.error("no answer")
        return f"paid {amount} {currency} to {to}"

    def tool(self, **metadata: Any) -> StructuredTool:
        return StructuredTool.from_function(self.pay, metadata=metadata or None)


def calling(*calls: Any, id: str = "c1") -> AIMessage:  # noqa: A002
    made = [
        {"name": "pay", "args": args, "id": f"{id}-{n}", "type": "tool_call"}
        for n, args in enumerate(calls)
    ]
    return AIMessage("", tool_calls=made)


def on(thread: str | None) -> dict[str, Any] | None:
    return None if thread is None else {"configurable": {"thread_id": thread}}


def please(text: str = "please pay ann") -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def statuses(messages: Any) -> list[str]:
    check_history(messages)
    return [message.status for message in answers(messages)]


@pytest.fixture(params=["none", "memory", "sqlite", "postgres"])
def ledger(request: Any, tmp_path: Any) -> Any:
    if request.param == "none":
        yield None
    elif request.param == "memory":
        yield MemoryLedger()
    else:
        dsn = request.getfixturevalue("postgres") if request.param == "postgres" else ""
        made = PostgresLedger(dsn) if dsn else SqliteLedger(tmp_path / "ledger.db")
        yield made
        made.close()


@pytest.mark.parametrize("effect", [EFFECT, {}])
@pytest.mark.parametrize(("saved", "thread"), [(True, "t"), (False, "t"), (False, None)])
def test_the_models_next_turn_asks_in_vain_under_a_new_call_id(
    ledger: Any, saved: bool, thread: str | None, effect: dict[str, str]
) -> None:
    world = World()
    script = [calling(form, id=f"c{n}") for n, form in enumerate(FORMS)]
    agent = create_agent(
        ScriptedModel(script=[*script, "done"]),
        [world.tool(**effect)],
        middleware=[SelfCorrection(ledger=ledger)],
        checkpointer=InMemorySaver() if saved else None,
    )
    out = agent.invoke(please(), on(thread))
    assert statuses(out["messages"]) == ["error"] * len(FORMS)
    assert len(world.paid) == 1


def test_another_call_is_made(ledger: Any) -> None:
    world = World()
    script = [calling(ANN), calling({"to": "ann", "amount": 6}, id="c2"), "done"]
    middleware = [SelfCorrection(ledger=ledger)]
    agent = create_agent(
        ScriptedModel(script=script), [world.tool(**EFFECT)], middleware=middleware
    )
    assert statuses(agent.invoke(please())["messages"]) == ["error", "success"]


@pytest.mark.parametrize(("declared", "runs"), [(True, 1), (False, 2)])
@pytest.mark.parametrize("saved", [True, False])
def test_of_an_undeclared_tool_the_memory_ends_with_a_persons_next_message(
    ledger: Any, saved: bool, declared: bool, runs: int
) -> None:
    world = World()
    script = [calling(ANN), "lost", calling(ANN, id="c2"), "done"]
    agent = create_agent(
        ScriptedModel(script=script),
        [world.tool(**(EFFECT if declared else {}))],
        middleware=[SelfCorrection(ledger=ledger)],
        checkpointer=InMemorySaver() if saved else None,
    )
    first = agent.invoke(please(), on("t"))
    said = [HumanMessage("do it again")]
    agent.invoke({"messages": said if saved else [*first["messages"], *said]}, on("t"))
    assert len(world.paid) == runs


@pytest.mark.parametrize("outside", [True, False])
@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("on_failure", ["report", "raise"])
def test_a_tool_retry_middleware_does_not_do_it_twice(
    ledger: Any, outside: bool, saved: bool, on_failure: str
) -> None:
    world = World(losses=9)
    retry = ToolRetryMiddleware(
        max_retries=3, initial_delay=0.0, jitter=False, on_failure="continue"
    )
    own = SelfCorrection(ledger=ledger, on_failure=on_failure)
    agent = create_agent(
        ScriptedModel(script=[calling(ANN), calling(ANN, id="c2"), "done"]),
        [world.tool(**EFFECT)],
        middleware=[retry, own] if outside else [own, retry],
        checkpointer=InMemorySaver() if saved else None,
    )
    try:
        agent.invoke(please(), on("t") if saved else None)
    except Exception as error:
        assert on_failure == "raise", error  # noqa: PT017
    assert len(world.paid) == 1


@pytest.mark.parametrize("saved", [True, False])
def test_a_retry_policy_of_the_hosts_node_does_not_do_it_twice(ledger: Any, saved: bool) -> None:
    world, tries = World(losses=9), []
    node = SelfCorrectingToolNode([world.tool(**EFFECT)], ledger=ledger, on_failure="raise")

    def tried(error: Exception) -> bool:
        tries.append(error)
        return True

    host = StateGraph(MessagesState)
    policy = RetryPolicy(max_attempts=3, initial_interval=0.001, retry_on=tried)
    host.add_node("tools", node, retry_policy=policy)
    host.add_edge(START, "tools")
    host.add_edge("tools", END)
    graph = host.compile(checkpointer=InMemorySaver() if saved else None)
    with pytest.raises(Exception):  # noqa: B017 -- the first is the tool's own, then ours
        graph.invoke({"messages": [calling(ANN)]}, on("t") if saved else None)
    assert tries
    assert len(world.paid) == 1


def test_time_travel_does_not_do_it_twice(ledger: Any) -> None:
    world = World()
    agent = create_agent(
        ScriptedModel(script=[calling(ANN), *["done"] * 9]),
        [world.tool(**EFFECT)],
        middleware=[SelfCorrection(ledger=ledger)],
        checkpointer=InMemorySaver(),
    )
    agent.invoke(please(), on("t"))
    for past in list(agent.get_state_history(on("t"))):
        if "tools" in past.next:
            agent.invoke(None, past.config)
    assert len(world.paid) == 1


@pytest.mark.parametrize("thread", ["t", None])
def test_the_same_call_id_invoked_twice_is_one_call(ledger: Any, thread: str | None) -> None:
    world = World()
    node = SelfCorrectingToolNode([world.tool(**EFFECT)], ledger=ledger)
    host = StateGraph(MessagesState)
    host.add_node("tools", node)
    host.add_edge(START, "tools")
    graph = host.compile()
    for _ in range(2):
        out = graph.invoke({"messages": [calling(ANN).model_copy()]}, on(thread))
        assert answers(out["messages"])[0].status == "error"
    assert len(world.paid) == 1


@pytest.mark.parametrize("saved", [True, False])
def test_a_person_says_again_and_it_is_done_once_more(ledger: Any, saved: bool) -> None:
    world = World()
    script = [calling(ANN), "lost", calling(ANN, id="c2"), "done", calling(ANN, id="c3"), "done"]
    agent = create_agent(
        ScriptedModel(script=script),
        [world.tool(**EFFECT)],
        middleware=[SelfCorrection(ledger=ledger)],
        checkpointer=InMemorySaver() if saved else None,
    )
    first = agent.invoke(please(), on("t"))
    said = [HumanMessage("yes, pay it again")]
    given = {"messages": said if saved else [*first["messages"], *said]}
    out = resume(agent, given, on("t"), again=True)
    assert answers(out["messages"])[-1].text == "paid 5.0 EUR to ann"
    assert len(world.paid) == 2


@pytest.mark.parametrize("saved", [True, False])
def test_what_a_person_let_be_done_again_is_in_doubt_no_more(ledger: Any, saved: bool) -> None:
    world, script = World(), [*(calling(ANN), "lost"), *(calling(ANN, id="c2"), "done")]
    agent = create_agent(
        ScriptedModel(script=[*script, calling(ANN, id="c3"), "done"]),
        [world.tool(**EFFECT)],
        middleware=[SelfCorrection(ledger=ledger)],
        checkpointer=InMemorySaver() if saved else None,
    )
    said: list[Any] = []
    for again in (False, True, False):
        given = {"messages": [*([] if saved else said), HumanMessage("pay")]}
        config = on("t") or {}
        config["configurable"] |= {AGAIN: again}
        said = agent.invoke(given, config)["messages"]
    assert statuses(said) == ["error", "success", "success"]
    assert len(world.paid) == 3


@pytest.mark.parametrize(("verdict", "runs"), [("not-done", 2), ("again", 2), ("done", 1)])
@pytest.mark.parametrize("saved", [True, False])
def test_what_a_person_settles_in_the_ledger_holds_for_the_models_next_call(
    tmp_path: Any, saved: bool, verdict: str, runs: int
) -> None:
    world, ledger = World(), SqliteLedger(tmp_path / "ledger.db")
    script = [calling(ANN), calling(ANN, id="c1b"), "lost", calling(ANN, id="c2"), "done"]
    agent = create_agent(
        ScriptedModel(script=script),
        [world.tool(**EFFECT)],
        middleware=[SelfCorrection(ledger=ledger)],
        checkpointer=InMemorySaver() if saved else None,
    )
    first = agent.invoke(please(), on("t"))["messages"]
    (doubt,) = ledger.intents(in_doubt=True)
    ledger.settle_doubt(doubt.key, verdict, "ann")
    agent.invoke({"messages": [*([] if saved else first), HumanMessage("go on")]}, on("t"))
    assert len(world.paid) == runs
    ledger.close()


@pytest.mark.parametrize("saved", [True, False])
def test_a_person_says_again_to_a_tool_node(ledger: Any, saved: bool) -> None:
    world = World()
    node = SelfCorrectingToolNode([world.tool(**EFFECT)], ledger=ledger)
    host = StateGraph(MessagesState)
    host.add_node("tools", node)
    host.add_edge(START, "tools")
    graph = host.compile(checkpointer=InMemorySaver() if saved else None)
    graph.invoke({"messages": [calling(ANN)]}, on("t"))
    out = resume(graph, {"messages": [calling(ANN, id="c2")]}, on("t"), again=True)
    assert answers(out["messages"])[-1].status == "success"
    assert len(world.paid) == 2


@pytest.mark.parametrize("later", ["done", "unknown"])
def test_verify_is_asked_in_agents(ledger: Any, later: str) -> None:
    world, known = World(), []

    def verify(args: Any, key: Any) -> Any:
        known.append(args)
        return Result("paid before") if later == "done" else None

    agent = create_agent(
        ScriptedModel(script=[calling(ANN), "done"]),
        [world.tool(effect="mutating", verify=verify)],
        middleware=[SelfCorrection(ledger=ledger)],
    )
    (answer,) = answers(agent.invoke(please())["messages"])
    assert known == [ANN]
    assert (answer.status, answer.text == "paid before") == (
        ("success", True) if later == "done" else ("error", False)
    )
    assert len(world.paid) == 1


@pytest.mark.parametrize("error", [LookupError, ToolException])
def test_after_a_refusal_an_equal_call_of_the_model_is_a_new_decision(
    ledger: Any, error: Any
) -> None:
    world = World(error=error)
    agent = create_agent(
        ScriptedModel(script=[calling(ANN), calling(ANN, id="c2"), "done"]),
        [world.tool(**EFFECT)],
        middleware=[SelfCorrection(ledger=ledger)],
    )
    assert statuses(agent.invoke(please())["messages"]) == ["error", "success"]
    assert len(world.paid) == 2


def test_what_was_not_done_is_repeated_by_the_loop_and_atomic_is_said_in_metadata() -> None:
    world = World(error=lambda _: NotDone("temporarily unavailable, try again"))
    atomic = World(error=lambda _: LookupError("unknown city 'rome': did you mean 'Rome'?"))
    wrong = {"to": "rome", "amount": 5}
    for each, metadata, args in (
        (world, EFFECT, ANN),
        (atomic, {**EFFECT, "atomic": True}, wrong),
    ):
        agent = create_agent(
            ScriptedModel(script=[calling(args), "done"]),
            [each.tool(**metadata)],
            middleware=[SelfCorrection()],
        )
        out = agent.invoke(please())
        shown = [message.text for message in answers(out["messages"])]
        assert statuses(out["messages"]) == ["success"], shown
        assert len(each.paid) == 2


def test_equal_calls_of_one_message_are_both_meant(ledger: Any) -> None:
    world = World(losses=0)
    agent = create_agent(
        ScriptedModel(script=[calling(ANN, ANN), "done"]),
        [world.tool(**EFFECT)],
        middleware=[SelfCorrection(ledger=ledger)],
    )
    assert statuses(agent.invoke(please())["messages"]) == ["success", "success"]
    assert len(world.paid) == 2


def test_another_process_asks_under_a_new_call_id(tmp_path: Any) -> None:
    for life in range(2):
        world = World(losses=0 if life else 1)
        ledger = SqliteLedger(tmp_path / "ledger.db")
        agent = create_agent(
            ScriptedModel(script=[calling(ANN, id=f"c{life}"), "done"]),
            [world.tool(**EFFECT)],
            middleware=[SelfCorrection(ledger=ledger)],
        )
        assert statuses(agent.invoke(please(), on("t"))["messages"]) == ["error"]
        assert len(world.paid) == (0 if life else 1)
        ledger.close()
