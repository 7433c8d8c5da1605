"""Lays a graph out: boxes in one column, and edges that run only beside it and between its rows.

An edge to the next row is one line. Any other leaves its node at the side, to the right if it leads
down and to the left if it leads up, follows a lane to the gap above its target, and enters from
above; edges to one target share their lane. So no line can cross a box.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from selfcorrect.drawing.view import Picture, ViewEdge, ViewNode
from selfcorrect.model import JsonDict
from selfcorrect.routing import REPORT
from selfcorrect.text import bound

Pair: TypeAlias = tuple[str, str]
Counts: TypeAlias = Mapping[Any, int]
_NEVER: Counts = {}

START = "__start__"
"""LangGraph's own name for the start; it is not drawn."""
NAME_CELLS = 20
LABEL_CELLS = 20
_WIDTH = 180
_LABEL_CELL = 6.7
_LANE = 11
_PORT = 14
_RISE = 44


def picture_of(graph: Any, **path: Any) -> Picture:
    """Return the picture of a compiled LangGraph graph.

    Args:
        graph: The graph; what its edges carry as data are outcomes.
        path: Counts and marks, as `paint` takes them.
    """
    drawn = graph.get_graph()
    edges = [(edge.source, edge.target, str(edge.data or "")) for edge in drawn.edges]
    return paint(lay_out(edges, list(drawn.nodes)), **path)


def paint(
    picture: Picture,
    *,
    visits: Counts = _NEVER,
    taken: Counts = _NEVER,
    current: Collection[str] = (),
    next: Collection[str] = (),  # noqa: A002
    breakpoints: Collection[str] = (),
) -> Picture:
    """Return a picture with other counts and marks; the places stay.

    Args:
        picture: The picture.
        visits: How often the run was at each node.
        taken: How often the run took each edge, by `(source, target)`.
        current: Nodes that ran last.
        next: Nodes that run next.
        breakpoints: Nodes that a run stops before.
    """
    marks: JsonDict = dict.fromkeys(current, "current") | dict.fromkeys(next, "next")
    nodes: list[ViewNode] = [
        {
            **node,
            "visits": visits.get(node["id"], 0),
            "mark": marks.get(node["id"], ""),
            "is_breakpoint": node["id"] in breakpoints,
        }
        for node in picture["nodes"]
    ]
    edges: list[ViewEdge] = [
        {**edge, "count": taken.get((edge["source"], edge["target"]), 0)}
        for edge in picture["edges"]
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


def cells(text: str) -> int:
    """Return how many columns a text takes at most in a font of one width."""
    return len(text) if text.isascii() else 2 * len(text)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many columns; a cut shows."""
    return bound(text, most if text.isascii() else most // 2)


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
    rows = {name: row for row, name in enumerate(order)}
    sides: dict[Pair, int] = {}
    # By node and side, and by side: the number of each target.
    ports: dict[Any, dict[str, int]] = defaultdict(dict)
    lanes: dict[int, dict[str, int]] = defaultdict(dict)
    for source, target in sorted(labels, key=lambda pair: rows[pair[1]]):
        step = rows[target] - rows[source]
        # 0 runs straight down, 1 at the right, -1 at the left.
        side = 0
        if step != 1:
            side = 1 if step > 1 else -1
        sides[source, target] = side
        for numbers in (ports[source, side], lanes[side]):
            numbers.setdefault(target, len(numbers))
    height = max(52, (max(map(len, ports.values()), default=0) + 1) * _PORT)
    # Labels stand between the boxes and the lanes.
    widest = min(LABEL_CELLS, max(map(cells, labels.values()), default=0))
    room = round((widest + 5) * _LABEL_CELL) + 8
    middle = 16 + len(lanes[-1]) * _LANE + room + _WIDTH / 2
    tops = {name: 30 + row * (height + _RISE) for name, row in rows.items()}

    def points(source: str, target: str) -> list[tuple[float, float]]:
        top, side = tops[target], sides[source, target]
        if not side:
            return [(middle, tops[source] + height), (middle, top)]
        beside = ports[source, side]
        at = tops[source] + height * (beside[target] + 1) / (len(beside) + 1)
        border = middle + side * _WIDTH / 2
        lane = border + side * (room + lanes[side][target] * _LANE)
        entry = middle + side * 18
        return [(border, at), (lane, at), (lane, top - 16), (entry, top - 16), (entry, top)]

    box: Any = {"width": _WIDTH, "height": height}
    nodes = [box | {"id": name, "x": middle, "y": top + height / 2} for name, top in tops.items()]
    edges = [
        ViewEdge(source=source, target=target, label=text, points=points(source, target), count=0)
        for (source, target), text in labels.items()
    ]
    full = middle + _WIDTH / 2 + room + len(lanes[1]) * _LANE + 16
    return Picture(nodes=nodes, edges=edges, width=full, height=len(order) * (height + _RISE))
