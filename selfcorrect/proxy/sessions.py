"""Clients over streamable HTTP: a session each, with a server of its own behind it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.proxy.frames import CLOSED, Frame, error, key_of
from selfcorrect.proxy.relay import Relay
from selfcorrect.proxy.sides import Come, Disconnected, Inbox

_MOST: Final = 256
"""Sessions at a time."""
_IDLE: Final = 30 * 60.0
"""Seconds without a request or an open stream after which a session ends."""
_LOOK: Final = 10.0
_KEPT: Final = 1_000
"""Messages that wait for a client which does not listen."""


class Stream:
    """What is sent to a client on one open response.

    Args:
        id: Of the request that it answers.
    """

    def __init__(self, id: JSON = None) -> None:  # noqa: A002
        self.id = id
        self._queue: asyncio.Queue[Frame | None] = asyncio.Queue()

    def put(self, frame: Frame | None) -> None:
        """Send a message; None ends the stream. Who does not read misses what needs no answer."""
        needs_none = frame is not None and not frame.is_answer and not frame.is_request
        if not needs_none or self._queue.qsize() < _KEPT:
            self._queue.put_nowait(frame)

    async def get(self, seconds: float | None = None) -> Frame | None:
        """The next message, or None at the end.

        Raises:
            TimeoutError: If none came in time.
        """
        async with asyncio.timeout(seconds):
            return await self._queue.get()


class Session:
    """One client: what it sends comes from its posts, what it gets goes to its open streams."""

    task: asyncio.Task[None]

    def __init__(self, said: str | None) -> None:
        self.id = secrets.token_hex(16)
        self.owner = said or self.id
        self.seen = time.monotonic()
        self.inbox = Inbox()
        self._posts: dict[str, Stream] = {}
        self._standing: Stream | None = None
        self._waiting: deque[Frame] = deque(maxlen=_KEPT)
        self.is_over = False

    @property
    def is_idle(self) -> bool:
        """Whether nobody has listened or asked for long."""
        listening = bool(self._posts) or self._standing is not None
        return not listening and time.monotonic() - self.seen > _IDLE

    async def take(self, frame: Frame) -> None:
        """Take a message of the client."""
        self.seen = time.monotonic()
        await self.inbox.put(Come(frame))

    async def send(self, frame: Frame, related: JSON = None) -> None:
        """Send a message on the stream of the request that it belongs to, else on any."""
        post = self._posts.get(key_of(related)) if related is not None else None
        if frame.is_answer:
            if post is not None:
                post.put(frame)
                post.put(None)
            return
        stream = post or self._standing or next(reversed(self._posts.values()), None)
        if stream is not None:
            stream.put(frame)
        else:
            self._waiting.append(frame)

    def opened(self, frame: Frame) -> Stream:
        """The stream on which a request is answered."""
        stream = self._posts[key_of(frame.id)] = Stream(frame.id)
        return stream

    def closed(self, stream: Stream) -> None:
        """The client reads the answer to a request no more."""
        self.seen = time.monotonic()
        if self._posts.get(key := key_of(stream.id)) is stream:
            del self._posts[key]

    def listening(self) -> Stream:
        """The stream of what belongs to no request; an earlier one ends."""
        if self._standing is not None:
            self._standing.put(None)
        self._standing = stream = Stream()
        while self._waiting:
            stream.put(self._waiting.popleft())
        return stream

    def deaf(self, stream: Stream) -> None:
        """The client listens no more."""
        self.seen = time.monotonic()
        if self._standing is stream:
            self._standing = None

    def end(self, why: str = "the session is over") -> None:
        """Take no more, and end every stream; who still waits for an answer is told."""
        self.is_over = True
        self.inbox.end()
        for stream in self._posts.values():
            stream.put(error(stream.id, CLOSED, f"Connection closed: {why}"))
            stream.put(None)
        if self._standing is not None:
            self._standing.put(None)


class Sessions:
    """The sessions of a proxy.

    Args:
        relay: Makes the relay of a session, to a server of its own.
    """

    def __init__(self, relay: Callable[[Session], Relay]) -> None:
        self._relay = relay
        self._open: dict[str, Session] = {}

    def of(self, key: str) -> Session | None:
        """The session of this id, or None."""
        return self._open.get(key)

    def begin(self, said: str | None = None) -> Session:
        """A new session.

        Args:
            said: Who the client says it is, if it does: what it left in doubt is then its own.

        Raises:
            Disconnected: If there are too many.
        """
        if len(self._open) >= _MOST:
            raise Disconnected(f"there are {_MOST} sessions already")
        session = Session(said)
        self._open[session.id] = session
        session.task = asyncio.create_task(self._run(session))
        return session

    async def _run(self, session: Session) -> None:
        why = "the session is over"
        try:
            relay = self._relay(session)
            await relay.run()
            why = relay.gone or why
        except Disconnected as error:
            why = str(error)
        finally:
            session.end(why)
            self._open.pop(session.id, None)

    async def end(self, session: Session) -> None:
        """End a session and its server."""
        session.end()
        await asyncio.wait({session.task})

    async def sweep(self) -> None:
        """End sessions that nobody uses any more, for as long as this runs."""
        while True:
            await asyncio.sleep(_LOOK)
            for session in list(self._open.values()):
                if session.is_idle:
                    session.end()

    async def close(self) -> None:
        """End all sessions."""
        sessions = list(self._open.values())
        for session in sessions:
            session.end()
            session.task.cancel()
        await asyncio.gather(*(session.task for session in sessions), return_exceptions=True)
