"""A clock for tests, in which every wait takes no time."""


class VirtualTime:
    """Moves only when somebody waits.

    Attributes:
        slept: Every wait, in seconds.

    >>> clock = VirtualTime()
    >>> clock.sleep(1.5)
    >>> clock.monotonic(), clock.slept
    (1.5, [1.5])
    """

    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return sum(self.slept, 0.0)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)
