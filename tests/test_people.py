"""People: what they are told before they decide, and what becomes of each answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import Ask, ErrorRule, StrategyMap, ToolSpec, build_graph, on_error
from selfcorrect.testing import ScriptedModel

CONFIG: Any = {"configurable": {"thread_id": "t"}}
SCHEMA = {
    "name": "pay",
    "parameters": {
        "type": "object",
        "properties": {
            "amount": {"type": "integer", "minimum": 1, "x-sensitive": True},
            "to": {"type": "string", "enum": ["ann", "bob"]},
            "note": {"type": "string", "maxLength": 20},
        },
        "required": ["amount", "to"],
    },
}


class Refused(Exception):
    """As a web service refuses a call."""

    status_code = 422


class World:
    def __init__(self, error: Exception | None = None) -> None:
        self.paid: list[dict[str, Any]] = []
        self.error = error

    def pay(self, **args: Any) -> str:
        self.paid.append(args)
        if self.error is not None and len(self.paid) == 1:
            raise self.error
        return "paid"

    def spec(self, effect: Any = "mutating") -> ToolSpec:
        return ToolSpec.from_schema(SCHEMA, call=self.pay, effect=effect)


def start(args: dict[str, Any], world: World | None = None, **options: Any) -> Any:
    world = world or World()
    graph = build_graph(
        [world.spec(options.pop("effect", "mutating"))], checkpointer=InMemorySaver(), **options
    )
    given = {"call": {"name": "pay", "args": args, "id": "c1"}, "request": "pay Ann 5"}
    return graph, graph.invoke(given, CONFIG), world


def asked(out: Any) -> dict[str, Any]:
    value: dict[str, Any] = out["__interrupt__"][0].value
    return value


class TestQuestion:
    def test_carries_everything_that_is_needed(self):
        _, out, _ = start({"amount": "2.5", "TO": "ann"})
        question = asked(out)
        assert question["request"] == "pay Ann 5"
        assert question["original"]["args"] == {"amount": "2.5", "TO": "ann"}
        assert question["call"]["args"] == {"amount": "2.5", "to": "ann"}
        assert {change["path"] for change in question["changes"]} == {"/args/TO", "/args/to"}
        assert question["errors"] == ["argument 'amount': expected integer, got string"]
        assert ("convert-type", "gave_up") in {
            (t["strategy"], t["outcome"]) for t in question["tried"]
        }
        assert (question["executions"], question["acted"], question["effect"]) == (
            0,
            "no",
            "mutating",
        )
        assert question["answers"] == ["approve", "choose", "answer", "edit", "reject"]

    def test_says_whether_the_tool_may_have_acted(self):
        world = World(Refused("to: nobody of that name"))
        _, out, _ = start({"amount": 5, "to": "ann"}, world, strategies=ASKING)
        assert (asked(out)["executions"], asked(out)["acted"]) == (1, "refused")

    def test_reads_like_a_sentence(self):
        question = asked(start({"amount": 5, "to": "annie"})[1])["question"]
        assert question == (
            'Tool "pay": argument "to" is now "annie". The error: "argument \'to\': not one of the '
            'allowed values". What should it be?'
        )

    def test_offers_only_what_the_check_would_let_pass(self):
        told = ErrorRule(id="ask", error="InvalidArgs", repair=["clamp-badly", "ask-human"])
        from selfcorrect import Change, Changed, Safety

        def clamp_badly(call, diagnosis, context):
            return Changed(Change("/args/amount", call.args["amount"], -1, Safety.LOSSY, "bad"))

        map_ = StrategyMap(rules=[told], extends=[], use={"clamp-badly": clamp_badly})
        _, out, _ = start({"amount": 0, "to": "ann"}, strategies=map_)
        assert asked(out)["options"] == []

    def test_what_one_strategy_proposed_stays_together(self):
        from selfcorrect import Change, Changed, Safety

        def both(call, diagnosis, context):
            return Changed(
                Change("/args/to", "annie", "ann", Safety.LOSSY, "guess"),
                Change("/args/note", "x", "y", Safety.LOSSY, "guess"),
            )

        rule = ErrorRule(id="ask", error="InvalidArgs", repair=["both", "ask-human"])
        map_ = StrategyMap(rules=[rule], extends=[], use={"both": both})
        args = {"amount": 5, "to": "annie", "note": "x"}
        graph, out, world = start(args, strategies=map_)
        (first, *_) = asked(out)["options"]
        assert [change["path"] for change in first] == ["/args/to", "/args/note"]
        graph.invoke(Command(resume={"action": "choose", "choice": 0}), CONFIG)
        assert world.paid == [{"amount": 5, "to": "ann", "note": "y"}]


ASKING = StrategyMap(
    rules=[ErrorRule(id="ask", error="Refused", repair=["ask-human"])],
    extends=["default"],
)


class TestAnswers:
    def test_a_whole_edit_settles_everything_at_once(self):
        graph, out, world = start({"amount": "2.5", "to": "carl"})
        answer = {"action": "edit", "args": {"amount": 5, "to": "ann"}}
        out = graph.invoke(Command(resume=answer), CONFIG)
        assert "__interrupt__" not in out
        assert (out["result"], world.paid) == ("paid", [{"amount": 5, "to": "ann"}])

    def test_also_after_an_error_of_the_tool(self):
        world = World(Refused("to: nobody; amount: too much"))
        graph, out, _ = start({"amount": 9, "to": "bob"}, world, strategies=ASKING)
        answer = {"action": "edit", "args": {"amount": 5, "to": "ann"}}
        out = graph.invoke(Command(resume=answer), CONFIG)
        assert "__interrupt__" not in out
        assert world.paid[1:] == [{"amount": 5, "to": "ann"}]

    def test_an_edit_is_checked_again(self):
        graph, out, world = start({"amount": "2.5", "to": "ann"})
        out = graph.invoke(
            Command(resume={"action": "edit", "args": {"amount": 0, "to": "ann"}}), CONFIG
        )
        assert "less than the minimum" in asked(out)["question"]
        assert world.paid == []
        answer = {"action": "answer", "value": 5, "question": asked(out)["id"]}
        out = graph.invoke(Command(resume=answer), CONFIG)
        assert world.paid == [{"amount": 5, "to": "ann"}]

    @pytest.mark.parametrize(
        ("answer", "problem"),
        [
            ({"action": "chose", "choice": 0}, "no such action; the actions are approve, choose"),
            ({"action": "choose", "choice": 7}, "one of the 2 options, by its index from 0"),
            ({"action": "choose", "value": "bob"}, "choice is one of the 2 options"),
            ({"action": "approve"}, "not one proposal to approve, but 2"),
            ({"action": "answer"}, "holds no value"),
            ("carl", "that is the value that cannot be right"),
        ],
    )
    def test_what_cannot_be_used_is_asked_for_again(self, answer: Any, problem: str):
        graph, out, world = start({"amount": 5, "to": "carl"})
        first = asked(out)
        again = asked(graph.invoke(Command(resume=answer), CONFIG))
        assert problem in again["problem"]
        assert (again["question"], again["options"]) == (first["question"], first["options"])
        out = graph.invoke(Command(resume={"action": "choose", "choice": 1}), CONFIG)
        assert (out["result"], world.paid) == ("paid", [{"amount": 5, "to": "bob"}])

    def test_nobody_is_asked_for_ever(self):
        graph, out, world = start({"amount": 5, "to": "carl"})
        for _ in range(20):
            out = graph.invoke(Command(resume={"action": "what"}), CONFIG)
            if "__interrupt__" not in out:
                break
        assert (out["failure"]["reason"], world.paid) == ("limit_reached", [])

    def test_a_rejection_leaves_one_honest_text(self):
        graph, _, world = start({"amount": "2.5", "to": "ann"})
        out = graph.invoke(Command(resume={"action": "reject", "reason": "too odd"}), CONFIG)
        assert (out["failure"]["reason"], world.paid) == ("rejected", [])
        assert out["failure"]["for_model"].startswith("The call was not made.")


def test_where_nobody_can_answer_the_report_carries_the_question():
    world = World()
    given = {"call": {"name": "pay", "args": {"amount": "2.5", "to": "ann"}}}
    failure = build_graph([world.spec()]).invoke(given)["failure"]
    assert failure["reason"] == "needs_person"
    assert failure["question"]["path"] == "/args/amount"
    assert failure["question"]["answers"][-1] == "reject"


class TestSensitive:
    """Shown to the person who decides; to no model, in no trail, in no report."""

    ARGS: ClassVar = {"amount": "97531.5", "to": "ann"}

    def test_the_person_sees_it(self):
        _, out, _ = start(self.ARGS)
        assert "97531.5" in asked(out)["question"]
        assert asked(out)["call"]["args"]["amount"] == "97531.5"

    def test_nobody_else_does(self):
        graph, _, world = start(self.ARGS)
        out = graph.invoke(Command(resume={"action": "answer", "value": 86420}), CONFIG)
        assert world.paid == [{"amount": 86420, "to": "ann"}]
        assert "97531" not in str(out["trail"])
        assert "86420" not in str(out["trail"])
        alone = build_graph([World().spec()]).invoke({"call": {"name": "pay", "args": self.ARGS}})
        assert "97531" not in str(alone)

    def test_no_model_is_shown_or_asked_for_it(self):
        model = ScriptedModel([{"to": "ann"}] * 4)
        args = {"amount": 97531, "to": "annie", "note": "97531 for annie"}
        start(args, model=model)
        assert model.prompts
        assert "97531" not in str(model.prompts)
        model = ScriptedModel([{"amount": 5}] * 4)
        start(self.ARGS, model=model)
        assert model.prompts == []

    def test_neither_does_the_log(self, caplog):
        caplog.set_level("INFO", logger="selfcorrect")
        start(self.ARGS)
        assert "97531" not in caplog.text

    def test_what_a_map_calls_sensitive_is_treated_alike(self):
        map_ = StrategyMap(extends=["default"], policy={"sensitive": ["note"]})
        args = {"amount": 5, "to": "carl", "note": "between us"}
        world = World()
        out = build_graph([world.spec()], strategies=map_).invoke(
            {"call": {"name": "pay", "args": args}}
        )
        assert "between us" not in str(out)


@pytest.mark.parametrize("effect", ["destructive"])
def test_no_model_is_paid_where_its_answer_would_be_refused(effect):
    model = ScriptedModel([])
    _, out, _ = start({"amount": 5, "to": "carl"}, effect=effect, model=model)
    assert "__interrupt__" in out
    assert model.prompts == []


def test_what_hides_values_leaves_the_words_of_the_trail_alone():
    schema = {
        "name": "pay",
        "parameters": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "x-sensitive": True},
                "kind": {"type": "string"},
                "amount": {"type": "integer"},
            },
            "required": ["amount"],
        },
    }
    spec = ToolSpec.from_schema(schema, call=lambda **args: "paid", effect="read_only")
    args = {"code": "repair", "kind": "repair it", "amount": "5"}
    out = build_graph([spec]).invoke({"call": {"name": "pay", "args": args}})
    assert [event["node"] for event in out["trail"]].count("repair") == 1
    shown = out["trail"][0]["call"]["args"]
    assert shown == {"code": "[sensitive]", "kind": "[sensitive] it", "amount": "5"}


def test_a_question_offers_the_readings_and_never_the_value_that_failed():
    def fly(day: date) -> str:
        """Fly on a day."""
        return f"on {day}"

    graph = build_graph([fly], checkpointer=InMemorySaver())
    out = graph.invoke({"call": {"name": "fly", "args": {"day": "03/04/2026"}}}, CONFIG)
    question = asked(out)
    assert question["options"] == ["2026-04-03", "2026-03-04"]
    assert question["question"].endswith("It could be 3 April or 4 March.")
    chosen = graph.invoke(Command(resume={"action": "choose", "choice": 1}), CONFIG)
    assert chosen["result"] == "on 2026-03-04"


def test_the_trail_keeps_who_answered():
    graph, out, _ = start({"amount": 5, "to": "carl"})
    assert asked(out)["path"] == "/args/to"
    done = graph.invoke(Command(resume={"action": "answer", "value": "ann", "by": "eve"}), CONFIG)
    assert done["result"] == "paid"
    assert [event["by"] for event in done["trail"] if "by" in event] == ["eve"]


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream"])
def test_none_is_a_no(how):
    """LangGraph alone cannot resume with it: it ends in an UnboundLocalError."""
    graph, _, world = start({"amount": 0, "to": "ann"})
    no = Command(resume=None)
    if how == "invoke":
        graph.invoke(no, CONFIG)
    elif how == "ainvoke":
        asyncio.run(graph.ainvoke(no, CONFIG))
    else:
        assert [*graph.stream(no, CONFIG)]
    assert graph.get_state(CONFIG).values["failure"]["reason"] == "rejected"
    assert not world.paid


@pytest.mark.parametrize("asks", [True, False])
def test_a_question_of_a_handler_is_bounded(asks):
    """An option that no call could hold is none."""
    big = "x" * 10_000_000
    question = Ask(big, (big, {"to": big}, 7))
    spec = World(Refused("no")).spec("read_only")
    spec = replace(spec, on_error=on_error(execution_error=lambda error: question))
    graph = build_graph([spec], checkpointer=InMemorySaver() if asks else None)
    out = graph.invoke({"call": {"name": "pay", "args": {"amount": 5, "to": "ann"}}}, CONFIG)
    told = asked(out) if asks else out["failure"]["question"]
    assert told["options"] == [7]
    assert len(json.dumps(told)) < 10_000
