"""Every run that fails leaves one record for the operator."""

from __future__ import annotations

import datetime as dt
import logging

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from selfcorrect import Mender, SelfCorrection, ToolSpec, build_graph
from selfcorrect.batch.recorded_calls import repair
from selfcorrect.testing import ScriptedModel


def run(function, effect="read_only", **args):
    graph = build_graph([ToolSpec.from_function(function, effect=effect, name="look")])
    return graph.invoke({"call": {"name": "look", "args": args}})


def failed(caplog):
    return [each for each in caplog.records if "selfcorrect.failed" in each.getMessage()]


def broken(item: str) -> str:
    """Look something up, wrongly."""
    return {"known": item}["unknown"]


def refusing(item: str) -> str:
    """Refuse."""
    raise PermissionError(f"password=hunter2secret is not welcome at {item}")


def test_a_fault_of_the_tool_is_logged_with_its_traceback_and_its_place(caplog):
    with caplog.at_level(logging.WARNING, "selfcorrect"):
        out = run(broken, item="a")
    (record,) = failed(caplog)
    assert record.levelno == logging.WARNING
    text = record.getMessage()
    assert "exception=KeyError" in text
    assert "Traceback (most recent call last)" in text
    assert "kind=internal" in text
    line = broken.__code__.co_firstlineno + 2
    assert out["failure"]["where"].endswith(f"test_failed_log.py:{line}")
    assert out["failure"]["findings"][0]["kind"] == "internal"
    assert out["failure"]["findings"][0]["paths"] == []


def test_a_refusal_is_logged_without_secrets_and_without_a_traceback(caplog):
    with caplog.at_level(logging.WARNING, "selfcorrect"):
        run(refusing, item="a")
    (record,) = failed(caplog)
    text = record.getMessage()
    assert "exception=PermissionError" in text
    assert "tool=look" in text
    assert "hunter2secret" not in text
    assert "Traceback" not in text


def test_what_succeeds_is_not_logged_as_failed(caplog):
    with caplog.at_level(logging.DEBUG, "selfcorrect"):
        out = run(lambda item: item, item="a")
    assert out["result"] == "a"
    assert not failed(caplog)


@pytest.mark.parametrize("effect", ["mutating", "read_only"])
def test_a_fault_is_never_mended_into_another_question(effect):
    asked = []

    def report(year: int) -> str:
        """Report on a year."""
        asked.append(year)
        return {2023: "fine"}[year]

    out = run(report, effect, year=2024)
    assert asked == [2024]
    assert "result" not in out


@pytest.mark.parametrize("asks", [True, False])
def test_what_a_person_is_asked_about_has_not_failed(caplog, asks):
    """An ambiguous date in an agent: a warning where nobody is asked, and a question elsewhere."""

    def book(day: dt.date) -> str:
        """Book a flight."""
        return str(day)

    call = AIMessage("", tool_calls=[{"name": "book", "args": {"day": "03/04/2026"}, "id": "1"}])
    agent = create_agent(
        ScriptedModel([call, AIMessage("sorry")]),
        [book],
        middleware=[SelfCorrection(ask_person=asks)],
        checkpointer=InMemorySaver(),
    )
    with caplog.at_level(logging.WARNING, "selfcorrect"):
        out = agent.invoke({"messages": "?"}, {"configurable": {"thread_id": "t"}})
    assert ("__interrupt__" in out) is asks
    assert len(failed(caplog)) == (not asks)


def test_a_call_that_waits_for_a_persons_answer_is_no_failure(caplog):
    day = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}
    call = {"name": "book", "args": {"day": "03/04/2026"}}
    tool = {"name": "book", "parameters": day}
    with caplog.at_level(logging.WARNING, "selfcorrect"):
        asked = Mender([tool]).call(call)
        (recorded,) = repair([{"id": 1, "tools": [tool], "call": call}])
        assert failed(caplog) == []
        Mender([tool]).call({"name": "cook", "args": {}})
    assert asked.outcome == recorded["outcome"] == "ask"
    assert "nobody" not in f"{asked.detail}{recorded['detail']}"
    assert len(failed(caplog)) == 1, "what nobody is asked about is told"
