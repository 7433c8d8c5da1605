"""The transition table of `routing.toml`: what a node came to decides which node is next.

LangGraph's graph and the walker are both built from it. A deployment's own nodes and edges go over
it, outcome by outcome.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from selfcorrect.errors import GraphSetupError, refuse_unknown
from selfcorrect.lazy import load_table
from selfcorrect.model import frozen

END = "__end__"
"""LangGraph's own name for the end of a graph."""
ENTRY = "plan"
REPORT = "report_failure"
STOPPED = "stopped"
"""The outcome with which any node ends the run in the report."""
PASSED = "passed"
"""The outcome of a node on an edge, or before a node."""

ROUTES: Mapping[str, Mapping[str, str]] = load_table("routing.toml")["routes"]
"""Targets by outcome, by node; every node but the last also has `stopped`."""

Routes = dict[str, dict[str, str]]


@frozen
class Table:
    """The routes of one graph, own nodes included.

    Attributes:
        routes: Targets by outcome, by node.
        guards: The node that every way into a node passes, by that node.
    """

    routes: Mapping[str, Mapping[str, str]]
    guards: Mapping[str, str]

    @property
    def first(self) -> str:
        """The node that a run starts with."""
        return self.guards.get(ENTRY, ENTRY)

    @property
    def report(self) -> str:
        """The node that every way into the report passes."""
        return self.guards.get(REPORT, REPORT)

    @property
    def reserve(self) -> int:
        """The most steps that a run takes to the report after it is stopped."""
        return len({self.report, REPORT})

    def next_node(self, node: str, outcome: Any) -> str:
        """Return the node that follows an outcome.

        Raises:
            GraphSetupError: If the node has no such outcome.
        """
        routes: Mapping[Any, str] = self.routes[node]
        # What a node returns may have no hash.
        if outcome not in [*routes]:
            refuse_unknown("outcome", [outcome], [*routes], f"node {node!r}: ")
        return routes[outcome]

    def only_outcome(self, node: str) -> str | None:
        """Return the outcome of a node that has one beside `stopped` and `failed`, or None."""
        outcomes = self.routes[node].keys() - {STOPPED, "failed"}
        return outcomes.pop() if len(outcomes) == 1 else None


def build_table(
    own_nodes: Iterable[str],
    routes: Mapping[str, Mapping[str, str]],
    guarded: Iterable[str],
    edges: Iterable[tuple[str, str]],
) -> Table:
    """Lay own nodes and routes over the default table, and check the result.

    Args:
        own_nodes: Names of nodes, those in place of built-in ones too.
        routes: Targets by outcome, by node, over the defaults.
        guarded: Nodes that have a guard.
        edges: Edges that have a node of their own.

    Raises:
        GraphSetupError: If an outcome or target does not exist, a node is out of reach, or a node
            cannot reach the report.
    """
    table: Routes = {node: dict(targets) for node, targets in ROUTES.items()}
    table |= {node: {} for node in own_nodes if node not in table}
    guards = {node: f"before_{node}" for node in guarded}
    refuse_unknown("node to guard", guards, table)
    table |= {guard: {PASSED: node} for node, guard in guards.items()}
    if "execute" in guards:  # the arguments are checked before anybody is asked about them
        table[guards["execute"]]["failed"] = "diagnose"
    for node, targets in routes.items():
        refuse_unknown("node", [node], table, "routes: ")
        if STOPPED in targets:
            raise GraphSetupError(f"routes of {node!r}: {STOPPED!r} always leads to the report")
        if node in ROUTES:
            refuse_unknown("outcome", targets, ROUTES[node], f"routes of {node!r}: ")
        table[node] |= targets
    for source, target in edges:
        _put_on_edge(source, target, table)
    _check_cycles(table)
    for node in table.keys() - {REPORT}:
        table[node][STOPPED] = REPORT
    _enter_by_guards(table, guards)
    _check_reach(table, guards.get(ENTRY, ENTRY))
    return Table(table, guards)


def edge_name(source: str, target: str) -> str:
    """Return the name of a node that stands on an edge."""
    return f"{source}_to_{target}"


def _put_on_edge(source: str, target: str, table: Routes) -> None:
    outcomes = [outcome for outcome, node in table.get(source, {}).items() if node == target]
    if not outcomes:
        raise GraphSetupError(f"on_edge: no edge leads from {source!r} to {target!r}")
    name = edge_name(source, target)
    table[source] |= dict.fromkeys(outcomes, name)
    table[name] = {PASSED: target}


def _enter_by_guards(table: Routes, guards: Mapping[str, str]) -> None:
    for node, targets in table.items():
        for outcome, target in targets.items():
            if guards.get(target) not in (None, node):
                targets[outcome] = guards[target]


def _check_reach(table: Routes, first: str) -> None:
    for node, targets in table.items():
        ends = set(targets.values()) - {END}
        refuse_unknown("node", ends, table, f"routes of {node!r}: ")
    if lost := table.keys() - _reachable(table, [first]):
        raise GraphSetupError(f"no route leads to {', '.join(map(repr, sorted(lost)))}")
    # `retry` checks every bound: a second way from execute to execute would avoid them.
    if "execute" in _reachable(table, table["execute"].values(), without="retry"):
        raise GraphSetupError("a route leads back to 'execute' without passing 'retry'")


def _check_cycles(table: Routes) -> None:
    """Refuse nodes whose own routes only lead to each other."""
    for node in table:
        if all(map(table.get, _reachable(table, [node]))):
            raise GraphSetupError(f"node {node!r} cannot reach the report; add a route to it")


def _reachable(table: Routes, start: Iterable[str], without: str | None = None) -> set[str]:
    """Return the nodes that a run can come to from these, without passing one node."""
    seen: set[str] = set()
    todo = list(start)
    while todo:
        node = todo.pop()
        if node not in seen and node != without:
            seen.add(node)
            todo += table.get(node, {}).values()
    return seen
