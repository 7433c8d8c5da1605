"""Every kind of broken call, in an agent with the middleware and in one without."""

from __future__ import annotations

from typing import Any

import pytest
from agents_kit import World, agent_of, answers, calling, check_history, clearing, run
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage

from selfcorrect import SelfCorrection
from selfcorrect.testing import ScriptedModel

FOUND = ("find_flights", {"query": "CDG", "limit": 3})
BOOKED = ("book_flight", {"to": "CDG", "day": "2026-10-26", "seats": 2})

BROKEN: dict[str, tuple[AIMessage, list[tuple[str, dict[str, Any]]]]] = {
    "a number as text": (calling(("find_flights", {"query": "CDG", "limit": "3"})), [FOUND]),
    "null for what takes none": (
        calling(("find_flights", {"query": "CDG", "limit": 3, "tags": None})),
        [FOUND],
    ),
    "one value for a list": (
        calling(("find_flights", {"query": "CDG", "tags": "cheap"})),
        [("find_flights", {"query": "CDG", "tags": ["cheap"]})],
    ),
    "a list as text": (
        calling(("find_flights", {"query": "CDG", "tags": '["cheap", "late"]'})),
        [("find_flights", {"query": "CDG", "tags": ["cheap", "late"]})],
    ),
    "a date in words": (
        calling(("book_flight", {"to": "CDG", "day": "Oct 26, 2026", "seats": 2})),
        [BOOKED],
    ),
    "a number in words": (
        calling(("book_flight", {"to": "CDG", "day": "2026-10-26", "seats": "two"})),
        [BOOKED],
    ),
    "a near value of an enum": (
        calling(("book_flight", {**BOOKED[1], "cabin": "Business class"})),
        [("book_flight", {**BOOKED[1], "cabin": "business"})],
    ),
    "another spelling of a parameter": (
        calling(("find_flights", {"Query": "CDG", "limit": 3})),
        [FOUND],
    ),
    "arguments inside arguments": (
        calling(("find_flights", {"arguments": {"query": "CDG", "limit": 3}})),
        [FOUND],
    ),
    "another spelling of the tool": (calling(("findFlights", dict(FOUND[1]))), [FOUND]),
    "a slip in the tool's name": (calling(("find_fligths", dict(FOUND[1]))), [FOUND]),
    "what a template left in the name": (
        calling(("find_flights<|channel|>commentary", dict(FOUND[1]))),
        [FOUND],
    ),
    "a comma too many": (calling(("find_flights", '{"query": "CDG", "limit": 3,}')), [FOUND]),
    "single quotes": (calling(("find_flights", "{'query': 'CDG', 'limit': 3}")), [FOUND]),
    "a bracket too few": (calling(("find_flights", '{"query": "CDG", "limit": 3')), []),
    "a fence around the arguments": (
        calling(("find_flights", '```json\n{"query": "CDG", "limit": 3}\n```')),
        [FOUND],
    ),
    "a call in tags": (
        AIMessage(
            '<tool_call>{"name": "find_flights", "arguments": {"query": "CDG", "limit": 3}}'
            "</tool_call>"
        ),
        [FOUND],
    ),
    "a call in tags after thoughts": (
        AIMessage(
            '<think>Let me look.</think>\n<tool_call>\n{"name": "book_flight", "arguments": '
            '{"to": "CDG", "day": "2026-10-26", "seats": 2}}\n</tool_call>'
        ),
        [BOOKED],
    ),
    "a call in code": (AIMessage("[find_flights(query='CDG', limit=3)]"), [FOUND]),
    "a call as JSON text": (
        AIMessage('{"name": "find_flights", "arguments": {"query": "CDG", "limit": "3"}}'),
        [FOUND],
    ),
    "parameters as tags": (
        AIMessage(
            "<function=find_flights><parameter=query>CDG</parameter>"
            "<parameter=limit>3</parameter></function>"
        ),
        [FOUND],
    ),
    "no id": (
        AIMessage("", tool_calls=[{"name": FOUND[0], "args": dict(FOUND[1]), "id": None}]),
        [FOUND],
    ),
}
NOT_WITHOUT_A_MODEL = {"a bracket too few"}
FINE_WITHOUT_HELP: set[str] = set()


@pytest.mark.parametrize("kind", sorted(set(BROKEN) - NOT_WITHOUT_A_MODEL))
def test_it_is_mended_without_a_further_turn(kind: str) -> None:
    message, wanted = BROKEN[kind]
    world = World()
    agent, model = agent_of(world, [message, "done"], SelfCorrection())
    messages = run(agent)
    assert world.done == wanted
    assert len(model.prompts) == 2
    assert [answer.status for answer in answers(messages)] == ["success"]
    check_history(model.prompts[-1][1:])


@pytest.mark.parametrize("kind", sorted(BROKEN))
def test_without_it_the_same_agent_fails(kind: str) -> None:
    message, wanted = BROKEN[kind]
    world = World()
    agent, _ = agent_of(world, [message, "done"])
    try:
        agent.invoke({"messages": [HumanMessage("please")]})
    except Exception:
        return
    assert not wanted or world.done != wanted


UNMENDABLE = {
    "cut off inside a text": calling(("find_flights", '{"query": "CD')),
    "cut off, and the provider says so": calling(
        ("find_flights", {"query": "CD"}), response_metadata={"finish_reason": "length"}
    ),
    "an unknown tool": calling(("fly_to_the_moon", {"query": "CDG"})),
    "a missing argument": calling(("book_flight", {"to": "CDG", "seats": 2})),
    "half a seat": calling(("book_flight", {**BOOKED[1], "seats": 2.5})),
    "a name that no provider takes": calling(("what is this?", {"query": "CDG"})),
    "no name": calling(("", {"query": "CDG"})),
    "no arguments that can be read": calling(("find_flights", "}{")),
}


@pytest.mark.parametrize("kind", UNMENDABLE)
def test_the_model_is_asked_again_with_a_diagnosis_and_may_do_better(kind: str) -> None:
    world = World()
    script = [UNMENDABLE[kind], calling(FOUND), "done"]
    agent, model = agent_of(world, script, SelfCorrection())
    messages = run(agent)
    assert world.done == [FOUND]
    assert len(model.prompts) == 3
    check_history(model.prompts[1][1:])
    diagnosis = answers(model.prompts[1])[0]
    assert diagnosis.status == "error"
    assert diagnosis.text.startswith("The call was not ")
    assert [answer.status for answer in answers(messages)] == ["error", "success"]


@pytest.mark.parametrize("kind", UNMENDABLE)
def test_siblings_of_a_call_that_cannot_be_mended_are_kept(kind: str) -> None:
    broken = UNMENDABLE[kind]
    own = {"name": FOUND[0], "args": dict(FOUND[1]), "id": "sibling", "type": "tool_call"}
    message = broken.model_copy(update={"tool_calls": [own, *broken.tool_calls]})
    world = World()
    agent, model = agent_of(world, [message, "done"], SelfCorrection())
    messages = run(agent)
    assert world.done == [FOUND]
    assert len(model.prompts) == 2
    check_history(model.prompts[1][1:])
    assert sorted(answer.status for answer in answers(messages)) == ["error", "success"]


@pytest.mark.parametrize("kind", UNMENDABLE)
def test_a_model_that_never_does_better_is_stopped_and_the_user_is_told(kind: str) -> None:
    world = World()
    script = [UNMENDABLE[kind].model_copy(update={"id": f"m{n}"}) for n in range(50)]
    agent, model = agent_of(world, script, SelfCorrection(max_misses=3))
    messages = run(agent)
    assert world.done == []
    assert len(model.prompts) == 4
    assert isinstance(messages[-1], AIMessage)
    assert "I have to stop here" in messages[-1].text


def test_text_that_only_talks_about_a_call_is_an_answer() -> None:
    for text in (
        "You could use book_flight(to=..., day=..., seats=...) for that.",
        """It was {"name": "book_flight", "arguments": {"to": "CDG", "day": "2026-10-26"}}.""",
        "Call me at (555) 123-4567, or write {name} in the form.",
        '{"name": "Ann", "age": 7}',
    ):
        world = World()
        agent, model = agent_of(world, [AIMessage(text)], SelfCorrection())
        messages = run(agent)
        assert world.done == []
        assert messages[-1].text == text
        assert len(model.prompts) == 1


def test_a_call_among_words_is_asked_about_where_it_would_change_something() -> None:
    told = AIMessage("I have booked it: book_flight(to='CDG', day='2026-10-26', seats=2).")
    for then, done in ((calling(BOOKED), [BOOKED]), ("I have not booked yet.", [])):
        world = World()
        agent, model = agent_of(world, [told, then, "done"], SelfCorrection())
        messages = run(agent)
        assert world.done == done
        assert "stood in the text" in answers(model.prompts[1])[0].text
        assert messages[1].text == told.text


UNREADABLE = [
    "[find_flights(query=the_query)]",
    "[find_flights(query='a' or 'b')]",
    '{"name": "find_flights", "arguments": {"query": "CD',
    '<|im_start|>\n{"name": "find_flights", "arguments": {"query": "CD',
    '{"name": "fly_to_the_moon", "arguments": {"query": "CDG"}}',
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_message_that_is_a_broken_call_is_no_silent_end(text: str) -> None:
    world = World()
    agent, model = agent_of(world, [AIMessage(text), calling(FOUND), "done"], SelfCorrection())
    run(agent)
    assert world.done == [FOUND]
    world = World()
    script = [AIMessage(text, id="a"), AIMessage(text, id="b")]
    agent, model = agent_of(world, script, SelfCorrection())
    assert run(agent)[-1].text == text, "told twice, it is what the model wants to say"
    assert len(model.prompts) == 2


def test_a_call_that_was_made_is_not_made_again_because_it_is_told() -> None:
    world = World()
    told = AIMessage("find_flights(query='CDG', limit=3)")
    agent, _ = agent_of(world, [calling(FOUND), told], SelfCorrection())
    run(agent)
    assert world.done == [FOUND]


@pytest.mark.parametrize("args", [None, ""])
def test_arguments_that_could_not_be_parsed_are_not_taken_for_none(args: Any) -> None:
    clear_all, cleared, broken = clearing(args)
    model = ScriptedModel(script=[broken, "done"])
    agent = create_agent(model, [clear_all], middleware=[SelfCorrection()])
    messages = agent.invoke({"messages": [HumanMessage("please")]})["messages"]
    assert cleared == []
    assert answers(messages)[0].status == "error"
