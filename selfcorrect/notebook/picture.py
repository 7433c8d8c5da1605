"""`show`: a graph as a picture, without a run and without a network."""

from __future__ import annotations

from typing import Any

from selfcorrect.drawing import Shape
from selfcorrect.drawing.mermaid import mermaid
from selfcorrect.drawing.svg import Marks, described, image, picture
from selfcorrect.errors import GraphSetupError


class Picture:
    """A graph as it is drawn; shown by being a cell's last value."""

    def __init__(self, shape: Shape, theme: str = "light") -> None:
        self.shape = shape
        self.theme = theme

    def to_svg(self) -> str:
        """The picture as SVG."""
        return picture(self.shape, theme=self.theme)

    def to_mermaid(self) -> str:
        """The graph as Mermaid text."""
        return mermaid(self.shape)

    def __repr__(self) -> str:
        return described(self.shape, Marks())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        svg = self.to_svg()
        return {
            "text/html": image(svg, described(self.shape, Marks())),
            "image/svg+xml": svg,
            "text/vnd.mermaid": self.to_mermaid(),
            "text/plain": repr(self),
        }


def show(graph: Any, *, theme: str = "light") -> Picture:
    """Draw a compiled graph, without running it and without the network.

    >>> from selfcorrect import build_graph
    >>> def double(number: int) -> int:
    ...     return number * 2
    >>> show(build_graph([double])).to_svg()[:4]
    '<svg'

    Args:
        graph: What `build_graph` returns, or any other compiled LangGraph graph.
        theme: `light` or `dark`.

    Raises:
        GraphSetupError: If it is no compiled graph.
        MissingExtra: If it is not a loop of ours and the extra `jupyter` is not installed.
    """
    if not callable(getattr(graph, "get_graph", None)):
        raise GraphSetupError(f"a compiled graph is needed, not {graph!r:.80}")
    return Picture(Shape.of_graph(graph), theme)
