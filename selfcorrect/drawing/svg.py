"""Draws a picture as SVG with presentation attributes alone: some pages strip styles."""

from base64 import b64encode
from html import escape

from selfcorrect.drawing.picture import LABEL_CELLS, NAME_CELLS
from selfcorrect.drawing.view import Picture, ViewEdge, ViewNode
from selfcorrect.routing import END
from selfcorrect.text import release

_PAGE, _BOX, _LINE, _TAKEN, _TEXT = "#ffffff", "#f3f5f8", "#7a8492", "#0b5cad", "#1a2230"
_FONT = 'font-family="ui-monospace, Menlo, Consolas, monospace"'


def draw(picture: Picture) -> str:
    """Return a picture as an SVG document; equal pictures give equal bytes."""
    width, height = f"{picture['width']:g}", f"{picture['height']:g}"
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    look = f'role="img" {_FONT} font-size="13" fill="{_TEXT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>',
        f"<title>A graph of {len(picture['nodes'])} nodes</title>",
        f'<rect class="page" width="{width}" height="{height}" fill="{_PAGE}"/>',
        *map(_edge, picture["edges"]),
        *map(_node, picture["nodes"]),
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
    stop = "stop" if node["is_breakpoint"] else ""
    return " · ".join(filter(None, [visits, node["mark"], stop]))


def label_of(edge: ViewEdge) -> str:
    """Return an edge's label with how often it was taken."""
    count = f"×{edge['count']}" if edge["count"] else ""
    return f"{release(edge['label'], LABEL_CELLS)} {count}".strip()


def markup(text: str, most: int = 2_000) -> str:
    """Return a text as it may stand in SVG and HTML."""
    return escape(release(text, most))


def _node(node: ViewNode) -> str:
    x, y = node["x"] - node["width"] / 2, node["y"] - node["height"] / 2
    mark, name, note = node["mark"], shown_name(node["id"]), note_of(node)
    stroke = _TAKEN if mark or node["visits"] else _LINE
    # The mark shows as a shape and as a word, not by its colour alone.
    shape = f'rx="{20 if mark else 6}" stroke-width="{4 if mark == "current" else 1.5}"'
    dashes = ' stroke-dasharray="7 4"' if mark == "next" else ""
    size = f'width="{node["width"]:g}" height="{node["height"]:g}" fill="{_BOX}"'
    middle = f'x="{node["x"]:g}" text-anchor="middle"'
    lines = [
        f'<g class="node {mark}"><title>{markup(f"{name} {note}")}</title>',
        f'<rect x="{x:g}" y="{y:g}" {size} stroke="{stroke}" {shape}{dashes}/>',
        f'<text class="name" {middle} y="{node["y"] - 3:g}" font-weight="bold">',
        f"{markup(name, NAME_CELLS)}</text>",
        f'<text class="note" {middle} y="{node["y"] + 14:g}" font-size="11">{note}</text></g>',
    ]
    return "".join(lines)


def _edge(edge: ViewEdge) -> str:
    colour, width = (_TAKEN, 3) if edge["count"] else (_LINE, 1.2)
    (x, y), (to_x, _) = edge["points"][:2]
    end, low = edge["points"][-1]
    line = " ".join(f"{a:g},{b:g}" for a, b in edge["points"])
    # A label stands beside the beginning, where no other line runs; all lines end downwards.
    place = f'x="{x + 6:g}" y="{y - 4 if to_x > x else y + 13:g}"'
    lines = [
        f'<g class="edge {"taken" if edge["count"] else ""}"><polyline points="{line}" ',
        f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>',
        f'<path d="M{end - 4:g},{low - 8:g} L{end:g},{low:g} L{end + 4:g},{low - 8:g}z" ',
        f'fill="{colour}"/><text {place} font-size="11">',
        f"{markup(label_of(edge))}</text></g>",
    ]
    return "".join(lines)
