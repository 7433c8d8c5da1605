"""Crashes at named points: what a process that dies there leaves behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.protocols import Ledger, Record

POINTS: Final = (
    "ledger.begin.before",
    "ledger.begin.after",
    "tool.before",
    "tool.during",
    "tool.after",
    "ledger.settle.before",
    "ledger.settle.after",
    "checkpoint.before",
    "checkpoint.after",
)
"""Where a simulated process may die, in the order of a healthy run."""


class Crash(BaseException):
    """The simulated process is dead; nothing that it still tries has any effect."""


class Crashes:
    """Dies where it is told to, once; then everything fails until `revive`.

    >>> crashes = Crashes("tool.before")
    >>> crashes.reach("ledger.begin.after")
    >>> crashes.reach("tool.before")
    Traceback (most recent call last):
    ...
    selfcorrect.testing.crashes.Crash: tool.before

    Args:
        point: One of `POINTS`, or any name that a simulation reaches; None: never.
        nth: The time of reaching it that counts, from 1 on.
    """

    def __init__(self, point: str | None = None, nth: int = 1) -> None:
        self.point = point
        self.nth = nth
        self.dead = False
        self.reached: Counter[str] = Counter()

    def reach(self, point: str) -> None:
        """Pass a point, or die there.

        Raises:
            Crash: If the process dies here, or is dead.
        """
        if self.dead:
            raise Crash(point)
        self.reached[point] += 1
        if point == self.point and self.reached[point] == self.nth:
            self.dead = True
            raise Crash(point)

    def revive(self, point: str | None = None, nth: int = 1) -> None:
        """Start a new process, which may die again."""
        self.__init__(point, nth)  # type: ignore[misc]

    def around(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The function, with the points `<name>.before` and `<name>.after`."""

        def passing(*args: Any, **kwargs: Any) -> Any:
            self.reach(f"{name}.before")
            value = function(*args, **kwargs)
            self.reach(f"{name}.after")
            return value

        return passing


class FragileLedger:
    """A ledger whose process may die before and after each write.

    Args:
        inner: The real ledger, which outlives the process.
        crashes: Where it dies.
    """

    def __init__(self, inner: Ledger, crashes: Crashes) -> None:
        self.blocks = getattr(inner, "blocks", True)
        self._inner = inner
        self._crashes = crashes

    def begin(self, key: str) -> Record | None:
        """As the inner ledger does."""
        record: Record | None = self._crashes.around(self._inner.begin, "ledger.begin")(key)
        return record

    def settle(self, key: str, status: str, value: JSON = None) -> None:
        """As the inner ledger does."""
        self._crashes.around(self._inner.settle, "ledger.settle")(key, status, value)

    def __getattr__(self, name: str) -> Any:
        """What else the inner ledger can."""
        return getattr(self._inner, name)
