"""A question has an id and one answer; nothing that was executed is executed again for it."""

import asyncio

from kit import DATE, INTEGER, TEXT, Tool, answers_in
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from selfcorrect import Ask, ErrorRule, SelfCorrection, StrategyMap, build_graph
from selfcorrect.testing import ScriptedModel

CONFIG = {"configurable": {"thread_id": "t1"}}


def asked(tool, args, **options):
    """Run a call up to its question; return the graph and the question."""
    graph = build_graph([tool.spec], checkpointer=InMemorySaver(), **options)
    given = {"call": {"name": "t", "args": args}, "request": "please"}
    out = graph.invoke(given, CONFIG)
    return graph, out["__interrupt__"][0].value


def answer(graph, value):
    out = graph.invoke(Command(resume=value), CONFIG)
    return out, [each.value for each in out.get("__interrupt__", ())]


def test_a_question_carries_the_whole_history():
    tool = Tool(schema={"day": DATE})
    _, question = asked(tool, {"day": "03/04/2026"})
    assert {"errors", "tried", "refused", "executions", "call", "request"} <= question.keys()
    assert (question["path"], question["request"]) == ("/args/day", "please")
    assert any("3 April 2026" in each["reason"] for each in question["tried"])


def test_a_second_click_answers_no_other_question():
    rule = ErrorRule(id="two", code="type", repair=[lambda c, d, k: Ask(f"{d.path}?")])
    strategies = StrategyMap([rule], extends=["default"])
    tool = Tool(schema={"a": INTEGER, "b": INTEGER}, effect="mutating")
    graph, first = asked(tool, {"a": "x", "b": "y"}, strategies=strategies)
    click = {"action": "answer", "value": 1, "question": first["id"]}
    _, second = answer(graph, click)
    assert second[0]["id"] != first["id"]
    _, third = answer(graph, click)
    assert third[0]["id"] == second[0]["id"]
    assert "another question" in third[0]["problem"]
    assert tool.ran == []
    done, _ = answer(graph, {"action": "answer", "value": 2, "question": second[0]["id"]})
    assert done["result"] == "ok"
    assert sorted(tool.ran[0].values()) == [1, 2]


def test_a_change_that_two_rounds_refused_is_offered_once():
    ages = {"type": "object", "properties": {"age": INTEGER}, "required": ["age"]}
    people = {**ages, "additionalProperties": False}
    seats = {**INTEGER, "minimum": 1}
    tool = Tool(schema={"seats": seats, "who": people}, effect="mutating")
    graph, question = asked(tool, {"seats": 0, "who": {"Age": "7"}})
    assert len(question["options"]) == len(question["refused"]) == 1
    out, _ = answer(graph, {"action": "approve"})
    assert out["result"] == "ok"
    assert tool.ran == [{"seats": 1, "who": {"age": 7}}]


def test_a_person_vouches_for_a_call_that_a_tool_refused():
    tool = Tool(
        ValueError("Value for 'q' must be one of ['a', 'b']"), effect="mutating", schema={"q": TEXT}
    )
    graph, question = asked(tool, {"q": "neither"})
    assert question["executions"] == 1
    out, _ = answer(graph, "a")
    assert out["result"] == "ok"
    assert [each["q"] for each in tool.ran] == ["neither", "a"]


def test_where_nobody_can_be_asked_the_report_has_the_question():
    tool = Tool(schema={"day": DATE})
    out = build_graph([tool.spec]).invoke({"call": {"name": "t", "args": {"day": "03/04/2026"}}})
    assert out["failure"]["reason"] == "needs_person"
    assert out["failure"]["question"]["path"] == "/args/day"


ASKED = StrategyMap(
    [ErrorRule(id="ask", error=["ValueError"], repair=["ask-human"])], extends=["default"]
)


def finder():
    """Return a tool that reads and refuses one word, and what it was asked."""
    asked = []

    def find(q: str) -> str:
        """Find."""
        asked.append(q)
        if q == "bad":
            raise ValueError("q must be a better word")
        return f"found {q}"

    find.metadata = {"effect": "read_only"}
    return find, asked


def finding_agent(find, saver):
    calls = [{"name": "find", "args": {"q": "bad"}, "id": f"c{n}"} for n in (1, 2)]
    return create_agent(
        ScriptedModel([AIMessage("", tool_calls=calls), "done"]),
        [find],
        middleware=[SelfCorrection(strategies=ASKED, ask_person=True)],
        checkpointer=saver,
    )


def ids_by_call(out):
    return {each.value["call"]["id"]: each.id for each in out["__interrupt__"]}


def test_the_answer_is_read_before_a_tool_runs_also_in_another_process(tmp_path):
    find, asked = finder()
    with SqliteSaver.from_conn_string(str(tmp_path / "thread.db")) as saver:
        out = finding_agent(find, saver).invoke({"messages": "x"}, CONFIG)
        ids = ids_by_call(out)
        assert asked == ["bad", "bad"]
        # Nothing of the first agent is left but what its checkpointer has written.
        edit = {"action": "edit", "args": {"q": "good"}}
        finding_agent(find, saver).invoke(Command(resume={ids["c1"]: edit}), CONFIG)
        assert asked == ["bad", "bad", "good"]
        end = finding_agent(find, saver)
        out = end.invoke(Command(resume={ids["c2"]: {"action": "reject"}}), CONFIG)
    assert asked == ["bad", "bad", "good"]
    answers = [each.text for each in answers_in(out["messages"])]
    assert answers[0] == "found good"
    assert "A person rejected the call" in answers[1]


def test_an_async_agent_asks_about_each_call_alone():
    find, asked = finder()
    agent = finding_agent(find, InMemorySaver())

    async def talk():
        out = await agent.ainvoke({"messages": "x"}, CONFIG)
        ids = ids_by_call(out)
        answers = {ids["c1"]: {"type": "reject"}, ids["c2"]: {"action": "answer", "value": "good"}}
        return await agent.ainvoke(Command(resume=answers), CONFIG)

    out = asyncio.run(talk())
    assert asked == ["bad", "bad", "good"]
    answers = [each.text for each in answers_in(out["messages"])]
    assert "A person rejected the call" in answers[0]
    assert answers[1] == "found good"
