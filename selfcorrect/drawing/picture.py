"""Lays a graph out: boxes in one column, and edges that run only beside it and between its rows.

An edge to the next row is one line. Any other leaves its node at the right, follows a lane to the
gap above its target, and enters from above; edges to one target share their lane. So no line can
cross a box.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, pairwise, product
from typing import Any, TypeAlias

from selfcorrect.drawing.view import Picture, ViewEdge, ViewNode
from selfcorrect.model import JsonDict
from selfcorrect.routing import END, REPORT

Pair: TypeAlias = tuple[str, str]

START = "__start__"
"""LangGraph's own name for the start; it is not drawn."""
NAME_CELLS = 20
LABEL_CELLS = 20
_WIDTH = 180
_LABEL_CELL = 6.7
_LANE = 11
_PORT = 14
_RISE = 44


def picture_of(graph: Any, **marks: Any) -> Picture:
    """Return the picture of a compiled LangGraph graph.

    Args:
        graph: The graph; what its edges carry as data are outcomes.
        marks: Path and breakpoints, as `paint` takes them.
    """
    drawn = graph.get_graph()
    edges = [(edge.source, edge.target, str(edge.data or "")) for edge in drawn.edges]
    return paint(lay_out(edges, list(drawn.nodes)), **marks)


def paint(
    picture: Picture,
    *,
    path: Sequence[Collection[str]] = (),
    next: Collection[str] = (),  # noqa: A002
    breakpoints: Collection[str] = (),
) -> Picture:
    """Return a picture with other counts and marks; the places stay.

    Args:
        picture: The picture.
        path: The nodes that ran: several in one step under fan-out.
        next: Nodes that run next; where there are none, the run has ended.
        breakpoints: Nodes that a run stops before.
    """
    visits = Counter(chain.from_iterable(path))
    steps = pairwise([(START,), *path, *([] if next else [(END,)])])
    taken = Counter(edge for both in steps for edge in product(*both))
    current = path[-1] if path else ()
    marks: JsonDict = dict.fromkeys(current, "current") | dict.fromkeys(next, "next")
    nodes: list[ViewNode] = [
        {
            **node,
            "visits": visits[node["id"]],
            "mark": marks.get(node["id"], ""),
            "is_breakpoint": node["id"] in breakpoints,
        }
        for node in picture["nodes"]
    ]
    edges: list[ViewEdge] = [
        {**edge, "count": taken[edge["source"], edge["target"]]} for edge in picture["edges"]
    ]
    return {**picture, "nodes": nodes, "edges": edges}


def lay_out(edges: Iterable[tuple[str, str, str]], nodes: Iterable[str] = ()) -> Picture:
    """Return the picture of edges, as source, target and outcome; equal for equal edges."""
    labels: dict[Pair, str] = {}
    for source, target, label in sorted(edges):
        before = labels.get((source, target))
        labels[source, target] = f"{before}, {label}" if before else label
    names = sorted({START, *nodes, *(name for pair in labels for name in pair)})
    targets = {name: [to for source, to in labels if source == name] for name in names}
    drawn = {pair: text for pair, text in labels.items() if START not in pair}
    return paint(_draw(_order(targets), drawn))


def _order(targets: Mapping[str, list[str]]) -> list[str]:
    """Return the nodes so that only back edges lead to an earlier one; the report stands last."""
    done: list[str] = []
    seen = set()

    def visit(names: Iterable[str]) -> None:
        for name in names:
            if name not in seen:
                seen.add(name)
                visit(reversed(targets[name]))
                done.append(name)

    visit([START, *reversed([*targets])])
    return sorted((name for name in reversed(done) if name != START), key=REPORT.__eq__)


def _draw(order: Sequence[str], labels: Mapping[Pair, str]) -> Picture:
    """Turn rows into pixels."""
    following = {*pairwise(order)}
    turns = {
        name: [to for to in order if (name, to) in labels and (name, to) not in following]
        for name in order
    }
    lanes = [name for name in order if any(name in targets for targets in turns.values())]
    height = max(52, (max(map(len, turns.values()), default=0) + 1) * _PORT)
    # Labels stand between the boxes and the lanes.
    widest = min(LABEL_CELLS, max(map(len, labels.values()), default=0))
    border = 16 + _WIDTH
    first_lane = border + round((widest + 5) * _LABEL_CELL) + 8
    middle = 16 + _WIDTH / 2
    tops = {name: 30 + row * (height + _RISE) for row, name in enumerate(order)}

    def points(source: str, target: str) -> list[tuple[float, float]]:
        top = tops[target]
        if target not in turns[source]:
            return [(middle, tops[source] + height), (middle, top)]
        ports = turns[source]
        at = tops[source] + height * (ports.index(target) + 1) / (len(ports) + 1)
        lane = first_lane + lanes.index(target) * _LANE
        entry = middle + 18
        return [(border, at), (lane, at), (lane, top - 16), (entry, top - 16), (entry, top)]

    box: Any = {"width": _WIDTH, "height": height}
    nodes = [box | {"id": name, "x": middle, "y": top + height / 2} for name, top in tops.items()]
    edges = [
        ViewEdge(source=source, target=target, label=text, points=points(source, target), count=0)
        for (source, target), text in labels.items()
    ]
    full = first_lane + len(lanes) * _LANE + 16
    return Picture(nodes=nodes, edges=edges, width=full, height=len(order) * (height + _RISE))
