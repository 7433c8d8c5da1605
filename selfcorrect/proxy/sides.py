"""What a relay stands between: a client on one side, a server on the other."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, NamedTuple, Protocol

from selfcorrect.errors import SelfCorrectError
from selfcorrect.model import JSON
from selfcorrect.proxy.frames import Frame

_LOOK: Final = 0.01
_LONGEST: Final = 256 * 1024 * 1024
"""Bytes of one message; what is longer ends the connection."""


class Come(NamedTuple):
    """A message, and the id of the request that it belongs to, where the transport says so."""

    frame: Frame
    related: JSON = None


class Disconnected(SelfCorrectError, ConnectionError):
    """The other side is gone; the message says how."""

    code = "SC210"


class Side(Protocol):
    """One end of a relay."""

    @property
    def inbox(self) -> Inbox:
        """What it sends."""
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

    async def ending(self) -> str:
        """How it ended, once its last message was taken."""
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
        """The next message; None where no more will come."""
        if self._ended and self._queue.empty():
            return None
        return await self._queue.get()


class Tasks(set[asyncio.Task[Any]]):
    """What runs beside something else, and no longer than it."""

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Begin one more."""
        task = asyncio.create_task(work)
        self.add(task)
        task.add_done_callback(self.discard)
        return task

    async def end(self) -> None:
        """Call all of them off."""
        tasks = list(self)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def split(rest: bytearray, chunk: bytes) -> list[bytes]:
    """The lines that end in this chunk; what may go on in the next one stays in `rest`.

    Raises:
        Disconnected: If a line is too long to be a message.
    """
    *whole, last = chunk.split(b"\n")
    if whole:
        whole[0] = bytes(rest) + whole[0]
        rest.clear()
    rest += last
    if len(rest) > _LONGEST:
        raise Disconnected(f"it sent a message of more than {_LONGEST} bytes")
    return whole


async def until(holds: Callable[[], bool], seconds: float = math.inf) -> bool:
    """Wait until something holds; whether it does, once the time is over."""
    end = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < end:  # noqa: ASYNC110 -- threads and processes
        await asyncio.sleep(_LOOK)
    return held
