"""The transition table, and the graph that is drawn from it."""

from __future__ import annotations

import socket

import pytest

from selfcorrect import build_graph
from selfcorrect.errors import GraphSetupError
from selfcorrect.loop.nodes import NODES
from selfcorrect.routing import END, ENTRIES, ROUTES, Table


def look(place: str) -> str:
    """Look at a place."""
    return place


def test_every_node_has_routes_and_every_route_leads_to_a_node() -> None:
    assert set(ROUTES) == set(NODES)
    targets = {target for routes in ROUTES.values() for target in routes.values()}
    assert targets <= set(NODES) | {END}


def test_every_node_reaches_a_report() -> None:
    for node in ROUTES:
        assert node == "report_failure" or "report_failure" in ROUTES[node].values()


@pytest.mark.parametrize("outcome", ["nope", None, 3, ["done"]])
def test_an_unknown_outcome_names_the_known_ones(outcome: object) -> None:
    with pytest.raises(GraphSetupError, match="execute must return an outcome of 'done'"):
        Table(ROUTES).next_node("execute", outcome)


@pytest.mark.parametrize(
    ("left", "target"), [(9, "diagnose"), (3, "diagnose"), (2, "report_failure")]
)
def test_the_report_comes_before_the_host_runs_out_of_steps(left: int, target: str) -> None:
    state = {"remaining_steps": left}
    update, chosen = Table(ROUTES).advance("execute", state, {"outcome": "failed"})
    assert chosen == target
    assert ("stop" in update) == (target == "report_failure")


def test_the_drawn_graph_is_the_table() -> None:
    drawn = build_graph([look]).get_graph()
    edges = {(edge.source, edge.target) for edge in drawn.edges}
    from_table = {(node, to) for node, routes in ROUTES.items() for to in routes.values()}
    assert edges == from_table | {("__start__", entry) for entry in ENTRIES}


def test_the_graph_is_drawn_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    graph = build_graph([look])
    assert "select_strategy" in graph.get_graph().draw_mermaid()
    bundle = graph._repr_mimebundle_()
    assert "text/vnd.mermaid" in bundle
    assert "image/png" not in bundle
