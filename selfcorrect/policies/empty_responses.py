"""What is done where a model answers nothing: no text, and no call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Protocol

from selfcorrect.errors import SelfCorrectError
from selfcorrect.hints import whole

PLACEHOLDER: Final = "(empty)"
"""Stands for the blank turn when a model is asked again: providers reject blank messages."""

FEEDBACK: Final = "You answered nothing. Answer in words, or call a tool."


class EmptyResponseError(SelfCorrectError):
    """The model went on answering nothing."""

    code: ClassVar[str] = "SC305"


def is_empty(message: Any) -> bool:
    """Whether a message has no text and no call, not even an invalid one.

    >>> from langchain_core.messages import AIMessage
    >>> is_empty(AIMessage("  ")), is_empty(AIMessage([{"type": "text", "text": "hello"}]))
    (True, False)
    """
    if getattr(message, "tool_calls", None) or getattr(message, "invalid_tool_calls", None):
        return False
    content = getattr(message, "content", message)
    if isinstance(content, list):
        return not any(
            block.strip()
            if isinstance(block, str)
            else str(block.get("text") or "").strip() or block.get("type") not in _TEXTUAL
            for block in content
        )
    return not str(content or "").strip()


_TEXTUAL: Final = (None, "text", "reasoning", "thinking")


class EmptyResponsePolicy(Protocol):
    """Decides about empty answers, for one run; each run works on its own copy from `fresh`."""

    def fresh(self) -> EmptyResponsePolicy:
        """A policy of the same kind for a new run."""
        ...

    def handle(self) -> str | None:
        """What the model is told before it is asked again; None: the empty answer stands.

        Raises:
            EmptyResponseError: If the run ends here.
        """
        ...

    def on_answer(self) -> None:
        """Hear that the model answered something."""
        ...


@dataclass(frozen=True, slots=True)
class ExitOnEmpty:
    """Takes an empty answer for the end of the run.

    >>> ExitOnEmpty().handle() is None
    True
    """

    def fresh(self) -> ExitOnEmpty:
        """Itself: there is nothing to count."""
        return self

    def handle(self) -> str | None:
        """Let it stand."""
        return None

    def on_answer(self) -> None:
        """Nothing."""


@dataclass(slots=True)
class RetryWithFeedback:
    """Tells the model that it answered nothing, and raises when that goes on.

    Attributes:
        max_retries: Consecutive empty answers after which the model is asked again.
        feedback: What it is told.
        blanks: Consecutive empty answers so far.

    >>> policy = RetryWithFeedback()
    >>> policy.handle()
    'You answered nothing. Answer in words, or call a tool.'
    >>> policy.handle()
    Traceback (most recent call last):
    ...
    selfcorrect.policies.empty_responses.EmptyResponseError: the model answered nothing 2 times
    """

    max_retries: int = 1
    feedback: str = FEEDBACK
    blanks: int = 0

    def __post_init__(self) -> None:
        """Refuse what can never be meant.

        Raises:
            GraphSetupError: If there are fewer than no retries.
        """
        whole("RetryWithFeedback", "max_retries", self.max_retries)

    def fresh(self) -> RetryWithFeedback:
        """The same settings, and no empty answers."""
        return replace(self, blanks=0)

    def handle(self) -> str | None:
        """The feedback, until the empty answers in a row exceed `max_retries`."""
        self.blanks += 1
        if self.blanks > self.max_retries:
            raise EmptyResponseError(f"the model answered nothing {self.blanks} times")
        return self.feedback

    def on_answer(self) -> None:
        """Start counting anew."""
        self.blanks = 0
