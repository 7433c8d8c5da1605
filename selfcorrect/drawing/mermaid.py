"""A graph as Mermaid text, with what a run made of it."""

from __future__ import annotations

from selfcorrect.drawing.shape import END, START, Shape, label_of
from selfcorrect.drawing.svg import Marks
from selfcorrect.kernel.texts import visible


def mermaid(shape: Shape, marks: Marks | None = None) -> str:
    """The graph as a Mermaid flowchart.

    >>> from selfcorrect.drawing import Edge
    >>> print(mermaid(Shape(("__start__", "a"), (Edge("__start__", "a"),))))
    flowchart TD
      n0(["start"])
      n1["a"]
      n0 --> n1
    """
    marks = marks or Marks()
    names = {name: f"n{number}" for number, name in enumerate(shape.nodes)}
    lines = ["flowchart TD"]
    for name, short in names.items():
        count = marks.visits.get(name, 0)
        text = _quoted(label_of(name) + (f" ×{count}" if count and name != START else ""))
        lines.append(f"  {short}([{text}])" if name in (START, END) else f"  {short}[{text}]")
    for edge in shape.edges:
        count = marks.ways.get((edge.source, edge.target), 0)
        label = edge.label.replace("_", " ") + (f" ×{count}" if count else "")
        arrow = "-.->" if edge.rare and not count else "==>" if count else "-->"
        middle = f"|{_quoted(label.strip())}| " if label.strip() else ""
        lines.append(f"  {names[edge.source]} {arrow} {middle}{names[edge.target]}")
    current = ",".join(names[name] for name in marks.current if name in names)
    following = ",".join(names[name] for name in marks.next if name in names)
    if current:
        lines += ["  classDef current stroke-width:3px", f"  class {current} current"]
    if following:
        lines += ["  classDef next stroke-dasharray:5 3", f"  class {following} next"]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Text in the quotes of Mermaid, which knows entities instead of escapes."""
    safe = "".join(
        char if char.isalnum() or char in " -_.,×" else f"#{ord(char)};"
        for char in visible(text)[:80]
    )
    return f'"{safe}"'
