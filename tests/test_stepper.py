"""Steps, edits and forks of a run: LangGraph's own history, and no effect twice unasked."""

import asyncio
import json
import operator
from typing import Annotated, TypedDict

import pytest
from hypothesis import given, settings, strategies as st
from kit import DATE, Tool, table, with_rules
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from selfcorrect import GraphSetupError, SelfCorrectError, ToolSpec, build_graph
from selfcorrect.notebook import Stepper

MENDED = ["plan", "execute", "diagnose", "select_strategy", "repair", "validate", "retry"]


def step_through(tool, args, call_id="c1", **options):
    given_ = {"call": {"name": "t", "args": args, "id": call_id}}
    return Stepper(build_graph([tool.spec], **options), given_)


def broken(day="Oct 26, 2026"):
    tool = Tool(effect="mutating", schema={"day": DATE})
    return tool, step_through(tool, {"day": day})


@pytest.mark.parametrize(("before", "command", "status", "then"), table("stepper.txt", "commands"))
def test_commands_do_what_they_say_or_say_why_not(before, command, status, then):
    _, stepper = broken()
    for name, *args in before:
        getattr(stepper, name)(*args)
    old, (name, *args) = json.dumps(stepper.view(), ensure_ascii=False), command
    if status == "refused":
        with pytest.raises(GraphSetupError, match=then):
            getattr(stepper, name)(*args)
        assert json.dumps(stepper.view(), ensure_ascii=False) == old
        return
    assert getattr(stepper, name)(*args) is stepper
    view = stepper.view()
    following = [each["id"] for each in view["picture"]["nodes"] if each["mark"] == "next"]
    assert (view["status"], following) == (status, [then] if then else [])
    assert view["sentence"] in stepper.text()


def test_a_graph_without_a_checkpointer_is_left_alone():
    graph = build_graph([Tool().spec])
    assert Stepper(graph, {"call": {"name": "t", "args": {}}}).run().values["result"] == "ok"
    assert graph.checkpointer is None


def test_the_view_tells_the_path_and_the_change():
    _, stepper = broken()
    (change,) = stepper.run("validate").view()["detail"]["changes"]
    assert (change["place"], change["after"]) == ("day", '"2026-10-26"')
    view = stepper.run().view()
    assert [each["node"] for each in view["timeline"]] == ["", *MENDED, "execute"]
    visits = {each["id"]: each["visits"] for each in view["picture"]["nodes"]}
    assert (visits["execute"], visits["report_failure"]) == (2, 0)
    assert view["outcome"] == {"result": "ok"}
    assert "2026-10-26" in stepper.to_html()


def test_the_match_of_a_rule_is_shown():
    rule = {"id": "r", "match": "at most (?P<most>[0-9]+)", "kind": "validation", "repair": []}
    tool = Tool(ValueError("day: at most 5, ok"))
    stepper = step_through(tool, {"q": 9}, strategies=with_rules(rule)).run("select_strategy")
    (match,) = stepper.view()["detail"]["matches"]
    assert match["rule"] == "own/r"
    assert (match["text"], match["captures"]) == ("day: at most 5, ok", {"most": "5"})


@pytest.mark.parametrize("node", [*MENDED[1:], "execute"])
def test_an_edit_and_a_fork_go_on_as_in_plain_langgraph(node):
    edit = {"current": {"name": "t", "args": {"day": "2026-11-01"}}}
    outs, given_ = [], {"call": {"name": "t", "args": {"day": "Oct 26, 2026"}, "id": "c1"}}
    tool, stepper = broken()
    outs.append(stepper.run().goto(before=node).edit(edit).run().values)
    plain, config = (
        Tool(effect="mutating", schema={"day": DATE}),
        {"configurable": {"thread_id": 1}},
    )
    graph = build_graph([plain.spec], checkpointer=InMemorySaver())
    graph.invoke(given_, config)
    past = next(each for each in graph.get_state_history(config) if node in each.next)
    outs.append(graph.invoke(None, graph.update_state(past.config, edit)))
    assert outs[0]["trail"] == outs[1]["trail"]
    assert tool.ran == plain.ran


def test_a_question_waits_for_its_answer_and_a_fork_asks_again():
    tool, stepper = broken("03/04/2026")
    view = stepper.run().view()
    assert (view["status"], view["question"]["options"]) == ("waiting", [])
    with pytest.raises(GraphSetupError, match="answer"):
        stepper.step()
    stepper.answer({"action": "answer", "value": "2026-04-03"}).run()
    stepper.goto(before="repair").run().answer({"action": "answer", "value": "2026-03-04"}).run()
    assert [each["day"] for each in tool.ran] == ["2026-04-03", "2026-03-04"]
    # LangGraph's own copy of the state that a fork starts from is no moment.
    assert {each["kind"] for each in stepper.view()["timeline"]} == {"input", "step"}


@pytest.mark.parametrize("by", ["a person", "a rule"])
def test_a_relative_day_is_read_where_somebody_says_so(by):
    options = {"format-date": {"relative": True}}
    rule = {"id": "r", "code": ["format.date"], "repair": ["format-date"], "options": options}
    tool = Tool(effect="mutating", schema={"day": DATE})
    maps = {"strategies": with_rules(rule)} if by == "a rule" else {}
    stepper = step_through(tool, {"day": "Tomorrow"}, **maps).run("repair")
    if by == "a person":
        stepper.edit({"strategy": "format-date", "options": {"relative": True}})
    assert stepper.run().values["result"] == "ok"
    assert len(tool.ran) == 1


class Shared(TypedDict, total=False):
    items: Annotated[list, operator.add]


def foreign(fails=1, inner=None):
    """A graph with fan-out, one of whose nodes fails, and a node or graph that asks."""
    failures = [ValueError("sk-proj-abcdefgh12345678 \x1b[2J")] * fails

    def shaky(_):
        if failures:
            raise failures.pop()
        return {"items": ["shaky"]}

    def ask(_):
        return {"items": [interrupt("Which?")]}

    if inner:
        part = StateGraph(Shared).add_node("deep", ask).add_edge(START, "deep")
        ask = part.add_edge("deep", END).compile()
    graph = StateGraph(Shared).add_node("first", lambda _: {"items": ["first"]})
    graph.add_node("shaky", shaky).add_node("calm", lambda _: {"items": ["calm"]})
    graph.add_node("ask", ask).add_edge(START, "first")
    for middle in ("shaky", "calm"):
        graph.add_edge("first", middle).add_edge(middle, "ask")
    return graph.add_edge("ask", END).compile(name="foreign")


@pytest.mark.parametrize("inner", [False, True])
def test_other_graphs_are_stepped_too(inner):
    stepper = Stepper(foreign(inner=inner), {"items": []}).step()
    marks = {each["id"]: each["mark"] for each in stepper.view()["picture"]["nodes"]}
    assert (marks["shaky"], marks["calm"], marks["first"]) == ("next", "next", "current")
    view = stepper.run().view()
    assert view["status"] == "error"
    assert view["detail"]["error"].startswith("ValueError(")
    assert stepper.run().view()["question"]["question"] == "Which?"
    assert stepper.answer("this").view()["status"] == "finished"
    assert sorted(stepper.values["items"][1:3]) == ["calm", "shaky"]
    assert stepper.goto(1).edit({"items": ["by hand"]}, as_node="first").run()
    assert stepper.view()["timeline"][-2]["kind"] == "edit"


def test_a_run_is_paused_and_seen_from_elsewhere():
    def look(_):
        seen.append(stepper.pause().view())
        with pytest.raises(GraphSetupError, match="a command is at work"):
            stepper.back()

    seen, graph = [], StateGraph(Shared).add_node("one", look).add_node("two", lambda _: None)
    graph = graph.add_edge(START, "one").add_edge("one", "two").add_edge("two", END)
    stepper = Stepper(graph.compile(), {"items": []})
    stepper.run()
    assert (seen[0]["status"], seen[0]["commands"]) == ("running", ["pause"])
    assert (stepper.view()["status"], len(stepper.view()["timeline"])) == ("paused", 2)


def test_async_tools_are_stepped_beside_a_loop_at_work():
    async def t(q: int) -> int:
        await asyncio.sleep(0)
        return q

    async def cell():
        graph = build_graph([ToolSpec.from_function(t, effect="read_only")])
        return Stepper(graph, {"call": {"name": "t", "args": {"q": "5"}}}).run().values["result"]

    assert asyncio.run(cell()) == 5


PLAYS = {
    "ok": [],
    "lost": [TimeoutError("?")] * 9,
    "refused": [ValueError("q must be ISO")] * 9,
    "bug": [KeyError("x")] * 9,
}
moves = st.sampled_from(["step", "step", "step", "run", "back", "back", "goto", "restart", "edit"])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(moves, st.integers(0, 8)), max_size=20),
    st.sampled_from([*PLAYS]),
    st.sampled_from(["mutating", "destructive"]),
    st.sampled_from(["c1", None]),
)
def test_walks_never_act_twice(walk, plays, effect, call_id):
    tool = Tool(*PLAYS[plays], effect=effect)
    stepper = step_through(tool, {"q": "5"}, call_id)
    values = {"goto": lambda at: [at], "edit": lambda at: [{"counts": {}}]}
    for name, at in walk:
        try:
            getattr(stepper, name)(*values.get(name, lambda _: [])(at))
        except SelfCorrectError:
            continue
        assert stepper.view()["status"] != "error"
    assert len(tool.ran) <= 1


HOSTILE = "<script>alert(1)</script> \x1b[2J\u202e sk-proj-abcdefgh12345678 " + "x" * 10_000
JUNK = table("stepper.txt", "junk")
KEYS = ["current", "findings", "attempts", "tried", "selected", "failure", "result", "question"]


@pytest.mark.parametrize("key", KEYS)
def test_whatever_the_state_holds_is_shown_and_clean(key):
    _, stepper = broken(HOSTILE)
    stepper.run("repair")
    for junk in [*JUNK, HOSTILE]:
        assert stepper.edit({key: junk, "counts": {HOSTILE: HOSTILE}}).text()
    for shown in (
        json.dumps(stepper.view(), ensure_ascii=False),
        *stepper.snapshot().bundle.values(),
    ):
        assert not any(each in shown for each in ("\x1b", "\u202e"))
        assert "abcdefgh12345678" not in shown
        assert "x" * 2_001 not in shown
    assert "<script>alert" not in stepper.snapshot().bundle["text/html"]
