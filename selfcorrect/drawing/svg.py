"""A graph as SVG: presentation attributes only, so that it looks the same wherever it is shown.

The same elements carry classes and `data-` attributes, with which the widget's style sheet and
module recolour them.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from selfcorrect.drawing.layout import Box, Placed, Point, layout, longest
from selfcorrect.drawing.loop import loop_places
from selfcorrect.drawing.palette import PALETTES, Palette
from selfcorrect.drawing.shape import END, START, Edge, Shape, label_of
from selfcorrect.kernel.texts import visible

FONT: Final = "ui-sans-serif, system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"
UNDER: Final = 6.0
"""Width of one character of a label's ground; the module in the page uses it too."""

_LONGEST_LABEL: Final = 28
_CORNER: Final = 9.0
_ARROW: Final = 5.5


@dataclass(frozen=True, slots=True)
class Marks:
    """What a run has made of a graph.

    Attributes:
        visits: How often each node on the path ran.
        ways: How often each edge on the path was taken, by (source, target).
        current: What ran last.
        next: What runs next.
        breakpoints: Where a run stops.
    """

    visits: Mapping[str, int] = field(default_factory=dict)
    ways: Mapping[tuple[str, str], int] = field(default_factory=dict)
    current: Collection[str] = ()
    next: Collection[str] = ()
    breakpoints: Collection[str] = ()


def picture(
    shape: Shape, marks: Marks | None = None, *, theme: str = "light", live: bool = False
) -> str:
    """The graph as a whole SVG document.

    Args:
        shape: What to draw.
        marks: Where a run stands in it.
        theme: `light` or `dark`.
        live: Whether nodes can be focused and pressed, and the page paints the background.
    """
    marks = marks or Marks()
    colours = PALETTES[theme]
    placed = places(shape)
    size = f'width="{placed.width:g}" height="{placed.height:g}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {placed.width:g} {placed.height:g}"'
        f' {size} role="{"group" if live else "img"}" aria-label={_attr(described(shape, marks))}'
        f" font-family={_attr(FONT)}>"
    )
    parts = [head]
    if not live:
        parts.append(f'<rect {size} rx="8" fill="{colours.ground}"/>')
    order = sorted(range(len(shape.edges)), key=lambda n: (_taken(shape.edges[n], marks), -n))
    parts += [_edge(n, shape.edges[n], placed.paths[n], marks, colours) for n in order]
    parts += [
        _node(name, placed.boxes[name], name in shape.nested, marks, colours, live=live)
        for name in shape.nodes
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def image(svg: str, alt: str) -> str:
    """The SVG as an `<img>` that any code host shows."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt={_attr(alt)} src="data:image/svg+xml;base64,{data}">'


@lru_cache(maxsize=64)
def places(shape: Shape) -> Placed:
    """Where everything stands."""
    if shape.is_loop:
        return loop_places(shape)
    sizes = dict[str, tuple[float, float]]()
    for name in shape.nodes:
        width = max(56.0, 40.0 + 7.4 * min(len(label_of(name)), _LONGEST_LABEL))
        sizes[name] = width, 24.0 if name in (START, END) else 36.0
    return layout(sizes, shape.edges)


def described(shape: Shape, marks: Marks) -> str:
    """The picture in one sentence, for those who do not see it."""
    inner = [name for name in shape.nodes if name not in (START, END)]
    ran = ", ".join(f"{label_of(name)} {count}×" for name, count in marks.visits.items())
    following = ", ".join(label_of(name) for name in marks.next)
    text = f"Graph of {len(inner)} nodes"
    text += f"; ran: {ran}" if ran else ""
    text += f"; next: {following}" if following else ""
    return visible(text)[:500]


def _taken(edge: Edge, marks: Marks) -> int:
    return marks.ways.get((edge.source, edge.target), 0)


def _edge(
    number: int, edge: Edge, points: tuple[Point, ...], marks: Marks, colours: Palette
) -> str:
    count = _taken(edge, marks)
    classes = ["sc-edge", *(["sc-rare"] if edge.rare else []), *(["sc-taken"] if count else [])]
    stroke = colours.accent if count else colours.line
    width = 2.2 if count else 1 if edge.rare else 1.3
    dashes = ' stroke-dasharray="2 3"' if edge.rare and not count else ""
    label = visible(edge.label.replace("_", " "))[:_LONGEST_LABEL]
    said = label if not edge.rare or count else ""
    text = f"{said} ×{count}".strip() if count else said
    x, y = _middle(points)
    under = UNDER * len(text) + 4 if text else 0
    return (
        f'<g class="{" ".join(classes)}" data-edge="{number}">'
        f"<title>{_text(f'{label_of(edge.source)} to {label_of(edge.target)}: {label}')}</title>"
        f'<path class="sc-line" d="{_rounded(points)}" fill="none" stroke="{stroke}"'
        f' stroke-width="{width:g}"{dashes}/>'
        f'<path class="sc-arrow" d="{_arrow(points)}" fill="{stroke}"/>'
        f'<rect class="sc-under" x="{x - under / 2:g}" y="{y - 7:g}" width="{under:g}" height="14"'
        f' fill="{colours.ground}"/>'
        f'<text class="sc-label" x="{x:g}" y="{y + 3.5:g}" text-anchor="middle" font-size="10.5"'
        f' fill="{colours.accent if count else colours.muted}">{_text(text)}</text></g>'
    )


def _node(name: str, box: Box, nested: bool, marks: Marks, colours: Palette, *, live: bool) -> str:
    visits = marks.visits.get(name, 0)
    current, following = name in marks.current, name in marks.next
    stops = name in marks.breakpoints
    said = {"visited": visits, "current": current, "next": following, "stops": stops}
    classes = ["sc-node", *(f"sc-{word}" for word, holds in said.items() if holds)]
    ends = name in (START, END)
    fill = colours.accent if current else colours.soft if visits else colours.surface
    ink = colours.on_accent if current else colours.ink
    stroke = colours.accent if visits or following or current else colours.line
    left, top = box.x - box.width / 2, box.y - box.height / 2
    rect = f'x="{left:g}" y="{top:g}" width="{box.width:g}" height="{box.height:g}"'
    dashes = ' stroke-dasharray="5 3"' if following and not current else ""
    button = (
        f' tabindex="0" role="button" aria-pressed="{str(stops).lower()}"'
        f" aria-label={_attr(f'{label_of(name)}, ran {visits} times')}"
        if live and not ends
        else ""
    )
    parts = [f'<g class="{" ".join(classes)}" data-node={_attr(name)}{button}>']
    radius = 12 if ends else 8
    if nested:
        parts.append(
            f'<rect class="sc-outer" x="{left - 3:g}" y="{top - 3:g}" width="{box.width + 6:g}"'
            f' height="{box.height + 6:g}" rx="{radius + 3}" fill="none" stroke="{stroke}"/>'
        )
    parts.append(
        f'<rect class="sc-box" {rect} rx="{radius}" fill="{fill}" stroke="{stroke}"'
        f' stroke-width="{2 if following or current else 1.3}"{dashes}/>'
    )
    parts.append(
        f'<circle class="sc-dot" cx="{left:g}" cy="{top:g}" r="{5 if stops else 0}"'
        f' fill="{colours.bad}" stroke="{colours.ground}" stroke-width="1.5"/>'
    )
    size = 11 if ends or name.count("_to_") else 13
    shown = visible(label_of(name))
    shown = shown if len(shown) <= _LONGEST_LABEL else f"{shown[: _LONGEST_LABEL - 1]}…"
    parts.append(
        f'<text class="sc-name" x="{box.x:g}" y="{box.y + size * 0.36:g}" text-anchor="middle"'
        f' font-size="{size}" font-weight="{600 if current else 500}" fill="{ink}">'
        f"{_text(shown)}</text>"
    )
    count = "" if ends or not visits else f"{visits}"
    parts.append(
        f'<text class="sc-visits" x="{box.x + box.width / 2 - 7:g}" y="{top + 13:g}"'
        f' text-anchor="end" font-size="10" font-weight="600"'
        f' fill="{colours.on_accent if current else colours.accent}">{count}</text></g>'
    )
    return "".join(parts)


def _middle(points: tuple[Point, ...]) -> Point:
    """The middle of the longest piece of a path: where its label has room."""
    (ax, ay), (bx, by) = longest(points)
    return (ax + bx) / 2, (ay + by) / 2


def _rounded(points: tuple[Point, ...]) -> str:
    """A path through the points whose corners are round."""
    out = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        a, b = _towards(corner, before, _CORNER), _towards(corner, after, _CORNER)
        out.append(f"L{a[0]:g} {a[1]:g}Q{corner[0]:g} {corner[1]:g} {b[0]:g} {b[1]:g}")
    tip = _towards(points[-1], points[-2], _ARROW)
    out.append(f"L{tip[0]:g} {tip[1]:g}")
    return "".join(out)


def _arrow(points: tuple[Point, ...]) -> str:
    tip = points[-1]
    base = _towards(tip, points[-2], _ARROW * 1.5)
    nx, ny = (tip[1] - base[1]) * 0.5, (base[0] - tip[0]) * 0.5
    ax, ay = round(base[0] + nx, 1), round(base[1] + ny, 1)
    bx, by = round(base[0] - nx, 1), round(base[1] - ny, 1)
    return f"M{tip[0]:g} {tip[1]:g}L{ax:g} {ay:g}L{bx:g} {by:g}Z"


def _towards(start: Point, end: Point, distance: float) -> Point:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    share = min(distance / length, 0.5) if length else 0.0
    return round(start[0] + dx * share, 1), round(start[1] + dy * share, 1)


def _text(value: str) -> str:
    return escape(visible(value))


def _attr(value: str) -> str:
    return quoteattr(visible(value))
