"""Draws a picture as SVG with presentation attributes alone: some pages strip styles."""

from base64 import b64encode
from html import escape
from typing import Final, NamedTuple

from selfcorrect.drawing.picture import LABEL_CELLS, NAME_CELLS, cut
from selfcorrect.drawing.view import Picture, ViewEdge, ViewNode
from selfcorrect.routing import END
from selfcorrect.text import release


class _Palette(NamedTuple):
    page: str
    box: str
    line: str
    taken: str
    text: str


_LIGHT: Final = _Palette("#ffffff", "#f3f5f8", "#7a8492", "#0b5cad", "#1a2230")
_DARK: Final = _Palette("#14181f", "#232a35", "#8a95a5", "#7db8ff", "#e8edf4")
_WORDS: Final = {"": "", "current": "now", "next": "next"}
_FONT: Final = 'font-family="ui-monospace, Menlo, Consolas, monospace"'


def draw(picture: Picture, *, dark: bool = False) -> str:
    """Return a picture as an SVG document; equal pictures give equal bytes."""
    colours = _DARK if dark else _LIGHT
    width, height = f"{picture['width']:g}", f"{picture['height']:g}"
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    look = f'role="img" {_FONT} font-size="13" fill="{colours.text}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>',
        f"<title>{_escape(_summary(picture), 300)}</title>",
        f'<rect class="page" width="{width}" height="{height}" fill="{colours.page}"/>',
        *(_edge(each, colours) for each in picture["edges"]),
        *(_node(each, colours) for each in picture["nodes"]),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def img(svg: str) -> str:
    """Return an SVG as an HTML image that needs nothing beside it."""
    data = b64encode(svg.encode()).decode()
    title = svg.partition("<title>")[2].partition("</title>")[0]
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{title}">'


def shown_name(name: str) -> str:
    """Return a node's name as people read it."""
    return "END" if name == END else release(name, 200)


def note_of(node: ViewNode) -> str:
    """Return what stands under a node's name: how often it ran, and how it is marked."""
    visits = f"×{node['visits']}" if node["visits"] else ""
    stop = "stops here" if node["is_breakpoint"] else ""
    return " · ".join(filter(None, [visits, _WORDS[node["mark"]], stop]))


def label_of(edge: ViewEdge) -> str:
    """Return an edge's label with how often it was taken."""
    count = f"×{edge['count']}" if edge["count"] else ""
    return f"{cut(release(edge['label'], 200), LABEL_CELLS)} {count}".strip()


def _node(node: ViewNode, colours: _Palette) -> str:
    x, y = node["x"] - node["width"] / 2, node["y"] - node["height"] / 2
    mark, note = node["mark"], note_of(node)
    stroke = colours.taken if mark or node["visits"] else colours.line
    border = f'stroke="{stroke}" stroke-width="{4 if mark == "current" else 1.5}"'
    border += ' stroke-dasharray="7 4"' if mark == "next" else ""
    name = shown_name(node["id"])
    return (
        f'<g class="node {mark}" data-node="{_escape(name)}"><title>{_escape(f"{name} {note}")}</title>'
        f'<rect x="{x:g}" y="{y:g}" width="{node["width"]:g}" height="{node["height"]:g}" '
        f'rx="{20 if mark else 6}" fill="{colours.box}" {border}/>'
        f'<text class="name" x="{node["x"]:g}" y="{node["y"] - 3:g}" text-anchor="middle" '
        f'font-weight="bold">{_escape(cut(name, NAME_CELLS))}</text>'
        f'<text class="note" x="{node["x"]:g}" y="{node["y"] + 14:g}" text-anchor="middle" '
        f'font-size="11">{_escape(note)}</text></g>'
    )


def _edge(edge: ViewEdge, colours: _Palette) -> str:
    colour, width = (colours.taken, 3) if edge["count"] else (colours.line, 1.2)
    (x, y), (to_x, _) = edge["points"][:2]
    line = " ".join(f"{a:g},{b:g}" for a, b in edge["points"])
    # A label stands beside the beginning, where no other line runs.
    side = (to_x > x) - (to_x < x)
    at = (x + 5 * side, y - 3, "end" if side < 0 else "start") if side else (x + 6, y + 13, "start")
    return (
        f'<g class="edge{" taken" if edge["count"] else ""}">'
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{width}" '
        f'stroke-linejoin="round"/><path d="{_head(edge)}" fill="{colour}"/>'
        f'<text x="{at[0]:g}" y="{at[1]:g}" text-anchor="{at[2]}" font-size="11">'
        f"{_escape(label_of(edge))}</text></g>"
    )


def _head(edge: ViewEdge) -> str:
    (from_x, _), (x, y) = edge["points"][-2:]
    if from_x == x:
        return f"M{x - 4:g},{y - 8:g} L{x:g},{y:g} L{x + 4:g},{y - 8:g}z"
    return f"M{x - 8:g},{y - 4:g} L{x:g},{y:g} L{x - 8:g},{y + 4:g}z"


def _summary(picture: Picture) -> str:
    marked = [f"{_WORDS[each['mark']]}: {each['id']}" for each in picture["nodes"] if each["mark"]]
    return f"A graph of {len(picture['nodes'])} nodes. {'. '.join(marked)}".strip()


def _escape(text: str, most: int = 200) -> str:
    return escape(release(text, most))
