"""`build_graph` inside bigger graphs: state mapped, fanned out, streamed, travelled back in."""

from __future__ import annotations

from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from agents_kit import World
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send

from selfcorrect import build_graph

FOUND = ("find_flights", {"query": "CDG", "limit": 3})
BROKEN = {"name": "findFlights", "args": {"query": "CDG", "limit": "3"}}


class Trip(TypedDict, total=False):
    """A state of its own: nothing in it is called as in the loop."""

    wanted: dict[str, Any]
    answers: Annotated[list[Any], add]


def trip_graph(world: World, **more: Any) -> Any:
    loop = build_graph(world.tools)

    def look(state: Trip) -> Trip:
        out = loop.invoke({"call": state["wanted"]})
        return {"answers": [out.get("result") or out["failure"]["reason"]]}

    async def alook(state: Trip) -> Trip:
        out = await loop.ainvoke({"call": state["wanted"]})
        return {"answers": [out.get("result") or out["failure"]["reason"]]}

    from langchain_core.runnables import RunnableLambda

    builder: Any = StateGraph(Trip)
    builder.add_node("look", RunnableLambda(look, alook))
    builder.add_edge(START, "look")
    builder.add_edge("look", END)
    return builder.compile(**more)


def test_the_states_of_two_graphs_are_mapped_by_a_node() -> None:
    world = World()
    assert "CDG" in trip_graph(world).invoke({"wanted": BROKEN})["answers"][0]
    assert world.done == [FOUND]


def test_calls_are_fanned_out_and_each_has_its_own_run() -> None:
    world = World()
    loop = build_graph(world.tools)

    class Fan(TypedDict, total=False):
        calls: list[Any]
        answers: Annotated[list[Any], add]

    def each(call: dict[str, Any]) -> dict[str, Any]:
        out = loop.invoke({"call": call})
        return {"answers": [out.get("result") or out["failure"]["reason"]]}

    builder: Any = StateGraph(Fan)
    builder.add_node("each", each)
    builder.add_conditional_edges(
        START, lambda state: [Send("each", call) for call in state["calls"]], ["each"]
    )
    calls = [{"name": "findFlights", "args": {"query": str(n), "limit": "3"}} for n in range(9)]
    calls.insert(4, {"name": "nothing", "args": {}})
    out = builder.compile().invoke({"calls": calls})
    assert len(out["answers"]) == 10
    assert out["answers"][4] == "no_strategy"
    assert len(world.done) == 9


def test_trails_are_streamed_out_of_a_subgraph() -> None:
    graph = trip_graph(World())
    parts = list(graph.stream({"wanted": BROKEN}, stream_mode="updates", subgraphs=True))
    inner = [next(iter(update)) for namespace, update in parts if namespace]
    assert inner[0] == "plan"
    assert inner[-1] == "execute"
    changes = [
        change
        for namespace, update in parts
        if namespace
        for value in update.values()
        for event in value["trail"]
        for change in event.get("changes", ())
    ]
    assert {change["path"] for change in changes} == {"/name", "/args/limit"}


def test_one_can_go_back_in_time_and_nothing_is_done_twice() -> None:
    world = World()
    graph = build_graph(world.tools, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    asked = {"name": "book_flight", "args": {"to": "CDG", "day": "2026-10-26", "seats": "2.5"}}
    graph.invoke({"call": asked}, config)
    question = graph.get_state(config).config
    out = graph.invoke(Command(resume=2), config)
    assert [args["seats"] for _, args in world.done] == [2]
    history = list(graph.get_state_history(config))
    assert [state.next for state in history[:2]] == [(), ("execute",)]
    again = graph.invoke(Command(resume=2), question)
    assert again["result"] == out["result"]
    assert again["trail"][-1]["replayed"]
    assert [args["seats"] for _, args in world.done] == [2]


@pytest.mark.parametrize("limit", [6, 10, 25])
def test_nested_it_ends_with_a_report_before_the_hosts_limit(limit: int) -> None:
    world = World()
    world.errors = [ConnectionResetError("reset by peer")] * 99
    loop = build_graph(world.tools, limits={"wait": 0.0, "attempts": 10})

    class Same(TypedDict, total=False):
        call: Any
        result: Any
        failure: Any

    builder: Any = StateGraph(Same)
    builder.add_node("fix", loop)
    builder.add_edge(START, "fix")
    builder.add_edge("fix", END)
    out = builder.compile().invoke({"call": BROKEN}, {"recursion_limit": limit})
    assert out["failure"]["reason"] in ("limit_reached", "attempts_exhausted")
