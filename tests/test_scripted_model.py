import asyncio
import subprocess
import sys

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from selfcorrect.testing import ScriptedModel, VirtualTime, tool_call


@pytest.mark.parametrize(
    ("items", "text"),
    [
        (["hello"], "hello"),
        ([{"passengers": 1}], '{"passengers": 1}'),
        ([AIMessage("as it is")], "as it is"),
        ([lambda messages: messages[-1].text.upper()], "ASK"),
        ([lambda messages: lambda messages: {"nested": True}], '{"nested": true}'),
        ([], ""),
    ],
)
def test_each_kind_of_item_is_answered(items, text):
    assert ScriptedModel(items).invoke("ask").text == text
    assert asyncio.run(ScriptedModel(items).ainvoke("ask")).text == text
    assert "".join(chunk.text for chunk in ScriptedModel(items).stream("ask")) == text


@pytest.mark.parametrize("error", [ConnectionError("down"), ConnectionError])
def test_exceptions_are_raised(error):
    model = ScriptedModel([error, "back"])
    with pytest.raises(ConnectionError):
        model.invoke("ask")
    assert model.invoke("ask").text == "back"


def test_again_repeats_the_last_item():
    model = ScriptedModel(["a", "b"], again=True)
    assert [model.invoke("ask").text for _ in range(4)] == ["a", "b", "b", "b"]


def test_a_bound_model_shares_script_and_prompts():
    def book(to: str) -> str:
        """Book a flight."""

    model = ScriptedModel(["a", "b"])
    assert model.bound_tools == []
    bound = model.bind_tools([book], tool_choice="any")
    assert [bound.invoke("one").text, model.invoke("two").text] == ["a", "b"]
    assert model.prompts == bound.prompts == [[HumanMessage("one")], [HumanMessage("two")]]
    assert [tool["function"]["name"] for tool in model.bound_tools] == ["book"]


def test_tool_calls_have_fresh_ids_and_any_argument():
    first, second = tool_call("book", id=1, name="Ann"), tool_call("book")
    assert first.tool_calls[0]["args"] == {"id": 1, "name": "Ann"}
    assert first.tool_calls[0]["id"] != second.tool_calls[0]["id"]
    assert tool_call("book", "call_1").tool_calls[0]["id"] == "call_1"


def test_virtual_time_moves_only_when_somebody_waits():
    clock = VirtualTime()
    clock.sleep(2)
    asyncio.run(clock.asleep(0.5))
    assert (clock.slept, clock.monotonic()) == ([2, 0.5], 2.5)


def test_a_world_needs_no_framework():
    code = (
        "import sys, selfcorrect.testing.clock, selfcorrect.testing.flights as flights\n"
        "flights.World()\n"
        "sys.exit(bool({'langchain_core', 'langgraph', 'pydantic'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
