"""A lost call is made again only behind an answer to the question about that doubt."""

from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from kit import table
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import ErrorRule, SelfCorrection, StrategyMap, ToolSpec, build_graph
from selfcorrect.ledger import MemoryLedger, SqliteLedger
from selfcorrect.testing import ScriptedModel

ASK = ErrorRule(id="ask", error=["TimeoutError", "ValueError"], repair=["ask-human"])
MAP = StrategyMap([ASK], extends=["default"])
"""A person is asked about every error of the tool."""
CONFIG = {"configurable": {"thread_id": "t"}}
WHOLE = {"to": "ann", "amount": 5}
CALLS = table("doubts.txt", "calls")
ANSWERS = table("doubts.txt", "answers")
ENDS = ["paid", TimeoutError("x"), ValueError("x")]


def payer(ends):
    """Return a tool that acts, then ends as it is told; and the calls that it made."""
    made = []

    def pay(to: str, amount: int, when: Literal["now", "later"] = "now") -> str:
        """Pay somebody."""
        made.append((to, amount, when))
        end = ends.pop(0) if ends else "paid"
        if isinstance(end, Exception):
            raise end
        return end

    pay.metadata = {"effect": "mutating"}
    return pay, made


def is_about_a_loss(question):
    return question is not None and "lost" in [each["outcome"] for each in question["doubts"]]


class Talk:
    """Calls of one thread, with a person who answers: in a graph."""

    def __init__(self, pay, ledger):
        options = {"strategies": MAP, "ledger": ledger, "checkpointer": InMemorySaver()}
        self._graph = build_graph([ToolSpec.from_function(pay)], **options)
        self._number = 0

    def call(self, args):
        self._number += 1
        call = {"name": "pay", "args": args, "id": f"c{self._number}"}
        return self._ask({"call": call, "message_id": f"m{self._number}"})

    def answer(self, value):
        return self._ask(Command(resume=value))

    def _ask(self, given):
        out = self._graph.invoke(given, CONFIG)
        return out["__interrupt__"][0].value if "__interrupt__" in out else None


class AgentTalk(Talk):
    """The same in an agent; its model makes one call in each turn of the user's."""

    def __init__(self, pay, ledger):
        self._graph = create_agent(
            ScriptedModel([self._turn], again=True),
            [StructuredTool.from_function(pay, metadata=pay.metadata)],
            middleware=[SelfCorrection(strategies=MAP, ledger=ledger, ask_person=True)],
            checkpointer=InMemorySaver(),
        )
        self._number = 0

    def _turn(self, messages):
        if isinstance(messages[-1], ToolMessage):
            return "done"
        call = {"name": "pay", "args": self._args, "id": f"c{self._number}"}
        return AIMessage("", tool_calls=[call])

    def call(self, args):
        self._number, self._args = self._number + 1, args
        return self._ask({"messages": [HumanMessage("pay")]})


@pytest.mark.parametrize("ledger", ["memory", "sqlite"])
@pytest.mark.parametrize("host", [Talk, AgentTalk])
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_lost_call_runs_again_only_behind_an_answer_about_it(
    host, ledger, data, tmp_path_factory
):
    store = MemoryLedger()
    if ledger == "sqlite":
        store = SqliteLedger(tmp_path_factory.mktemp("ledger") / "ledger.db")
    ends = data.draw(st.lists(st.sampled_from(ENDS), max_size=6))
    ends = [TimeoutError("x"), *ends]
    pay, made = payer([*ends])
    talk, settled = host(pay, store), 0

    def check(before, question):
        """What ran now was in no doubt, or its doubt has been asked about and answered."""
        nonlocal settled
        lost = {
            call
            for call, end in [*zip(made, ends, strict=False)][settled:before]
            if isinstance(end, TimeoutError)
        }
        if is_about_a_loss(question) and len(made) > before:
            settled = before
            return
        assert not lost.intersection(made[before:])

    for args in [WHOLE, *data.draw(st.lists(st.sampled_from(CALLS), min_size=1, max_size=4))]:
        before, question = len(made), talk.call(args)
        check(before, None)
        for _ in range(4):
            if question is None:
                break
            before, asked = len(made), question
            question = talk.answer(data.draw(st.sampled_from(ANSWERS)))
            check(before, asked)
        if question is not None:
            talk.answer({"action": "reject", "question": question["id"]})


@pytest.mark.parametrize("end", [TimeoutError("x"), ValueError("x")], ids=repr)
def test_an_answer_about_the_doubt_makes_the_call_again_and_once(end):
    pay, made = payer([end, end])
    talk = Talk(pay, MemoryLedger())
    question = talk.call(WHOLE)
    assert [each["outcome"] for each in question["doubts"]] == [
        "lost" if isinstance(end, TimeoutError) else "refused"
    ]
    assert "before" in question["question"]
    again = talk.answer({"action": "approve", "question": question["id"]})
    assert len(made) == 2
    # What the second execution left in doubt is a doubt of its own.
    assert again is None
    assert talk.call(WHOLE) is None or isinstance(end, ValueError)
    assert len(made) == (3 if isinstance(end, ValueError) else 2)


def test_the_question_about_one_more_equal_call_vouches_for_those_before_it():
    pay, made = payer([])
    talk = Talk(pay, MemoryLedger())
    assert talk.call(WHOLE) is None
    assert talk.call(WHOLE) is None
    question = talk.call(WHOLE)
    assert [each["outcome"] for each in question["doubts"]] == ["done", "done"]
    assert talk.answer({"action": "approve", "question": question["id"]}) is None
    assert len(made) == 3
    assert talk.call(WHOLE)["doubts"]
