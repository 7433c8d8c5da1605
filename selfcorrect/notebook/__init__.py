"""See a self-correcting run, step through it, fork it. In a cell, offline.

`Stepper` runs a graph a step at a time, `trail` tells a run that is over, `show` draws a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.notebook.picture import show
    from selfcorrect.notebook.stepper import Stepper
    from selfcorrect.notebook.trails import trail

_HOMES = {
    "Stepper": "selfcorrect.notebook.stepper",
    "show": "selfcorrect.notebook.picture",
    "trail": "selfcorrect.notebook.trails",
}

__all__ = ["Stepper", "show", "trail"]

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
