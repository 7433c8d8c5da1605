"""A parameter `idempotency_key` is filled by the loop; no model sees it, in a graph or an agent."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from agents_kit import calling, check_history
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool
from langgraph.graph import START, MessagesState, StateGraph

from selfcorrect import SelfCorrection, build_graph
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.testing import ScriptedModel

ASKED: dict[str, Any] = {"messages": [HumanMessage("please")]}


def tool_of(seen: list[tuple[int, str]], errors: list[Exception], *, injected: bool) -> BaseTool:
    def act(amount: int, key: str) -> str:
        seen.append((amount, key))
        if errors:
            raise errors.pop(0)
        return f"paid {amount}"

    if injected:

        def pay(amount: int, idempotency_key: Annotated[str, InjectedToolArg]) -> str:
            """Pay."""
            return act(amount, idempotency_key)

        return StructuredTool.from_function(pay, metadata={"effect": "idempotent"})

    def pay_(amount: int, idempotency_key: str) -> str:
        """Pay."""
        return act(amount, idempotency_key)

    return StructuredTool.from_function(pay_, name="pay", metadata={"effect": "idempotent"})


@pytest.mark.parametrize("args", [{"amount": 5}, {"amount": "5"}])
def test_in_an_agent(args):
    seen: list[tuple[int, str]] = []
    lost: list[Exception] = [ConnectionResetError("peer went away")]
    model = ScriptedModel([calling(("pay", args)), "done"])
    tool = tool_of(seen, lost, injected=False)
    agent = create_agent(model, [tool], middleware=[SelfCorrection()])
    messages = agent.invoke(ASKED)["messages"]
    check_history(messages)
    assert messages[-2].text == "paid 5"
    assert "idempotency_key" not in str(model.bound_tools)
    assert "idempotency_key" not in str(messages)
    (first, key), (second, again) = seen
    assert (first, second, key) == (5, 5, again)
    assert len(key) > 10


@pytest.mark.parametrize("injected", [True, False])
def test_in_a_graph(injected):
    seen: list[tuple[int, str]] = []
    graph = build_graph([tool_of(seen, [], injected=injected)])
    assert graph.invoke({"call": {"name": "pay", "args": {"amount": 5}}})["result"] == "paid 5"
    assert len(seen[0][1]) > 10


def test_two_calls_have_two_keys():
    seen: list[tuple[int, str]] = []
    model = ScriptedModel([calling(("pay", {"amount": 5}), ("pay", {"amount": 6})), "done"])
    agent = create_agent(model, [tool_of(seen, [], injected=False)], middleware=[SelfCorrection()])
    agent.invoke(ASKED)
    assert len({key for _, key in seen}) == 2


@pytest.mark.parametrize("args", [{"amount": 5}, {"amount": "5", "idempotency_key": "mine"}])
def test_in_a_tool_node_whose_model_sees_it(args):
    seen: list[tuple[int, str]] = []
    builder = StateGraph(MessagesState)
    builder.add_node("tools", SelfCorrectingToolNode([tool_of(seen, [], injected=False)]))
    builder.add_edge(START, "tools")
    out = builder.compile().invoke({"messages": [calling(("pay", args))]})
    assert out["messages"][-1].text == "paid 5"
    assert seen[0][1] != "mine"
