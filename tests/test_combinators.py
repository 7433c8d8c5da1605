"""Graphs made of graphs: order, race, loop; nothing that may have acted is done twice."""

import asyncio
import threading
import time
from typing import Any, TypedDict

import pytest
from kit import DATE, Answered, Tool, with_rules
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from selfcorrect import CorrectionFailed, ErrorRule, GraphSetupError, ToolSpec, build_graph
from selfcorrect.combinators import first_of, loop_until, speculative
from selfcorrect.ledger import MemoryLedger

GIVEN = {"call": {"name": "t", "args": {"q": 1}}}
UNCLEAR = {"call": {"name": "t", "args": {"day": "03/04/2026"}}}
THREAD = {"configurable": {"thread_id": "1"}}


def graph(*plays, effect="read_only", **options):
    """Return a graph around one tool, and the tool."""
    tool = Tool(*plays, effect=effect)
    return build_graph([tool.spec], **options), tool


def asking(*plays):
    """Return a graph that has to ask which day is meant, and its tool."""
    tool = Tool(*plays, schema={"day": DATE})
    return build_graph([tool.spec]), tool


def failing():
    """Return a graph whose tool takes any day and fails, and asks nobody; and the tool."""
    tool = Tool(*[ValueError("no")] * 9, schema={"day": {}})
    rule = ErrorRule(id="no", error="ValueError", repair=["give-up"], priority="critical")
    return build_graph([tool.spec], strategies=with_rules(rule)), tool


def waiting(call, name="t"):
    schema = {"name": name, "description": name, "parameters": {"type": "object"}}
    return build_graph([ToolSpec.from_schema(schema, call=call, effect="read_only")])


@pytest.fixture(params=["sync", "async"])
def run(request):
    def invoke(runnable, given, *more):
        if request.param == "sync":
            return runnable.invoke(given, *more)
        return asyncio.run(runnable.ainvoke(given, *more))

    return invoke


def in_node(combined, saver=None):
    """Return a graph with one node, which is the combination."""
    state = {"call": Any, "result": Any, "failure": Any, "trail": list}
    builder = StateGraph(TypedDict("State", state, total=False))
    builder.add_node("inner", combined)
    builder.add_edge(START, "inner")
    builder.add_edge("inner", END)
    return builder.compile(checkpointer=saver)


def test_first_of_returns_the_first_success(run):
    (bad, _), (good, _), (never, tool) = graph(ValueError("a")), graph("b"), graph("c")
    out = run(first_of(bad, good, never), GIVEN)
    assert (out["result"], tool.ran) == ("b", [])
    assert out["trail"][-1]["outcome"] == "done"


def test_first_of_returns_the_last_failure(run):
    (one, _), (other, _) = graph(ValueError("a")), graph(ValueError("b"))
    out = run(first_of(one, other), GIVEN)
    assert "b" in out["failure"]["findings"][0]["text"]


@pytest.mark.parametrize(
    ("error", "effect", "may_repeat", "goes_on"),
    [
        (ValueError("a"), "mutating", False, False),
        (TimeoutError("a"), "mutating", False, False),
        (TimeoutError("a"), "mutating", True, True),
        (Answered(401), "idempotent", False, True),
        (ValueError("a"), "read_only", False, True),
    ],
)
def test_first_of_goes_on_only_where_nothing_was_done(run, error, effect, may_repeat, goes_on):
    (bad, _), (good, tool) = graph(error, effect=effect), graph("b", effect=effect)
    out = run(first_of(bad, good, may_repeat=may_repeat), GIVEN)
    assert (out.get("result"), len(tool.ran)) == (("b", 1) if goes_on else (None, 0))


def test_first_of_goes_on_after_a_call_that_never_reached_its_tool(run):
    strict = Tool(schema={"q": DATE}, effect="mutating")
    good, _ = graph("b", effect="mutating")
    assert run(first_of(build_graph([strict.spec]), good), GIVEN)["result"] == "b"
    assert strict.ran == []


def test_a_call_in_doubt_since_an_earlier_run_is_not_tried_elsewhere(run):
    lost, _ = graph(TimeoutError("a"), effect="mutating")
    other, tool = graph(effect="mutating")
    given = {**GIVEN, "task_id": "1"}
    lost.invoke(given)
    out = run(first_of(lost, other), given)
    assert (out["failure"]["reason"], tool.ran) == ("unknown_outcome", [])


def test_first_of_takes_graphs_that_raise(run):
    bad, _ = graph(*[ValueError("a")] * 9, on_failure="raise")
    acting, _ = graph(*[ValueError("b")] * 9, effect="mutating", on_failure="raise")
    good, tool = graph()
    assert run(first_of(bad, good), GIVEN)["result"] == "ok"
    with pytest.raises(ValueError, match="b"):
        run(first_of(acting, good), GIVEN)
    assert len(tool.ran) == 1
    wrong = {"call": {"name": "nothing_like_it", "args": {}}}
    with pytest.raises(CorrectionFailed):
        run(first_of(acting), wrong)
    assert run(first_of(acting, waiting(lambda: "found", "nothing_like_it")), wrong)["result"]


def test_a_question_ends_the_order(run):
    ask, _ = asking()
    good, tool = graph()
    out = in_node(first_of(ask, good), InMemorySaver()).invoke(UNCLEAR, THREAD)
    assert (len(out["__interrupt__"]), tool.ran) == (1, [])


def test_the_fastest_success_wins_and_not_the_fastest_failure(run):
    bad, _ = graph(ValueError("a"))
    slow = waiting(lambda **_: time.sleep(0.05) or "slow")
    assert run(speculative(bad, slow), GIVEN)["result"] == "slow"


def test_of_failures_in_a_race_the_last_one_counts(run):
    late = waiting(lambda **_: time.sleep(0.3) or 1 / 0)
    out = run(speculative(late, graph(ValueError("early"))[0]), GIVEN)
    assert "division" in out["failure"]["findings"][0]["text"]


def test_a_loser_is_cancelled():
    ends = []

    async def hang(**_):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    out = asyncio.run(speculative(waiting(hang), graph("fast")[0]).ainvoke(GIVEN))
    assert (out["result"], ends) == ("fast", ["cancelled"])


def test_a_race_that_is_cancelled_cancels_its_graphs():
    ends = []

    async def hang(**_):
        try:
            await asyncio.sleep(60)
        finally:
            ends.append("ended")

    async def leave():
        race = speculative(waiting(hang), waiting(hang))
        await asyncio.wait_for(race.ainvoke(GIVEN), 0.3)

    with pytest.raises(TimeoutError):
        asyncio.run(leave())
    assert ends == ["ended", "ended"]


def test_a_loser_in_a_thread_calls_no_further_tool():
    begun, go, calls = threading.Event(), threading.Event(), []

    def fail(**_):
        calls.append(1)
        begun.set()
        go.wait(5)
        raise Answered(503, retry_after=0.01)

    def fast(**_):
        begun.wait(5)
        return "fast"

    assert speculative(waiting(fail), waiting(fast)).invoke(GIVEN)["result"] == "fast"
    go.set()
    for thread in [each for each in threading.enumerate() if each.name.startswith("speculative")]:
        thread.join(5)
    assert calls == [1]


def test_a_race_of_tools_that_act_must_say_that_it_may():
    acting, reading = graph(effect="mutating")[0], graph()[0]
    with pytest.raises(GraphSetupError, match="may_repeat=True"):
        speculative(reading, acting)
    with pytest.raises(GraphSetupError, match="may_repeat=True"):
        speculative(reading, RunnableLambda(lambda given: given))
    assert speculative(reading, first_of(reading))
    assert speculative(acting, reading, may_repeat=True)


def test_in_a_race_nobody_is_asked(run):
    ask, tool = asking()
    late = waiting(lambda **_: time.sleep(0.05) or "late")
    race = in_node(speculative(ask, late), InMemorySaver())
    assert run(race, UNCLEAR, THREAD)["result"] == "late"
    alone = in_node(speculative(ask), InMemorySaver())
    assert run(alone, UNCLEAR, THREAD)["failure"]["reason"] == "needs_person"
    assert tool.ran == []


def test_a_resumed_order_runs_nothing_twice(run):
    (bad, failed), (ask, tool) = failing(), asking()
    outer = in_node(first_of(bad, ask), InMemorySaver())
    assert run(outer, UNCLEAR, THREAD)["__interrupt__"]
    assert run(outer, Command(resume="2026-04-03"), THREAD)["result"] == "ok"
    assert (len(failed.ran), len(tool.ran)) == (1, 1)


def test_loop_until_the_check_holds(run):
    counting, tool = graph(1, 2, 3)
    out = run(loop_until(counting, lambda out: out["result"] >= 2, 5), GIVEN)
    assert (out["result"], len(tool.ran)) == (2, 2)


def test_feedback_makes_the_next_input(run):
    echo = waiting(lambda q: q)

    def more(given, out):
        return {"call": {"name": "t", "args": {"q": out["result"] + 1}}}

    assert run(loop_until(echo, lambda out: out["result"] == 3, 5, more), GIVEN)["result"] == 3


def test_a_loop_that_never_passes_ends_in_a_report(run):
    counting, tool = graph(1, 2, 3)
    out = run(loop_until(counting, lambda out: False, 3), GIVEN)
    failure = out["failure"]
    assert (failure["reason"], len(tool.ran), "result" in out) == ("limit_reached", 3, False)
    assert "`max_iterations` = 3" in failure["detail"]
    assert failure["for_model"].endswith("The last result, as data: 3")
    assert [each["outcome"] for each in failure["attempts"]] == ["done"] * 3


def test_a_loop_goes_on_after_a_failure_that_did_nothing(run):
    flaky, tool = graph(ValueError("a"), "good")
    assert run(loop_until(flaky, lambda out: True, 3), GIVEN)["result"] == "good"
    assert len(tool.ran) == 2
    failing, _ = graph(*[ValueError("a")] * 9)
    failure = run(loop_until(failing, lambda out: True, 2), GIVEN)["failure"]
    assert (failure["reason"], len(failure["attempts"])) == ("limit_reached", 2)
    assert '"a"' in failure["for_model"]


@pytest.mark.parametrize(
    ("error", "options", "reason"),
    [
        (TimeoutError("a"), {"effect": "mutating"}, "unknown_outcome"),
        (ValueError("a"), {"effect": "mutating"}, "refused"),
        (Answered(401), {"strategies": "operator_safe"}, "terminal_kind"),
    ],
)
def test_a_loop_ends_where_a_repetition_may_do_harm(run, error, options, reason):
    failing, tool = graph(error, **options)
    out = run(loop_until(failing, lambda out: True, 3), GIVEN)
    assert (out["failure"]["reason"], len(tool.ran)) == (reason, 1)


def test_a_resumed_loop_runs_nothing_twice(run):
    tool = Tool("early", "late", schema={"day": DATE})
    fixed = {"call": {"name": "t", "args": {"day": "2026-04-03"}}}
    loop = loop_until(
        build_graph([tool.spec]), lambda out: out["result"] == "late", 3, lambda *_: UNCLEAR
    )
    outer = in_node(loop, InMemorySaver())
    assert run(outer, fixed, THREAD)["__interrupt__"]
    assert run(outer, Command(resume="2026-04-04"), THREAD)["result"] == "late"
    assert tool.ran == [{"day": "2026-04-03"}, {"day": "2026-04-04"}]


def test_an_order_after_a_loop_that_acted_does_not_act_again(run):
    (acting, once), (other, tool) = graph(effect="mutating"), graph(effect="mutating")
    order = first_of(loop_until(acting, lambda out: False, 1), other)
    for _ in range(2):  # the second time the first tool's value comes from the ledger
        out = run(order, {**GIVEN, "task_id": "1"})
        assert out["failure"]["reason"] == "limit_reached"
    assert (len(once.ran), tool.ran) == (1, [])


def test_a_combination_is_a_node_that_streams_and_gets_the_config(run):
    seen = []
    inner = RunnableLambda(
        lambda given, config: seen.append(config["metadata"]["who"]) or {"result": "seen"}
    )
    good, _ = graph()
    config = {"metadata": {"who": "ann"}}
    for combined in (first_of(inner), speculative(inner, may_repeat=True)):
        assert run(in_node(combined), GIVEN, config)["result"] == "seen"
    assert seen == ["ann", "ann"]
    outer = in_node(loop_until(good, lambda out: True, 1), InMemorySaver())
    steps = [node for _, step in outer.stream(GIVEN, THREAD, subgraphs=True) for node in step]
    assert steps == ["plan", "execute", "inner"]
    assert "inner" in outer.get_graph(xray=True).draw_mermaid()


@pytest.mark.parametrize("effect", ["mutating", "destructive"])
def test_what_one_graph_lost_no_other_run_of_the_combination_does_again(effect):
    ledger, made = MemoryLedger(), []

    def pay(n: int) -> str:
        """Pay."""
        made.append(n)
        if len(made) == 1:
            raise TimeoutError("no answer")
        return "paid"

    def given(number):
        return {"call": {"name": "pay", "args": {"n": 1}, "id": str(number)}}

    graphs = [build_graph([ToolSpec.from_function(pay, effect=effect)], ledger=ledger)] * 2
    whole = first_of(*graphs, may_repeat=True)
    assert whole.invoke(given(1))["failure"]["reason"] == "unknown_outcome"
    assert made == [1]
    # Another run of the combination is another purpose.
    assert whole.invoke(given(1))["result"] == "paid"
