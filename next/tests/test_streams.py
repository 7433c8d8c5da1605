"""Streamed calls are read from their pieces: what was cut, glued or lost never runs as guessed."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from pydantic import BaseModel

from selfcorrect import SelfCorrection
from selfcorrect.agents.stream import join_pieces, read_pieces


class Streaming(BaseChatModel):
    """Streams lists of deltas, one list for each turn."""

    turns: list[Any]
    streaming: bool
    seen: list[Any]

    @property
    def _llm_type(self):
        return "streaming"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        raise NotImplementedError

    def _stream(self, messages, stop=None, run_manager=None, **options):
        self.seen.append(list(messages))
        for delta in self.turns.pop(0):
            yield ChatGenerationChunk(message=AIMessageChunk(**delta))


def piece(args, name=None, call_id=None, index: Any = 0):
    return {"name": name, "args": args, "id": call_id, "index": index, "type": "tool_call_chunk"}


def chunks(pieces, reason="tool_calls"):
    end = {"content": "", "response_metadata": {"finish_reason": reason}, "chunk_position": "last"}
    return [*({"content": "", "tool_call_chunks": [each]} for each in pieces), end]


DONE = [{"content": "done", "chunk_position": "last"}]
TMP, LOG = '{"target": "tmp", "days": 30}', '{"target": "log", "days": 7}'
ran: list[Any] = []


def purge(target: str = "all", days: int = 0) -> str:
    """Delete what is old."""
    ran.append((target, days))
    return "purged"


def play(pieces, how, reason="tool_calls"):
    ran.clear()
    model = Streaming(turns=[chunks(pieces, reason), DONE, DONE, DONE], streaming=True, seen=[])
    agent = create_agent(model, [purge], middleware=[SelfCorrection()])
    start = {"messages": [HumanMessage("x")]}

    async def stream():
        return [each async for each in agent.astream(start, stream_mode="values")][-1]

    if how == "ainvoke":
        return asyncio.run(agent.ainvoke(start))["messages"]
    if how == "astream":
        return asyncio.run(stream())["messages"]
    if how == "stream":
        return list(agent.stream(start, stream_mode="values"))[-1]["messages"]
    return agent.invoke(start)["messages"]


ONE, TWO = [("tmp", 30)], [("tmp", 30), ("log", 7)]
SHAPES = {
    "whole": ([piece("", "purge", "c1"), piece(TMP)], ONE),
    "in many pieces": ([piece("", "purge", "c1"), *(piece(each) for each in TMP)], ONE),
    "without an index": (
        [piece("", "purge", "c1", None), piece(TMP[:9], index=None), piece(TMP[9:], index=None)],
        ONE,
    ),
    "with the id each time": (
        [piece(TMP[:9], "purge", "c1", None), piece(TMP[9:], None, "c1", None)],
        ONE,
    ),
    "with empty names": ([piece("", "purge", "c1", None), piece(TMP, "", "", None)], ONE),
    "with the name each time": ([piece(TMP[:9], "purge", "c1"), piece(TMP[9:], "purge")], ONE),
    "with a late id": ([piece(TMP[:9], "purge"), piece(TMP[9:], None, "c1")], ONE),
    "two under one index": ([piece(TMP, "purge", "c1"), piece(LOG, "purge", "c2")], TWO),
    "two under one index, in pieces": (
        [piece("", "purge", "c1"), piece(TMP), piece("", "purge", "c2"), piece(LOG)],
        TWO,
    ),
    "two without ids": ([piece(TMP, "purge"), piece(LOG, "purge")], TWO),
    "two in turns": (
        [
            *(piece("", "purge", "c1", 0), piece("", "purge", "c2", 1)),
            *(piece(TMP[:9], index=0), piece(LOG[:9], index=1)),
            *(piece(TMP[9:], index=0), piece(LOG[9:], index=1)),
        ],
        TWO,
    ),
    "without arguments": ([piece("", "purge", "c1")], [("all", 0)]),
    "cut in a text": ([piece('{"target": "logs/20', "purge", "c1")], []),
    "cut in a key": ([piece('{"target": "logs", "da', "purge", "c1")], []),
    "glued": ([piece('{"target": "a"}', "purge", "c1"), piece('{"target": "b"}')], []),
    "a key twice": ([piece('{"target": "a", "target": "b"}', "purge", "c1")], []),
}


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "astream"])
@pytest.mark.parametrize("name", SHAPES)
def test_what_was_streamed_runs_as_it_was_written_or_not_at_all(name, how):
    pieces, expected = SHAPES[name]
    thread = play(pieces, how)
    assert sorted(ran) == sorted(expected)
    answers = [each for each in thread if isinstance(each, ToolMessage)]
    assert [each.status for each in answers] == ["success"] * len(expected) or not expected
    assert answers


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "tool_calls", None])
def test_a_cut_call_is_told_whatever_the_stop_reason_says(reason):
    thread = play([piece('{"target": "logs", "older_', "purge", "c1")], "invoke", reason)
    (answer,) = [each for each in thread if isinstance(each, ToolMessage)]
    assert (ran, answer.status) == ([], "error")


def test_a_structured_answer_that_was_cut_is_no_answer():
    class Weather(BaseModel):
        city: str

    cut = [piece('{"city": "Par', "Weather", "c1")]
    turns = [chunks(cut, "length"), chunks([piece('{"city": "Paris"}', "Weather", "c2")])]
    model = Streaming(turns=turns, streaming=True, seen=[])
    agent = create_agent(model, [purge], middleware=[SelfCorrection()], response_format=Weather)
    out = agent.invoke({"messages": [HumanMessage("x")]})
    assert out["structured_response"].city == "Paris"
    assert len(model.seen) == 2


def test_a_message_without_pieces_or_with_the_same_calls_is_left_alone():
    message = AIMessage(
        "", tool_calls=[{"name": "purge", "args": {"target": "tmp", "days": 30}, "id": "c1"}]
    )
    assert read_pieces(message, []) is message
    assert read_pieces(message, [piece(TMP, "purge", "c1")]) is message


@given(st.lists(st.integers(0, len(TMP)), max_size=6), st.sampled_from([0, None, "a"]))
def test_where_a_text_is_divided_makes_no_difference(cuts, index):
    places = [0, *sorted(cuts), len(TMP)]
    parts = [TMP[a:b] for a, b in pairwise(places)]
    pieces = [piece("", "purge", "c1", index), *(piece(each, index=index) for each in parts)]
    (call,) = join_pieces(pieces)
    assert (call.id, call.name, call.args()) == ("c1", "purge", {"target": "tmp", "days": 30})
