"""A retry budget: repeats of a tool's calls stay a small share of its calls, in the whole process.

Each run alone may retry within its limits; a thousand runs that do so together turn the outage of
a tool into a storm. The budget counts both over all runs, and forgets with time.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

_HALF_LIFE: Final = 30.0
_MOST_TOOLS: Final = 1_000


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

    def __init__(self, ratio: float, *, spare: float = 3.0) -> None:
        self._ratio = ratio
        self._spare = spare
        self._calls = 0.0
        self._repeats = 0.0
        self._seen: float | None = None
        self._lock = Lock()

    def called(self, now: float) -> None:
        """Count the first execution of a call.

        Args:
            now: Seconds on a clock that only grows.
        """
        with self._lock:
            self._fade(now)
            self._calls += 1

    def may_repeat(self, now: float) -> bool:
        """Take one repeat out of the budget, if there is one.

        Args:
            now: Seconds on a clock that only grows.
        """
        with self._lock:
            self._fade(now)
            if self._repeats + 1 > max(self._spare, self._ratio * self._calls):
                return False
            self._repeats += 1
            return True

    def _fade(self, now: float) -> None:
        passed = now - self._seen if self._seen is not None else 0.0
        self._seen = now
        if passed > 0:
            kept = 0.5 ** (passed / _HALF_LIFE)
            self._calls *= kept
            self._repeats *= kept


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
