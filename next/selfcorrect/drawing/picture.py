"""Lays a graph out: boxes in a grid, and edges that run only through the gaps between them.

An edge leaves its node at the side, follows the gap beside the column, then the gap above its
target, and enters from above; edges to one target share their way. So no line can cross a box. An
edge straight down is one line.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

from selfcorrect.drawing.view import Picture, ViewEdge, ViewNode
from selfcorrect.model import JsonDict
from selfcorrect.routing import END, ROUTES
from selfcorrect.text import bound

Pair: TypeAlias = tuple[str, str]
Place: TypeAlias = tuple[int, int]
"""Column and row."""
Counts: TypeAlias = Mapping[Any, int]
_NEVER: Counts = {}

START = "__start__"
"""LangGraph's own name for the start; it is not drawn."""
COLUMNS = dict.fromkeys(ROUTES, 1) | dict.fromkeys(("plan", "execute", END), 0)
"""Of the loop's nodes: what a healthy call passes stands on the left."""
NAME_CELLS = 22
LABEL_CELLS = 20
_CELL = 7.9
_LABEL_CELL = 6.7
_LANE = 11
_PORT = 14


def picture_of(graph: Any, **path: Any) -> Picture:
    """Return the picture of a compiled LangGraph graph.

    Args:
        graph: The graph; what its edges carry as data are outcomes.
        path: Counts and marks, as `paint` takes them.
    """
    drawn = graph.get_graph()
    edges = [(each.source, each.target, str(each.data or "")) for each in drawn.edges]
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
    return _draw(
        _place(targets), {pair: text for pair, text in labels.items() if START not in pair}
    )


def cells(text: str) -> int:
    """Return how many columns a text takes at most in a font of one width."""
    return len(text) if text.isascii() else 2 * len(text)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many columns; a cut shows."""
    return bound(text, most if text.isascii() else most // 2)


def _place(targets: Mapping[str, list[str]]) -> dict[str, Place]:
    """Rank by the longest way from the start; put what leads to a node above it."""
    order = _order(targets)
    rank = dict.fromkeys(order, 0)
    sources = defaultdict(list)
    for number, name in enumerate(order):
        for target in set(targets[name]).intersection(order[number + 1 :]):
            rank[target] = max(rank[target], rank[name] + 1)
            sources[target].append(name)
    places: dict[str, Place] = {}
    for name in sorted(order, key=lambda each: rank[each]):
        columns = [places[each][0] for each in sources[name]]
        column = COLUMNS.get(name, sum(columns) // (len(columns) or 1))
        while (column, rank[name]) in places.values():
            column += 1
        places[name] = (column, rank[name])
    column, row = places.get(END, (0, 0))
    if row and (column, row - 1) not in places.values():
        places[END] = (column, row - 1)
    return places


def _order(targets: Mapping[str, list[str]]) -> list[str]:
    """Return the nodes so that only back edges lead to an earlier one."""
    done: list[str] = []
    seen = set()
    todo = [(name, False) for name in (*targets, START)]
    while todo:
        name, ends = todo.pop()
        if ends:
            done.append(name)
        elif name not in seen:
            seen.add(name)
            todo += [(name, True), *((each, False) for each in targets[name])]
    return [name for name in reversed(done) if name != START]


def _draw(places: Mapping[str, Place], labels: Mapping[Pair, str]) -> Picture:
    """Turn places into pixels."""
    ports, lanes = _find_ways(places, labels)
    columns, rows = (max(each) + 1 for each in zip(*places.values(), strict=True))
    # What stands under a name needs room, too.
    widest = max([15, *(min(cells(name), NAME_CELLS) for name in places)])
    width = round(widest * _CELL) + 24
    height = max(52, (_most(ports) + 1) * _PORT)
    # Between two columns stand the labels of the first, lanes, and the labels of the second.
    widest = max([0, *(min(cells(text), LABEL_CELLS) for text in labels.values())])
    room = round((widest + 5) * _LABEL_CELL)
    gap, rise = 2 * room + 16 + _most(lanes) * _LANE, 34 + columns * _LANE

    def corner(column: int, row: int) -> tuple[int, int]:
        return 16 + column * (width + gap), rise - 14 + row * (height + rise)

    def points(source: str, target: str) -> list[tuple[float, float]]:
        (x, y), (to_x, top) = corner(*places[source]), corner(*places[target])
        side, middle = _side(places, source, target), to_x + width / 2
        if not side:
            return [(middle, y + height), (middle, top)]
        beside = ports[source, side]
        # A line to the left never runs on the height of one to the right.
        at = y + height * (beside.index(target) + 1) / (len(beside) + 1) + (side < 0) * 5
        column = places[source][0] + (side > 0)
        lane = corner(column, 0)[0] - gap + room + 8 + lanes[column].index(target) * _LANE
        track = top - 16 - places[target][0] * _LANE
        entry = middle + (18 if lane > middle else -18)
        start = x + width * (side > 0)
        return [(start, at), (lane, at), (lane, track), (entry, track), (entry, top)]

    box: Any = {"width": width, "height": height, "visits": 0, "mark": "", "is_breakpoint": False}
    nodes = []
    for name, place in places.items():
        x, y = corner(*place)
        nodes.append(box | {"id": name, "x": x + width / 2, "y": y + height / 2})
    edges = [
        ViewEdge(source=pair[0], target=pair[1], label=text, points=points(*pair), count=0)
        for pair, text in labels.items()
    ]
    far = corner(columns, rows)
    return Picture(nodes=nodes, edges=edges, width=far[0] - room, height=far[1] - rise + 16)


def _most(ways: Mapping[Any, list[str]]) -> int:
    return max(map(len, ways.values()), default=0)


def _find_ways(places: Mapping[str, Place], labels: Iterable[Pair]) -> list[dict[Any, list[str]]]:
    """Return the targets of each side of each node, and of each gap between columns."""
    ways: list[dict[Any, list[str]]] = [defaultdict(list), defaultdict(list)]
    for source, target in sorted(labels, key=lambda pair: (places[pair[1]][1], pair)):
        if side := _side(places, source, target):
            keys = ((source, side), places[source][0] + (side > 0))
            for targets, key in zip(ways, keys, strict=True):
                if target not in targets[key]:
                    targets[key].append(target)
    return ways


def _side(places: Mapping[str, Place], source: str, target: str) -> int:
    """Return where an edge leaves: below (0), to the right (1) or to the left (-1)."""
    (column, row), (to_column, to_row) = places[source], places[target]
    between = {(column, each) for each in range(row + 1, to_row)}
    if column == to_column and row < to_row and between.isdisjoint(places.values()):
        return 0
    return -1 if to_column < column else 1
