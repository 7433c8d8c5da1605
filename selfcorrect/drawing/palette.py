"""Colours of the two themes; a text has a contrast of at least 4.5 to its ground, a line 3."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
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


PALETTES: Final = MappingProxyType(
    {
        "light": Palette(
            ground="#ffffff",
            surface="#f6f7f9",
            ink="#1b2330",
            muted="#566171",
            line="#7a8595",
            accent="#2b5fc7",
            soft="#e9effb",
            on_accent="#ffffff",
            bad="#b3261e",
        ),
        "dark": Palette(
            ground="#12161d",
            surface="#1b212b",
            ink="#e7ebf1",
            muted="#a7b2c1",
            line="#707d91",
            accent="#8ab0ff",
            soft="#212e4a",
            on_accent="#0d1420",
            bad="#ff9086",
        ),
    }
)
