"""A retry budget: repeats of a tool's calls stay a small share of its calls, in the whole process.

Each run alone may retry within its limits; a thousand runs that do so together turn the outage of
a tool into a storm. The budget counts both over all runs, and forgets with time; where the runs
have a ledger in a database, over those of all workers on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Final

from selfcorrect.ledger.memory import MemoryLedger
from selfcorrect.protocols import Board

_HALF_LIFE: Final = 30.0
_MOST_TOOLS: Final = 1_000
SPARE: Final = 3.0
"""Repeats that are allowed where there are few calls."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls and repeats of late: each counts half after 30 seconds.

    Attributes:
        calls: First executions.
        repeats: Further ones.
        seen: When they were counted, in seconds.
    """

    calls: float = 0.0
    repeats: float = 0.0
    seen: float | None = None

    def at(self, now: float) -> Spent:
        """What they count at that time."""
        kept = 1.0 if self.seen is None else 0.5 ** (max(0.0, now - self.seen) / _HALF_LIFE)
        return Spent(self.calls * kept, self.repeats * kept, now)

    def called(self) -> Spent:
        """With one more first execution."""
        return replace(self, calls=self.calls + 1)

    def repeated(self) -> Spent:
        """With one more repeat."""
        return replace(self, repeats=self.repeats + 1)

    def leaves_one(self, ratio: float, spare: float) -> bool:
        """Whether one more repeat is within the budget."""
        return self.repeats + 1 <= max(spare, ratio * self.calls)


class RetryBudget:
    """Lets repeats be up to `ratio` of the calls of late, and a few where there are few calls.

    Safe for threads. What happened counts half after 30 seconds. On a board that is elsewhere, each
    worker knows of the others what is a second old.

    >>> budget = RetryBudget(0.5, spare=1)
    >>> for _ in range(4):
    ...     budget.called(now=0)
    >>> [budget.may_repeat(now=0) for _ in range(3)]
    [True, True, False]

    Args:
        ratio: Repeats per call.
        spare: Repeats that are allowed where the ratio gives fewer.
        board: Where it stands; None: here alone.
        tool: Whose repeats it is for, on a board that others use.
    """

    def __init__(
        self, ratio: float, *, spare: float = SPARE, board: Board | None = None, tool: str = ""
    ) -> None:
        from selfcorrect.policies.sharing import Shared

        self.board = board or MemoryLedger()
        self._ratio, self._spare = ratio, spare
        self._spent = Shared(self.board, f"retries:{tool}", Spent)
        self._lock = Lock()

    def called(self, now: float) -> None:
        """Count the first execution of a call.

        Args:
            now: Seconds on a clock that only grows.
        """
        with self._lock:
            self._spent.change(lambda spent, at: spent.at(at).called(), now)

    def may_repeat(self, now: float) -> bool:
        """Take one repeat out of the budget, if there is one.

        Args:
            now: Seconds on a clock that only grows.
        """
        with self._lock:
            spent, at = self._spent.seen(now)
            if not spent.at(at).leaves_one(self._ratio, self._spare):
                return False
            self._spent.change(lambda spent, at: spent.at(at).repeated(), now)
            return True


@lru_cache(maxsize=_MOST_TOOLS)
def budget_of(tool: str, ratio: float) -> RetryBudget:
    """The budget that all runs of this process share for a tool."""
    return RetryBudget(ratio, tool=tool)


class Budgets:
    """The budgets of a loop's tools: of this process, or of all workers on a board."""

    def __init__(self, board: Board | None = None) -> None:
        self._board = board
        self._shared: dict[tuple[str, float], RetryBudget] = {}

    def of(self, tool: str, ratio: float | None) -> RetryBudget | None:
        """The budget of a tool; without a ratio there is none to keep to."""
        if ratio is None:
            return None
        if self._board is None:
            return budget_of(tool, ratio)
        if (found := self._shared.get((tool, ratio))) is not None:
            return found
        new = RetryBudget(ratio, board=self._board, tool=tool)
        return self._shared.setdefault((tool, ratio), new)
