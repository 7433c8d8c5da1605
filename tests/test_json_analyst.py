"""The full example: a tool fails, its fixer escalates, the model above calls again."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from selfcorrect.policies import Hooks
from selfcorrect.testing import ScriptedModel, tool_call

ASKED = "How many keys? {name: world, age: 30, active: true}"
BROKEN, FIXED = "{name: world, age: 30, active: true}", '{"name":"world","age":30,"active":true}'


@pytest.fixture(scope="module")
def analyst():
    path = Path(__file__).parents[1] / "graphs" / "json_analyst.py"
    spec = spec_from_file_location("json_analyst", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_whole_conversation(analyst):
    model = ScriptedModel(
        [
            tool_call(analyst.TOOL, text=BROKEN),
            tool_call(analyst.TOOL, text=FIXED),
            "3",
        ]
    )
    fixer = ScriptedModel([tool_call("escalate", reason=f"Unquoted keys. Corrected: {FIXED}")])
    used = []
    hooks = Hooks(on_tool_use=lambda name, args, result: used.append((name, args, result)))
    graph = analyst.make_graph(model, fixer, hooks)
    out = graph.invoke({"messages": [("human", ASKED)]})

    assert out["result"] == "3"
    assert [(len(model.prompts), len(fixer.prompts))] == [(3, 1)]
    (name, args, told), (_, again, result) = used
    assert (name, args["text"], again["text"], result) == (analyst.TOOL, BROKEN, FIXED, 3)
    assert told.startswith(f'ERROR: the call of "{analyst.TOOL}" failed, severity HIGH')
    assert "Unquoted keys. Corrected" in told
    assert "call again" in told
    assert [each["function"]["name"] for each in fixer.bound_tools] == ["escalate"]
    tools = [message for message in out["messages"] if message.type == "tool"]
    calls = [call["id"] for m in out["messages"] if m.type == "ai" for call in m.tool_calls]
    assert [message.tool_call_id for message in tools] == calls


def test_the_rehearsed_models_play_it_again_and_again(analyst):
    for _ in range(2):
        out = analyst.graph.invoke({"messages": [("human", ASKED)]})
        assert out["result"] == "3"
        assert [event["node"] for event in out["trail"]].count("execute") == 2


def test_a_model_that_never_learns_is_stopped(analyst):
    model = ScriptedModel([lambda messages: tool_call(analyst.TOOL, text=BROKEN)], again=True)
    out = analyst.make_graph(model).invoke({"messages": [("human", ASKED)]})
    assert len(model.prompts) == analyst.BUDGET.turns
    assert out["result"] == "stopped: 10 of at most 10 turns"
    tools = [message for message in out["messages"] if message.type == "tool"]
    assert len(tools) == analyst.BUDGET.turns
