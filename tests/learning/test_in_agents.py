"""In an agent, too, calls come first: their answers are no answers to the call of the model."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from test_first import ENTRY, Plant, learned

from selfcorrect.integrations.agent import SelfCorrection
from selfcorrect.testing import ScriptedModel, tool_call


def ran(plant: Plant, effect: str = "idempotent", **options: Any) -> list[ToolMessage]:
    tools = [
        StructuredTool.from_function(
            plant.open_valve, description="Open it.", metadata={"effect": effect}
        ),
        StructuredTool.from_function(
            plant.start_pump, description="Start it.", metadata={"effect": "idempotent"}
        ),
    ]
    model = ScriptedModel([tool_call("start_pump", "c1", valve="Main-7"), "done"])
    agent: Any = create_agent(model, tools, middleware=[SelfCorrection(**options)])
    out = agent.invoke({"messages": [HumanMessage("Start the pump.")]})
    return [message for message in out["messages"] if isinstance(message, ToolMessage)]


def test_the_answer_is_that_of_the_call():
    plant, seen = Plant(), []
    (answer,) = ran(plant, strategies=learned(), on_trail=seen.append)
    assert plant.log == ["start Main-7", "open Main-7", "start Main-7"]
    assert (answer.content, answer.name, answer.tool_call_id) == ("running", "start_pump", "c1")
    assert answer.status == "success"
    (record,) = seen
    assert [step for event in record["trail"] for step in event.get("first", ())]


def test_a_tool_that_acts_is_told_of():
    plant = Plant()
    (answer,) = ran(plant, effect="mutating", strategies=learned())
    assert plant.log == ["start Main-7"]
    assert 'open_valve(valve="Main-7") came before it in 3 of 4 runs.' in answer.content


def test_a_step_that_fails_does_not_answer_for_the_call():
    class Stuck(Plant):
        def open_valve(self, valve: str) -> str:
            self.log.append("open")
            raise LookupError("it sticks")

    plant = Stuck()
    (answer,) = ran(plant, strategies=learned(ENTRY))
    assert plant.log == ["start Main-7", "open"]
    assert answer.status == "error"
    assert answer.name == "start_pump"
    assert "sticks" not in answer.content
    assert "is shut" in answer.content
