"""What each answer of a person comes to, by question: a decision is never taken for a value."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
from kit import answers_in, table
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import Field, WithJsonSchema

from selfcorrect import SelfCorrection, ToolSpec, build_graph
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.testing import ScriptedModel, tool_call

TABLE = Path(__file__).parent / "data" / "answers.txt"
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
CALL = {"to": "ann", "day": "2027-04-03", "seats": 2}
QUESTIONS = {
    "a text is missing": {"day": "2027-04-03", "seats": 2},
    "a day with two meanings": {**CALL, "day": "03/04/2027"},
    "a listed word": {**CALL, "kind": "neither"},
    "a boolean": {**CALL, "urgent": "perhaps"},
    "a change that is not allowed": {**CALL, "seats": 12},
    "one more equal call": CALL,
}
ANSWERS = [*table("persons.txt", "answers"), {"action": "edit", "args": {1: "ann"}}]


def mailer():
    """Return a tool that sends mail, and the mails that it sent."""
    sent = []

    def mail(
        to: str,
        day: Day,
        seats: Annotated[int, Field(le=9)],
        kind: Literal["approve", "later"] = "later",
        urgent: bool = False,
    ) -> str:
        """Send mail."""
        sent.append({"to": to, "day": day, "seats": seats, "kind": kind, "urgent": urgent})
        return "sent"

    return mail, sent


class InGraph:
    """A person who is asked by a graph."""

    def __init__(self, mail):
        tool = ToolSpec.from_function(mail, effect="mutating")
        self._graph = build_graph([tool], checkpointer=InMemorySaver())
        self._number = self.thread = 0

    def call(self, args):
        """Make a call; return the question, or what became of it."""
        self._number += 1
        call = {"name": "mail", "args": args, "id": f"c{self._number}"}
        return self._ask({"call": call, "message_id": f"m{self._number}"})

    def answer(self, value):
        return self._ask(Command(resume=value))

    def _ask(self, given):
        out = self._graph.invoke(given, {"configurable": {"thread_id": str(self.thread)}})
        if "__interrupt__" in out:
            return out["__interrupt__"][0].value
        return out.get("failure") or {"result": out["result"]}


class InAgent(InGraph):
    """A person who is asked by an agent."""

    def __init__(self, mail):
        self._number = self.thread = 0
        self._events = []
        tool = StructuredTool.from_function(mail, metadata={"effect": "mutating"})
        self._graph = self._build(tool)

    def _build(self, tool):
        ours = SelfCorrection(ask_person=True, on_trail=self._events.append)
        model = ScriptedModel([self._turn], again=True)
        return create_agent(model, [tool], middleware=[ours], checkpointer=InMemorySaver())

    def call(self, args):
        self._number, self._args = self._number + 1, args
        return self._ask({"messages": [HumanMessage("mail")]})

    def _turn(self, messages):
        if isinstance(messages[-1], ToolMessage):
            return "done"
        return tool_call("mail", f"c{self._number}", **self._args)

    def _ask(self, given):
        out = self._graph.invoke(given, {"configurable": {"thread_id": str(self.thread)}})
        if "__interrupt__" in out:
            return out["__interrupt__"][0].value
        said = [each.text for each in answers_in(out["messages"])]
        return self._events[-1].get("failure") or {"result": said[-1]}


class InNode(InAgent):
    """A person who is asked by a tool node."""

    def _build(self, tool):
        node = SelfCorrectingToolNode([tool], ask_person=True, on_trail=self._events.append)
        graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools")
        return graph.compile(checkpointer=InMemorySaver())

    def call(self, args):
        self._number, self._args = self._number + 1, args
        return self._ask({"messages": [self._turn([HumanMessage("mail")])]})


def outcome(person, sent, args, answer):
    """Return what an answer came to, in a few words."""
    person.thread += 1
    asked = person.call(args)
    while "result" in asked:
        asked = person.call(args)
    before = len(sent)
    end = person.answer(answer)
    ran = sent[before:]
    if "problem" in end or "question" in end:
        assert not ran
        return "asked again" if end["id"] == asked["id"] else "asked about what was answered"
    if "result" in end and not ran:
        return f"answers {end['result']!r}"
    if "result" in end:
        made = [
            f"{key}={item}" for key, item in ran[0].items() if item != {**DEFAULTS, **args}.get(key)
        ]
        return " ".join(["runs", *made])
    assert not ran
    return end["reason"]


DEFAULTS = {"kind": "later", "urgent": False}


def rows(host):
    mail, sent = mailer()
    person = host(mail)
    yield f"{'answer':68}{''.join(f'{each:32}' for each in QUESTIONS)}".rstrip()
    for answer in ANSWERS:
        cells = [outcome(person, sent, args, answer) for args in QUESTIONS.values()]
        yield (f"{str(answer)[:66]:68}" + "".join(f"{each:32}" for each in cells)).rstrip()


@pytest.mark.parametrize("host", [InGraph, InAgent, InNode])
def test_the_table_is_the_one_that_is_written_down(host):
    table = "\n".join([*rows(host), ""])
    print(table)  # noqa: T201
    assert table == TABLE.read_text("utf-8")
