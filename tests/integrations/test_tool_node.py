"""`SelfCorrectingToolNode` where `ToolNode` was."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from agents_kit import World, answers, calling, check_history, clearing
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime, tools_condition
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Send

from selfcorrect.integrations.tool_node import SelfCorrectingToolNode, calls_condition
from selfcorrect.testing import ScriptedModel

FOUND = ("find_flights", {"query": "CDG", "limit": 3})
BOOKED = ("book_flight", {"to": "CDG", "day": "2026-10-26", "seats": 2})


def loop_of(node: Any, script: list[Any], condition: Any = tools_condition, **more: Any) -> Any:
    model = ScriptedModel(script=script)

    def ask(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("model", ask)
    builder.add_node("tools", node)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", condition, ["tools", END])
    builder.add_edge("tools", "model")
    return builder.compile(**more)


@pytest.mark.parametrize("is_async", [True, False])
def test_a_loop_with_tools_condition(*, is_async: bool) -> None:
    world = World()
    world.errors = [ConnectionResetError("reset by peer")]
    script = [calling(("findFlights", {"query": "CDG", "limit": "3"})), "done"]
    graph = loop_of(SelfCorrectingToolNode(world.tools), script)
    given = {"messages": [HumanMessage("please")]}
    out = asyncio.run(graph.ainvoke(given)) if is_async else graph.invoke(given)
    assert world.done == [FOUND, FOUND]
    check_history(out["messages"])


def test_where_tool_node_fails_on_the_same_calls() -> None:
    for call in (("findFlights", {"query": "CDG"}), ("find_flights", {"query": ["CDG"]})):
        old, new = World(), World()
        node: Any = ToolNode(old.tools, handle_tool_errors=True)
        builder: Any = StateGraph(MessagesState)
        builder.add_node("tools", node)
        builder.add_edge(START, "tools")
        builder.compile().invoke({"messages": [calling(call)]})
        assert old.done != [("find_flights", {"query": "CDG"})]
        builder = StateGraph(MessagesState)
        builder.add_node("tools", SelfCorrectingToolNode(new.tools))
        builder.add_edge(START, "tools")
        builder.compile().invoke({"messages": [calling(call)]})
        if call[0] == "findFlights":
            assert new.done == [("find_flights", {"query": "CDG"})]


def test_calls_that_could_not_be_parsed_are_mended_in_the_history_too() -> None:
    world = World()
    broken = calling(("find_flights", "{'query': 'CDG', 'limit': 3}"), ("find_flights", "}{"))
    graph = loop_of(SelfCorrectingToolNode(world.tools), [broken, "done"], calls_condition)
    out = graph.invoke({"messages": [HumanMessage("please")]})
    check_history(out["messages"])
    assert world.done == [FOUND]
    assert [call["args"] for call in out["messages"][1].tool_calls] == [FOUND[1], {}]
    assert (
        loop_of(ToolNode(world.tools), [broken, "done"])
        .invoke({"messages": [HumanMessage("please")]})["messages"][-1]
        .invalid_tool_calls
    ), "without it the run ends in silence"


def test_results_come_in_the_order_of_the_calls_and_siblings_are_isolated() -> None:
    world = World()
    node = SelfCorrectingToolNode(world.tools)
    calls = [("find_flights", {"query": str(n)}) for n in range(8)]
    calls[3] = ("nothing", {})
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    out = builder.compile().invoke({"messages": [calling(*calls)]})
    found = answers(out["messages"])
    assert [answer.tool_call_id for answer in found] == [f"c{n}" for n in range(8)]
    assert [n for n, answer in enumerate(found) if answer.status == "error"] == [3]


def test_state_store_and_runtime_are_injected() -> None:
    @tool
    def look(
        what: str,
        state: Annotated[dict[str, Any], InjectedState],
        store: Annotated[Any, InjectedStore()],
        runtime: ToolRuntime,
    ) -> str:
        """Look."""
        item = store.get(("x",), "y")
        return f"{what} {len(state['messages'])} {item.value['z']} {runtime.tool_call_id}"

    store = InMemoryStore()
    store.put(("x",), "y", {"z": 7})
    node = SelfCorrectingToolNode([look])
    graph = loop_of(node, [calling(("Look", {"What": "at"})), "done"], store=store)
    out = graph.invoke({"messages": [HumanMessage("please")]})
    assert answers(out["messages"])[0].text == "at 2 7 c0"


def test_commands_pass_through() -> None:
    @tool
    def go(where: str, runtime: ToolRuntime) -> Command[Any]:
        """Go."""
        message = ToolMessage(f"went {where}", tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [message]})

    graph = loop_of(SelfCorrectingToolNode([go]), [calling(("GO", {"Where": "home"})), "done"])
    out = graph.invoke({"messages": [HumanMessage("please")]})
    assert answers(out["messages"])[0].text == "went home"


def test_lists_of_messages_and_single_calls_by_send() -> None:
    world = World()
    node = SelfCorrectingToolNode(world.tools)
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", node)

    def fan_out(state: MessagesState) -> list[Send]:
        last: Any = state["messages"][-1]
        return [Send("tools", [call]) for call in last.tool_calls]

    builder.add_conditional_edges(START, fan_out, ["tools"])
    calls = [("findFlights", {"query": str(n), "limit": "2"}) for n in range(5)]
    out = builder.compile().invoke({"messages": [calling(*calls)]})
    check_history(out["messages"])
    assert len(world.done) == 5


def test_a_person_is_asked_once_and_nothing_runs_before() -> None:
    world = World()
    node = SelfCorrectingToolNode(world.tools, ask_person=True)
    half = ("book_flight", {**BOOKED[1], "seats": 2.5})
    graph = loop_of(node, [calling(half), "done"], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    out = graph.invoke({"messages": [HumanMessage("please")]}, config)
    assert "__interrupt__" in out
    assert world.done == []
    out = graph.invoke(Command(resume=2), config)
    assert world.done == [BOOKED]
    check_history(out["messages"])


def test_raising_keeps_the_original_error() -> None:
    world = World()
    error = PermissionError("forbidden")
    world.errors = [error]
    node = SelfCorrectingToolNode(world.tools, on_failure="raise")
    graph = loop_of(node, [calling(FOUND), "done"])
    with pytest.raises(PermissionError) as caught:
        graph.invoke({"messages": [HumanMessage("please")]})
    assert caught.value is error


def test_the_condition_routes_as_tools_condition_does() -> None:
    for messages in (
        [AIMessage("hi")],
        [calling(FOUND)],
        [HumanMessage("x")],
    ):
        given: Any = {"messages": messages}
        if messages[0].type == "ai":
            assert calls_condition(given) == tools_condition(given)
        assert calls_condition(messages) in ("tools", "__end__")


@pytest.mark.parametrize("args", [None, "", " "])
def test_arguments_that_could_not_be_parsed_are_not_taken_for_none(args: Any) -> None:
    clear_all, cleared, broken = clearing(args)
    given = {"messages": [HumanMessage("please")]}
    graph = loop_of(SelfCorrectingToolNode([clear_all]), [broken, "done"], calls_condition)
    out = graph.invoke(given)
    assert cleared == []
    check_history(out["messages"])
    assert answers(out["messages"])[0].status == "error"
