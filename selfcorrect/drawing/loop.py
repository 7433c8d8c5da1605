"""Where the nodes of the loop itself stand: drawn by hand once, so that it reads well.

Attempts go down the left side, repairs down the right side, reports along dotted lanes.
"""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType
from typing import Final

from selfcorrect.drawing.layout import Box, Placed, Point
from selfcorrect.drawing.shape import END, GUARD, START, Shape

_LEFT: Final = 96.0
_RIGHT: Final = 322.0
_HEIGHT: Final = 36.0

_BOXES: Final = MappingProxyType(
    {
        START: Box(_LEFT, 24, 56, 24),
        "plan": Box(_LEFT, 92, 96, _HEIGHT),
        "execute": Box(_LEFT, 172, 96, _HEIGHT),
        "retry": Box(_LEFT, 332, 96, _HEIGHT),
        END: Box(_LEFT, 500, 56, 24),
        "diagnose": Box(_RIGHT, 172, 132, _HEIGHT),
        "select_strategy": Box(_RIGHT, 252, 132, _HEIGHT),
        "repair": Box(_RIGHT, 332, 132, _HEIGHT),
        "validate": Box(_RIGHT, 412, 132, _HEIGHT),
        "report_failure": Box(_RIGHT, 500, 132, _HEIGHT),
    }
)
_MIDDLE_LANE: Final = 236.0
_RIGHT_LANE: Final = 466.0
_PATHS: Final = MappingProxyType(
    {
        (START, "plan"): ((96, 36), (96, 74)),
        ("plan", "execute"): ((96, 110), (96, 154)),
        ("plan", "diagnose"): ((144, 86), (322, 86), (322, 154)),
        ("execute", "diagnose"): ((144, 172), (256, 172)),
        ("execute", END): ((48, 172), (22, 172), (22, 500), (68, 500)),
        ("diagnose", "select_strategy"): ((322, 190), (322, 234)),
        ("select_strategy", "repair"): ((322, 270), (322, 314)),
        ("repair", "validate"): ((322, 350), (322, 394)),
        ("repair", "retry"): ((256, 332), (144, 332)),
        ("repair", "select_strategy"): ((388, 326), (412, 326), (412, 258), (388, 258)),
        ("repair", END): ((256, 345), (216, 345), (216, 474), (108, 474), (108, 488)),
        ("validate", "retry"): ((256, 412), (96, 412), (96, 350)),
        ("validate", "diagnose"): (
            *((388, 406), (440, 406), (440, 337), (440, 268)),  # its label stands in the last piece
            *((440, 166), (388, 166)),
        ),
        ("retry", "execute"): ((96, 314), (96, 190)),
        ("report_failure", END): ((256, 507), (124, 507)),
        **{
            (node, "report_failure"): ((144, y), (_MIDDLE_LANE, y), (_MIDDLE_LANE, 493), (256, 493))
            for node, y in (("plan", 98), ("execute", 180), ("retry", 338))
        },
        **{
            (node, "report_failure"): ((388, y), (_RIGHT_LANE, y), (_RIGHT_LANE, 500), (388, 500))
            for node, y in (
                ("diagnose", 178),
                ("select_strategy", 246),
                ("repair", 338),
                ("validate", 418),
            )
        },
    }
)
_GUARDED_BOXES: Final = {
    **_BOXES,
    GUARD: Box(_LEFT, 172, 124, _HEIGHT),
    "execute": Box(_LEFT, 252, 96, _HEIGHT),
}
_GUARDED_PATHS: Final = {
    **_PATHS,
    ("plan", GUARD): ((96, 110), (96, 154)),
    (GUARD, "execute"): ((96, 190), (96, 234)),
    (GUARD, "diagnose"): ((158, 166), (256, 166)),
    (GUARD, "report_failure"): ((158, 178), (236, 178), (236, 493), (256, 493)),
    ("execute", "diagnose"): ((144, 246), (206, 246), (206, 184), (256, 184)),
    ("execute", "report_failure"): ((144, 260), (236, 260), (236, 493), (256, 493)),
    ("execute", END): ((48, 262), (15, 262), (15, 500), (68, 500)),
    ("retry", GUARD): ((48, 332), (25, 332), (25, 172), (34, 172)),
}
"""Where a guard stands before `execute`: it has the place, and `execute` the one below."""
_SIZE: Final = (504.0, 532.0)


def loop_places(shape: Shape) -> Placed:
    """The places of a loop; nodes that stand on edges lie in the middle of their edge."""
    is_guarded = GUARD in shape.nodes
    boxes = dict(_GUARDED_BOXES if is_guarded else _BOXES)
    paths = _GUARDED_PATHS if is_guarded else _PATHS
    ways: dict[tuple[str, str], tuple[Point, ...]] = {}
    for node in shape.nodes:
        if node in boxes:
            continue
        source = next(edge.source for edge in shape.edges if edge.target == node)
        target = next(edge.target for edge in shape.edges if edge.source == node)
        way = paths[source, target]
        start, end = max(pairwise(way), key=_length)
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        boxes[node] = Box(x, y, min(12 + 6.4 * len(node), 108), 24)
        cut = way.index(end)
        ways[source, node] = (*way[:cut], _short_of((x, y), start, boxes[node]))
        ways[node, target] = (_short_of((x, y), end, boxes[node]), *way[cut:])
    ends = [(edge.source, edge.target) for edge in shape.edges]
    return Placed(boxes, tuple(ways.get(pair) or paths[pair] for pair in ends), *_SIZE)


def _length(segment: tuple[Point, Point]) -> float:
    (ax, ay), (bx, by) = segment
    return abs(ax - bx) + abs(ay - by)


def _short_of(middle: Point, end: Point, box: Box) -> Point:
    """Where a line from the middle of a box towards an end leaves the box."""
    dx, dy = end[0] - middle[0], end[1] - middle[1]
    if abs(dx) >= abs(dy):
        return middle[0] + (box.width / 2 if dx > 0 else -box.width / 2), middle[1]
    return middle[0], middle[1] + (box.height / 2 if dy > 0 else -box.height / 2)
