"""What is done about a model call that failed: a decision, asked for at every failure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from selfcorrect.errors import BudgetSpent, GraphSetupError
from selfcorrect.hints import whole

LONGEST_WAIT: Final = 30.0
"""Seconds; no backoff waits longer."""

MOST_ATTEMPTS: Final = 10
"""Calls of one turn that no handler exceeds."""


@dataclass(frozen=True, slots=True)
class Rethrow:
    """The original exception propagates, the very object."""


@dataclass(frozen=True, slots=True)
class RespondWith:
    """`value` stands for the model's answer; it must be what was asked for."""

    value: Any


@dataclass(frozen=True, slots=True)
class RetryModel:
    """The call is made again, at most `max_attempts` times in all, the first one included.

    Attributes:
        initial_backoff: Seconds before the second call; doubles from call to call.

    Raises:
        GraphSetupError: If there is no call to make, or no time that one could wait.
    """

    max_attempts: int = 3
    initial_backoff: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what can never be meant."""
        whole("RetryModel", "max_attempts", self.max_attempts, least=1)
        if not 0 <= self.initial_backoff < math.inf:
            raise GraphSetupError(
                f"RetryModel: initial_backoff is seconds from 0 up, not {self.initial_backoff!r}"
            )


ModelDecision: TypeAlias = Rethrow | RespondWith | RetryModel
OnModelError: TypeAlias = Callable[[Exception], Any]
"""Takes the exception and returns a `ModelDecision`; None means `Rethrow`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The call is settled with this value."""

    value: Any


class Turn:
    """One turn of a model: counts its calls and settles each failure.

    The handler is asked at every failure and may change its mind. Budget errors are never
    given to it, and neither is what is no `Exception`, such as a cancellation.

    >>> turn = Turn(lambda error: RetryModel(max_attempts=2, initial_backoff=0.5))
    >>> turn.after(ConnectionError("down"))
    0.5
    >>> turn.after(ConnectionError("still down"))
    Traceback (most recent call last):
    ...
    ConnectionError: still down
    """

    def __init__(self, handler: OnModelError | None) -> None:
        self._handler = handler
        self._calls = 0

    def after(self, error: Exception) -> float | Answer:
        """Seconds to wait before the next call, or the answer that stands in for it.

        Raises:
            Exception: `error` itself, where nothing else is decided.
            TypeError: If the handler decides on something that there is not.
        """
        self._calls += 1
        if self._handler is None or isinstance(error, BudgetSpent):
            raise error
        decision = self._handler(error)
        match decision:
            case None | Rethrow():
                raise error
            case RespondWith(value):
                return Answer(value)
            case RetryModel(most, backoff):
                if self._calls >= min(most, MOST_ATTEMPTS):
                    raise error
                return float(min(max(backoff, 0.0) * 2 ** (self._calls - 1), LONGEST_WAIT))
            case _:
                kind = type(decision).__name__
                raise TypeError(
                    f"on_model_error answers Rethrow, RespondWith or RetryModel, not {kind}"
                ) from error
