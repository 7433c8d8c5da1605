"""What an author got wrong is said where the agent is built, or before its model is called."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from agents_kit import World, calling
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from selfcorrect import Mender, SelfCorrection, StrategyMap, build_graph
from selfcorrect.errors import GraphSetupError, ToolDefinitionError
from selfcorrect.integrations.menders import Menders
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.policies import AutoCorrect, RetryModel, RetryWithFeedback
from selfcorrect.proxy.tools import Policy, Tools
from selfcorrect.testing import ScriptedModel

ASKED: dict[str, Any] = {"messages": [HumanMessage("please")]}


def agent_with(tool: BaseTool, *script: Any, middleware: Any = None, **more: Any) -> Any:
    model = ScriptedModel([*script, "done"])
    middleware = middleware or SelfCorrection()
    return create_agent(model, [tool], middleware=[middleware], **more), model


def look(city: str) -> str:
    """Look."""
    return city


def told(metadata: dict[str, Any]) -> BaseTool:
    return StructuredTool.from_function(look, metadata=metadata)


def plain(metadata: dict[str, Any]) -> Any:
    def look(city: str) -> str:
        """Look."""
        return city

    look.metadata = metadata  # type: ignore[attr-defined]
    return look


def wrapped(metadata: dict[str, Any]) -> BaseTool:
    return StructuredTool.from_function(plain(metadata), metadata={"owner": "ann"})


def awaited(metadata: dict[str, Any]) -> BaseTool:
    async def look(city: str) -> str:
        """Look."""
        return city

    look.metadata = metadata  # type: ignore[attr-defined]
    return StructuredTool.from_function(coroutine=look)


@pytest.mark.parametrize("made", [told, plain, wrapped, awaited])
@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"effect": "readonly"}, "did you mean 'read_only'"),
        ({"effect": "read-only"}, "did you mean 'read_only'"),
        ({"effect": ["read_only"]}, "there is no effect"),
        ({"effect": ""}, "use one of"),
        ({"effects": "read_only"}, "'effects', which is not read"),
        ({"Effect": "destructive"}, "'Effect', which is not read"),
        ({"side_effect": "mutating"}, "'side_effect', which is not read"),
        ({"effect": "read_only", "effects": "mutating"}, "'effects', which is not read"),
    ],
    ids=str,
)
def test_an_effect_that_would_not_be_read(metadata, says, made):
    agent, model = agent_with(made(metadata))
    with pytest.raises(ToolDefinitionError, match=says):
        agent.invoke(ASKED)
    assert model.prompts == []
    for build in (
        build_graph,
        SelfCorrectingToolNode,
        Mender,
        lambda tools: SelfCorrection(tools=tools),
    ):
        with pytest.raises(ToolDefinitionError, match=says):
            build([made(metadata)])


def left_out_by_an_agent() -> None:
    tool = StructuredTool.from_function(look, args_schema={"type": "nonsense"})
    agent, _ = agent_with(tool)
    assert agent.invoke(ASKED)["messages"][-1].text == "done"


def left_out_by_a_framework() -> None:
    mender = Menders().of([{"name": "look", "parameters": {"type": "nonsense"}}])
    assert "look" in mender.tools


def left_out_by_the_proxy() -> None:
    tools = Tools(Policy(StrategyMap.load("default")))
    tools.hold({"look": {"name": "look", "inputSchema": {"type": "nonsense"}}})
    spec = tools.spec("look")
    assert spec is not None
    assert spec.schema == {"type": "object", "additionalProperties": True}  # taken as it comes


@pytest.mark.parametrize(
    "leave_out", [left_out_by_an_agent, left_out_by_a_framework, left_out_by_the_proxy]
)
def test_a_tool_that_is_left_out_is_named_in_a_warning(leave_out, caplog):
    with caplog.at_level(logging.WARNING, "selfcorrect"):
        leave_out()
    (said,) = [
        each.getMessage() for each in caplog.records if "unusable_tool" in each.msg % each.args
    ]
    assert "tool=look " in said
    assert "nonsense" in said


@pytest.mark.parametrize("made", [told, plain, wrapped, awaited])
@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"effect": "read_only"},
        {"effort": "high", "affects": "orders"},
        {"effects": {"sound": "ping"}},
        {"effects": "read_only", "readOnlyHint": True},  # an MCP server's, which may write anything
    ],
    ids=str,
)
def test_other_metadata_are_nobodys_business(metadata, made):
    agent, _ = agent_with(made(metadata))
    assert agent.invoke(ASKED)["messages"][-1].text == "done"
    build_graph([made(metadata)])


@pytest.mark.parametrize(
    "settings",
    [
        {"ledger": "x"},
        {"max_misses": -1},
        {"max_misses": "3"},
        {"max_misses": True},
        {"max_failed": -1},
        {"max_failed": 2.5},
        {"limits": {"attempts": 0}},
        {"limits": {"rounds": -1}},
        {"on_trail": 3},
        {"tool_not_found": 3},
        {"tool_not_found": "auto"},
        {"on_empty": 3},
        {"hooks": 3},
        {"policy": "operator_safe"},
        {"model": "gpt"},
        {"nodes": {"executor": 1}},
        {"nodes": 3},
        {"on_error": 5},
        {"on_failure": "explode"},
    ],
    ids=str,
)
def test_a_setting_that_can_never_be_meant_is_named_at_once(settings):
    (name,) = settings
    named = "executor" if name == "nodes" and settings != {"nodes": 3} else name
    with pytest.raises(GraphSetupError, match=named):
        SelfCorrection(**settings)


@pytest.mark.parametrize(
    "ledger", ["x", 3, object(), InMemorySaver()], ids=lambda it: type(it).__name__
)
def test_what_is_no_ledger(ledger):
    with pytest.raises(GraphSetupError, match="ledger must have begin and settle"):
        build_graph([look], ledger=ledger)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: RetryModel(max_attempts=0), "max_attempts is a whole number from 1 up"),
        (lambda: RetryModel(max_attempts=2.5), "max_attempts"),
        (lambda: RetryModel(initial_backoff=-0.5), "initial_backoff is seconds from 0 up"),
        (lambda: RetryModel(initial_backoff=float("inf")), "initial_backoff"),
        (lambda: RetryModel(initial_backoff=float("nan")), "initial_backoff"),
        (lambda: AutoCorrect(max_retries=-1), "max_retries"),
        (lambda: AutoCorrect(min_token_similarity=25), "min_token_similarity is 0 to 1"),
        (lambda: RetryWithFeedback(max_retries=-1), "max_retries"),
    ],
)
def test_a_policy_that_can_never_be_meant(make, says):
    with pytest.raises(GraphSetupError, match=says):
        make()


def test_asking_a_person_needs_a_checkpointer():
    tool = World().tools[0]
    agent, model = agent_with(tool, middleware=SelfCorrection(ask_person=True))
    with pytest.raises(GraphSetupError, match="needs a checkpointer"):
        agent.invoke(ASKED)
    assert model.prompts == []
    agent, _ = agent_with(
        tool, middleware=SelfCorrection(ask_person=True), checkpointer=InMemorySaver()
    )
    out = agent.invoke(ASKED, {"configurable": {"thread_id": "1"}})
    assert out["messages"][-1].text == "done"


async def fly(city: str) -> str:
    """Fly."""
    return city


FLY = StructuredTool.from_function(coroutine=fly)


def test_an_async_tool_in_a_sync_run_raises_what_langchain_raises():
    call = calling(("fly", {"city": "Oslo"}))
    plain = create_agent(ScriptedModel([call, "done"]), [FLY])
    with pytest.raises(NotImplementedError) as theirs:
        plain.invoke(ASKED)
    agent, _ = agent_with(FLY, call)
    with pytest.raises(NotImplementedError) as ours:
        agent.invoke(ASKED)
    assert str(ours.value) == str(theirs.value)


def test_and_runs_in_an_async_one():
    agent, _ = agent_with(FLY, calling(("fly", {"city": "Oslo"})))
    out = asyncio.run(agent.ainvoke(ASKED))
    assert [message.text for message in out["messages"][-2:]] == ["Oslo", "done"]
