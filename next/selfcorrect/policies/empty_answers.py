"""What happens when a model answers nothing: no text, and no call."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Protocol

from selfcorrect.errors import CorrectionFailed

FEEDBACK = "Your answer was empty. Call a tool, or answer in words."


class EmptyResponseError(CorrectionFailed):
    """A model answered nothing, too often in a row."""


class EmptyAnswerPolicy(Protocol):
    """Decides about empty answers."""

    def fresh(self) -> "EmptyAnswerPolicy":
        """Return the policy of one run: itself, unless it counts."""
        return self

    def handle(self) -> str | None:
        """Return what the model reads after an empty answer; None ends the run with that answer.

        Raises:
            EmptyResponseError: To end the run.
        """
        ...

    def on_answer(self) -> None:
        """Take note of an answer that is not empty."""


@dataclass
class RetryWithFeedback:
    """Asks the model again, up to `max_retries` times in a row.

    Attributes:
        max_retries: How many empty answers in a row are answered with the feedback.
        feedback: What the model reads.
    """

    max_retries: int = 1
    feedback: str = FEEDBACK
    _empty: Iterator[int] = field(
        default_factory=lambda: count(1), init=False, repr=False, compare=False
    )

    def fresh(self) -> "RetryWithFeedback":
        return replace(self)

    def handle(self) -> str:
        times = next(self._empty)
        if times > self.max_retries:
            raise EmptyResponseError(f"the model answered nothing {times} times in a row")
        return self.feedback

    def on_answer(self) -> None:
        self._empty = count(1)


class ExitOnEmpty(EmptyAnswerPolicy):
    """Ends the run with the empty answer."""

    def handle(self) -> None:
        return None
