"""Server-sent events: read from a stream of bytes, and written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from selfcorrect.proxy.sides import split

PING: Final = b": \n\n"
"""Says nothing, and keeps a stream open."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Attributes:
        data: What it says.
        id: Where the stream can be taken up again, if it can.
        retry: Seconds after which to do so, if the server says.
    """

    data: bytes
    id: str | None = None
    retry: float | None = None


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """The events of a stream, as they come.

    Raises:
        Disconnected: If one is too long to be a message.
    """
    data: list[bytes] = []
    mark: str | None = None
    retry: float | None = None
    async for line in _lines(chunks):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"id":
            mark = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit():
            retry = int(value) / 1000
        elif not line and (data or mark is not None or retry is not None):
            yield Event(b"\n".join(data), mark, retry)
            data, mark, retry = [], None, None


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = bytearray()
    async for chunk in chunks:
        for line in split(rest, chunk):
            yield line.removesuffix(b"\r")


def event(raw: bytes) -> bytes:
    r"""A message as an event.

    >>> event(b'{"jsonrpc":"2.0"}')
    b'event: message\ndata: {"jsonrpc":"2.0"}\n\n'
    """
    return b"event: message\ndata: " + raw + b"\n\n"
