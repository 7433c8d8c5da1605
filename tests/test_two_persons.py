"""Of two persons who answer one question, one counts, and the other is told."""

import asyncio
from functools import partial

from kit import INTEGER, TEXT, Tool, do_at_once
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import build_graph
from selfcorrect.errors import AnsweredError
from selfcorrect.ledger import MemoryLedger

TIMES = 12
ANSWERED = "the question {} was answered already"


def ask(ledger, thread="1"):
    """Return a graph that has asked how much to pay, its question, and its tool."""
    tool = Tool(effect="mutating", schema={"to": TEXT, "amount": INTEGER}, required=["amount"])
    graph = build_graph([tool.spec], ledger=ledger, checkpointer=InMemorySaver())
    given = {"call": {"name": "t", "args": {"to": "ann"}, "id": "1"}}
    out = graph.invoke(given, config(thread))
    return graph, out["__interrupt__"][0].value, tool


def config(thread="1"):
    return {"configurable": {"thread_id": thread}}


def answer(question, value):
    return Command(resume={"action": "answer", "value": value, "question": question["id"]})


def test_two_answers_at_once(ledger):
    for at in range(TIMES):
        graph, question, tool = ask(ledger, str(at))
        ends = []

        def say(value, graph=graph, question=question, ends=ends, at=at):
            try:
                out = graph.invoke(answer(question, value), config(str(at)))
                # Who comes between the answer and the end is told that the call is being made.
                ends.append(out.get("result") or out["failure"]["reason"])
            except AnsweredError as error:
                ends.append(error)

        do_at_once(partial(say, 5), partial(say, 500))
        assert len(tool.ran) == 1
        # Who comes after the end has nothing to answer, and reads the result.
        assert "ok" in ends
        assert {*map(str, ends)} - {"ok", "unknown_outcome"} <= {ANSWERED.format(question["id"])}


def test_two_answers_at_once_in_one_event_loop():
    graph, question, tool = ask(MemoryLedger())

    async def both():
        answers = (graph.ainvoke(answer(question, value), config()) for value in (5, 500))
        return await asyncio.gather(*answers, return_exceptions=True)

    ends = asyncio.run(both())
    assert len(tool.ran) == 1
    assert sorted(isinstance(each, AnsweredError) for each in ends) == [False, True]


def test_the_same_answer_twice_is_one():
    graph, question, tool = ask(MemoryLedger())
    state = graph.get_state(config())
    graph.invoke(answer(question, 5), config())
    graph.invoke(answer(question, 5), state.config)
    assert tool.ran == [{"to": "ann", "amount": 5}]


def test_an_answer_that_cannot_be_used_takes_no_question():
    graph, question, tool = ask(MemoryLedger())
    out = graph.invoke(answer(question, "lots"), config())
    question = out["__interrupt__"][0].value
    assert graph.invoke(answer(question, 5), config())["result"] == "ok"
    assert tool.ran == [{"to": "ann", "amount": 5}]
