"""Streamed calls are read from their pieces: what was cut, glued or lost never runs as guessed."""

import asyncio
import json
import os
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st
from kit import answers_in, table
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel, generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.graph import START, MessagesState, StateGraph

from selfcorrect import SelfCorrection
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.langchain.stream import written_calls
from selfcorrect.langchain.turn_state import with_readable_calls
from selfcorrect.threads.pieces import join_pieces


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


class Joining(Streaming):
    """Joins its pieces itself, as models with a `streaming` of their own do, and tells of them."""

    tells: bool = True
    _stream = BaseChatModel._stream

    def _generate(self, messages, stop=None, run_manager=None, **options):
        deltas = Streaming._stream(self, messages)
        return generate_from_stream(self._tell(each, run_manager) for each in deltas)

    def _tell(self, chunk, run_manager):
        if self.tells:
            run_manager.on_llm_new_token("", chunk=chunk)
        return chunk


def piece(args, name=None, call_id=None, index: Any = 0):
    return {"name": name, "args": args, "id": call_id, "index": index, "type": "tool_call_chunk"}


def chunks(pieces, reason="tool_calls"):
    end = {"content": "", "response_metadata": {"finish_reason": reason}, "chunk_position": "last"}
    return [*({"content": "", "tool_call_chunks": [each]} for each in pieces), end]


DONE = [{"content": "done", "chunk_position": "last"}]
TMP, LOG = '{"target": "tmp", "days": 30}', '{"target": "log", "days": 7}'
ran: list[Any] = []


def rest(text):
    return {"name": None, "args": text, "id": None, "error": "", "type": "invalid_tool_call"}


def purge(target: str = "all", days: int = 0) -> str:
    """Delete what is old."""
    ran.append([target, days])
    return "purged"


def play(pieces, how, reason="tool_calls", **options):
    ran.clear()
    form = Joining if how == "joined" else Streaming
    model = form(
        turns=[chunks(pieces, reason), DONE, DONE, DONE], streaming=True, seen=[], **options
    )
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


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream", "astream", "joined"])
@pytest.mark.parametrize(("name", "pieces", "expected"), table("streams.txt", "shapes"))
def test_what_was_streamed_runs_as_it_was_written_or_not_at_all(name, pieces, expected, how):
    thread = play([piece(*each) for each in pieces], how)
    assert sorted(ran) == sorted(expected)
    assert_one_answer_each(thread)
    answers = [each.status for each in answers_in(thread)]
    assert answers.count("success") == len(expected)


def assert_one_answer_each(thread):
    calls = [
        call["id"] for each in thread if isinstance(each, AIMessage) for call in each.tool_calls
    ]
    answers = [each.tool_call_id for each in answers_in(thread)]
    assert calls
    assert sorted(calls) == sorted({*calls}) == sorted(answers)


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
@pytest.mark.parametrize(
    "cut", ['{"target": "t', '{"target": "tmp"', '{"target": "tmp", "days": 3', ""]
)
def test_what_a_limit_has_cut_is_refused_where_nobody_saw_the_pieces(cut, reason):
    whole = piece(LOG, "purge", "c1", 0)
    thread = play([whole, piece(cut, "purge", "c2", 1)], "joined", reason, tells=False)
    assert ran == [["log", 7]]
    assert_one_answer_each(thread)


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "tool_calls", None])
def test_a_cut_call_is_told_whatever_the_stop_reason_says(reason):
    thread = play([piece('{"target": "logs", "older_', "purge", "c1")], "invoke", reason)
    (answer,) = answers_in(thread)
    assert (ran, answer.status) == ([], "error")


def test_a_message_without_pieces_or_with_the_same_calls_is_left_alone():
    message = AIMessage(
        "", tool_calls=[{"name": "purge", "args": {"target": "tmp", "days": 30}, "id": "c1"}]
    )
    for pieces in ([], [piece(TMP, "purge", "c1")]):
        assert with_readable_calls(message, written_calls(message, pieces)) is message


@pytest.mark.parametrize(
    ("name", "calls", "rests", "reason", "expected"), table("streams.txt", "turns")
)
def test_a_turn_that_others_have_joined_is_read_as_a_whole(name, calls, rests, reason, expected):
    calls = [{"name": name, "args": args, "id": call_id} for call_id, name, args in calls]
    blocks = [{"type": "tool_use", "id": c["id"], "name": c["name"], "input": {}} for c in calls]
    turn = AIMessage(
        blocks,
        tool_calls=calls,
        invalid_tool_calls=[rest(each) for each in rests],
        response_metadata={"finish_reason": reason} if reason else {},
    )
    ran.clear()
    graph = StateGraph(MessagesState).add_node("tools", SelfCorrectingToolNode([purge]))
    thread = graph.add_edge(START, "tools").compile().invoke({"messages": [turn]})["messages"]
    assert sorted(ran) == expected
    assert_one_answer_each(thread)
    shown = [each["id"] for each in thread[0].content]
    assert sorted(shown) == sorted({*shown})


@given(st.lists(st.integers(0, len(TMP)), max_size=6), st.sampled_from([0, None, "a"]))
def test_where_a_text_is_divided_makes_no_difference(cuts, index):
    places = [0, *sorted(cuts), len(TMP)]
    parts = [TMP[a:b] for a, b in pairwise(places)]
    pieces = [piece("", "purge", "c1", index), *(piece(each, index=index) for each in parts)]
    (call,) = join_pieces(pieces)
    assert (call.id, call.name, call.args) == ("c1", "purge", {"target": "tmp", "days": 30})


def note(target: str = "all", days: int = 0) -> str:
    """Write a note."""
    ran.append(("note", target, days))
    return "noted"


def drop(target: str = "all", days: int = 0) -> str:
    """Drop a table."""
    ran.append(("drop", target, days))
    return "dropped"


EXAMPLES = int(os.environ.get("STREAM_EXAMPLES", "200"))
"""How many damaged streams are tried."""
INDEXES = {"own": lambda at: at, "shared": lambda _: 0, "none": lambda _: None}
ARGUMENTS = (
    lambda at: {},
    lambda at: {"target": f"t{at}"},
    lambda at: {"days": at + 1, "target": f"{{t{at}}}"},
)


@st.composite
def streams(draw):
    """Draw the calls that a model wrote, and the pieces of them in the order in which they came.

    A piece is the number of its call and what came of it. Only pieces that show whose they are,
    by an index or an id, come in any order, or not at all.
    """
    style = draw(st.sampled_from([*INDEXES]))
    names_each, ids = draw(st.booleans()), draw(st.sampled_from(["head", "each"]))
    written, queues = [], []
    for at in range(draw(st.integers(2, 3))):
        name = draw(st.sampled_from(["note", "drop"]))
        # Only the first call may have no arguments: of equal calls, two would be made.
        args = draw(st.sampled_from(ARGUMENTS[at > 0 :]))(at)
        text = json.dumps(args) if args else draw(st.sampled_from(["", "{}"]))
        places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
        parts = [text[a:b] for a, b in pairwise([0, *places, len(text)])]
        parts = ["", *parts] if draw(st.booleans()) else parts
        written.append((name, args, text))
        queues.append(
            [
                piece(
                    part,
                    name if names_each or not number else None,
                    f"c{at}" if ids == "each" or not number else None,
                    INDEXES[style](at),
                )
                for number, part in enumerate(parts)
            ]
        )
    shows = style == "own" or ids == "each"
    order = [at for at, queue in enumerate(queues) for _ in queue]
    damage = draw(st.sampled_from(["none", "cut", "double", "again", "drop", "astray", "mixed"]))
    is_mixed = (shows and draw(st.booleans())) or damage == "mixed"
    if is_mixed:
        order = draw(st.permutations(order))
    left = [iter(queue) for queue in queues]
    came = [(at, next(left[at])) for at in order]
    # Amid mixed pieces, a head without any may have lost its own to another call.
    is_sure = (shows and not is_mixed) or all(text for _, _, text in written)
    is_sound = damage == "none" and is_sure
    place = draw(st.integers(0, len(came) - 1))
    at, chosen = came[place]
    if damage == "cut":
        came = came[:place] if shows else came[: max(place, 1)]
    elif damage == "double":
        came.insert(place, (at, chosen))
    elif damage == "again":
        index = draw(st.sampled_from([chosen["index"], len(queues)]))
        came += [(at, {**each, "index": index}) for each in queues[at]]
    elif damage == "drop" and shows:
        del came[place]
    elif damage == "astray":
        came[place] = (at, {**chosen, "index": 9 if chosen["index"] != 9 else None})
    return written, came, is_sound


@pytest.mark.parametrize("form", [Streaming, Joining])
def test_what_runs_of_a_damaged_stream_is_what_was_written_or_nothing(form):
    model = form(turns=[], streaming=True, seen=[])
    agent = create_agent(model, [note, drop], middleware=[SelfCorrection()])
    sound = []

    @settings(max_examples=EXAMPLES // 2, deadline=None)
    @given(streams())
    def try_stream(stream):
        written, came, is_sound = stream
        ran.clear()
        model.turns[:] = [chunks([each for _, each in came]), DONE, DONE, DONE]
        thread = agent.invoke({"messages": [HumanMessage("x")]})["messages"]
        wanted = [(name, *run_of(args)) for name, args, _ in written]
        texts = ["".join(each["args"] for at, each in came if at == n) for n in range(len(written))]
        # What has lost a piece and is an object still, or one with the comma too many that models
        # write, is another call, and nothing shows it.
        for text, (_, args, _) in zip(texts, written, strict=True):
            assume(not text or object_in(text.replace(",}", "}")) in (None, args))
        # Where nothing came behind a head, it is the head of a call without arguments.
        may_run = [
            {call} | ({(call[0], *run_of({}))} if not text else set())
            for call, text in zip(wanted, texts, strict=True)
        ]
        assert any(
            all(map(lambda run, n: run in may_run[n], ran, order))
            for order in permutations(range(len(written)), len(ran))
        ), (ran, wanted)
        if is_sound:
            sound.append(stream)
            assert sorted(ran) == sorted(wanted)
        if came and any(each["name"] or each["args"] for _, each in came):
            assert_one_answer_each(thread)

    try_stream()
    assert len(sound) > EXAMPLES // 40


def run_of(args):
    return args.get("target", "all"), args.get("days", 0)


def object_in(text):
    try:
        return json.loads(text)
    except ValueError:
        return None
