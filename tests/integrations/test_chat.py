"""Messages as providers write them: read, and rewritten in every place that names a call."""

from __future__ import annotations

from typing import Any

import pytest
from agents_kit import World, agent_of, calling, check_history, run
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, message_to_dict, messages_from_dict

from selfcorrect import SelfCorrection
from selfcorrect.integrations.chat import is_blank, rewritten, written_calls

FIND = {"query": "CDG", "limit": 3}

ANTHROPIC = AIMessage(
    [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "c0", "name": "findFlights", "input": {"query": "CDG"}},
        {"type": "tool_use", "id": "c1", "name": "moon", "input": {}},
    ],
    tool_calls=[
        {"name": "findFlights", "args": {"query": "CDG"}, "id": "c0"},
        {"name": "moon", "args": {}, "id": "c1"},
    ],
)
OPENAI = AIMessage(
    "",
    additional_kwargs={
        "tool_calls": [
            {
                "id": "c0",
                "type": "function",
                "function": {"name": "findFlights", "arguments": '{"query": "CDG",}'},
            }
        ]
    },
    invalid_tool_calls=[
        {"name": "findFlights", "args": '{"query": "CDG",}', "id": "c0", "error": "bad"}
    ],
)
RESPONSES = AIMessage(
    [
        {
            "type": "function_call",
            "call_id": "c0",
            "id": "fc_1",
            "name": "findFlights",
            "arguments": '{"query": "CDG", "limit": "3"}',
        }
    ],
    tool_calls=[{"name": "findFlights", "args": {"query": "CDG", "limit": "3"}, "id": "c0"}],
)


@pytest.mark.parametrize("message", [ANTHROPIC, OPENAI, RESPONSES])
def test_every_place_that_names_a_call_says_the_same(message: AIMessage) -> None:
    world = World()
    agent, model = agent_of(world, [message, "done"], SelfCorrection())
    mended = run(agent)[1]
    assert [name for name, _ in world.done] == ["find_flights"]
    assert isinstance(mended, AIMessage)
    assert "findFlights" not in str(message_to_dict(mended)["data"].get("content"))
    assert "findFlights" not in str(mended.additional_kwargs)
    check_history(model.prompts[1][1:])
    assert messages_from_dict([message_to_dict(mended)])[0] == mended


def test_a_streamed_call_that_was_cut_is_not_believed() -> None:
    chunk = AIMessageChunk(
        "",
        tool_call_chunks=[
            {"name": "find_flights", "args": '{"query": "CD', "id": "c0", "index": 0}
        ],
    )
    assert chunk.tool_calls[0]["args"] == {"query": "CD"}
    assert written_calls(chunk)[0].args == '{"query": "CD'
    whole = AIMessageChunk(
        "",
        tool_call_chunks=[
            {"name": "find_flights", "args": '{"query": "CDG"}', "id": "c0", "index": 0}
        ],
        response_metadata={"finish_reason": "length"},
    )
    assert written_calls(whole)[0].args == {"query": "CDG"}
    assert not written_calls(whole)[0].cut


@pytest.mark.parametrize(
    "metadata",
    [
        {"finish_reason": "length"},
        {"stop_reason": "max_tokens"},
        {"finish_reason": "MAX_TOKENS"},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        {"stopReason": "max_tokens"},
        {"finishReason": "MAX_TOKENS"},
    ],
)
def test_the_last_call_of_a_message_that_ended_early_is_not_believed(metadata: Any) -> None:
    world = World()
    message = calling(
        ("find_flights", {"query": "CDG"}),
        ("book_flight", {"to": "CD", "day": "2026-10-26", "seats": 2}),
        response_metadata=metadata,
    )
    agent, _ = agent_of(world, [message, "done"], SelfCorrection())
    run(agent)
    assert [name for name, _ in world.done] == ["find_flights"]


def test_calls_with_one_id_or_none_get_ids_of_their_own() -> None:
    same = {"name": "find_flights", "args": dict(FIND), "id": "same"}
    none = {"name": "find_flights", "args": dict(FIND), "id": None}
    world = World()
    message = AIMessage("", tool_calls=[same, dict(same), none, dict(none)])
    agent, _ = agent_of(world, [message, "done"], SelfCorrection())
    run(agent)
    assert len(world.done) == 4


def test_what_is_blank() -> None:
    assert is_blank(AIMessage(" \n"))
    assert is_blank(AIMessage([]))
    assert is_blank(AIMessage([{"type": "thinking", "thinking": "hm"}, {"type": "text"}]))
    assert not is_blank(AIMessage("no"))
    assert not is_blank(AIMessage([{"type": "image", "url": "https://example.org/a.png"}]))
    assert not is_blank(AIMessage("", additional_kwargs={"refusal": "I will not."}))
    assert not is_blank(calling(("find_flights", {})))


NAMES = st.sampled_from(["find_flights", "findFlights", "book_flight", "", "x y", "é", "a" * 300])
VALUES = st.none() | st.booleans() | st.integers(-5, 99) | st.text(max_size=8)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["query", "limit", "tags", "to", "day", "seats", "q"]),
    VALUES | st.lists(VALUES, max_size=2),
    max_size=4,
)
TEXTS = st.sampled_from(
    ['{"query": "x"', "{}", "", "[1]", "null", "{'query': 'x',}", "\x00", "{" * 50]
)
CALLS = st.lists(st.tuples(NAMES, ARGUMENTS | TEXTS), max_size=4)
SAID = st.sampled_from(
    ["", " ", "Fine.", "<tool_call>{", "[find_flights(query='x')]", "```json\n{}```"]
)


@settings(max_examples=60)
@given(turns=st.lists(st.tuples(CALLS, SAID), min_size=1, max_size=4))
def test_whatever_a_model_writes_the_history_is_valid_and_the_run_ends(turns: Any) -> None:
    world = World()
    script = [
        calling(*calls, text=text).model_copy(update={"id": f"m{number}"})
        for number, (calls, text) in enumerate(turns)
    ]
    agent, model = agent_of(world, [*script, *["done"] * 30], SelfCorrection())
    messages = run(agent)
    assert messages[-1].text.strip()
    for prompt in model.prompts:
        check_history(prompt)
    for name, args in world.done:
        tool = next(each for each in world.tools if each.name == name)
        from selfcorrect import ToolSpec

        assert ToolSpec.from_langchain(tool).is_valid(args)


def test_rewriting_keeps_what_it_is_not_about() -> None:
    message = AIMessage(
        "text",
        id="m",
        name="ann",
        usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
    )
    assert rewritten(message, []) == message
