"""Pictures of a graph without a network: its shape, a layout, SVG and Mermaid."""

from selfcorrect.drawing.shape import END, START, Edge, Shape, label_of

__all__ = ["END", "START", "Edge", "Shape", "label_of"]
