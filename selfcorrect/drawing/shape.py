"""What is drawn of a graph: its nodes and edges by name, whatever graph it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.routing import END as _END
from selfcorrect.routing import ENTRY, ROUTES

START: Final = "__start__"
END: Final = _END

_ON_EDGES: Final = frozenset(f"{node}_to_{to}" for node in ROUTES for to in ROUTES[node].values())
GUARD: Final = "before_execute"
_GUARDED: Final = {"execute": "passed", "diagnose": "failed", "report_failure": "stopped"}
_MOST_NODES: Final = 400
_MOST_EDGES: Final = 2_000


@dataclass(frozen=True, slots=True)
class Edge:
    """One way from a node to another, with the outcome that leads there.

    Attributes:
        rare: A way that most runs do not take; it is drawn thin and dotted, and gives way in the
            layout.
    """

    source: str
    target: str
    label: str = ""
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """A graph as it is drawn.

    Attributes:
        nodes: Names, in the order in which the graph names them; the start first, the end last.
        nested: Nodes that are graphs themselves.
        is_loop: Whether it is the loop that `build_graph` builds.
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    nested: frozenset[str] = frozenset()
    is_loop: bool = False

    @classmethod
    def of_loop(cls, *more: str, ways: Mapping[str, str] = _GUARDED) -> Shape:
        """The loop that `build_graph` builds, from its table alone.

        Args:
            more: Nodes on edges of it, named by the edge: `validate_to_retry`; and the
                guard before `execute`.
            ways: What leads from this guard to other nodes.
        """
        edges = [Edge(START, ENTRY)]
        for node, routes in ROUTES.items():
            for outcome, target in routes.items():
                via = f"{node}_to_{target}"
                rare = target == "report_failure" or outcome == "answered"
                into = GUARD if target == "execute" and GUARD in more else target
                if via in more:
                    edges.append(Edge(node, via, outcome))
                    edges.append(Edge(via, into))
                else:
                    edges.append(Edge(node, into, outcome, rare))
        if GUARD in more:
            edges += [Edge(GUARD, to, word, to == "report_failure") for to, word in ways.items()]
        known = {name for edge in edges for name in (edge.source, edge.target)}
        on_edges = tuple(name for name in more if name in known)
        return cls((START, *ROUTES, *on_edges, END), tuple(edges), is_loop=True)

    @classmethod
    def of_graph(cls, graph: Any) -> Shape:
        """Any compiled LangGraph graph, as its own `get_graph` tells it."""
        drawable = graph.get_graph()
        pregel_nodes: Mapping[str, Any] = getattr(graph, "nodes", {})
        inside = {name: getattr(node, "subgraphs", None) for name, node in pregel_nodes.items()}
        nested = frozenset(name for name, graphs in inside.items() if graphs)
        nodes = [str(name) for name in drawable.nodes][:_MOST_NODES]
        extra = [name for name in nodes if name not in {START, END, *ROUTES}]
        ways = {str(e.target): str(e.data or "") for e in drawable.edges if e.source == GUARD}
        placed = _ON_EDGES | ({GUARD} if ways.keys() <= _GUARDED.keys() else set())
        if set(nodes) >= set(ROUTES) and placed.issuperset(extra):
            return cls.of_loop(*extra, ways=ways)
        kept = set(nodes)
        edges = [
            Edge(str(edge.source), str(edge.target), str(edge.data or ""))
            for edge in drawable.edges[:_MOST_EDGES]
            if edge.source in kept and edge.target in kept
        ]
        first = [START] if START in kept else []
        last = [END] if END in kept else []
        inner = [name for name in nodes if name not in (START, END)]
        return cls((*first, *inner, *last), tuple(edges), nested & kept)


def label_of(node: str) -> str:
    """What a node is called in a picture.

    >>> label_of("__end__"), label_of("select_strategy")
    ('end', 'select strategy')
    """
    plain = {START: "start", END: "end"}.get(node)
    return plain or node.replace("_", " ")
