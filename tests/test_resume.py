"""A run is taken up where it was cut off, and what may have been done is not done again."""

import asyncio
from contextlib import suppress

import pytest
from kit import INTEGER, Tool, with_rules
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import ErrorRule, SelfCorrection, aresume, build_graph, resume
from selfcorrect.ledger import MemoryLedger
from selfcorrect.testing import ScriptedModel, tool_call

THREAD = {"configurable": {"thread_id": "1"}}


class Cut(BaseException):
    """Ends a process in the middle of a tool."""


def graph_case():
    """Return what makes a graph anew, its input, its tool, and whether an output is a result."""
    tool, saver, ledger = Tool(Cut(), effect="mutating"), InMemorySaver(), MemoryLedger()
    given = {"call": {"name": "t", "args": {"q": 1}, "id": "1"}}

    def make():
        return build_graph([tool.spec], checkpointer=saver, ledger=ledger)

    return make, given, tool.ran, lambda out: out.get("result") == "ok"


def agent_case():
    ran, saver, ledger, plays = [], InMemorySaver(), MemoryLedger(), [Cut()]

    def t(q: int) -> str:
        """Act."""
        ran.append({"q": q})
        if plays:
            raise plays.pop()
        return "ok"

    t.metadata = {"effect": "mutating"}
    model = ScriptedModel([tool_call("t", "1", q=1), "done", tool_call("t", "2", q=1), "done"])

    def make():
        middleware = [SelfCorrection(ledger=ledger)]
        return create_agent(model, [t], middleware=middleware, checkpointer=saver)

    def is_done(out):
        return [each.text for each in out["messages"] if each.type == "tool"][-1] == "ok"

    return make, {"messages": "do it"}, ran, is_done


CASES = pytest.mark.parametrize("case", [graph_case, agent_case])


def take_up(is_async, *args, **options):
    return asyncio.run(aresume(*args, **options)) if is_async else resume(*args, **options)


@CASES
@pytest.mark.parametrize("is_async", [False, True])
def test_what_may_have_been_done_is_not_done_again(case, is_async):
    make, given, ran, is_done = case()
    with pytest.raises(Cut):
        make().invoke(given, THREAD)
    out = take_up(is_async, make(), given, THREAD)
    assert len(ran) == 1
    assert not is_done(out)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_run_that_has_ended_is_not_run_again(is_async):
    tool = Tool(effect="mutating")
    graph = build_graph([tool.spec], checkpointer=InMemorySaver())
    given = {"call": {"name": "t", "args": {"q": 1}}}
    assert take_up(is_async, graph, given, THREAD)["result"] == "ok"
    assert take_up(is_async, graph, given, THREAD)["result"] == "ok"
    assert len(tool.ran) == 1


def test_a_graph_without_a_thread_runs():
    tool = Tool(schema={"q": INTEGER})
    given = {"call": {"name": "t", "args": {"q": 1}}}
    assert resume(build_graph([tool.spec]), given)["result"] == "ok"


@pytest.mark.parametrize("end", [Cut(), TimeoutError("x")], ids=repr)
def test_one_approval_lets_a_lost_call_run_once_more_and_not_twice(end):
    tool = Tool(TimeoutError("x"), end, effect="mutating")
    ask = ErrorRule(id="ask", error=["TimeoutError"], repair=["ask-human"])
    ledger = MemoryLedger()
    parts = {"ledger": ledger, "strategies": with_rules(ask), "checkpointer": InMemorySaver()}
    graph = build_graph([tool.spec], **parts)
    given = {"call": {"name": "t", "args": {"q": 1}}}
    question = graph.invoke(given, THREAD)["__interrupt__"][0].value
    with suppress(Cut):
        graph.invoke(Command(resume={"action": "approve", "question": question["id"]}), THREAD)
    past = next(each for each in graph.get_state_history(THREAD) if each.next == ("execute",))
    assert graph.invoke(None, past.config)["failure"]["reason"] == "unknown_outcome"
    assert len(tool.ran) == 2
    # Whoever knows of the second loss may still say so.
    for doubt in ledger.records(doubts=True):
        ledger.settle(doubt.key, "not_done", by="ann")
    assert graph.invoke(given, THREAD)["result"] == "ok"
