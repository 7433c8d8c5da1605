"""Shows graphs and runs in notebooks, offline."""

from typing import Any

from selfcorrect.drawing import html, svg
from selfcorrect.drawing.picture import picture_of
from selfcorrect.drawing.recorded import views_of
from selfcorrect.drawing.text import align, ascii_graph, change_text
from selfcorrect.model import JsonDict, JsonObject, frozen


@frozen
class Shown:
    """What a notebook, or a terminal, shows.

    Attributes:
        bundle: Its forms, by MIME type.
    """

    bundle: JsonDict

    def __repr__(self) -> str:
        return str(self.bundle["text/plain"])

    def _repr_mimebundle_(self, **_: Any) -> JsonDict:
        return self.bundle


def show(graph: Any) -> Shown:
    """Draw a compiled graph; LangGraph's own picture needs a service on the network."""
    picture = picture_of(graph)
    drawn = svg.draw(picture)
    bundle = {"text/plain": ascii_graph(picture), "image/svg+xml": drawn}
    return Shown(bundle | {"text/html": svg.img(drawn)})


def trail(output: JsonObject) -> Shown:
    """Show a run as a table: step, node, outcome and changes.

    Args:
        output: What a run ended with.
    """
    names = ("step", "node", "outcome", "changes")
    views = views_of(output, title="run")
    last = views[-1]
    rows = []
    for view, moment in zip(views, last["timeline"], strict=True):
        changes = "; ".join(map(change_text, view["detail"]["changes"]))
        rows.append([moment["id"], moment["node"], moment["outcome"], changes])
    ends = list(last["outcome"].items())
    plain = f"{align([names, *rows])}\n{align(ends)}"
    return Shown({"text/plain": plain, "text/html": html.table(names, rows) + html.table((), ends)})
