"""What a relay stands between: a client on one side, a server on the other."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from selfcorrect.errors import SelfCorrectError
from selfcorrect.model import JSON
from selfcorrect.proxy.frames import Frame

_LOOK: Final = 0.01


class Come(NamedTuple):
    """A message, and the id of the request that it belongs to, where the transport says so."""

    frame: Frame
    related: JSON = None


class Disconnected(SelfCorrectError, ConnectionError):
    """The other side is gone; the message says how."""

    code = "SC210"


class Side(Protocol):
    """One end of a relay."""

    async def receive(self) -> Come | None:
        """The next message; None where no more will come."""
        ...

    async def send(self, frame: Frame, related: JSON = None) -> None:
        """Hand a message over.

        Args:
            frame: The message.
            related: The id of the client's request that it belongs to.

        Raises:
            Disconnected: If nobody is there to take it.
        """
        ...


class Server(Side, Protocol):
    """The end where the tools are."""

    async def start(self) -> None:
        """Begin.

        Raises:
            Disconnected: If that cannot be.
        """
        ...

    async def close(self) -> None:
        """End it, and leave nothing behind."""
        ...

    @property
    def ending(self) -> str:
        """How it ended."""
        ...


class Inbox:
    """Messages that have come and were not yet taken."""

    def __init__(self, most: int = 0) -> None:
        self._queue: asyncio.Queue[Come | None] = asyncio.Queue(most)
        self._ended = False

    async def put(self, come: Come) -> None:
        if not self._ended:
            await self._queue.put(come)

    def end(self) -> None:
        """No more will come; what has come can still be taken."""
        if not self._ended:
            self._ended = True
            try:
                self._queue.put_nowait(None)
            except asyncio.QueueFull:
                return  # whoever takes the last one sees that it has ended

    async def get(self) -> Come | None:
        if self._ended and self._queue.empty():
            return None
        return await self._queue.get()


async def until(holds: Callable[[], bool], seconds: float = math.inf) -> bool:
    """Wait until something holds; whether it does, once the time is over."""
    end = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < end:  # noqa: ASYNC110 -- threads and processes
        await asyncio.sleep(_LOOK)
    return held
