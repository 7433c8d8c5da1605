"""Where nodes and edges stand: one function, so that another engine can take its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias

from selfcorrect.drawing.shape import START, Edge
from selfcorrect.errors import MissingExtra

Point: TypeAlias = tuple[float, float]

_ROW_GAP: Final = 34.0
_COLUMN_GAP: Final = 30.0
_MARGIN: Final = 14.0
_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True)
class Box:
    """A node's place: its centre and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Placed:
    """A layout.

    Attributes:
        boxes: Where each node stands.
        paths: The points of each edge, in the order of the edges, from border to border.
        width: Of everything, its margin included.
        height: Likewise.
    """

    boxes: Mapping[str, Box]
    paths: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def layout(nodes: Mapping[str, tuple[float, float]], edges: Sequence[Edge]) -> Placed:
    """Lay a directed graph out in rows, with few crossings. The same input gives the same places.

    Args:
        nodes: Width and height of each node, in pixels; the start stands at the top.
        edges: Between these nodes.

    Raises:
        MissingExtra: If the layout engine is not installed.
    """
    try:
        from grandalf import graphs  # type: ignore[import-untyped]
        from grandalf.layouts import SugiyamaLayout, VertexViewer  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise MissingExtra("jupyter", "drawing a graph") from None
    vertices: dict[str, Any] = {name: graphs.Vertex(name) for name in nodes}
    for name, vertex in vertices.items():
        width, height = nodes[name]
        vertex.view = VertexViewer(w=width, h=height)  # pyright: ignore[reportArgumentType]
    joined = {}
    for edge in edges:
        pair = (edge.source, edge.target)
        if edge.source != edge.target and pair not in joined and pair[::-1] not in joined:
            joined[pair] = graphs.Edge(vertices[edge.source], vertices[edge.target])
    for made in joined.values():
        made.view = _Route()
    graph = graphs.Graph(list(vertices.values()), list(joined.values()))
    boxes: dict[str, Box] = {}
    bends: dict[tuple[str, str], list[Point]] = {}
    left = 0.0
    for part in graph.C:
        sugiyama: Any = SugiyamaLayout(part)
        sugiyama.yspace, sugiyama.xspace = _ROW_GAP, _COLUMN_GAP
        start = vertices.get(START)
        sugiyama.init_all(roots=[start if start in part.sV else part.sV[0]])
        sugiyama.draw(_ROUNDS)
        left = _take(part, left, boxes, bends)
    return _framed(boxes, [_path(edge, boxes, bends) for edge in edges])


class _Route:
    """What the engine wants of an edge."""

    def __init__(self) -> None:
        self.points: list[Point] = []

    def setpath(self, points: list[Point]) -> None:
        self.points = list(points)


def _take(
    part: Any, left: float, boxes: dict[str, Box], bends: dict[tuple[str, str], list[Point]]
) -> float:
    """Take the places of one connected part, to the right of those before it."""
    views = {vertex.data: vertex.view for vertex in part.sV}
    shift = left - min(view.xy[0] - view.w / 2 for view in views.values())
    for name, view in views.items():
        boxes[name] = Box(view.xy[0] + shift, view.xy[1], view.w, view.h)
    for edge in part.sE:
        points = [(x + shift, y) for x, y in edge.view.points]
        bends[edge.v[0].data, edge.v[1].data] = points[1:-1]
    return max(boxes[name].x + boxes[name].width / 2 for name in views) + _COLUMN_GAP


def _path(
    edge: Edge, boxes: Mapping[str, Box], bends: Mapping[tuple[str, str], list[Point]]
) -> tuple[Point, ...]:
    source, target = boxes[edge.source], boxes[edge.target]
    if edge.source == edge.target:
        right, top = source.x + source.width / 2, source.y - source.height / 4
        low = source.y + source.height / 4
        return ((right, top), (right + 24, top), (right + 24, low), (right, low))
    pair = (edge.source, edge.target)
    middle = bends.get(pair) or list(reversed(bends.get((edge.target, edge.source), [])))
    if not middle and pair not in bends:
        # The way back of a two-way street keeps to its side.
        middle = [((source.x + target.x) / 2 + 26, (source.y + target.y) / 2)]
    first = border(source, middle[0] if middle else (target.x, target.y))
    last = border(target, middle[-1] if middle else (source.x, source.y))
    return (first, *middle, last)


def longest(path: Sequence[Point]) -> tuple[Point, Point]:
    """The longest piece of a path: where a label or a node has room."""
    return max(pairwise(path), key=lambda ends: sum(abs(a - b) for a, b in zip(*ends, strict=True)))


def border(box: Box, towards: Point) -> Point:
    """Where the line from a box's centre leaves the box."""
    dx, dy = towards[0] - box.x, towards[1] - box.y
    if dx == 0 and dy == 0:
        return box.x, box.y
    scale = min(
        box.width / 2 / abs(dx) if dx else float("inf"),
        box.height / 2 / abs(dy) if dy else float("inf"),
    )
    return box.x + dx * scale, box.y + dy * scale


def _framed(boxes: Mapping[str, Box], paths: Sequence[tuple[Point, ...]]) -> Placed:
    """The same places, moved so that everything lies inside a margin."""
    xs = [x for path in paths for x, _ in path]
    ys = [y for path in paths for _, y in path]
    for box in boxes.values():
        xs += [box.x - box.width / 2, box.x + box.width / 2]
        ys += [box.y - box.height / 2, box.y + box.height / 2]
    if not xs:
        return Placed({}, (), 2 * _MARGIN, 2 * _MARGIN)
    dx, dy = _MARGIN - min(xs), _MARGIN - min(ys)
    moved = {
        name: Box(round(box.x + dx, 1), round(box.y + dy, 1), box.width, box.height)
        for name, box in boxes.items()
    }
    lines = tuple(tuple((round(x + dx, 1), round(y + dy, 1)) for x, y in path) for path in paths)
    return Placed(moved, lines, round(max(xs) + dx + _MARGIN, 1), round(max(ys) + dy + _MARGIN, 1))
