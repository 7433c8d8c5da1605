"""Lays a graph out: boxes in a grid, and edges that run only through the gaps between them.

An edge leaves its node at the side, follows the gap beside the column, then the gap above its
target, and enters from above; edges to one target share their way. So no line can cross a box. An
edge straight down is one line.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeAlias

from selfcorrect.drawing.view import Picture, ViewEdge, ViewNode
from selfcorrect.routing import END, ROUTES

Pair: TypeAlias = tuple[str, str]
Place: TypeAlias = tuple[int, int]
"""Column and row."""
Counts: TypeAlias = Mapping[Any, int]

START: Final = "__start__"
"""LangGraph's own name for the start; it is not drawn."""
PLACES: Final[Mapping[str, Place]] = {
    "plan": (0, 0),
    "execute": (0, 1),
    END: (0, 6),
    "diagnose": (1, 1),
    "select_strategy": (1, 2),
    "repair": (1, 3),
    "validate": (1, 4),
    "retry": (1, 5),
    "report_failure": (1, 6),
}
"""Of the loop's nodes; a deployment's own stand between the rows."""
NAME_CELLS: Final = 22
LABEL_CELLS: Final = 20
_CELL: Final = 7.9
_LABEL_CELL: Final = 6.7
_LANE: Final = 11
_PORT: Final = 14


def picture_of(
    graph: Any,
    *,
    visits: Counts | None = None,
    taken: Counts | None = None,
    current: Collection[str] = (),
    next: Collection[str] = (),  # noqa: A002
    breakpoints: Collection[str] = (),
) -> Picture:
    """Return the picture of a compiled LangGraph graph.

    Args:
        graph: The graph; what its edges carry as data are outcomes.
        visits: How often the run was at each node.
        taken: How often the run took each edge, by `(source, target)`.
        current: Nodes that ran last.
        next: Nodes that run next.
        breakpoints: Nodes that a run stops before.
    """
    drawn = graph.get_graph()
    edges = [(each.source, each.target, str(each.data or "")) for each in drawn.edges]
    picture = lay_out(edges, list(drawn.nodes))
    return paint(picture, visits or {}, taken or {}, current, next, breakpoints)


def paint(
    picture: Picture,
    visits: Counts,
    taken: Counts,
    current: Collection[str] = (),
    next: Collection[str] = (),  # noqa: A002
    breakpoints: Collection[str] = (),
) -> Picture:
    """Return a picture with other counts and marks; the places stay."""
    nodes, edges = list(picture["nodes"]), list(picture["edges"])
    for number, node in enumerate(nodes):
        name = node["id"]
        nodes[number] = {
            **node,
            "visits": visits.get(name, 0),
            "mark": "next" if name in next else "current" if name in current else "",
            "is_breakpoint": name in breakpoints,
        }
    for number, edge in enumerate(edges):
        edges[number] = {**edge, "count": taken.get((edge["source"], edge["target"]), 0)}
    return {**picture, "nodes": nodes, "edges": edges}


def lay_out(edges: Iterable[tuple[str, str, str]], nodes: Iterable[str] = ()) -> Picture:
    """Return the picture of edges, as source, target and outcome; equal for equal edges."""
    labels: dict[Pair, str] = {}
    targets: dict[str, list[str]] = {name: [] for name in sorted({*nodes, START})}
    for source, target, label in sorted(edges):
        known = labels.get((source, target))
        labels[source, target] = f"{known}, {label}" if known else label
        if target not in targets.setdefault(source, []):
            targets[source].append(target)
        targets.setdefault(target, [])
    places = (_place_own if ROUTES.keys() <= targets.keys() else _place)(targets)
    return _draw(places, {pair: text for pair, text in labels.items() if START not in pair})


def cells(text: str) -> int:
    """Return how many columns a text takes at most in a font of one width."""
    return len(text) + sum(not each.isascii() for each in text)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many columns; a cut shows."""
    if cells(text) <= most:
        return text
    while cells(text) > most - 2:
        text = text[:-1]
    return text + "…"


def _place(targets: Mapping[str, list[str]]) -> dict[str, Place]:
    """Rank by the longest way from the start; order in a rank by where its edges come from."""
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
        column = sum(columns) // (len(columns) or 1)
        while (column, rank[name]) in places.values():
            column += 1
        places[name] = (column, rank[name])
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


def _place_own(targets: Mapping[str, list[str]]) -> dict[str, Place]:
    """Put each of a deployment's own nodes into a row above what it leads to."""
    places: dict[str, tuple[int, float]] = dict(PLACES)
    own = sorted(targets.keys() - PLACES.keys() - {START})
    for number, name in enumerate(own, 1):
        known = [PLACES[each] for each in targets[name] if each in PLACES]
        column, row = min(known, key=lambda place: place[::-1], default=(2, 0))
        places[name] = (column, row - number / (len(own) + 1))
    rows = sorted({row for _, row in places.values()})
    return {name: (column, rows.index(row)) for name, (column, row) in places.items()}


def _draw(places: Mapping[str, Place], labels: Mapping[Pair, str]) -> Picture:
    """Turn places into pixels."""
    ports, lanes, tracks = _find_ways(places, labels)
    widest = max([10, *(min(cells(name), NAME_CELLS) for name in places)])
    width = round(widest * _CELL) + 24
    most = max([0, *map(len, ports.values())])
    height = max(52, (most + 1) * _PORT)
    # Between two columns stand the labels of the first, lanes, and the labels of the second.
    widest = max([0, *(min(cells(text), LABEL_CELLS) for text in labels.values())])
    room = round((widest + 5) * _LABEL_CELL)
    left, top = [16], [20 + len(tracks[0]) * _LANE]
    for gap in range(1, max([0, *(place[0] for place in places.values())]) + 2):
        left.append(left[-1] + width + 2 * room + 16 + len(lanes[gap]) * _LANE)
    for row in range(1, max([0, *(place[1] for place in places.values())]) + 2):
        top.append(top[-1] + height + 34 + len(tracks[row]) * _LANE)

    def points(source: str, target: str) -> list[tuple[float, float]]:
        (column, row), (to_column, to_row) = places[source], places[target]
        side = _side(places, source, target)
        middle = left[to_column] + width / 2
        if not side:
            return [(middle, top[row] + height), (middle, top[to_row])]
        beside = ports[source, side]
        # A line to the left never runs on the height of one to the right.
        y = top[row] + height * (beside.index(target) + 1) / (len(beside) + 1) + (side < 0) * 5
        gap = column + (side > 0)
        lane = left[gap - 1] + width + room + 8 + lanes[gap].index(target) * _LANE
        track = top[to_row] - 16 - tracks[to_row].index(target) * _LANE
        entry = middle + (18 if lane > middle else -18)
        start = left[column] + width * (side > 0)
        return [(start, y), (lane, y), (lane, track), (entry, track), (entry, top[to_row])]

    return Picture(
        nodes=[
            ViewNode(
                id=name,
                x=left[column] + width / 2,
                y=top[row] + height / 2,
                width=width,
                height=height,
                visits=0,
                mark="",
                is_breakpoint=False,
            )
            for name, (column, row) in places.items()
        ],
        edges=[
            ViewEdge(source=pair[0], target=pair[1], label=text, points=points(*pair), count=0)
            for pair, text in labels.items()
        ],
        width=left[-1] - room,
        height=top[-1] - 18,
    )


def _find_ways(
    places: Mapping[str, Place], labels: Iterable[Pair]
) -> tuple[dict[tuple[str, int], list[str]], dict[int, list[str]], dict[int, list[str]]]:
    """Return the targets of each side of each node, of each gap beside, and of each gap above."""
    ports: dict[Any, list[str]] = defaultdict(list)
    lanes: dict[int, list[str]] = defaultdict(list)
    tracks: dict[int, list[str]] = defaultdict(list)
    for source, target in sorted(labels, key=lambda pair: (places[pair[1]][1], pair)):
        if side := _side(places, source, target):
            ports[source, side].append(target)
            for ways in (lanes[places[source][0] + (side > 0)], tracks[places[target][1]]):
                if target not in ways:
                    ways.append(target)
    return ports, lanes, tracks


def _side(places: Mapping[str, Place], source: str, target: str) -> int:
    """Return where an edge leaves: below (0), to the right (1) or to the left (-1)."""
    (column, row), (to_column, to_row) = places[source], places[target]
    between = {(column, each) for each in range(row + 1, to_row)}
    if column == to_column and row < to_row and between.isdisjoint(places.values()):
        return 0
    return -1 if to_column < column else 1
