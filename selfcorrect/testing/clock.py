"""Time that passes only when somebody sleeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_START = datetime(2026, 1, 1, tzinfo=UTC)


class VirtualTime:
    """A clock for tests: sleeping advances it at once, and nothing else does.

    >>> time = VirtualTime()
    >>> time.sleep(90)
    >>> time.now().isoformat(), time.slept
    ('2026-01-01T00:01:30+00:00', [90])
    """

    def __init__(self, start: datetime = _START) -> None:
        self._start = start
        self._passed = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        """The virtual date and time."""
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        """Seconds since the start."""
        return self._passed

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self._passed += seconds

    async def asleep(self, seconds: float) -> None:
        """Let time pass."""
        self.sleep(seconds)
