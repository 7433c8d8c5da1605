"""Where the nodes of the loop itself stand: drawn by hand once, so that it reads well.

Attempts go down the left side, repairs down the right side, reports along dotted lanes. The picture
is `loop.json`: each box by its centre and size, each path by its corners; a label stands in the
longest piece of its path. Where a guard stands before `execute`, it has the place of `execute`, and
that the one below.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from selfcorrect.drawing.layout import Box, Placed, Point, border, longest
from selfcorrect.drawing.shape import GUARD, Shape


@cache
def _drawn() -> dict[str, Any]:
    text = files("selfcorrect.drawing").joinpath("loop.json").read_text("utf-8")
    drawn: dict[str, Any] = json.loads(text)
    return drawn


def loop_places(shape: Shape) -> Placed:
    """The places of a loop; nodes that stand on edges lie in the middle of their edge."""
    drawn = _drawn()
    sheets = ("", "guarded ") if GUARD in shape.nodes else ("",)
    boxes = {n: Box(*box) for sheet in sheets for n, box in drawn[f"{sheet}boxes"].items()}
    paths = {
        tuple(pair.split()): tuple(map(tuple, path))
        for sheet in sheets
        for pair, path in drawn[f"{sheet}paths"].items()
    }
    ways: dict[tuple[str, str], tuple[Point, ...]] = {}
    for node in shape.nodes:
        if node in boxes:
            continue
        source = next(edge.source for edge in shape.edges if edge.target == node)
        target = next(edge.target for edge in shape.edges if edge.source == node)
        way = paths[source, target]
        start, end = longest(way)
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        boxes[node] = Box(x, y, min(12 + 6.4 * len(node), 108), 24)
        cut = way.index(end)
        ways[source, node] = (*way[:cut], border(boxes[node], start))
        ways[node, target] = (border(boxes[node], end), *way[cut:])
    ends = [(edge.source, edge.target) for edge in shape.edges]
    return Placed(boxes, tuple(ways.get(pair) or paths[pair] for pair in ends), *drawn["size"])
