"""A whole run as frames: what a replay, a static copy and a terminal show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from selfcorrect.drawing import Shape
from selfcorrect.drawing.svg import Marks
from selfcorrect.notebook.frame import Frame
from selfcorrect.notebook.history import History, label, marks_of


@dataclass(slots=True)
class Recorded:
    """One run.

    Attributes:
        title: What it is called.
        status: State, tone and text, as `status_of` says them.
        history: Its moments; the head is where one looks.
        report: The report, as it is shown, or None.
        result: The result as text, or None.
        question: What a person is asked, as it is shown, or None.
    """

    title: str
    status: dict[str, str]
    history: History
    report: dict[str, Any] | None = None
    result: str | None = None
    question: dict[str, Any] | None = None
    breakpoints: Sequence[str] = ()

    @property
    def frames(self) -> list[Frame]:
        """All frames, in the order in which they happened."""
        return [moment.frame for moment in self.history.moments]

    def marks(self, shape: Shape) -> Marks:
        """Where the head stands in the picture."""
        return marks_of(self.history, shape, self.breakpoints)

    def as_json(self) -> dict[str, Any]:
        """The run as plain JSON."""
        return {
            "title": self.title,
            **{key: self.status[key] for key in ("state", "tone", "text")},
            "frames": [{**frame.as_json(), "label": label(frame)} for frame in self.frames],
            "changes": self.history.changes(),
            "seconds": self.history.seconds(),
            "report": self.report,
            "result": self.result,
            "question": self.question,
            "head": self.history.head,
        }


def milliseconds(seconds: float | None) -> str:
    """A duration as it is shown, or nothing."""
    if seconds is None:
        return ""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"
