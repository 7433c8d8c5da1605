"""A retry budget: repeats of a tool's calls stay a small share of its calls, in the whole process.

Each run alone may retry within its limits; a thousand runs that do so together turn the outage of
a tool into a storm. The budget counts both over all runs, and forgets with time.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

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

    Safe for threads. What happened counts half after 30 seconds.

    >>> budget = RetryBudget(0.5, spare=1)
    >>> for _ in range(4):
    ...     budget.called(now=0)
    >>> [budget.may_repeat(now=0) for _ in range(3)]
    [True, True, False]

    Args:
        ratio: Repeats per call.
        spare: Repeats that are allowed where the ratio gives fewer.
    """

    def __init__(self, ratio: float, *, spare: float = SPARE) -> None:
        self._ratio = ratio
        self._spare = spare
        self._spent = Spent()
        self._lock = Lock()

    def called(self, now: float) -> None:
        """Count the first execution of a call.

        Args:
            now: Seconds on a clock that only grows.
        """
        with self._lock:
            self._spent = self._spent.at(now).called()

    def may_repeat(self, now: float) -> bool:
        """Take one repeat out of the budget, if there is one.

        Args:
            now: Seconds on a clock that only grows.
        """
        with self._lock:
            self._spent = self._spent.at(now)
            if not self._spent.leaves_one(self._ratio, self._spare):
                return False
            self._spent = self._spent.repeated()
            return True


class _Unlimited(RetryBudget):
    """Where no budget is set."""

    def called(self, now: float) -> None:
        del now

    def may_repeat(self, now: float) -> bool:
        del now
        return True


_UNLIMITED: Final = _Unlimited(0.0)
_BUDGETS: OrderedDict[tuple[str, float], RetryBudget] = OrderedDict()
_LOCK: Final = Lock()


def budget_of(tool: str, ratio: float | None) -> RetryBudget:
    """The budget that all runs of this process share for a tool."""
    if ratio is None:
        return _UNLIMITED
    with _LOCK:
        budget = _BUDGETS.get((tool, ratio))
        if budget is None:
            budget = _BUDGETS[tool, ratio] = RetryBudget(ratio)
        _BUDGETS.move_to_end((tool, ratio))
        while len(_BUDGETS) > _MOST_TOOLS:
            _BUDGETS.popitem(last=False)
        return budget


def forget_budgets() -> None:
    """Start all budgets afresh, as tests do."""
    with _LOCK:
        _BUDGETS.clear()
