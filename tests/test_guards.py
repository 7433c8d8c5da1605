"""`before=`: a guard is passed by every way into its node, in whatever runs the loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send
from test_own_nodes import SPEC, Reservation, both, call

from selfcorrect import Mender, SelfCorrection, ToolSpec, build_graph, repair_call, resume
from selfcorrect.cli.graph import outline
from selfcorrect.drawing import Shape
from selfcorrect.drawing.mermaid import mermaid
from selfcorrect.drawing.svg import picture
from selfcorrect.errors import GraphSetupError
from selfcorrect.integrations.menders import Menders
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.loop.context import run_sync
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import Walk
from selfcorrect.notebook import Stepper, trail
from selfcorrect.testing import ScriptedModel, VirtualTime, play, tool_call

CONFIG: Any = {"configurable": {"thread_id": "t"}}
DEAR = {"before_execute": {"dear": "report_failure"}}


class Desk:
    """A tool whose effects are counted, and a guard that notes what it saw."""

    def __init__(self, *errors: Exception, most: int = 5) -> None:
        self.done: list[int] = []
        self.seen: list[Any] = []
        self.errors = list(errors)
        self.most = most

    @property
    def tool(self) -> ToolSpec:
        def reserve(nights: int) -> str:
            """Reserve a room."""
            if self.errors:
                raise self.errors.pop(0)
            self.done.append(nights)
            return f"{nights} nights"

        return ToolSpec.from_function(reserve, effect="idempotent")

    def guard(self, state: Any, context: Any) -> dict[str, Any]:
        nights = state["current"]["args"]["nights"]
        self.seen.append(nights)
        assert type(nights) is int
        return {"outcome": "dear" if nights > self.most else "passed"}

    def ask(self, state: Any, context: Any) -> dict[str, Any]:
        self.seen.append(state["current"]["args"]["nights"])
        if context.ask_person({"question": "May it?"}) == "yes":
            return {}
        return {"stop": {"reason": "rejected", "detail": "a person said no"}}


def nodes_of(out: Any) -> list[str]:
    return [event["node"] for event in out["trail"]]


@pytest.mark.parametrize(
    ("nights", "result", "seen"),
    [(2, "2 nights", [2]), ("2", "2 nights", [2]), (9, None, [9]), ("9", None, [9])],
)
def test_healthy_and_mended_calls_pass_it_alike(nights, result, seen):
    desk = Desk()
    out = both([desk.tool], call(nights), before={"execute": desk.guard}, routes=DEAR)
    assert out.get("result") == result
    assert desk.seen == seen * 4
    assert desk.done == [2] * 4 * bool(result)
    if result is None:
        assert out["failure"]["detail"] == "before_execute: dear"


def test_a_call_that_cannot_be_made_is_no_question_for_it():
    desk = Desk()
    out = both([desk.tool], call("many"), before={"execute": desk.guard}, routes=DEAR)
    assert out["failure"]["reason"] == "needs_person"
    assert desk.seen == []
    event = out["trail"][1]
    assert (event["node"], event["next"], event["ok"]) == ("before_execute", "diagnose", False)


def test_each_attempt_passes_it_again():
    desk = Desk(ConnectionError("reset"), ConnectionError("reset"))
    options = {"before": {"execute": desk.guard}, "routes": DEAR}
    out = play([desk.tool], call(2), time=VirtualTime(), **options)
    assert out["result"] == "2 nights"
    assert desk.seen == [2, 2, 2]
    assert nodes_of(out).count("before_execute") == nodes_of(out).count("execute") == 3


def test_ways_of_ones_own_pass_it():
    desk = Desk()
    own: Any = {
        "nodes": {"fewer": lambda state, context: {"current": call(1)["call"]}},
        "routes": {"before_execute": {"dear": "fewer"}, "fewer": {"ok": "execute"}},
    }
    out = both([desk.tool], call(9), before={"execute": desk.guard}, **own)
    assert out["result"] == "1 nights"
    assert desk.seen == [9, 1] * 4


@pytest.mark.parametrize("told", [None, {}, {"outcome": "passed"}])
def test_a_guard_without_outcomes_of_its_own_need_not_name_the_one(told):
    assert both([SPEC], call(2), before={"execute": lambda *_: told})["result"] == "2 nights"


@pytest.mark.parametrize("told", [None, {}, {"outcome": "daer"}, {"outcome": ""}])
def test_what_a_guard_with_outcomes_does_not_say_is_no_yes(told):
    own: Any = {"before": {"execute": lambda *_: told}, "routes": DEAR}
    for run in (build_graph([SPEC], **own).invoke, lambda given: play([SPEC], given, **own)):
        with pytest.raises(GraphSetupError, match="before_execute must return an outcome"):
            run(call(2))


def test_what_a_guard_does_to_the_call_is_checked_and_told():
    def fewer(state: Any, context: Any) -> None:
        state["current"]["args"]["nights"] = "some" if len(state["trail"]) < 2 else 1

    out = both([SPEC], call(2), before={"execute": fewer})
    assert out["failure"]["changes"][0]["strategy"] == "before_execute"
    assert out["failure"]["counts"].get("attempts", 0) == 0


def test_a_guard_before_the_plan_sees_the_input_and_keeps_it():
    def look(state: Any, context: Any) -> dict[str, Any]:
        assert state["call"] == call("2")["call"]
        return {"seen": [str(state["given"]["request"])]}

    given = call("2", request="two nights")
    out = both([SPEC], given, before={"plan": look}, state=Reservation)
    assert (out["result"], out["seen"]) == ("2 nights", ["two nights"])
    assert [event["step"] for event in out["trail"]] == list(range(9))
    stop = {"stop": {"reason": "rejected", "detail": "closed"}}
    assert both([SPEC], given, before={"plan": lambda *_: stop})["failure"]["detail"] == "closed"


def test_a_guard_before_the_report_does_not_hide_why():
    seen: list[str] = []

    def note(state: Any, context: Any) -> None:
        seen.append(state["stop"]["reason"])

    out = both([SPEC], call("many"), before={"report_failure": note})
    assert out["failure"]["reason"] == "needs_person"
    assert seen == ["needs_person"] * 4
    alike = both([SPEC], call("many"), on_edge={("select_strategy", "report_failure"): note})
    assert alike["failure"]["detail"] == out["failure"]["detail"]


def test_a_guard_that_never_lets_the_report_come_is_left_behind():
    own: Any = {
        "before": {"report_failure": lambda *_: {"outcome": "again"}},
        "routes": {"before_report_failure": {"again": "select_strategy"}},
    }
    for out in (
        play([SPEC], call("many"), **own),
        build_graph([SPEC], **own).invoke(call("many"), {"recursion_limit": 30}),
    ):
        assert out["failure"]["reason"] == "limit_reached"


@pytest.mark.parametrize("left", range(4, 30))
def test_the_report_comes_before_the_hosts_last_step(left):
    own: Any = {"before": dict.fromkeys(("execute", "report_failure"), lambda *_: {})}
    out = build_graph([SPEC], **own).invoke(call("many"), {"recursion_limit": left})
    assert out["failure"]["reason"] in ("limit_reached", "needs_person")


HANDED: Any = {
    "phase": "diagnose",
    "current": call("2")["call"],
    "original": call("2")["call"],
    "error": {"source": "schema", "findings": []},
    "counts": {},
    "given": {},
    "run": "r",
}


def test_what_another_runner_hands_over_passes_it():
    seen: list[str] = []
    own: Any = {"before": {"diagnose": lambda state, _: seen.append(state["run"])}}
    stop: Any = {"before": {"diagnose": lambda *_: {"outcome": "stopped"}}}
    for options, last in ((stop, "report_failure"), (own, "report_failure")):
        walked = play([SPEC], HANDED, **options)
        graph = build_graph([SPEC], **options)
        builder: Any = graph.builder
        assert builder.branches[START]["entry"].ends["before_diagnose"] == "before_diagnose"
        assert nodes_of(walked)[0] == "before_diagnose"
        assert nodes_of(walked)[-1] == last
    assert seen == ["r"]
    for run in (build_graph([SPEC]).invoke, lambda given: play([SPEC], given)):
        with pytest.raises(GraphSetupError, match="a run enters at"):
            run({**HANDED, "phase": "execute"})


class TestAPerson:
    @pytest.mark.parametrize("nights", [2, "2"])
    def test_is_asked_once_and_the_call_is_made_once(self, nights):
        desk = Desk()
        graph = build_graph([desk.tool], before={"execute": desk.ask}, checkpointer=InMemorySaver())
        out = graph.invoke(call(nights), CONFIG)
        assert out["__interrupt__"][0].value == {"question": "May it?"}
        assert (graph.get_state(CONFIG).next, desk.done) == (("before_execute",), [])
        assert graph.invoke(Command(resume="yes"), CONFIG)["result"] == "2 nights"
        assert (desk.done, desk.seen) == ([2], [2, 2])
        assert resume(graph, call(nights), CONFIG)["result"] == "2 nights"
        assert desk.done == [2]

    def test_may_say_no(self):
        desk = Desk()
        graph = build_graph([desk.tool], before={"execute": desk.ask}, checkpointer=InMemorySaver())
        asyncio.run(graph.ainvoke(call(2), CONFIG))
        out = asyncio.run(graph.ainvoke(Command(resume="no"), CONFIG))
        assert (out["failure"]["detail"], desk.done) == ("a person said no", [])


def test_a_thread_from_before_the_guard_passes_it():
    desk, saver = Desk(), InMemorySaver()
    old = build_graph([desk.tool], checkpointer=saver)
    old.invoke(call(9), CONFIG, interrupt_before=["execute"])
    new = build_graph([desk.tool], checkpointer=saver, before={"execute": desk.guard}, routes=DEAR)
    assert new.invoke(None, CONFIG)["failure"]["detail"] == "before_execute: dear"
    assert (desk.seen, desk.done) == ([9], [])


def test_calls_of_a_message_are_asked_about_and_made_once():
    desk = Desk()
    node = SelfCorrectingToolNode([reserve_of(desk)], ask_person=True, before={"execute": desk.ask})
    calls = [{**call(nights)["call"], "id": str(nights), "type": "tool_call"} for nights in (2, 9)]
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", node)
    each_alone = [Send("tools", [one]) for one in calls]
    builder.add_conditional_edges(START, lambda _: each_alone, ["tools"])
    graph = builder.compile(checkpointer=InMemorySaver())
    asked = graph.invoke({"messages": [AIMessage("", id="m", tool_calls=calls)]}, CONFIG)
    assert desk.done == []
    answers = {each.id: "yes" for each in asked["__interrupt__"]}
    out = graph.invoke(Command(resume=answers), CONFIG)
    made = [each.status for each in out["messages"] if isinstance(each, ToolMessage)]
    assert (made, sorted(desk.done)) == (["success"] * 2, [2, 9])


def test_a_walk_that_was_left_before_there_was_a_guard_passes_it():
    desk = Desk(GraphInterrupt(()))
    left = Walk(assemble([desk.tool]), call(9))
    with pytest.raises(GraphInterrupt):
        run_sync(left.run(assemble([desk.tool]).start()))
    assert left.node == "execute"
    loop = assemble([desk.tool], Options(before={"execute": desk.guard}, routes=DEAR))
    out = run_sync(Walk(loop, left.state, left.node).run(loop.start()))
    assert out["failure"]["detail"] == "before_execute: dear"
    assert (desk.seen, desk.done) == ([9], [])


def test_it_is_drawn_whatever_draws():
    graph = build_graph([SPEC], before={"execute": Desk().guard}, routes=DEAR)
    shape = Shape.of_graph(graph)
    edges = {(edge.source, edge.target) for edge in shape.edges}
    assert {source for source, target in edges if target == "execute"} == {"before_execute"}
    assert {source for source, target in edges if target == "before_execute"} == {"plan", "retry"}
    assert shape.is_loop
    drawn = graph.get_graph()
    assert "before_execute -. &nbsp;passed&nbsp; .-> execute" in drawn.draw_mermaid()
    for text in (outline(drawn), mermaid(shape), picture(shape)):
        assert "dear" in text
    assert "before execute" in graph._repr_mimebundle_()["image/svg+xml"]
    replay = trail(graph.invoke(call("2"))).shape
    assert {edge.source for edge in replay.edges if edge.target == "execute"} == {"before_execute"}


def test_what_has_no_place_by_hand_is_laid_out():
    own: Any = {
        "before": {"execute": lambda *_: {"outcome": "passed"}, "validate": lambda *_: {}},
        "routes": {"before_execute": {"again": "validate"}},
    }
    shape = Shape.of_graph(build_graph([SPEC], **own))
    ends = {(edge.source, edge.target) for edge in shape.edges}
    assert {("before_execute", "before_validate"), ("before_validate", "validate")} <= ends
    assert "before validate" in picture(shape)


class TestTheStepper:
    def test_steps_onto_it(self):
        desk = Desk()
        stepper = Stepper(
            build_graph([desk.tool], before={"execute": desk.guard}, routes=DEAR), call("9")
        )
        stepper.step().step()
        assert stepper.here.frame.nodes == ("before_execute",)
        assert stepper.here.frame.title == "not called: it does not fit the tool"
        stepper.run(until="before_execute")
        assert stepper.here.next == ("before_execute",)
        stepper.run()
        assert stepper.values["failure"]["detail"] == "before_execute: dear"
        assert desk.done == []

    def test_an_edit_after_it_passes_it_again(self):
        desk = Desk()
        stepper = Stepper(
            build_graph([desk.tool], before={"execute": desk.guard}, routes=DEAR), call(2)
        )
        stepper.run(until="execute")
        stepper.edit({"args": {"nights": 9}})
        assert stepper.here.next == ("before_execute",)
        stepper.run(confirm=True)
        assert (desk.seen, desk.done) == ([2, 9], [])


@pytest.mark.parametrize("nights", [9, "9"])
def test_a_mender_calls_nothing_ready_that_it_refuses(nights):
    desk = Desk()
    options: Any = {"before": {"execute": desk.guard}, "routes": DEAR}
    for mended in (
        Mender([desk.tool], **options).call(call(nights)["call"]),
        repair_call(call(nights)["call"], [desk.tool], **options),
    ):
        assert (mended.outcome, mended.ready) == ("failed", ())
    assert desk.seen == [9, 9]
    assert Mender([desk.tool], **options).call(call("2")["call"]).ready[0].args == {"nights": 2}


def test_a_framework_that_executes_itself_takes_none():
    with pytest.raises(GraphSetupError, match="the framework executes"):
        Menders(before={"execute": Desk().guard})
    Menders(before={"report_failure": lambda *_: {}})


def reserve_of(desk: Desk) -> Any:
    def reserve(nights: int) -> str:
        """Reserve a room."""
        desk.done.append(nights)
        return f"{nights} nights"

    return reserve


def in_an_agent(desk: Desk, given: Any, **options: Any) -> Any:
    model = ScriptedModel(script=[tool_call("reserve", nights=given), "done"])
    return create_agent(
        model,
        [reserve_of(desk)],
        middleware=[SelfCorrection(**options)],
        checkpointer=InMemorySaver(),
    )


@pytest.mark.parametrize(
    ("nights", "seen", "done"), [(2, [2], [2]), ("2", [2], [2]), (9, [9], []), ("9", [9], [])]
)
def test_in_an_agent_every_call_passes_it_once(nights, seen, done):
    desk = Desk()
    agent = in_an_agent(desk, nights, before={"execute": desk.guard}, routes=DEAR)
    out = agent.invoke({"messages": [HumanMessage("please")]}, CONFIG)
    assert (desk.seen, desk.done) == (seen, done)
    (answer,) = [each for each in out["messages"] if isinstance(each, ToolMessage)]
    assert answer.status == ("success" if done else "error")


@pytest.mark.parametrize("nights", [2, "2"])
def test_in_an_agent_a_person_is_asked_once(nights):
    desk = Desk()
    agent = in_an_agent(desk, nights, before={"execute": desk.ask}, ask_person=True)
    out = agent.invoke({"messages": [HumanMessage("please")]}, CONFIG)
    assert out["__interrupt__"][0].value == {"question": "May it?"}
    assert desk.done == []
    out = agent.invoke(Command(resume="yes"), CONFIG)
    assert "__interrupt__" not in out
    assert desk.done == [2]


@pytest.mark.parametrize("nights", [9, "9"])
def test_in_a_tool_node(nights):
    desk = Desk()
    node = SelfCorrectingToolNode([reserve_of(desk)], before={"execute": desk.guard}, routes=DEAR)
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools")
    made = AIMessage("", tool_calls=[{"name": "reserve", "args": {"nights": nights}, "id": "a"}])
    out = builder.compile().invoke({"messages": [made]})
    assert (out["messages"][-1].status, desk.done, desk.seen) == ("error", [], [9])
