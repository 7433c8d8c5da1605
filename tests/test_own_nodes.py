"""A deployment's own nodes, guards and routes: mistakes raise when the graph is built."""

from operator import add
from typing import Annotated

import pytest
from kit import DATE, Tool, nodes, run, table, with_rules

from selfcorrect import CorrectionState, ErrorRule, GraphSetupError, Wait, build_graph


def stop(detail):
    return {"outcome": "stopped", "stop": {"reason": "rejected", "detail": detail}}


def passes(state, context):
    return {}


MISTAKES = [
    *table("own_nodes.txt", "mistakes"),
    ({"on_edge": {("plan", "retry"): passes}}, "no edge leads from 'plan' to 'retry'"),
]


def filled(value):
    """Return options with a node that passes in the place of each null."""
    if isinstance(value, dict):
        return {key: filled(each) for key, each in value.items()}
    return passes if value is None else value


@pytest.mark.parametrize(("options", "words"), MISTAKES)
def test_a_mistake_raises_when_the_graph_is_built(options, words):
    with pytest.raises(GraphSetupError) as caught:
        build_graph([Tool().spec], **filled(options))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "must return a dict"),
        ({"outcome": "plnned"}, "did you mean 'planned'"),
        ({"curent": {}}, "did you mean 'current'"),
    ],
)
def test_a_node_that_returns_something_unusable_is_named(returned, words):
    with pytest.raises(GraphSetupError, match=words):
        run(Tool(), {"q": 1}, planner=lambda state, context: returned)


@pytest.mark.parametrize(("args", "executed"), [({"q": 1}, 1), ({"q": "1"}, 1), ({"q": 9}, 0)])
def test_a_guard_stands_before_every_execution(args, executed):
    def gate(state, context):
        return stop("too much") if state["current"]["args"]["q"] > 5 else {}

    tool = Tool(effect="mutating")
    out = run(tool, args, before={"execute": gate})
    assert len(tool.ran) == executed
    assert out.get("failure", {}).get("reason") == (None if executed else "rejected")


def test_no_guard_is_asked_about_a_call_that_cannot_be_made():
    seen = []
    run(Tool(), {"q": "many"}, before={"execute": lambda state, context: seen.append(1) or {}})
    assert seen == []


class Counting(CorrectionState, total=False):
    seen: Annotated[list[str], add]


def test_a_node_on_an_edge_has_keys_of_its_own():
    def look(state, context):
        return {"seen": [state["current"]["args"]["day"]]}

    options = {"on_edge": {("validate", "retry"): look}, "state": Counting}
    given = {"call": {"name": "t", "args": {"day": "Oct 26, 2026"}}}
    out = build_graph([Tool(schema={"day": DATE}).spec], **options).invoke(given)
    assert out["seen"] == ["2026-10-26"]
    assert "validate_to_retry" in nodes(out)
    assert run(Tool(schema={"day": DATE}), given["call"]["args"], **options)["seen"] == [
        "2026-10-26"
    ]


def test_an_own_node_takes_an_outcome_of_another():
    def triage(state, context):
        return stop("triage said no")

    options = {"nodes": {"triage": triage}, "routes": {"plan": {"found": "triage"}}}
    out = run(Tool(), name="nope", **options)
    assert out["failure"]["detail"] == "triage said no"
    assert nodes(out) == ["plan", "triage", "report_failure"]


LOOKS = [
    {"before": {"execute": lambda state, context: None}},
    {"before": {"plan": lambda state, context: None}},
    {"on_edge": {("plan", "execute"): lambda state, context: None}},
    {"on_edge": {("execute", "__end__"): lambda state, context: None}},
]


@pytest.mark.parametrize("options", LOOKS)
@pytest.mark.parametrize("host", ["graph", "walker"])
def test_a_node_on_an_edge_or_before_a_node_may_return_nothing(options, host):
    tool, given = Tool(), {"call": {"name": "t", "args": {"q": 1}}}
    out = (
        build_graph([tool.spec], **options).invoke(given)
        if host == "graph"
        else run(tool, given["call"]["args"], **options)
    )
    assert out["result"] == "ok"
    assert len(nodes(out)) == 3


def test_an_own_node_between_others_may_not_return_nothing():
    routes = {"plan": {"planned": "own"}, "own": {"on": "execute"}}
    with pytest.raises(GraphSetupError, match="'own' must return a dict"):
        run(Tool(), {"q": 1}, nodes={"own": lambda state, context: None}, routes=routes)


@pytest.mark.parametrize(
    ("update", "result"), [({}, "ok"), ({"result": "another"}, "another"), ({"counts": {}}, "ok")]
)
def test_a_result_is_handed_on_by_nodes_behind_the_tool(update, result):
    options = {
        "nodes": {"audit": lambda state, context: update, "note": passes},
        "routes": {
            "execute": {"done": "audit"},
            "audit": {"audited": "note"},
            "note": {"noted": "__end__"},
        },
    }
    out = run(Tool(), {"q": 1}, **options)
    assert out["result"] == result
    assert nodes(out)[-2:] == ["audit", "note"]


def test_a_node_that_ends_the_run_without_a_result_ends_in_the_report():
    routes = {"plan": {"found": "own"}, "own": {"over": "__end__"}}
    out = run(Tool(), name="nope", nodes={"own": passes}, routes=routes)
    assert out["failure"]["detail"] == "own: over: there is no result"


def test_a_run_by_own_nodes_has_steps_left_for_the_report():
    options = {
        "nodes": {"a": passes, "b": passes},
        "routes": {
            "retry": {"retry": "a"},
            "a": {"on": "b"},
            "b": {"on": "execute"},
        },
        "before": {"report_failure": passes, "execute": passes},
        "limits": {"attempts": 10, "wait": 0},
    }
    rule = ErrorRule(id="own", match="busy", repair=[lambda *_: Wait(0)])
    for limit in range(9, 26):
        tool = Tool(*[ValueError("busy")] * 50)
        graph = build_graph([tool.spec], strategies=with_rules(rule), **options)
        given = {"call": {"name": "t", "args": {"q": 1}}}
        out = graph.invoke(given, {"recursion_limit": limit})
        assert out["failure"]["reason"] == "limit_reached"
        assert nodes(out)[-2:] == ["before_report_failure", "report_failure"]


def test_the_picture_names_all_outcomes_of_an_edge():
    routes = {"plan": {"found": "own"}, "own": {"a": "diagnose", "b": "diagnose"}}
    picture = build_graph([Tool().spec], nodes={"own": passes}, routes=routes).get_graph()
    edges = {(each.source, each.target): each.data for each in picture.edges}
    assert edges["own", "diagnose"] == "a, b"
    assert edges["plan", "own"] == "found"
    assert edges["execute", "__end__"] == "done"
