"""What is done about calls of tools that do not exist, where a run goes on for several calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from selfcorrect.errors import GraphSetupError, ToolNotFoundError
from selfcorrect.hints import whole
from selfcorrect.text import similar_names, tool_not_found_feedback


@dataclass(frozen=True, slots=True)
class Feedback:
    """The model is told, and may try again.

    Attributes:
        message: For the model: there is no such tool, what may have been meant, what there is.
        suggestions: The names that may have been meant, best first.
    """

    message: str
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Raise:
    """The run ends with this error."""

    error: ToolNotFoundError


NotFoundDecision: TypeAlias = Feedback | Raise


class ToolNotFoundPolicy(Protocol):
    """Decides about calls of tools that do not exist, for one run.

    A policy object is a template: every run works on its own copy from `fresh`, so that runs side
    by side share no counter. Several misses in one batch of calls count once: hand over the first
    and give the same decision's kind to the others.
    """

    def fresh(self) -> ToolNotFoundPolicy:
        """A policy of the same kind for a new run."""
        ...

    def handle(self, requested: str, available: Sequence[str]) -> NotFoundDecision:
        """Decide about a name that does not exist."""
        ...

    def on_tool_found(self) -> None:
        """Hear that a name resolved; called before the tool runs."""
        ...


@dataclass(slots=True)
class AutoCorrect:
    """Tells the model what was meant, and raises when it misses too often in a row.

    Attributes:
        max_retries: Consecutive misses that are answered; the one after them raises.
        min_token_length: Words of a name that are shorter do not count.
        min_token_similarity: Least share of common words of a suggestion, 0 to 1.
        misses: Consecutive misses so far.

    >>> policy = AutoCorrect(max_retries=1)
    >>> policy.handle("serach", ["search", "book"]).suggestions
    ('search',)
    >>> type(policy.handle("fly", ["search", "book"])).__name__
    'Raise'
    """

    max_retries: int = 3
    min_token_length: int = 3
    min_token_similarity: float = 0.25
    misses: int = 0

    def __post_init__(self) -> None:
        """Refuse what can never be meant.

        Raises:
            GraphSetupError: If there are fewer than no retries, or no share of words.
        """
        whole("AutoCorrect", "max_retries", self.max_retries)
        whole("AutoCorrect", "min_token_length", self.min_token_length)
        if not 0 <= self.min_token_similarity <= 1:
            raise GraphSetupError(
                f"AutoCorrect: min_token_similarity is 0 to 1, not {self.min_token_similarity!r}"
            )

    def fresh(self) -> AutoCorrect:
        """The same settings, and no misses."""
        return replace(self, misses=0)

    def handle(self, requested: str, available: Sequence[str]) -> NotFoundDecision:
        """Feedback, or the error once the misses in a row exceed `max_retries`.

        Raises:
            TypeError: If the name is no text, or the names are no list; no name at all is "".
        """
        _check(requested, available)
        self.misses += 1
        if self.misses > self.max_retries:
            return Raise(ToolNotFoundError(requested, available))
        names = similar_names(
            requested,
            available,
            min_token_length=self.min_token_length,
            min_token_similarity=self.min_token_similarity,
        ).names
        return Feedback(tool_not_found_feedback(requested, names, available), names)

    def on_tool_found(self) -> None:
        """Start counting anew."""
        self.misses = 0


@dataclass(frozen=True, slots=True)
class ImmediateRaise:
    """Raises at the first miss.

    >>> ImmediateRaise().handle("fly", ["search"]).error.requested
    'fly'
    """

    def fresh(self) -> ImmediateRaise:
        """Itself: there is nothing to count."""
        return self

    def handle(self, requested: str, available: Sequence[str]) -> NotFoundDecision:
        """The error."""
        _check(requested, available)
        return Raise(ToolNotFoundError(requested, available))

    def on_tool_found(self) -> None:
        """Nothing."""


def _check(requested: Any, available: Any) -> None:
    if not isinstance(requested, str):
        told = type(requested).__name__
        raise TypeError(f"requested is the name that was called, as text, not {told}")
    if isinstance(available, str) or not isinstance(available, Sequence):
        told = type(available).__name__
        raise TypeError(f"available is a list of the names of the tools on offer, not {told}")
