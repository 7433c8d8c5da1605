"""Lays a graph out: boxes in a grid, and edges that run only through the gaps between them.

An edge leaves its node at the side, follows the gap beside the column, then the gap above its
target, and enters from above; edges to one target share their way. So no line can cross a box. An
edge straight down, or to the next column, is one line.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from selfcorrect.drawing.view import Picture, ViewEdge, ViewNode
from selfcorrect.routing import END, ROUTES

Labels: TypeAlias = Mapping[tuple[str, str], str]
Place: TypeAlias = tuple[int, int]
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
"""Column and row of the loop's nodes; a deployment's own stand to the right of them."""
NAME_CELLS: Final = 22
LABEL_CELLS: Final = 20
_CELL, _SMALL_CELL = 7.9, 6.7
_HEIGHT, _PORT, _LANE = 46.0, 16.0, 11.0


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
    nodes, edges = [], []
    for node in picture["nodes"]:
        name = node["id"]
        shown: ViewNode = {**node, "visits": visits.get(name, 0), "mark": ""}
        shown["is_breakpoint"] = name in breakpoints
        if name in current or name in next:
            shown["mark"] = "next" if name in next else "current"
        nodes.append(shown)
    for edge in picture["edges"]:
        count = taken.get((edge["source"], edge["target"]), 0)
        edges.append(ViewEdge(**{**edge, "count": count}))
    return {**picture, "nodes": nodes, "edges": edges}


def lay_out(edges: Iterable[tuple[str, str, str]], nodes: Iterable[str] = ()) -> Picture:
    """Return the picture of edges, as source, target and outcome; equal for equal edges."""
    joined: dict[tuple[str, str], list[str]] = {}
    for source, target, label in sorted(edges):
        joined.setdefault((source, target), []).extend([label] if label else [])
    targets: dict[str, list[str]] = {
        name: [] for name in sorted({*nodes, *(name for pair in joined for name in pair)})
    }
    for source, target in joined:
        targets[source].append(target)
    order = _order(targets)
    places = _place_own(targets) if ROUTES.keys() <= targets.keys() else _place(order, targets)
    labels = {pair: ", ".join(names) for pair, names in joined.items() if START not in pair}
    return _Grid(places, labels).picture()


def cells(text: str) -> int:
    """Return how many columns a text takes in a font of one width."""
    return sum(1 + (unicodedata.east_asian_width(each) in "WF") for each in text)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many columns; a cut shows."""
    if cells(text) <= most:
        return text
    while cells(text) >= most:
        text = text[:-1]
    return text + "…"


def _order(targets: Mapping[str, list[str]]) -> list[str]:
    """Return the nodes so that only back edges lead to an earlier one."""
    done: list[str] = []
    seen: set[str] = set()
    todo = [(name, False) for name in (*reversed([*targets]), START)]
    while todo:
        name, ends = todo.pop()
        if ends:
            done.append(name)
        elif name not in seen:
            seen.add(name)
            todo += [(name, True), *((each, False) for each in targets.get(name, ()))]
    return [name for name in reversed(done) if name != START]


def _place(order: list[str], targets: Mapping[str, list[str]]) -> dict[str, Place]:
    """Rank by the longest way from the start; order in a rank by where its edges come from."""
    position = {name: number for number, name in enumerate(order)}
    rank = dict.fromkeys(order, 0)
    sources = defaultdict(list)
    for name in order:
        for target in targets[name]:
            if position[target] > position[name]:
                rank[target] = max(rank[target], rank[name] + 1)
                sources[target].append(name)
    places: dict[str, Place] = {}
    for row in range(max(rank.values(), default=0) + 1):
        means = {
            name: sum(places[each][0] for each in sources[name]) / (len(sources[name]) or 1)
            for name in order
            if rank[name] == row
        }
        column = -1
        for name in sorted(means, key=lambda each: means[each]):
            column = max(column + 1, round(means[name]))
            places[name] = (column, row)
    return places


def _place_own(targets: Mapping[str, list[str]]) -> dict[str, Place]:
    """Put a deployment's own nodes between rows, above what they lead to."""
    places: dict[str, tuple[int, float]] = dict(PLACES)
    for name in sorted(targets.keys() - PLACES.keys() - {START}):
        known = [places[each] for each in targets[name] if each in places]
        column, row = min(known, key=lambda place: (place[1], place[0]), default=(2, 0.0))
        step = 0.5
        while (column, row - step) in places.values():
            step /= 2
        places[name] = (column, row - step)
    used = sorted({places[name][1] for name in targets if name in places})
    return {name: (at[0], used.index(at[1])) for name, at in places.items() if name in targets}


@dataclass
class _Grid:
    """Turns places into pixels."""

    places: dict[str, Place]
    labels: Labels
    width: float = 0
    left: dict[int, float] = field(default_factory=dict)
    top: dict[int, float] = field(default_factory=dict)
    heights: dict[int, float] = field(default_factory=dict)

    def picture(self) -> Picture:
        """Return boxes and lines."""
        shown = [min(cells(name), NAME_CELLS) for name in self.places]
        self.width = round(max([10, *shown]) * _CELL + 24)
        self.ports = self._find_ports()
        self.lanes, self.tracks = self._find_lanes()
        size = self._measure()
        nodes = [self._box(name) for name in self.places]
        edges = [
            ViewEdge(source=a, target=b, label=label, points=self._points(a, b), count=0)
            for (a, b), label in self.labels.items()
        ]
        return {"nodes": nodes, "edges": edges, "width": size[0], "height": size[1]}

    def _side(self, source: str, target: str) -> int:
        """Return where an edge leaves: below (0), to the right (1) or to the left (-1)."""
        (column, row), (to_column, to_row) = self.places[source], self.places[target]
        between = ((column, each) for each in range(row + 1, to_row))
        taken = self.places.values()
        if column == to_column and row < to_row and not any(each in taken for each in between):
            return 0
        return -1 if to_column < column else 1

    def _is_level(self, source: str, target: str) -> bool:
        """Say whether one line to the right is enough."""
        (column, row), to = self.places[source], self.places[target]
        is_free = all(self._side(a, b) >= 0 for a, b in self.labels if a == target)
        return to == (column + 1, row) and is_free

    def _find_ports(self) -> dict[tuple[str, int], list[str]]:
        """Return the targets on each side of each node, from above to below."""
        ports = defaultdict(list)
        for source, target in self.labels:
            ports[source, self._side(source, target)].append(target)
        for targets in ports.values():
            targets.sort(key=lambda each: (self.places[each][1], each))
        return dict(ports)

    def _find_lanes(self) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """Return the targets with a way of their own in each gap beside and above."""
        spans: dict[int, dict[str, int]] = defaultdict(dict)
        tracks = defaultdict(set)
        for (source, side), targets in self.ports.items():
            column, row = self.places[source]
            for target in targets:
                if side and not self._is_level(source, target):
                    to_row = self.places[target][1]
                    span = spans[column + (side > 0)]
                    span[target] = max(span.get(target, 0), abs(to_row - row))
                    tracks[to_row].add(target)
        lanes = {
            gap: sorted(span, key=lambda each: (span[each], each)) for gap, span in spans.items()
        }
        return lanes, {row: sorted(names) for row, names in tracks.items()}

    def _measure(self) -> tuple[float, float]:
        """Find where columns and rows begin; return the whole size."""
        columns = max((place[0] for place in self.places.values()), default=0) + 1
        rows = max((place[1] for place in self.places.values()), default=0) + 1
        x = y = 0.0
        for gap in range(columns + 1):
            # Labels of the column before, lanes, labels of the column behind.
            x += self._zone(gap - 1, 1) + len(self.lanes.get(gap, ())) * _LANE
            x += 16 + self._zone(gap, -1)
            self.left[gap] = x
            x += self.width if gap < columns else 0
        for row in range(rows):
            here = [
                len(names)
                for (name, side), names in self.ports.items()
                if side and self.places[name][1] == row
            ]
            self.heights[row] = max(_HEIGHT, (max(here, default=0) + 1) * _PORT)
            y += (34 if row else 20) + len(self.tracks.get(row, ())) * _LANE
            self.top[row] = y
            y += self.heights[row]
        return x, y + 16

    def _zone(self, column: int, side: int) -> float:
        """Return how much room the labels on one side of a column take."""
        shown = [0.0]
        for (name, at), names in self.ports.items():
            if self.places[name][0] == column and (at == side or at == 0 < side):
                # A label below a box begins at its middle.
                inside = 0 if at else self.width / 2 - 6
                room = (min(cells(self.labels[name, each]), LABEL_CELLS) + 5 for each in names)
                shown += (each * _SMALL_CELL - inside for each in room)
        return max(shown)

    def _box(self, name: str) -> ViewNode:
        column, row = self.places[name]
        return ViewNode(
            id=name,
            x=self.left[column] + self.width / 2,
            y=self.top[row] + self.heights[row] / 2,
            width=self.width,
            height=self.heights[row],
            visits=0,
            mark="",
            is_breakpoint=False,
        )

    def _points(self, source: str, target: str) -> list[tuple[float, float]]:
        (column, row), (to_column, to_row) = self.places[source], self.places[target]
        side = self._side(source, target)
        middle, top = self.left[to_column] + self.width / 2, self.top[to_row]
        if not side:
            return [(middle, self.top[row] + self.heights[row]), (middle, top)]
        ports = self.ports[source, side]
        step = self.heights[row] / (len(ports) + 1)
        # A line to the left never runs on the height of one to the right.
        y = self.top[row] + step * (ports.index(target) + 1) + (side < 0) * 5
        x = self.left[column] + self.width * (side > 0)
        if self._is_level(source, target):
            return [(x, y), (self.left[to_column], y)]
        gap = column + (side > 0)
        lane = self.left[gap] - self._zone(gap, -1) - 8
        lane -= (len(self.lanes[gap]) - 1 - self.lanes[gap].index(target)) * _LANE
        track = top - 16 - self.tracks[to_row].index(target) * _LANE
        entry = middle + (18 if lane > middle else -18)
        return [(x, y), (lane, y), (lane, track), (entry, track), (entry, top)]
