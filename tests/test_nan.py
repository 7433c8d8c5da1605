"""NaN and Infinity are no JSON: one answer, in an object as in a text."""

from __future__ import annotations

import json
import math

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage

from selfcorrect import Mender, SelfCorrection, ToolSpec, batch, build_graph
from selfcorrect.testing import ScriptedModel

NUMBERS = pytest.mark.parametrize("value", [math.nan, math.inf, [1, -math.inf], {"a": math.nan}])
MADE: list[object] = []


def measure(x: float) -> str:
    """Measure."""
    MADE.append(x)
    return "done"


SCHEMA = ToolSpec.from_function(measure).schema
TOOL = {"name": "measure", "parameters": dict(SCHEMA)}


def called(arguments):
    return {"name": "measure", "args": arguments}


@NUMBERS
def test_a_line_is_answered_alike_as_an_object_and_as_a_text(value):
    arguments = {"x": value}
    error = {"id": 1, "message": "x must be finite", "tool": "measure", "arguments": arguments}
    call = {"id": 1, "tools": [TOOL], "call": called(arguments)}
    for answer, line in ((batch.diagnose, error), (batch.repair, call)):
        as_object, as_text = answer([line, json.dumps(line)])
        assert as_object == as_text
    assert next(batch.diagnose([error]))["kind"] == "validation"


@NUMBERS
def test_a_call_is_answered_alike_and_not_made(value):
    both = [{"x": value}, json.dumps({"x": value})]
    for ask in (Mender([measure]).call, lambda call: build_graph([measure]).invoke({"call": call})):
        as_object, as_text = (ask(called(each)) for each in both)
        if isinstance(as_object, dict):
            as_object, as_text = as_object["failure"], as_text["failure"]
            assert as_object["reason"] == "no_strategy"
            assert as_object["for_model"] == as_text["for_model"]
            assert as_object["detail"] == as_text["detail"]
        else:
            one, other = as_object.calls[0], as_text.calls[0]
            assert (one.outcome, one.detail, one.args) == (other.outcome, other.detail, other.args)
            assert one.for_model == other.for_model
            assert "not a JSON" in as_object.calls[0].detail
    assert not MADE


@NUMBERS
def test_an_agent_and_its_history_take_them_alike(value):
    told, kept = [], []
    for message in (
        AIMessage("", tool_calls=[{**called({"x": value}), "id": "1"}]),
        AIMessage(
            "",
            invalid_tool_calls=[
                {
                    **called(json.dumps({"x": value})),
                    "id": "1",
                    "error": None,
                    "type": "invalid_tool_call",
                }
            ],
        ),
    ):
        model = ScriptedModel([message, AIMessage("sorry")])
        out = create_agent(model, [measure], middleware=[SelfCorrection()]).invoke(
            {"messages": "?"}
        )
        assert [each.tool_calls for each in out["messages"][1:2]] == [
            [{"name": "measure", "args": {}, "id": "1", "type": "tool_call"}]
        ]
        told.append([each.content for each in out["messages"] if isinstance(each, ToolMessage)])
        kept.append(Mender([measure]).history([message]).value[0].tool_calls)
    assert told[0] == told[1] != []
    assert kept[0] == kept[1] == [{"name": "measure", "args": {}, "id": "1", "type": "tool_call"}]
    assert not MADE
