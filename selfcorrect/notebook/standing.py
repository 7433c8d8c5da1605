"""Where a stepper stands: all that is painted, and all that is decided from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selfcorrect.notebook.history import History, Moment
from selfcorrect.notebook.parts import Steppable
from selfcorrect.notebook.second import Second


@dataclass(frozen=True, slots=True)
class Standing:
    """A stepper at one moment, as values.

    Attributes:
        title: What it is called on screen.
        parts: The graph.
        history: What happened on the thread, and the head: where one looks.
        values: The state at the head.
        asking: What a person is asked now, by LangGraph's id of it.
        breakpoints: The nodes that a run stops before.
        limit: Steps of one run.
        running: The nodes that run at this moment; None: it stands still.
        raised: What the node that is next raised when it ran, or None.
        halt: Why the last run stopped, if it stopped on the way.
        alert: What was wrong with the last command.
        second: What the next step would do a second time, if anything.
    """

    title: str
    parts: Steppable
    history: History
    values: Mapping[str, Any]
    asking: Sequence[tuple[str, Any]]
    breakpoints: frozenset[str]
    limit: int
    running: tuple[str, ...] | None
    raised: str | None
    halt: str
    alert: str
    second: Second | None

    @property
    def here(self) -> Moment:
        """The moment one looks at."""
        return self.history.here

    @property
    def is_past(self) -> bool:
        """Whether one looks at another moment than the thread's latest."""
        return self.here.number != self.history.tip.number
