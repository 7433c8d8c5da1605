"""A deployment's own nodes, guards and routes: mistakes raise when the graph is built."""

from operator import add
from typing import Annotated

import pytest
from kit import DATE, Tool, nodes, run

from selfcorrect import CorrectionState, GraphSetupError, build_graph
from selfcorrect.state import stop_run


def passes(state, context):
    return {}


MISTAKES = [
    ({"routes": {"plann": {}}}, "did you mean 'plan'"),
    ({"routes": {"repair": {"chnged": "validate"}}}, "did you mean 'changed'"),
    ({"routes": {"repair": {"changed": "validat"}}}, "did you mean 'validate'"),
    ({"nodes": {"lonely": passes}}, "no route leads to 'lonely'"),
    ({"before": {"exeute": passes}}, "did you mean 'execute'"),
    ({"on_edge": {("plan", "retry"): passes}}, "no edge leads from 'plan' to 'retry'"),
    ({"routes": {"execute": {"failed": "execute"}}}, "without passing 'retry'"),
    ({"nodes": {"plan": "no function"}}, "must be callable"),
    ({"planer": passes}, "did you mean 'planner'"),
    (
        {
            "nodes": {"a": passes, "b": passes},
            "routes": {
                "plan": {"found": "a"},
                "a": {"on": "b", "stopped": "b"},
                "b": {"on": "a", "stopped": "a"},
            },
        },
        "cannot reach the report",
    ),
]


@pytest.mark.parametrize(("options", "words"), MISTAKES)
def test_a_mistake_raises_when_the_graph_is_built(options, words):
    with pytest.raises(GraphSetupError) as caught:
        build_graph([Tool().spec], **options)
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
        return stop_run("rejected", "too much") if state["current"]["args"]["q"] > 5 else {}

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
        return stop_run("rejected", "triage said no")

    options = {"nodes": {"triage": triage}, "routes": {"plan": {"found": "triage"}}}
    out = run(Tool(), name="nope", **options)
    assert out["failure"]["detail"] == "triage said no"
    assert nodes(out) == ["plan", "triage", "report_failure"]
