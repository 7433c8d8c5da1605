"""Calls mended or run in one go, and recorded ones by the million: `repair` and `diagnose`.

`repair` and `diagnose` answer lines of recorded calls and errors, as the commands of that name do,
and need neither the command line's libraries nor LangGraph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

if TYPE_CHECKING:
    from selfcorrect.batch.recorded_calls import repair
    from selfcorrect.batch.recorded_errors import diagnose

_HOMES = {
    "diagnose": "selfcorrect.batch.recorded_errors",
    "repair": "selfcorrect.batch.recorded_calls",
}

__all__ = ["diagnose", "repair"]

__getattr__ = lazily(__name__, _HOMES)
