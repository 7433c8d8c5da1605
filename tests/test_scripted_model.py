"""The scripted model: tools, structured output, streaming, usage, failures on schedule."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from selfcorrect.testing import ScriptedModel, tool_call


class Party(BaseModel):
    passengers: int


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def test_answers_in_order_and_no_more():
    model = ScriptedModel(["a", {"b": 1}, AIMessage("c")])
    assert [model.invoke("?").content for _ in range(3)] == ["a", '{"b": 1}', "c"]
    with pytest.raises(IndexError, match="3 answers"):
        model.invoke("?")
    assert len(model.prompts) == 4


def test_starts_anew_where_it_is_told_to():
    model = ScriptedModel(["a", "b"], again=True)
    assert [model.invoke("?").content for _ in range(5)] == ["a", "b", "a", "b", "a"]


@pytest.mark.parametrize("failure", [TimeoutError("late"), TimeoutError])
def test_fails_on_schedule(failure):
    model = ScriptedModel([failure, "here"])
    with pytest.raises(TimeoutError):
        model.invoke("?")
    assert model.invoke("?").content == "here"


def test_answers_by_code():
    model = ScriptedModel([lambda messages: messages[-1].content.upper()])
    assert model.invoke("shout").content == "SHOUT"


def test_tools_are_bound_and_called():
    model = ScriptedModel([tool_call("add", a=1, b=2)])
    answer = model.bind_tools([add]).invoke("1+2?")
    assert answer.tool_calls[0]["args"] == {"a": 1, "b": 2}
    assert [each["function"]["name"] for each in model.bound_tools] == ["add"]


def test_structured_output():
    model = ScriptedModel([{"passengers": 2}, {"passengers": 2}, {"passengers": "many"}])
    assert model.with_structured_output(Party).invoke("?") == Party(passengers=2)
    assert model.with_structured_output({"type": "object"}).invoke("?") == {"passengers": 2}
    with pytest.raises(ValueError, match="passengers"):
        model.with_structured_output(Party).invoke("?")


def test_streams_text_calls_and_usage():
    model = ScriptedModel(["one two three", tool_call("add", a=1, b=2)], tokens_per_call=7)
    chunks = list(model.stream("?"))
    assert len(chunks) > 3
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert whole.content == "one two three"
    assert whole.usage_metadata["total_tokens"] == 7
    calls = [chunk.tool_calls for chunk in model.stream("?") if chunk.tool_calls]
    assert calls[0][0]["args"] == {"a": 1, "b": 2}


def test_async_is_the_same():
    model = ScriptedModel(["a", ConnectionError("down")])
    assert asyncio.run(model.ainvoke("?")).content == "a"
    with pytest.raises(ConnectionError):
        asyncio.run(model.ainvoke("?"))
