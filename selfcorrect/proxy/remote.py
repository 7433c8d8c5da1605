"""A server over streamable HTTP: every message is posted, answers come as JSON or as events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from selfcorrect.kernel.texts import excerpt
from selfcorrect.model import JSON
from selfcorrect.proxy.events import events
from selfcorrect.proxy.frames import CLOSED, Frame, error, frames, headers_of, key_of, mapping
from selfcorrect.proxy.sides import Come, Disconnected, Inbox, Tasks

if TYPE_CHECKING:
    import httpx

_CONNECT: Final = 30.0
_LEAVE: Final = 2.0
_RESUMED: Final = 5
"""How often in a row a stream that broke off is taken up again without anything new in it."""
_PAUSE: Final = 1.0
_SESSION: Final = "mcp-session-id"
_VERSION: Final = "mcp-protocol-version"
_JSON: Final = {"content-type": "application/json"}
_SESSION_GONE: Final = -32001
_TOLD: Final = 500
_BEHIND: Final = 0.01
_BACK: Final = ("www-authenticate", "retry-after")
"""Headers of a refusal that the client gets."""


class Remote:
    """A server at a URL.

    Args:
        url: Where.
        headers: What goes with every request; the client's own come before.
        schema_of: The schema of a tool's arguments, by its name; None where it is not known.
    """

    _client: httpx.AsyncClient

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        schema_of: Callable[[str], Mapping[str, Any] | None],
    ) -> None:
        self._url = url
        self._headers = {
            **{name.lower(): value for name, value in headers.items()},
            "accept": "application/json, text/event-stream",
        }
        self._schema_of = schema_of
        self.inbox = Inbox()
        self._last: Mapping[str, str] = {}
        self._tasks = Tasks()
        self._posts: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Make ready to connect; the first message does."""
        import httpx

        seconds = httpx.Timeout(_CONNECT, read=None, pool=None)
        limits = httpx.Limits(max_connections=None)
        self._client = httpx.AsyncClient(
            headers=self._headers, timeout=seconds, limits=limits, follow_redirects=True
        )

    @property
    def _has_session(self) -> bool:
        return _SESSION in self._client.headers

    async def send(self, frame: Frame, related: JSON = None) -> None:
        """Post a message: a request beside everything else, any other one in its turn."""
        del related
        if frame.is_request:
            task = self._tasks.spawn(self._request(frame))
            self._posts[key_of(frame.id)] = task
            task.add_done_callback(lambda _: self._posts.pop(key_of(frame.id), None))
            return
        if frame.method == "notifications/cancelled" and self._is_cut(frame):
            return
        await self._tell(frame)
        if frame.method == "notifications/initialized" and self._has_session:
            self._tasks.spawn(self._listen(frame))

    def _is_cut(self, frame: Frame) -> bool:
        """Whether the call is called off by cutting its stream, which is how 2026-07-28 does."""
        task = self._posts.get(key_of(frame.params.get("requestId")))
        if task is None or _VERSION in self._client.headers:
            return False
        task.cancel()
        return True

    async def ending(self) -> str:
        return "the connection was closed"

    async def close(self) -> None:
        """Leave the session, and cut every connection."""
        self.inbox.end()
        await self._tasks.end()
        if self._has_session:
            with suppress(Exception):
                async with asyncio.timeout(_LEAVE):
                    await self._client.delete(self._url, headers=self._last)
        await self._client.aclose()

    async def _request(self, frame: Frame) -> None:
        """Post a request and hand on what comes for it; it is answered in any case."""
        import httpx

        reached = True
        try:
            why = await self._answered(frame)
        except Exception as failure:  # whatever a network does, the request is answered
            why = f"{type(failure).__name__}: {failure}"
            reached = not isinstance(failure, httpx.ConnectError | httpx.ConnectTimeout)
        if why is not None:
            told = error(frame.id, CLOSED, f"Connection closed: {excerpt(why, _TOLD)}")
            await self.inbox.put(Come(replace(told, reached=reached), frame.id))

    async def _answered(self, frame: Frame) -> str | None:
        """Hand on everything until the answer; why there is none, or None."""
        name = frame.params.get("name")
        known = self._schema_of(name) if isinstance(name, str) else None
        headers = {**frame.headers, **_JSON, **headers_of(frame, known)}
        self._last = frame.headers or self._last
        async with self._client.stream(
            "POST", self._url, content=frame.raw, headers=headers
        ) as response:
            if response.status_code >= 400:
                await self.inbox.put(Come(await self._refused(frame, response), frame.id))
                return None
            if frame.method == "initialize" and _SESSION in response.headers:
                self._client.headers[_SESSION] = response.headers[_SESSION]
            if not _is_stream(response):
                return await self._whole(frame, await response.aread())
            done, mark, pause = await self._read(response, frame)
        tries = 0
        while not done and mark is not None and tries < _RESUMED:
            await asyncio.sleep(pause)
            read = await self._again(frame, mark, frame)
            done, later, pause = read or (False, mark, pause)
            tries = 0 if later != mark else tries + 1
            mark = later
        return None if done else "the stream ended before the answer came"

    async def _again(
        self, frame: Frame, mark: str | None, asked: Frame | None
    ) -> tuple[bool, str | None, float] | None:
        """Take a stream up behind the last event that came; None where the server has none."""
        headers = {**frame.headers, **({} if mark is None else {"last-event-id": mark})}
        async with self._client.stream("GET", self._url, headers=headers) as response:
            if response.status_code >= 400 or not _is_stream(response):
                return None
            done, later, pause = await self._read(response, asked)
            return done, later or mark, pause

    async def _read(
        self, response: httpx.Response, frame: Frame | None
    ) -> tuple[bool, str | None, float]:
        """Hand on the events of a stream; whether the answer was one, the last mark, the pause."""
        mark: str | None = None
        pause = _PAUSE
        own = None if frame is None else frame.id
        with suppress(*_broken()):
            async for event in events(response.aiter_bytes()):
                mark = event.id or mark
                pause = pause if event.retry is None else event.retry
                for come in _messages(event.data):
                    if frame is None or not come.is_answer:
                        await self.inbox.put(Come(come, own))
                        continue
                    await self._answer(frame, come)
                    if key_of(come.id) == key_of(own):
                        return True, mark, pause
        return False, mark, pause

    async def _whole(self, frame: Frame, body: bytes) -> str | None:
        answered = False
        for come in _messages(body):
            answered = answered or (come.is_answer and key_of(come.id) == key_of(frame.id))
            await self._answer(frame, come)
        return None if answered else "the server's answer holds no answer to the request"

    async def _answer(self, frame: Frame, come: Frame) -> None:
        """Hand on an answer, behind the progress that may have been told on another stream."""
        version = mapping(come.data.get("result")).get("protocolVersion")
        if frame.method == "initialize" and isinstance(version, str):
            self._client.headers[_VERSION] = version
        if "progressToken" in frame.meta and self._has_session:
            await asyncio.sleep(_BEHIND)
        await self.inbox.put(Come(come, frame.id))

    async def _refused(self, frame: Frame, response: httpx.Response) -> Frame:
        """What an HTTP status means to the client: the server's own error, or one that says it."""
        body = await response.aread()
        headers = {name: response.headers[name] for name in _BACK if name in response.headers}
        status = response.status_code
        with suppress(ValueError):
            for told in frames(body):
                if "error" in told.data:
                    return replace(told.under(frame.id), headers=headers, status=status)
        why = excerpt(body.decode("utf-8", "replace"), _TOLD)
        how = {401: "; give the proxy a --header 'Authorization: …', or the client a token"}
        text = f"HTTP {status} {response.reason_phrase}{how.get(status, '')}"
        code = _SESSION_GONE if status == 404 and self._has_session else CLOSED
        told = error(frame.id, code, f"{text}: {why}" if why else text)
        return replace(told, headers=headers, status=status)

    async def _tell(self, frame: Frame) -> None:
        """Post what has no answer.

        Raises:
            Disconnected: If nobody takes it.
        """
        headers = {**frame.headers, **_JSON, **headers_of(frame, None)}
        try:
            async with asyncio.timeout(_CONNECT):
                await self._client.post(self._url, content=frame.raw, headers=headers)
        except Exception as failure:  # whatever a network does
            raise Disconnected(f"{type(failure).__name__}: {failure}") from failure

    async def _listen(self, frame: Frame) -> None:
        """Hand on what the server says unasked, as long as it lets us listen."""
        mark: str | None = None
        failed = 0
        while failed < _RESUMED:
            pause = _PAUSE
            try:
                if (read := await self._again(frame, mark, None)) is None:
                    return
                _, later, pause = read
                failed = 0 if later != mark else failed + 1
                mark = later
            except _broken():
                failed += 1
            await asyncio.sleep(pause)


def _messages(data: bytes) -> tuple[Frame, ...]:
    """The messages in an event or a body; what is none is no message."""
    try:
        return tuple(frames(data)) if data.strip() else ()
    except ValueError:
        return ()


def _is_stream(response: httpx.Response) -> bool:
    return str(response.headers.get("content-type", "")).startswith("text/event-stream")


def _broken() -> tuple[type[Exception], ...]:
    """What a connection that breaks off raises."""
    import httpx

    return (httpx.TransportError, httpx.StreamError)
