"""Colours of the two themes; a text has a contrast of at least 4.5 to its ground, a line 3."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Final


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme."""

    ground: str
    surface: str
    ink: str
    muted: str
    line: str
    accent: str
    soft: str
    on_accent: str
    bad: str


PALETTES: Final = {
    name: Palette(**colours)
    for name, colours in json.loads(
        files("selfcorrect.drawing").joinpath("palette.json").read_text("utf-8")
    ).items()
}
