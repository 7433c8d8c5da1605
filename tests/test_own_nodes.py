"""Nodes, edges and state keys of a deployment's own, in the graph and in the walker alike."""

from __future__ import annotations

import asyncio
import functools
import operator
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from selfcorrect import ToolSpec, build_graph
from selfcorrect.errors import GraphSetupError
from selfcorrect.loop.nodes import NODES
from selfcorrect.routing import END
from selfcorrect.state import CorrectionState
from selfcorrect.testing import VirtualTime, aplay, play


class Reservation(CorrectionState, total=False):
    cost: float
    seen: Annotated[list[str], operator.add]


def reserve(nights: int) -> str:
    """Reserve a room."""
    return f"{nights} nights"


SPEC = ToolSpec.from_function(reserve, effect="mutating")


def price(state: Reservation, context: Any) -> dict[str, Any]:
    cost = 90 * state["current"]["args"]["nights"]
    return {"cost": cost, "seen": ["price"], "outcome": "dear" if cost > 500 else "fair"}


PRICED = {
    "state": Reservation,
    "nodes": {"price": price},
    "routes": {
        "validate": {"valid": "price"},
        "price": {"fair": "retry", "dear": "report_failure"},
    },
}


def call(nights: Any, **more: Any) -> dict[str, Any]:
    return {"call": {"name": "reserve", "args": {"nights": nights}}, **more}


def both(tools: Any, given_: Any, **options: Any) -> dict[str, Any]:
    """What graph and walker give, which is the same."""
    config = {"recursion_limit": 100}
    graph = build_graph(tools, **options)
    outs = [
        graph.invoke(given_, config),
        asyncio.run(graph.ainvoke(given_, config)),
        play(tools, given_, **options),
        asyncio.run(aplay(tools, given_, **options)),
    ]
    assert all(_steady(out) == _steady(outs[0]) for out in outs)
    return outs[0]


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _steady(v) for k, v in value.items() if k not in ("seconds", "run")}
    return [_steady(item) for item in value] if isinstance(value, list) else value


class TestARunWithAPrice:
    def test_own_keys_come_in_and_go_out_and_are_joined_as_they_say(self):
        out = both([SPEC], call("2", seen=["before"]), **PRICED)
        assert (out["result"], out["cost"], out["seen"]) == ("2 nights", 180, ["before", "price"])
        assert "price" in [event["node"] for event in out["trail"]]

    def test_an_outcome_that_leads_to_the_report_needs_no_stop(self):
        out = both([SPEC], call("9"), **PRICED)
        failure = out["failure"]
        assert (failure["reason"], failure["detail"]) == ("rejected", "price: dear")
        assert failure["counts"].get("attempts", 0) == 0
        assert out["cost"] == 810

    def test_a_call_that_needs_no_repair_does_not_meet_it(self):
        out = both([SPEC], call(2), **PRICED)
        assert out["result"] == "2 nights"
        assert "cost" not in out
        assert out["seen"] == []

    def test_own_keys_stay_in_checkpoints(self):
        graph = build_graph([SPEC], checkpointer=InMemorySaver(), **PRICED)
        config = {"configurable": {"thread_id": "t"}}
        graph.invoke(call("2"), config)
        assert graph.get_state(config).values["cost"] == 180
        assert graph.invoke(call("3"), config)["seen"] == ["price", "price"]

    def test_it_is_drawn(self):
        drawn = build_graph([SPEC], **PRICED).get_graph().draw_mermaid()
        assert "price -. &nbsp;fair&nbsp; .-> retry" in drawn
        assert "price -. &nbsp;dear, stopped&nbsp; .-> report_failure" in drawn


def test_a_planner_of_five_lines_works():
    def planner(state: Any, context: Any) -> dict[str, Any]:
        nights = len(state["given"]["request"].split())
        return {
            "current": {"name": "reserve", "args": {"nights": str(nights)}},
            "outcome": "planned",
        }

    out = both([SPEC], {"request": "a b c"}, planner=planner)
    assert out["result"] == "3 nights"
    assert out["trail"][0]["node"] == "plan"


def audit(state: Any, context: Any) -> dict[str, Any]:
    return {"seen": [f"{state.get('result')} {(state.get('failure') or {}).get('reason')}"]}


@pytest.mark.parametrize(
    ("nights", "edge", "seen"),
    [
        (2, ("execute", END), ["2 nights None"]),
        ("many", ("report_failure", END), ["None needs_person"]),
    ],
)
@pytest.mark.parametrize("as_edge", [True, False])
def test_a_node_before_the_end_keeps_what_the_run_came_to(nights, edge, seen, as_edge):
    outcome = {"execute": "done", "report_failure": "reported"}[edge[0]]
    own: dict[str, Any] = (
        {"on_edge": {edge: audit}}
        if as_edge
        else {
            "nodes": {"audit": audit},
            "routes": {edge[0]: {outcome: "audit"}, "audit": {"ok": END}},
        }
    )
    out = both([SPEC], call(nights), state=Reservation, **own)
    assert out["seen"] == seen
    assert ("result" in out) != ("failure" in out)
    quiet = build_graph([SPEC], checkpointer=InMemorySaver(), state=Reservation, **own)
    config = {"configurable": {"thread_id": "t"}}
    quiet.invoke(call(2), config)
    assert "result" not in quiet.invoke(call("many"), config)


def test_a_result_that_is_refused_afterwards_does_not_come_out():
    def no(state: Any, context: Any) -> dict[str, Any]:
        return {"outcome": "bad"}

    out = both(
        [SPEC],
        call(2),
        nodes={"check": no},
        routes={"execute": {"done": "check"}, "check": {"good": END, "bad": "report_failure"}},
    )
    assert out["failure"]["detail"] == "check: bad"
    assert "result" not in out


def test_what_a_node_does_to_the_call_is_a_change():
    def shorter(state: Any, context: Any) -> None:
        state["current"]["args"]["nights"] = 1

    out = both([SPEC], call("2"), on_edge={("validate", "retry"): shorter})
    assert out["result"] == "1 nights"
    event = next(event for event in out["trail"] if event["node"] == "validate_to_retry")
    assert event["changes"][0]["after"]["args"] == {"nights": 1}


_PAST = {"before_plan": {"x": "price"}}
_AGAIN = {"retry": {"retry": "before_plan"}}
ROUTES = [
    ({"routes": {"validate": {"valid": "prize"}}}, "'prize', which is no node; did you mean"),
    ({"routes": {"vallidate": {"valid": "price"}}}, "name 'vallidate', which is no node"),
    ({"routes": None}, "no run can come to 'price'"),
    ({"routes": {"validate": {"valid": "price"}, "price": {"fair": "execute"}}}, "without retry"),
    ({"routes": {"validate": {"valid": "execute"}}}, "no run can come to 'price'|without retry"),
    ({"routes": {"report_failure": {"reported": "price"}, "price": {"x": "repair"}}}, "leads back"),
    ({"routes": {"report_failure": {"reported": "price"}, "price": {"x": "price"}}}, "never ends"),
    ({"routes": {"plan": {"found": "price"}, "price": {"x": "plan"}}}, "begins once"),
    ({"routes": {"validate": "price"}}, "mapping of outcomes"),
    ({"routes": ["validate"]}, "routes is a mapping"),
    ({"nodes": {"price": 3}}, "callable"),
    ({"nodes": {"cost": price}}, "not like a key of the state"),
    ({"nodes": {"counts": price}}, "not like a key of the state"),
    ({"nodes": {"a b": price}}, "named like a variable"),
    ({"nodes": {"plan": price, "planner": price}}, "given twice"),
    ({"nodes": {"price": price, "plan": price}, "planner": price}, "given twice"),
    ({"state": dict}, "subclass of CorrectionState"),
    ({"on_edge": {("validate", "plan"): price}}, "there is no edge"),
    ({"on_edge": {("price", "retri"): price}}, "no edge .*; did you mean 'retry'"),
    ({"on_edge": {("validat", "retry"): price}}, "no edge .*; did you mean 'validate'"),
    ({"on_edge": {("validate", "valid"): price}}, "'validate' leads to 'price'"),
    ({"on_edge": {("validate", "price"): 3}}, "callable"),
    ({"routes": {"validate": {"vaild": "price"}}}, "'validate' never has; did you mean 'valid'"),
    ({"routes": {"retry": {"okay": "price"}}}, "its outcomes are 'retry', 'stopped'"),
    ({"before": ["execute"]}, "before is a mapping"),
    ({"before": {"execute": 3}}, "callable"),
    ({"before": {"exceute": price}}, "before names 'exceute', .* did you mean 'execute'"),
    ({"before": {END: price}}, "before names '__end__', which is no node"),
    ({"before": {"execute": price, "before_execute": price}}, "which is no node"),
    (
        {
            "nodes": {"price": price, "before_execute": price},
            "before": {"execute": price},
            "routes": PRICED["routes"] | {"plan": {"found": "before_execute"}},
        },
        "'before_execute', and so is something else",
    ),
    (
        {
            "nodes": {"price": price, "validate_to_price": price},
            "on_edge": {("validate", "price"): price},
        },
        "'validate_to_price', and so is something else",
    ),
    ({"before": {"execute": price}, "routes": {"before_execute": {"x": "pric"}}}, "'price'"),
    ({"before": {"execute": price}, "routes": {"before_exec": {"x": END}}}, "'before_execute'"),
    ({"before": {"plan": price}, "routes": PRICED["routes"] | _AGAIN}, "begins once"),
    ({"before": {"plan": price}, "routes": PRICED["routes"] | _PAST}, "before 'plan' there is no"),
]


@pytest.mark.parametrize(("wrong", "words"), ROUTES)
def test_what_cannot_work_is_refused_when_the_graph_is_built(wrong, words):
    for build in (build_graph, lambda tools, **more: play(tools, call(1), **more)):
        with pytest.raises(GraphSetupError, match=words):
            build([SPEC], **{**PRICED, **wrong})


def test_a_key_of_ours_may_not_change():
    class Wrong(CorrectionState, total=False):
        counts: list[int]  # type: ignore[misc]

    class NoReducer(CorrectionState, total=False):
        mine: Annotated[list[int], sorted]

    for state, words in ((Wrong, "changes 'counts'"), (NoReducer, "reducer of two values")):
        with pytest.raises(GraphSetupError, match=words):
            build_graph([SPEC], state=state)


def test_an_outcome_without_a_route_is_an_error_that_names_the_routes():
    own: Any = PRICED | {"nodes": {"price": lambda state, context: {"outcome": "odd"}}}
    for run in (build_graph([SPEC], **own).invoke, lambda given: play([SPEC], given, **own)):
        with pytest.raises(GraphSetupError, match=r"price must return an outcome of 'fair'"):
            run(call("2"))


def test_an_unknown_key_is_an_error_that_says_where_keys_are_declared():
    with pytest.raises(GraphSetupError, match=r"'price'.*subclass of CorrectionState"):
        play([SPEC], call("2"), on_edge={("validate", "retry"): lambda *_: {"price": 3}})


def test_a_node_that_never_lets_go_ends_in_a_report():
    own: Any = {
        "nodes": {"again": lambda state, context: {"outcome": "again"}},
        "routes": {
            "validate": {"valid": "again"},
            "again": {"again": "again", "enough": "retry"},
        },
    }
    for out in (
        play([SPEC], call("2"), **own),
        build_graph([SPEC], **own).invoke(call("2"), {"recursion_limit": 30}),
    ):
        assert out["failure"]["reason"] == "limit_reached"


def test_a_node_that_never_lets_go_after_the_report_ends_with_it():
    own: Any = {
        "nodes": {"again": lambda state, context: {"outcome": "again"}},
        "routes": {
            "report_failure": {"reported": "again"},
            "again": {"again": "again", "enough": END},
        },
    }
    for out in (
        play([SPEC], call("many"), **own),
        build_graph([SPEC], **own).invoke(call("many"), {"recursion_limit": 30}),
    ):
        assert out["failure"]["reason"] == "needs_person"


def test_a_wrapped_node_is_asked_wherever_it_stands():
    seen = []

    @functools.wraps(NODES["diagnose"])
    async def diagnoser(state: Any, context: Any) -> Any:
        seen.append(len(state["error"]["findings"]))
        return await NODES["diagnose"](state, context)

    out = both([SPEC], call("2"), nodes={"diagnose": diagnoser})
    assert out["result"] == "2 nights"
    assert seen == [1] * 4


def test_a_slip_in_an_outcome_is_found_behind_a_wrapper_and_free_for_ones_own():
    @functools.wraps(NODES["validate"])
    async def seen(state: Any, context: Any) -> Any:
        return await NODES["validate"](state, context)

    slip: Any = {"validate": {"vaild": "report_failure"}}
    with pytest.raises(GraphSetupError, match="did you mean 'valid'"):
        build_graph([SPEC], validator=seen, routes=slip)
    out = both([SPEC], call("2"), validator=lambda *_: {"outcome": "vaild"}, routes=slip)
    assert out["failure"]["detail"] == "validate: vaild"


ENTRIES = [
    ("validate", "valid"),
    ("validate", "invalid"),
    ("retry", "retry"),
    ("execute", "done"),
]
NAMES = ("one", "two", "three")
OUTCOMES = ("a", "b")
TARGETS = (*NAMES, "retry", "report_failure", "diagnose", "select_strategy", "validate", "repair")


@settings(deadline=None, max_examples=60)
@given(
    entries=st.dictionaries(
        st.sampled_from(ENTRIES),
        st.sampled_from(NAMES),
        min_size=1,
    ),
    ways=st.fixed_dictionaries(
        {
            name: st.fixed_dictionaries({o: st.sampled_from((*TARGETS, END)) for o in OUTCOMES})
            for name in NAMES
        }
    ),
    script=st.lists(st.sampled_from([*OUTCOMES, "stopped"]), min_size=1, max_size=6),
    nights=st.sampled_from([2, "2", "many", None]),
    guarded=st.dictionaries(
        st.sampled_from([*NODES, *NAMES]), st.sampled_from((*TARGETS, END)), max_size=3
    ),
)
def test_graph_and_walker_agree_whatever_is_put_between(entries, ways, script, nights, guarded):
    def scripted(name: str) -> Any:
        def node(state: Any, context: Any) -> dict[str, Any]:
            step = len(state.get("trail") or ())
            return {"seen": [name], "outcome": script[step % len(script)]}

        return node

    def scripted_guard(state: Any, context: Any) -> dict[str, Any]:
        outcome = scripted("")(state, context)["outcome"]
        return {"outcome": {"a": "passed", "b": "detour"}.get(outcome, outcome)}

    routes: dict[str, dict[str, str]] = {name: dict(way) for name, way in ways.items()}
    for (node, outcome), target in entries.items():
        routes.setdefault(node, {})[outcome] = target
    routes |= {f"before_{name}": {"detour": target} for name, target in guarded.items()}
    own: Any = {
        "state": Reservation,
        "nodes": {name: scripted(name) for name in NAMES},
        "routes": routes,
        "before": dict.fromkeys(guarded, scripted_guard),
    }
    try:
        graph = build_graph([SPEC], **own)
    except GraphSetupError:
        with pytest.raises(GraphSetupError):
            play([SPEC], call(nights), **own)
        return
    try:
        walked = play([SPEC], call(nights), time=VirtualTime(), **own)
    except GraphSetupError as error:
        with pytest.raises(GraphSetupError, match=str(error)[:20]):
            graph.invoke(call(nights), {"recursion_limit": 9_000})
        return
    ran = graph.invoke(call(nights), {"recursion_limit": 9_000})
    assert _steady(ran) == _steady(walked)
    ends_early = any(END in way.values() for way in routes.values())
    assert "failure" in ran or "result" in ran or ends_early
    executed = [event for event in ran["trail"] if event["node"] == "execute"]
    assert len(executed) <= 10
    came_from = zip(({"node": None}, *ran["trail"]), ran["trail"], strict=False)
    for before, event in came_from:
        assert event["node"] not in guarded or before["node"] == f"before_{event['node']}"
