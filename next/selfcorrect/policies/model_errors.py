"""What happens when a call of a model fails: it is raised, answered in its place, or made again."""

from collections.abc import Callable
from typing import Any, TypeAlias

from selfcorrect.errors import GraphSetupError
from selfcorrect.model import frozen

MOST_WAIT = 30.0
"""Seconds of the longest wait before a model is asked again."""


@frozen
class Rethrow:
    """Raise the error as it is; this is what happens without a handler."""


@frozen
class RespondWith:
    """Take a value in place of the model's answer.

    Attributes:
        value: A message of LangChain, or the text of one.
    """

    value: Any


@frozen
class RetryModel:
    """Ask the model again, after a wait that doubles each time.

    Attributes:
        max_attempts: Calls in all, the first one included.
        initial_backoff: Seconds before the second one.

    Raises:
        GraphSetupError: If there would be no attempt, or no time to wait.
    """

    max_attempts: int = 3
    initial_backoff: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.max_attempts, int) or self.max_attempts < 1:
            raise GraphSetupError(
                f"`max_attempts` must be an integer of at least 1: {self.max_attempts!r}"
            )
        if not 0 <= self.initial_backoff < float("inf"):
            raise GraphSetupError(f"`initial_backoff` must be at least 0: {self.initial_backoff!r}")

    def wait(self, attempt: int) -> float:
        """Return the seconds behind an attempt, from 1."""
        return float(min(MOST_WAIT, self.initial_backoff * 2 ** min(attempt - 1, 16)))


ModelErrorHandler: TypeAlias = Callable[[Exception], Rethrow | RespondWith | RetryModel]
"""Decides about each failure of a model; it may decide otherwise about the next one."""
