"""How an agent ends, or goes on: terminal kinds, hard failures, calls that change nothing."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool

from selfcorrect import HardFailure, SelfCorrection
from selfcorrect.errors import ToolErrorTerminal, ToolExecutionError
from selfcorrect.policies import Hooks, ToolErrorPolicy
from selfcorrect.testing import ScriptedModel, tool_call


class Denied(Exception):
    status_code = 403


def reading(function):
    return StructuredTool.from_function(function, metadata={"effect": "read_only"})


def agent_of(function, script, **options):
    model = ScriptedModel(script)
    return create_agent(model, [reading(function)], middleware=[SelfCorrection(**options)]), model


@pytest.mark.parametrize(
    "policy", [ToolErrorPolicy.operator_safe(), ToolErrorPolicy().add_terminal_kind("auth")]
)
def test_a_terminal_kind_ends_the_agent_after_one_execution(policy):
    executed = []

    def look(item: str) -> str:
        """Look."""
        executed.append(item)
        raise Denied("not for you")

    script = [tool_call("look", item=str(n)) for n in range(9)]
    agent, model = agent_of(look, script, policy=policy)
    out = agent.invoke({"messages": "look it up"})
    assert len(executed) == 1
    assert len(model.prompts) == 1
    last = out["messages"][-1]
    assert last.type == "ai"
    assert not last.tool_calls
    assert last.response_metadata["selfcorrect"]["reason"] == "terminal_kind"


@pytest.mark.parametrize("tool_words", ["show", "hide"])
def test_who_is_told_that_the_run_ends_reads_what_the_tool_said(tool_words):
    def look(item: str) -> str:
        """Look."""
        raise Denied("the scope repo:write is missing")

    policy = ToolErrorPolicy.operator_safe()
    script = [tool_call("look", item="a"), "done"]
    agent, _ = agent_of(look, script, policy=policy, tool_words=tool_words)
    last = agent.invoke({"messages": "look it up"})["messages"][-1]
    assert ("the scope repo:write is missing" in last.text) == (tool_words == "show")


def test_a_listener_hears_of_a_name_that_no_tool_has_and_of_arguments_that_do_not_fit():
    heard = []

    def look(item: str) -> str:
        """Look."""
        return item

    def note(name, report):
        heard.append((name, report["reason"], report["findings"][0]["category"]))

    script = [tool_call("glance", item="a"), tool_call("look"), tool_call("look", item="a"), "done"]
    agent, _ = agent_of(look, script, hooks=Hooks(on_error=note))
    agent.invoke({"messages": "look it up"})
    assert heard == [
        ("glance", "no_strategy", "unknown_tool"),
        ("look", "needs_person", "missing_param"),
    ]


def test_or_raises_where_exceptions_are_wanted():
    def look(item: str) -> str:
        """Look."""
        raise Denied("not for you")

    agent, _ = agent_of(
        look,
        [tool_call("look", item="a"), "done"],
        policy=ToolErrorPolicy.operator_safe(),
        on_failure="raise",
    )
    with pytest.raises(ToolErrorTerminal):
        agent.invoke({"messages": "look it up"})


def test_a_hard_failure_propagates_with_its_own_reason():
    def look(item: str) -> str:
        """Look."""
        raise HardFailure("the account is frozen")

    agent, model = agent_of(look, [tool_call("look", item="a"), "done"])
    with pytest.raises(ToolExecutionError, match="the account is frozen") as raised:
        agent.invoke({"messages": "look it up"})
    assert isinstance(raised.value.__cause__, HardFailure)
    assert raised.value.report.reason == "terminal_kind"
    assert len(model.prompts) == 1


def test_the_same_call_with_the_same_answer_is_told_at_the_third_and_refused_at_the_fifth():
    executed = []

    def look(item: str) -> str:
        """Look."""
        executed.append(item)
        return "nothing new"

    agent, _ = agent_of(look, [*[tool_call("look", item="a") for _ in range(5)], "done"])
    out = agent.invoke({"messages": "look it up"})
    answers = [each for each in out["messages"] if each.type == "tool"]
    assert len(executed) == 4
    assert [each.content == "nothing new" for each in answers[:2]] == [True, True]
    assert "3 times" in answers[2].content
    assert answers[4].status == "error"
    assert answers[4].response_metadata["selfcorrect"]["reason"] == "repeated_failure"


def test_also_where_two_calls_take_turns():
    executed = []

    def look(item: str) -> str:
        """Look."""
        executed.append(item)
        return f"nothing new about {item}"

    script = [tool_call("look", item="ab"[n % 2]) for n in range(12)]
    agent, _ = agent_of(look, [*script, "done"])
    agent.invoke({"messages": "look it up"})
    assert executed == ["a", "b"] * 4


def test_an_answer_that_changes_is_progress():
    executed = []

    def look(item: str) -> str:
        """Look."""
        executed.append(item)
        return f"{len(executed)} % done"

    agent, _ = agent_of(look, [*[tool_call("look", item="a") for _ in range(9)], "done"])
    out = agent.invoke({"messages": "look it up"})
    assert len(executed) == 9
    assert not [each for each in out["messages"] if "times now" in each.text]


def test_limits_switch_it_off():
    executed = []

    def look(item: str) -> str:
        """Look."""
        executed.append(item)
        return "nothing new"

    script = [*[tool_call("look", item="a") for _ in range(7)], "done"]
    agent, _ = agent_of(look, script, limits={"nudge": 0, "repeats": 0})
    out = agent.invoke({"messages": "look it up"})
    assert len(executed) == 7
    assert {each.content for each in out["messages"] if each.type == "tool"} == {"nothing new"}


def test_a_new_message_of_a_person_starts_anew():
    executed = []

    def look(item: str) -> str:
        """Look."""
        executed.append(item)
        return "nothing new"

    script = [tool_call("look", item="a"), tool_call("look", item="a"), "done"]
    agent, _ = agent_of(look, [*script, *script, *script])
    messages = {"messages": []}
    for _ in range(3):
        messages = agent.invoke({"messages": [*messages["messages"], ("user", "look again")]})
    assert len(executed) == 6
