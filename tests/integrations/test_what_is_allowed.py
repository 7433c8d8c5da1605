"""What a request allows, in an agent: the same answer as everywhere."""

from __future__ import annotations

from typing import Any

import pytest
from agents_kit import World, agent_of, answers, calling, run
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

from selfcorrect import SelfCorrection
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.testing import ScriptedModel

ARGS = {"to": "CDG", "day": "2026-10-26", "seats": 2}
TEXT = '{"name": "book_flight", "arguments": {"to": "CDG", "day": "2026-10-26", "seats": "2"}}'
SAID_NO: list[dict[str, Any]] = [
    {"additional_kwargs": {"refusal": "I will not."}},
    {"response_metadata": {"stop_reason": "refusal"}},
    {"response_metadata": {"finish_reason": "content_filter"}},
    {"response_metadata": {"finish_reason": "SAFETY"}},
    {"response_metadata": {"stopReason": "guardrail_intervened"}},
    {"response_metadata": {"incomplete_details": {"reason": "content_filter"}}},
]


class Choosing(AgentMiddleware[Any, Any, Any]):
    """Asks the model as somebody's own middleware would."""

    def __init__(self, choice: Any) -> None:
        super().__init__()
        self._choice = choice

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(tool_choice=self._choice))


class Setting(AgentMiddleware[Any, Any, Any]):
    """Sets what goes to the provider beside the messages."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._settings = settings

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(model_settings=self._settings))


def test_a_text_is_made_into_a_call_where_nothing_forbids_it() -> None:
    world = World()
    run(agent_of(world, [AIMessage(TEXT), "done"], SelfCorrection())[0])
    assert world.done == [("book_flight", ARGS)]


@pytest.mark.parametrize("more", SAID_NO)
def test_a_refused_text_is_an_answer(more: dict[str, Any]) -> None:
    world = World()
    messages = run(agent_of(world, [AIMessage(TEXT, **more)], SelfCorrection())[0])
    assert (world.done, messages[-1].content) == ([], TEXT)


@pytest.mark.parametrize("choice", ["none", {"type": "none"}])
def test_a_text_is_an_answer_where_no_tool_was_to_be_chosen(choice: Any) -> None:
    world = World()
    agent, _ = agent_of(world, [AIMessage(TEXT)], Choosing(choice), SelfCorrection())
    assert (run(agent)[-1].content, world.done) == (TEXT, [])


ANSWER = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
    "required": ["name", "arguments"],
}


@pytest.mark.parametrize(
    "form",
    [
        {"type": "json_object"},
        {"type": "json_schema", "json_schema": {"name": "plan", "schema": ANSWER}},
    ],
)
@pytest.mark.parametrize("bound", [True, False])
def test_an_answer_in_the_form_that_was_asked_for_is_not_run(form: Any, *, bound: bool) -> None:
    world = World()
    model: Any = ScriptedModel(script=[AIMessage(TEXT)])
    settings = Setting(response_format=form)
    agent = create_agent(
        model.bind(response_format=form) if bound else model,
        world.tools,
        middleware=[SelfCorrection()] if bound else [settings, SelfCorrection()],
    )
    assert (run(agent)[-1].content, world.done) == (TEXT, [])


@pytest.mark.parametrize("more", SAID_NO)
@pytest.mark.parametrize("seats", [2, "2"])
def test_no_call_of_a_refused_message_is_made(more: dict[str, Any], seats: Any) -> None:
    world = World()
    broken = calling(("book_flight", {**ARGS, "seats": seats}), **more)
    agent, model = agent_of(world, [broken, "I cannot do that."], SelfCorrection())
    messages = run(agent)
    assert (world.done, len(model.prompts)) == ([], 2)
    [told] = answers(messages)
    assert told.status == "error"
    assert "the provider ended the answer without a call" in told.text


@pytest.mark.parametrize("more", SAID_NO)
@pytest.mark.parametrize("seats", [2, "2"])
def test_the_drop_in_asks_the_same(more: dict[str, Any], seats: Any) -> None:
    world = World()
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", SelfCorrectingToolNode(world.tools))
    builder.add_edge(START, "tools")
    message = calling(("book_flight", {**ARGS, "seats": seats}), **more)
    out = builder.compile().invoke({"messages": [message]})
    assert world.done == []
    assert "the provider ended the answer without a call" in out["messages"][-1].text


def test_the_words_around_a_call_in_text_stay() -> None:
    world = World()
    call = '{"name": "find_flights", "arguments": {"query": "CDG"}}'
    text = f"Let me look.\n```json\n{call}\n```\nOne moment."
    messages = run(agent_of(world, [AIMessage(text), "done"], SelfCorrection())[0])
    assert world.done == [("find_flights", {"query": "CDG"})]
    assert messages[1].content == "Let me look.\nOne moment."


def test_two_values_that_langchain_made_one_are_told() -> None:
    world = World()
    text = '{"to": "CDG", "to": "LHR", "day": "2026-10-26", "seats": 2}'
    broken = calling(("book_flight", {**ARGS, "to": "LHR"}))
    broken.additional_kwargs = {"tool_calls": [{"id": "c0", "function": {"arguments": text}}]}
    messages = run(agent_of(world, [broken, "done"], SelfCorrection())[0])
    assert world.done == []
    assert "'to' has two different values, 'CDG' and 'LHR'" in answers(messages)[0].text
