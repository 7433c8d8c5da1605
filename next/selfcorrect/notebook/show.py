"""Shows graphs and runs in notebooks, offline."""

from collections.abc import Mapping
from html import escape
from typing import Any

from selfcorrect.drawing import html, svg
from selfcorrect.drawing.picture import picture_of
from selfcorrect.drawing.recorded import views_of
from selfcorrect.drawing.text import align, ascii_graph, change_text


class Shown:
    """What a notebook, or a terminal, shows of something.

    Attributes:
        bundle: Its forms, by MIME type.
    """

    def __init__(self, bundle: dict[str, Any]) -> None:
        self.bundle = bundle

    def __repr__(self) -> str:
        return str(self.bundle["text/plain"])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return self.bundle


def show(graph: Any) -> Shown:
    """Draw a compiled graph; LangGraph's own picture needs a service on the network."""
    picture = picture_of(graph)
    drawn = svg.draw(picture)
    bundle = {"text/plain": ascii_graph(picture), "image/svg+xml": drawn}
    return Shown(bundle | {"text/html": svg.img(drawn)})


def trail(output: Mapping[str, Any]) -> Shown:
    """Show a run as a table: step, node, outcome, changes and seconds.

    Args:
        output: What a run ended with.
    """
    names = ("step", "node", "outcome", "changes", "seconds")
    views = views_of(output, title="run")
    end, rows = views[-1], []
    for view in views:
        if detail := view["detail"]:
            head = next(each for each in view["timeline"] if each["is_head"])
            changes = "; ".join(map(change_text, detail["changes"]))
            seconds = f"{head['seconds']:.3g}" if head["seconds"] else ""
            rows.append([head["id"], head["node"], head["outcome"], changes, seconds])
    told = [f"{name}: {text}" for name, text in end["outcome"].items()]
    lines = "".join(f"<p>{escape(line)}</p>\n" for line in told)
    flat = [[" ".join(cell.split()) for cell in row] for row in rows]
    bundle = {
        "text/plain": "\n".join([align([names, *flat]), *(" ".join(each.split()) for each in told)])
    }
    return Shown(bundle | {"text/html": html.table(names, rows) + lines})
