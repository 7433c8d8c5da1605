"""`SelfCorrection(tools=…)`: what is declared of the agent's tools, beside the agent's tools."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any, get_type_hints

import pytest
from agents_kit import calling, check_history
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, tool

from selfcorrect import Result, SelfCorrection, ToolSpec, on_error
from selfcorrect.effects import Outcome
from selfcorrect.errors import GraphSetupError
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.testing import ScriptedModel

SCHEMA = {
    "name": "pay",
    "parameters": {"type": "object", "properties": {"amount": {"type": "integer"}}},
}
CALL = calling(("pay", {"amount": 5}))


class World:
    """A tool that anybody could have written, which declares nothing."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.paid = list(errors), 0

    @property
    def tool(self) -> BaseTool:
        def pay(amount: int) -> str:
            """Pay."""
            self.paid += 1
            if self.errors:
                raise self.errors.pop(0)
            return f"paid {amount}"

        return StructuredTool.from_function(pay)


def run(world: Any, *declared: Any, script: Any = (CALL, "done")) -> list[Any]:
    middleware = SelfCorrection(tools=declared, limits={"seconds": 5})
    agent = create_agent(ScriptedModel(list(script)), [world.tool], middleware=[middleware])
    messages: list[Any] = agent.invoke({"messages": [HumanMessage("please")]})["messages"]
    check_history(messages)
    return messages


def answer(messages: list[Any]) -> ToolMessage:
    (found,) = [each for each in messages if isinstance(each, ToolMessage)]
    return found


def test_an_effect_allows_what_it_allows():
    lost = ConnectionResetError("peer went away")
    world = World(lost)
    assert answer(run(world)).status == "error"
    assert world.paid == 1
    for declared in (
        ToolSpec.from_schema(SCHEMA, effect="idempotent"),
        StructuredTool.from_function(
            lambda amount: "", name="pay", description="Pay.", metadata={"effect": "idempotent"}
        ),
    ):
        world = World(lost)
        assert answer(run(world, declared)).text == "paid 5"
        assert world.paid == 2


def test_a_verify_is_asked_what_became_of_a_lost_execution():
    asked: list[Any] = []

    def verify(args: Any, key: str) -> Any:
        asked.append(args)
        return Result("paid already")

    declared = ToolSpec.from_schema(SCHEMA, effect="mutating", verify=verify)
    world = World(ConnectionResetError("peer went away"))
    assert answer(run(world, declared)).text == "paid already"
    assert (world.paid, asked) == (1, [{"amount": 5}])


def test_a_verify_that_knows_that_nothing_was_done_lets_it_be_done():
    declared = ToolSpec.from_schema(
        SCHEMA, effect="mutating", verify=lambda args, key: Outcome.NOT_DONE
    )
    world = World(ConnectionResetError("peer went away"))
    assert answer(run(world, declared)).text == "paid 5"
    assert world.paid == 2


def test_a_handler_of_errors_comes_before_the_map():
    handler = on_error(execution_error=lambda error: Result(f"instead: {error.cause}"))
    declared = ToolSpec.from_schema(SCHEMA, effect="read_only", on_error=handler)
    assert answer(run(World(ValueError("no")), declared)).text == "instead: no"


class Slow:
    """A tool that takes its time, sync and async: until it is let go."""

    def __init__(self, *, goes: bool = False) -> None:
        self.begun, self.ended, self.goes = 0, 0, threading.Event()
        if goes:
            self.goes.set()

    @property
    def tool(self) -> BaseTool:
        def pay(amount: int) -> str:
            """Pay."""
            self.begun += 1
            self.goes.wait(60)
            self.ended += 1
            return "late"

        async def apay(amount: int) -> str:
            self.begun += 1
            await asyncio.sleep(0 if self.goes.is_set() else 60)
            self.ended += 1
            return "late"

        return StructuredTool.from_function(pay, coroutine=apay)


LATE = ToolSpec.from_schema(SCHEMA, effect="mutating", timeout=0.1)


def test_a_timeout_holds_and_what_is_late_may_have_acted():
    world = Slow()
    message = answer(run(world, LATE))
    assert (message.status, world.begun, world.ended) == ("error", 1, 0)
    world.goes.set()
    assert message.response_metadata["selfcorrect"]["reason"] == "unknown_outcome"
    assert answer(run(Slow(goes=True), LATE)).text == "late"


def test_also_where_it_is_awaited():
    world = Slow()
    agent = create_agent(
        ScriptedModel([CALL, "done"]), [world.tool], middleware=[SelfCorrection(tools=[LATE])]
    )
    out = asyncio.run(agent.ainvoke({"messages": [HumanMessage("please")]}))
    assert (answer(out["messages"]).status, world.begun, world.ended) == ("error", 1, 0)


def test_what_runs_is_the_agents_own_tool():
    @tool
    def pay(amount: int) -> str:
        """Another tool of this name."""
        raise AssertionError("this one is declared only")

    assert answer(run(World(), pay)).text == "paid 5"


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ([ToolSpec.from_schema({**SCHEMA, "name": "payy"})], "'payy'.*did you mean 'pay'"),
        ([LATE, LATE], "two tools named 'pay'"),
        (LATE, "write \\[tool\\]"),
        (["pay"], "'pay' is not a tool"),
        ([3], "3 is not a tool"),
    ],
    ids=lambda it: str(it)[:30],
)
def test_a_declaration_that_can_never_be_meant(declared, says):
    def build_and_run() -> None:
        middleware = SelfCorrection(tools=declared)
        agent = create_agent(ScriptedModel(["done"]), [World().tool], middleware=[middleware])
        agent.invoke({"messages": [HumanMessage("please")]})

    with pytest.raises(GraphSetupError, match=says):
        build_and_run()


def test_a_declared_tool_that_is_not_offered_is_no_mistake():
    other = ToolSpec.from_schema({**SCHEMA, "name": "look_up"}, effect="read_only")
    assert answer(run(World(), other)).text == "paid 5"


@pytest.mark.parametrize("drop_in", [SelfCorrection, SelfCorrectingToolNode])
def test_no_argument_is_typed_as_anything(drop_in):
    hints = get_type_hints(drop_in.__init__)
    names = inspect.signature(drop_in.__init__).parameters.keys() - {"self"}
    assert [name for name in names if hints[name] is Any] == []
