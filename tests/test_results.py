"""Errors that tools return as values: seen by shape, told whole, mended only where allowed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent

from selfcorrect import ErrorRule, SelfCorrection, StrategyMap, ToolSpec, build_graph
from selfcorrect.errors import MapError, ToolDefinitionError
from selfcorrect.policies import ToolErrorPolicy
from selfcorrect.results import is_error_value
from selfcorrect.testing import ScriptedModel, tool_call

ERRORS = [
    {"error": "Brake pedal needs to be pressed when starting the engine."},
    {"error": "no such order", "order_id": "A7", "requestId": "r", "id": 3, "result": None},
    {"error": {"code": "NOT_FOUND", "message": "no such order"}},
    {"error": "Unprocessable Entity", "status": 422, "message": "too short", "path": "/x"},
    {"ok": False, "error": "invalid_auth"},
    {"ok": False},
    {"isError": True, "content": [{"type": "text", "text": "bad"}]},
    {"success": False, "message": "no seats"},
    {"errors": [{"message": "Cannot query field 'nmae'"}], "data": None},
    {"type": "about:blank", "title": "Not Found", "status": 404},
]
VALUES = [
    *[None, 0, "", "error", "Error: connection refused", [], {}, [1, 2], True],
    *[{"error": None}, {"error": ""}, {"error": {}}, {"error": False, "id": 1}],
    {"error": "one page is missing", "orders": [1, 2]},
    {"ok": True, "error": "none"},
    {"success": False},
    {"success": True, "message": "done"},
    {"errors": [], "data": {"a": 1}},
    {"errors": [{"message": "partly"}], "data": {"a": 1}},
    {"result": {"error": "further down"}},
    {"title": "Not Found", "status": "read"},
    {"isError": False, "content": []},
    '{"error": "cut',
    'He said {"error": "x"}',
    {"status": 500, "count": 3},
]


@pytest.mark.parametrize("value", ERRORS, ids=json.dumps)
def test_unmistakable_shapes(value):
    assert is_error_value(value)
    assert is_error_value(json.dumps(value, indent=2))
    assert is_error_value([{"type": "text", "text": json.dumps(value)}])
    assert not is_error_value({"inner": value})
    assert not is_error_value([value, value])


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_is_left_alone(value):
    assert not is_error_value(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_value_is_too_strange(value):
    assert is_error_value(value) in (True, False)


def run(value, effect="mutating", strategies=None, **options):
    executed = []

    def act(item: str) -> object:
        """Act."""
        executed.append(item)
        return value

    tool = ToolSpec.from_function(act, effect=effect, **options)
    graph = build_graph([tool], strategies=strategies)
    return graph.invoke({"call": {"name": "act", "args": {"item": "a"}}}), executed


@pytest.mark.parametrize("effect", ["read_only", "idempotent", "mutating", "destructive"])
@pytest.mark.parametrize("value", ERRORS, ids=json.dumps)
def test_the_tool_refused_and_nothing_is_repeated(value, effect):
    out, executed = run(value, effect)
    assert out["failure"]["reason"] == "refused"
    assert out["failure"]["value"] == value
    assert "value" not in out["failure"]["attempts"][0]
    assert executed == ["a"]


def test_it_never_ends_a_run_as_terminal_by_default():
    out, _ = run({"error": "unauthorized: token expired"}, strategies="strict")
    assert out["failure"]["reason"] == "refused"
    graph = build_graph(
        [ToolSpec.from_function(lambda: {"error": "forbidden"}, name="f", effect="read_only")],
        policy=ToolErrorPolicy.operator_safe(),
    )
    out = graph.invoke({"call": {"name": "f", "args": {}}})
    assert out["failure"]["reason"] == "refused"


def test_a_predicate_of_the_tool_decides_alone():
    out, _ = run({"error": "found 3 faults"}, fails=lambda value: False)
    assert out["result"] == {"error": "found 3 faults"}
    out, _ = run("ERR 7", fails=lambda value: str(value).startswith("ERR"))
    assert out["failure"]["reason"] == "refused"
    out, _ = run({"error": "x"}, fails=lambda value: value["missing"])
    assert out["result"] == {"error": "x"}
    with pytest.raises(ToolDefinitionError, match="fails must be callable"):
        run(1, fails="error")


def results_map(said, **more):
    return StrategyMap(extends="default", results={"act": said}, **more)


def test_a_map_switches_it_off_and_extends_it():
    out, _ = run({"ok": False, "line": 3}, strategies=results_map("none"))
    assert out["result"] == {"ok": False, "line": 3}
    told = results_map({"where": {"/job/state": ["failed"]}})
    out, _ = run({"job": {"state": "failed"}}, strategies=told)
    assert out["failure"]["reason"] == "refused"
    out, _ = run({"job": {"state": "done"}}, strategies=told)
    assert out["result"] == {"job": {"state": "done"}}
    with pytest.raises(MapError, match="shapes"):
        results_map("nothing")


def test_it_is_mended_where_the_deployment_says_so():
    answers = iter([{"error": "invalid cabin 'First': must be one of 'economy', 'first'"}, "ok"])
    seen = []

    def search(cabin: str) -> object:
        """Search."""
        seen.append(cabin)
        return next(answers)

    graph = build_graph(
        [ToolSpec.from_function(search, effect="read_only")],
        strategies=StrategyMap(extends="default", results={"search": {"mend": True}}),
    )
    out = graph.invoke({"call": {"name": "search", "args": {"cabin": "First"}}})
    assert out["result"] == "ok"
    assert seen == ["First", "first"]


def test_a_rule_of_a_deployments_own_repeats_it():
    answers = iter([{"error": "busy", "code": "BUSY"}, "ok"])
    rule = ErrorRule(id="busy", match="BUSY", kind="transient", repair=["wait"])
    graph = build_graph(
        [ToolSpec.from_function(lambda: next(answers), name="f", effect="read_only")],
        strategies=StrategyMap([rule], extends="default"),
    )
    assert graph.invoke({"call": {"name": "f", "args": {}}})["result"] == "ok"


def test_in_an_agent_the_value_reaches_the_model_whole_and_marked():
    executed = []

    def start_engine(mode: str) -> dict:
        """Start the engine."""
        executed.append(mode)
        return {"error": "Brake pedal needs to be pressed when starting the engine."}

    model = ScriptedModel([tool_call("start_engine", mode="START"), "done"])
    agent = create_agent(model, [start_engine], middleware=[SelfCorrection()])
    out = agent.invoke({"messages": "start the car"})
    answer = out["messages"][2]
    assert answer.status == "error"
    assert json.loads(answer.content) == {
        "error": "Brake pedal needs to be pressed when starting the engine."
    }
    assert answer.response_metadata["selfcorrect"]["reason"] == "refused"
    assert executed == ["START"]
