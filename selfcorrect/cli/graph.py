"""`selfcorrect graph`: draw a graph, offline."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from selfcorrect.cli import source


class Format(StrEnum):
    """How a graph is drawn."""

    MERMAID = "mermaid"
    ASCII = "ascii"
    SVG = "svg"


def graph(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[GRAPH]", help="path/file.py[:object], or a name in langgraph.json."
        ),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How it is drawn.")] = Format.MERMAID,
) -> None:
    """Draw a graph as Mermaid text, as plain text or as SVG."""
    found = source.find(name).graph()
    if form is Format.SVG:
        from selfcorrect.drawing import Shape
        from selfcorrect.drawing.svg import picture

        typer.echo(picture(Shape.of_graph(found)), nl=False)
        return
    drawable = found.get_graph()
    typer.echo(drawable.draw_mermaid() if form is Format.MERMAID else outline(drawable))


def outline(drawable: Any) -> str:
    """A drawable graph as text: each node, and where it leads under which condition."""
    lines: list[str] = []
    for node in drawable.nodes:
        edges = [edge for edge in drawable.edges if edge.source == node]
        if not edges:
            continue
        lines.append(str(node))
        for edge in edges:
            label = f"  ({edge.data})" if edge.data else ""
            lines.append(f"  {'└' if edge is edges[-1] else '├'}─> {edge.target}{label}")
    return "\n".join(lines)
