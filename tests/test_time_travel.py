"""Breakpoints, edits and forks, as LangGraph users know them: a run goes on, and acts once."""

import asyncio
import sqlite3
from collections import Counter
from contextlib import suppress
from typing import get_type_hints

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from kit import DATE, INTEGER, TEXT, Tool, nodes, table
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from selfcorrect import CorrectionState, GraphSetupError, NotDone, build_graph

CONFIG = {"configurable": {"thread_id": "t1"}}
NODES = (
    "plan",
    "execute",
    "diagnose",
    "select_strategy",
    "repair",
    "validate",
    "retry",
    "report_failure",
)


def make(tool, saver=InMemorySaver, **options):
    return build_graph([tool.spec], checkpointer=saver(), **options)


def start(graph, args, **options):
    given_ = {"call": {"name": "t", "args": args, "id": "c1"}}
    return graph.invoke(given_, CONFIG, **options)


def broken():
    return Tool(effect="mutating", schema={"day": DATE}), {"day": "Oct 26, 2026"}


@pytest.mark.parametrize("when", ["interrupt_before", "interrupt_after"])
@pytest.mark.parametrize("node", NODES[:-1])
def test_a_run_goes_on_from_every_breakpoint_after_an_edit(when, node):
    tool, args = broken()
    graph = make(tool)
    start(graph, args, **{when: [node]})
    stopped = graph.get_state(CONFIG)
    edited = {"call": stopped.values["call"]} if stopped.next == ("plan",) else {"counts": {}}
    graph.update_state(CONFIG, edited)
    assert graph.get_state(CONFIG).next == stopped.next
    out = graph.invoke(None, CONFIG)
    assert out["result"] == "ok"
    assert tool.ran == [{"day": "2026-10-26"}]


EDITS = table("time_travel.txt", "edits")


@pytest.mark.parametrize(("stop", "node", "edit", "following"), EDITS)
def test_an_edit_in_the_name_of_a_node_chooses_the_next_one(stop, node, edit, following):
    tool, args = broken()
    graph = make(tool)
    start(graph, args, interrupt_before=[stop])
    right = {"current": {"name": "t", "args": {"day": "2026-11-01"}}}
    graph.update_state(CONFIG, right | edit if node != "__start__" else edit, as_node=node)
    assert graph.get_state(CONFIG).next == tuple(following)
    if following == ["execute"]:
        assert graph.invoke(None, CONFIG)["result"] == "ok"
        assert tool.ran == [{"day": "2026-11-01"}]


UNUSABLE = table("time_travel.txt", "unusable")


@pytest.mark.parametrize(("node", "edit", "words"), UNUSABLE)
def test_an_edit_that_cannot_be_routed_is_refused_where_it_is_made(node, edit, words):
    graph = make(*broken()[:1])
    start(graph, broken()[1], interrupt_before=["diagnose"])
    with pytest.raises(GraphSetupError, match=words):
        graph.update_state(CONFIG, edit, as_node=node)
    assert graph.invoke(None, CONFIG)["result"] == "ok"


def test_an_edit_behind_the_end_stays_there():
    graph = make(*broken()[:1])
    start(graph, broken()[1])
    graph.update_state(CONFIG, {"counts": {}})
    assert graph.get_state(CONFIG).next == ()


def test_breakpoints_and_edits_work_in_async_code():
    async def travel():
        tool, args = broken()
        graph = make(tool)
        await graph.ainvoke(
            {"call": {"name": "t", "args": args}}, CONFIG, interrupt_before=["retry"]
        )
        await graph.aupdate_state(CONFIG, {"outcome": "invalid"})
        assert (await graph.aget_state(CONFIG)).next == ("diagnose",)
        await graph.aupdate_state(CONFIG, {"outcome": "valid"}, as_node="validate")
        return await graph.ainvoke(None, CONFIG)

    out = asyncio.run(travel())
    assert out["result"] == "ok"
    assert nodes(out)[-2:] == ["retry", "execute"]


def test_a_question_of_a_nested_graph_can_be_passed_by_an_edit():
    tool = Tool(effect="mutating", schema={"day": DATE})
    outer = StateGraph(CorrectionState)
    outer.add_node("inner", build_graph([tool.spec]))
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    graph = outer.compile(checkpointer=InMemorySaver())
    assert "__interrupt__" in start(graph, {"day": "03/04/2026"})
    (task,) = graph.get_state(CONFIG, subgraphs=True).tasks
    current = {"name": "t", "args": {"day": "2026-04-03"}}
    graph.update_state(task.state.config, {"current": current}, as_node="retry")
    assert graph.invoke(None, CONFIG)["result"] == "ok"
    assert tool.ran == [{"day": "2026-04-03"}]


class Acts(Tool):
    """A tool that notes what it may have done: everything but what was surely not done."""

    def __init__(self, *plays, **more):
        super().__init__(*plays, effect="mutating", **more)
        self.acted = Counter()

    def _call(self, **args):
        try:
            return super()._call(**args)
        except NotDone:
            self.acted[str(args)] -= 1
            raise
        finally:
            self.acted[str(args)] += 1


NOT_DONE = NotDone("Value for 'q' must be one of ['economy', 'business']")
RUNS = {
    "succeeds": lambda: (Acts(), {"q": 1}),
    "is repaired": lambda: (Acts(schema={"day": DATE}), {"day": "Oct 26, 2026"}),
    "is repaired and made again": lambda: (Acts(NOT_DONE, schema={"q": TEXT}), {"q": "Business"}),
    "fails": lambda: (Acts(), {"q": "many"}),
    "is refused": lambda: (Acts(ValueError("no")), {"q": 1}),
    "asks": lambda: (Acts(schema={"day": DATE, "n": INTEGER}), {"day": "03/04/2026", "n": "5"}),
    "loses its answer": lambda: (Acts(TimeoutError("late")), {"q": 1}),
}
OUTCOMES = [
    *("planned", "found", "done", "failed", "diagnosed", "selected", "changed", "wait"),
    *("gave_up", "answered", "valid", "invalid", "retry", "reported", "stopped"),
]
(ODD,) = table("time_travel.txt", "odd")
# Who edits `vouch` says that a repetition does no harm; LangGraph itself counts the steps.
KEYS = sorted(get_type_hints(CorrectionState).keys() - {"vouch", "remaining_steps"})
ANSWERS = [{"action": "answer", "value": "2026-04-03"}, {"action": "reject"}]
edits = st.sampled_from(KEYS).flatmap(
    lambda key: st.tuples(
        st.just(key), st.sampled_from(ODD + OUTCOMES if key == "outcome" else ODD)
    )
)


def in_a_database():
    return SqliteSaver(sqlite3.connect(":memory:", check_same_thread=False))


def answer(graph, out, action):
    """Answer what a run asks; a second time with a rejection."""
    for each in (action, {"action": "reject"}):
        if "__interrupt__" in out:
            question = out["__interrupt__"][0].value
            named = (
                {"question": question["id"]}
                if isinstance(question, dict) and "id" in question
                else {}
            )
            out = graph.invoke(Command(resume=each | named), CONFIG)
    return out


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(sorted(RUNS)),
    action=st.sampled_from(ANSWERS),
    position=st.integers(0, 30),
    edit=edits,
    node=st.sampled_from([*[None] * len(NODES), *NODES]),
)
@example("is repaired and made again", ANSWERS[0], 4, ("current", {"name": "t"}), None)
@pytest.mark.parametrize("saver", [InMemorySaver, in_a_database])
def test_from_any_checkpoint_any_edit_leads_to_an_end_and_nothing_is_done_twice(
    saver, name, action, position, edit, node
):
    tool, args = RUNS[name]()
    graph = make(tool, saver)
    answer(graph, start(graph, args), action)
    history = list(graph.get_state_history(CONFIG))
    past = history[position % len(history)].config
    # A node of ours may meet a value that it cannot use.
    with suppress(GraphSetupError, AttributeError, LookupError, TypeError, ValueError):
        fork = graph.update_state(past, dict([edit]), as_node=node)
        if graph.get_state(fork).next:
            out = answer(graph, graph.invoke(None, fork), action)
            assert ("result" in out) != ("failure" in out)
    assert max(tool.acted.values(), default=0) <= 1
