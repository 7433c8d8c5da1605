"""See a self-correcting run, step through it, fork it. In a cell, offline.

`Stepper` runs a graph a step at a time, `trail` tells a run that is over, `show` draws a graph.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfcorrect.notebook.picture import show
    from selfcorrect.notebook.stepper import Stepper
    from selfcorrect.notebook.trails import trail

_HOMES = {"Stepper": "stepper", "show": "picture", "trail": "trails"}

__all__ = ["Stepper", "show", "trail"]


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package stays cheap."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"selfcorrect.notebook.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
