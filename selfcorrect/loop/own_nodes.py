"""Nodes that a deployment puts among ours, and the ways that lead through them.

All of it is checked before anything runs: a node that no run meets guards nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from selfcorrect.errors import GraphSetupError
from selfcorrect.hints import near
from selfcorrect.loop.context import Node
from selfcorrect.loop.nodes import NODES
from selfcorrect.loop.options import Options
from selfcorrect.loop.wrapping import innermost
from selfcorrect.routing import (
    END,
    ENTRIES,
    ENTRY,
    EXECUTE,
    FAILED,
    PASSED,
    REPORT,
    ROUTES,
    STOPPED,
    Table,
)
from selfcorrect.state import STATE_KEYS

_Routes: TypeAlias = Mapping[str, Mapping[str, str]]


def own_nodes(options: Options, own: Iterable[str]) -> tuple[Mapping[str, Node], Table]:
    """The nodes by name, those on edges and before nodes too, and the ways between them.

    Args:
        options: What the caller chose.
        own: The keys that the caller added to the state.

    Raises:
        GraphSetupError: If a node is on no way, a way begins or leads nowhere, the report could be
            missed, or a call could be executed again past `retry`.
    """
    _mapping("nodes", options.nodes)
    given: dict[str, Any] = dict(options.own_nodes())
    taken = {END, *STATE_KEYS, *own}
    for name in given.keys() - NODES.keys():
        if not isinstance(name, str) or not name.isidentifier() or name in taken:
            raise GraphSetupError(
                f"a node of your own is named like a variable, and not like a key of the state: "
                f"not {name!r}"
            )
    edges, before = _mapping("on_edge", options.on_edge), _mapping("before", options.before)
    guards = {node: f"before_{node}" for node in before}
    # What declares that it wraps a node of ours comes to what that comes to.
    free = {name for name, node in given.items() if innermost(node) is not NODES.get(name)}
    routes = _with_routes(free | {*guards.values()}, _mapping("routes", options.routes))
    for edge, node in edges.items():
        ends = edge if isinstance(edge, tuple) and len(edge) == 2 else (str(edge), "")
        name = f"{ends[0]}_to_{ends[1]}"
        routes = _on_edge(routes, ends, name)
        _place(given, name, node, f"on edge {edge!r}", taken)
    known = {**NODES, **given}
    for node, guard in before.items():
        if node not in known:
            raise GraphSetupError(f"before names {node!r}, which is no node; {_hint(node, known)}")
        routes = _before(routes, node, guards[node])
        _place(given, guards[node], guard, f"before {node!r}", taken)
    return MappingProxyType({**NODES, **given}), _checked(Table(routes, guards))


def _mapping(name: str, given: Any) -> Mapping[Any, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise GraphSetupError(f"{name} is a mapping, not {given!r:.80}")
    return given or {}


def _place(given: dict[str, Any], name: str, node: Any, where: str, taken: Collection[str]) -> None:
    """Take a node that stands somewhere among the others, under a name of its own."""
    if not callable(node):
        raise GraphSetupError(f"the node {where} must be callable, got {node!r}")
    if name in NODES or name in given or name in taken:
        raise GraphSetupError(f"the node {where} is called {name!r}, and so is something else")
    given[name] = node


def _with_routes(own: Collection[str], routes: Mapping[Any, Any]) -> _Routes:
    """Our ways, and the caller's over them, outcome by outcome.

    Args:
        own: The nodes whose outcomes are the caller's own: new ones, and replaced ones.
        routes: The caller's ways.
    """
    made = {node: dict(known) for node, known in ROUTES.items()}
    made |= {node: {} for node in own if node not in made}
    for node, ways in routes.items():
        if not isinstance(ways, Mapping) or not all(
            isinstance(each, str) for way in ways.items() for each in way
        ):
            raise GraphSetupError(
                f"routes of {node!r} are a mapping of outcomes to nodes, not {ways!r:.80}"
            )
        if node not in made:
            raise GraphSetupError(f"routes name {node!r}, which is no node; {_hint(node, made)}")
        for outcome, target in ways.items():
            if node not in own and outcome not in ROUTES[node]:
                # No run takes such a way: what it leads to would be skipped in silence.
                raise GraphSetupError(
                    f"routes name the outcome {outcome!r}, which {node!r} never has; "
                    f"{_hint(outcome, ROUTES[node], 'its outcomes are')}"
                )
            if target not in made and target != END:
                raise GraphSetupError(
                    f"routes lead from {node!r}, outcome {outcome!r}, to {target!r}, which is "
                    f"no node; {_hint(target, made)}"
                )
            made[node][outcome] = target
    return made


def _on_edge(routes: _Routes, edge: tuple[str, str], name: str) -> _Routes:
    """The ways with a node on every one from one node to another."""
    source, target = edge
    known = routes.get(source, {})
    ways = {outcome: name for outcome, leads in known.items() if leads == target}
    if not ways:
        hint = _hint(source, routes)
        if known:
            hint = _hint(target, known.values(), f"{source!r} leads to")
        raise GraphSetupError(f"there is no edge {edge!r}; {hint}")
    return {**routes, source: {**known, **ways}, name: {PASSED: target}}


def _before(routes: _Routes, node: str, name: str) -> _Routes:
    """The ways with a node on every one into a node.

    Before `execute` we look first: a call that cannot be made is diagnosed, as from there.
    """
    made = {
        source: {
            outcome: name if target == node and source != name else target
            for outcome, target in ways.items()
        }
        for source, ways in routes.items()
    }
    found = {FAILED: made[node][FAILED]} if node == EXECUTE else {}
    return {**made, name: {**found, PASSED: node, **made[name]}}


def _checked(table: Table) -> Table:
    """The table, with a way to the report from every node before it."""
    after = table.reachable((REPORT,))
    made = {
        node: ways if node in after else {**ways, STOPPED: ways.get(STOPPED, table.end_of(node))}
        for node, ways in table.routes.items()
    }
    _check(table := Table(made, table.guards))
    return table


def _check(table: Table) -> None:
    """Refuse a table with which a run could miss its report, its bounds or a node."""
    found = table.reachable(map(table.into, ENTRIES))
    if lost := [node for node in table.routes if node not in found]:
        raise GraphSetupError(
            f"no run can come to {lost[0]!r}: name it as a target in routes, such as "
            f"routes={{'validate': {{'valid': {lost[0]!r}}}}}"
        )
    first = table.into(ENTRY)
    for node, ways in table.routes.items():
        if first in ways.values() or (ENTRY in ways.values() and node != first):
            raise GraphSetupError(f"a run begins once: no edge leads back to {ENTRY!r}")
    if early := table.reachable((first,), without=ENTRY) & (ROUTES.keys() - {REPORT}):
        raise GraphSetupError(
            f"before {ENTRY!r} there is no call: {first!r} leads to {min(early)!r}"
        )
    after = table.reachable((REPORT,))
    if END not in after:
        raise GraphSetupError("report_failure never ends: after the report comes the end")
    if back := after & (ROUTES.keys() - {REPORT}):
        raise GraphSetupError(
            f"report_failure leads back to {min(back)!r}: after the report comes the end"
        )
    for node in table.routes:
        if node not in after and REPORT not in table.reachable((node,)):
            raise GraphSetupError(f"from {node!r} no run can come to report_failure")
    again = table.reachable(table.routes[EXECUTE].values(), without="retry")
    if EXECUTE in again:
        raise GraphSetupError(
            "a call could be executed again without retry, which checks the bounds: lead "
            "every way back to 'execute' through 'retry'"
        )


def _hint(name: object, known: Iterable[str], what: str = "the nodes are") -> str:
    names = list(dict.fromkeys(known))
    return near(str(name), names) or f"{what} {', '.join(map(repr, names))}"
