"""Whoever escalates or throws, a model, a tool or its fixer: it ends alike in each host."""

import asyncio
import importlib.util
from itertools import product
from pathlib import Path

import pytest
from hosts import HOSTS, IN_AGENTS, in_graph, malformed
from kit import Tool, table
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph

from selfcorrect import (
    Escalation,
    EscalationError,
    Fix,
    GraphSetupError,
    HardFailure,
    SelfCorrection,
    build_graph,
    on_error,
    repair_call,
)
from selfcorrect.errors import ToolExecutionError
from selfcorrect.policies import Hooks
from selfcorrect.testing import ScriptedModel, aplay, play, tool_call
from selfcorrect.tools.built_in import escalate, throw_exception

NAMES = ("escalate", "throw_exception")
NO_REASON = "no reason was given"


def failure_in(host, name, args, **options):
    tools = [escalate, throw_exception] if host in IN_AGENTS else [Tool().spec, *NAMES]
    return host(tools, name, args, **options)["failure"]


ESCALATIONS = table("built_in.txt", "escalations")


@pytest.mark.parametrize(("host", "case"), [*product(HOSTS, ESCALATIONS)])
def test_escalate_ends_the_call_with_its_reason(host, case):
    args, reason, severity = case
    failure = failure_in(host, "escalate", args)
    assert (failure["reason"], failure["detail"]) == ("escalated", reason)
    assert failure["severity"] == severity
    for part in ("ERROR", "`escalate`", reason, severity, "Call again with corrected arguments"):
        assert part in failure["for_model"]


@pytest.mark.parametrize("host", HOSTS)
def test_an_escalation_is_an_error_for_callers_and_an_answer_for_models(host):
    args = {"reason": "bad keys", "severity": "low"}
    if host in IN_AGENTS:
        assert failure_in(host, "escalate", args, on_failure="raise")["reason"] == "escalated"
        return
    with pytest.raises(EscalationError, match="bad keys") as raised:
        failure_in(host, "escalate", args, on_failure="raise")
    assert raised.value.severity == "LOW"


@pytest.mark.parametrize(
    ("host", "case"),
    [*product(HOSTS, [({"reason": "binary data"}, "binary data"), ({}, NO_REASON)])],
)
def test_throw_exception_is_a_hard_failure_and_no_tool_use(host, case):
    args, reason = case
    uses = []
    hooks = Hooks(on_tool_use=lambda *use: uses.append(use))
    assert failure_in(host, "throw_exception", args, hooks=hooks)["detail"] == reason
    with pytest.raises(ToolExecutionError, match=reason):
        failure_in(host, "throw_exception", args, hooks=hooks, on_failure="raise")
    assert uses == []


def test_an_escalation_is_the_answer_of_its_tool():
    uses = []
    hooks = Hooks(on_tool_use=lambda name, args, result: uses.append((name, args, result)))
    failure = failure_in(in_graph, "escalate", {"reason": "bad keys"}, hooks=hooks)
    assert uses == [("escalate", {"reason": "bad keys"}, failure["for_model"])]


def test_built_in_tools_are_there_only_where_they_are_listed():
    given = {"call": {"name": "escalate", "args": {"reason": "x"}}}
    assert "no tool 'escalate'" in build_graph([Tool().spec]).invoke(given)["failure"]["detail"]
    assert repair_call({"name": "Escalate", "args": {"reason": "x"}}, NAMES).ready[0].name == (
        "escalate"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [("esclate", "did you mean 'escalate'"), ("search", "available: escalate, throw_exception")],
)
def test_another_name_is_an_error_with_the_near_one(name, text):
    with pytest.raises(GraphSetupError, match=text):
        build_graph([Tool().spec, name])


ENDINGS = [
    (Escalation("bad keys", "CRITICAL"), "escalated", "bad keys", EscalationError),
    (HardFailure("binary data"), "terminal_kind", "binary data", ToolExecutionError),
    (HardFailure(), "terminal_kind", NO_REASON, ToolExecutionError),
]


@pytest.mark.parametrize(
    ("effect", "ending"), [*product(("read_only", "idempotent", "mutating"), ENDINGS)]
)
def test_what_a_tool_raises_ends_the_run_the_same_way(effect, ending):
    error, reason, detail, kind = ending
    tool = Tool(*[error] * 9, effect=effect)
    given = {"call": {"name": "t", "args": {"q": 1}}}
    failure = build_graph([tool.spec]).invoke(given)["failure"]
    assert (failure["reason"], failure["detail"], len(tool.ran)) == (reason, detail, 1)
    tool = Tool(*[error] * 9, effect=effect)
    with pytest.raises(kind, match=detail):
        build_graph([tool.spec], on_failure="raise").invoke(given)


@pytest.mark.parametrize("error", [Escalation, HardFailure])
def test_a_reason_leaves_without_its_secrets(error):
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 2
    tool = Tool(error(f"the key {secret} is\x1b[2J refused"))
    failure = play([tool.spec], {"call": {"name": "t", "args": {}}})["failure"]
    assert secret not in str(failure)
    assert "\x1b" not in failure["detail"]


def test_a_tool_that_acts_and_escalates_leaves_a_doubt():
    tool = Tool(Escalation("who knows"), effect="mutating")
    failure = play([tool.spec], {"call": {"name": "t", "args": {"q": 1}}})["failure"]
    assert failure["attempts"][0]["outcome"] == "lost"
    assert "Nobody knows whether the call was done" in failure["for_model"]


@pytest.mark.parametrize(("error", "reason", "detail", "kind"), ENDINGS[:2])
def test_another_handler_does_not_try_again(error, reason, detail, kind):
    ran = []

    def look(q: int) -> str:
        """Look."""
        ran.append(q)
        raise error

    look.metadata = {"effect": "read_only"}
    retries = ToolRetryMiddleware(max_retries=2, initial_delay=0.0)
    model = ScriptedModel([tool_call("look", q=1), "done"])
    agent = create_agent(model, [look], middleware=[SelfCorrection(), retries])
    answer = agent.invoke({"messages": [("user", "go")]})["messages"][2]
    assert (answer.artifact["reason"], answer.artifact["detail"], ran) == (reason, detail, [1])


# --- fixers ---


def as_model(answer):
    return ScriptedModel([answer], again=True).bind_tools([escalate, throw_exception])


def as_runnable(answer):
    return RunnableLambda(lambda request: answer)


def as_graph(answer):
    graph = StateGraph(MessagesState).add_node("n", lambda state: {"messages": [answer]})
    return graph.add_edge(START, "n").compile()


def as_agent(answer):
    return create_agent(ScriptedModel([answer], again=True), [escalate, throw_exception])


FIXERS = (as_model, as_runnable, as_graph, as_agent)
ANSWERS = [
    (tool_call("escalate", reason="bad keys", severity="low"), "escalated", "bad keys", "LOW"),
    (tool_call("escalate"), "escalated", NO_REASON, "HIGH"),
    (tool_call("throw_exception", reason="binary"), "terminal_kind", "binary", None),
]


@pytest.mark.parametrize(
    ("fixer", "answer", "kind"), [*product(FIXERS, ANSWERS, ("execution_error", "invalid_args"))]
)
def test_a_fixer_calls_a_built_in_tool(fixer, answer, kind):
    said, reason, detail, severity = answer
    handler = on_error(**{kind: Fix(fixer(said), retries=5)})
    tool = Tool(*[RuntimeError("no")] * 9, on_error=handler)
    args = {"q": 1 if kind == "execution_error" else "a handful"}
    failure = play([tool.spec], {"call": {"name": "t", "args": args}})["failure"]
    assert (failure["reason"], failure["detail"]) == (reason, detail)
    assert (failure.get("severity"), len(failure["tried"])) == (severity, 1)


def test_arguments_of_escalate_that_nobody_can_read_are_its_reason():
    handler = on_error(execution_error=Fix(as_model(malformed("escalate", "bad keys"))))
    tool = Tool(RuntimeError("no"), on_error=handler)
    failure = play([tool.spec], {"call": {"name": "t", "args": {}}})["failure"]
    assert (failure["reason"], failure["detail"]) == ("escalated", "bad keys")


@pytest.mark.parametrize("answer", [tool_call("search", q=1), AIMessage(""), AIMessage("  ")])
def test_an_answer_without_a_value_is_no_result_and_consumes_a_retry(answer):
    model = as_model(answer)
    tool = Tool(RuntimeError("no"), on_error=on_error(execution_error=Fix(model, retries=2)))
    failure = play([tool.spec], {"call": {"name": "t", "args": {}}})["failure"]
    assert (len(model.prompts), failure["reason"]) == (3, "no_strategy")
    assert failure["cost"]["model_calls"] == failure["counts"]["model_calls"] == 3


def test_a_fixer_that_is_an_agent_reads_the_failure_and_its_answer_counts():
    model = ScriptedModel(['{"q": 7}'])
    agent = create_agent(model, [escalate])
    tool = Tool(on_error=on_error(invalid_args=Fix(agent)))
    given = {"call": {"name": "t", "args": {"q": "a handful"}}, "request": "seven, please"}
    assert play([tool.spec], given)["result"] == "ok"
    assert tool.ran == [{"q": 7}]
    assert "seven, please" in model.prompts[0][-1].text


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_fixer_that_is_a_model_is_paid_within_the_limit(calls):
    model = as_model(AIMessage(""))
    tool = Tool(RuntimeError("no"), on_error=on_error(execution_error=Fix(model, retries=9)))
    out = play([tool.spec], {"call": {"name": "t", "args": {}}}, limits={"model_calls": calls})
    assert (len(model.prompts), "failure" in out) == (calls, True)


def test_in_async_code_a_model_is_asked_by_its_async_method():
    class OnlyAsync(ScriptedModel):
        def invoke(self, *args, **options):
            raise AssertionError("it blocks")

    model = OnlyAsync([tool_call("escalate", reason="bad keys")])
    tool = Tool(RuntimeError("no"), on_error=on_error(execution_error=Fix(model)))
    out = asyncio.run(aplay([tool.spec], {"call": {"name": "t", "args": {}}}))
    assert out["failure"]["reason"] == "escalated"


@pytest.mark.parametrize(("error", "reason", "detail", "kind"), ENDINGS[:2])
def test_bad_arguments_of_an_agent_end_once(error, reason, detail, kind):
    asked = []

    def fix(request):
        asked.append(request)
        raise error

    @on_error(invalid_args=Fix(fix, retries=3))
    def book(seats: int) -> str:
        """Book."""
        return "booked"

    def agent(**options):
        model = ScriptedModel([tool_call("book", seats="many"), "done"])
        return create_agent(model, [book], middleware=[SelfCorrection(**options)])

    given = {"messages": [("user", "go")]}
    answer = agent().invoke(given)["messages"][2].artifact
    assert (answer["reason"], answer["detail"], len(asked)) == (reason, detail, 1)
    if kind is ToolExecutionError:
        with pytest.raises(kind, match=detail):
            agent(on_failure="raise").invoke(given)


def test_the_json_analyst_recovers_from_an_escalation():
    path = Path(__file__).parent.parent / "graphs" / "json_analyst.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    analyst = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(analyst)
    for _, _, given in analyst.EXAMPLES * 2:
        out = analyst.graph.invoke(given)
        ends = [event["reason"] for event in out["trail"] if "reason" in event]
        assert (out["result"], ends) == ("3", ["escalated"])
