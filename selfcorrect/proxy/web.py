"""The streamable HTTP endpoint of the proxy, as an ASGI application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from selfcorrect.proxy.events import PING, event
from selfcorrect.proxy.frames import (
    CLOSED,
    INVALID_REQUEST,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Frame,
    error,
    frames,
)
from selfcorrect.proxy.revisions import HANDSHAKES, version_in
from selfcorrect.proxy.sessions import Session, Sessions, Stream
from selfcorrect.proxy.sides import Disconnected

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PATHS: Final = ("/mcp", "/mcp/", "/")
_LARGEST: Final = 64 * 1024 * 1024
_LOCAL: Final = ("127.0.0.1", "localhost", "::1")
_SOON: Final = 0.5
"""Seconds in which an answer comes as JSON; what takes longer, or says more, comes as events."""
_PING: Final = 15.0
_SESSION: Final = "mcp-session-id"
_NO_SESSION: Final = -32001
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"


class _Refused(Exception):
    """A request that is not served."""

    def __init__(self, status: int, frame: Frame) -> None:
        self.status = status
        self.frame = frame
        super().__init__(status)


class Web:
    """Serves sessions.

    Args:
        sessions: The sessions.
        is_local: Whether only this machine is served; then only its own pages may ask.
    """

    def __init__(self, sessions: Sessions, *, is_local: bool) -> None:
        self._sessions = sessions
        self._is_local = is_local

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """One HTTP request."""
        if scope["type"] != "http":
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        try:
            await self._serve(scope, headers, receive, send)
        except _Refused as refused:
            await _whole(send, refused.frame, refused.status)

    async def _serve(
        self, scope: Mapping[str, Any], headers: Mapping[str, str], receive: Receive, send: Send
    ) -> None:
        if scope["path"] not in PATHS:
            raise _refused(404, "there is nothing here; the endpoint is /mcp")
        self._check_origin(headers)
        match scope["method"]:
            case "POST":
                await self._post(headers, await _body(receive), receive, send)
            case "GET":
                await self._listen(self._session(headers), receive, send)
            case "DELETE":
                await self._sessions.end(self._session(headers))
                await _empty(send, 200)
            case _:
                raise _refused(405, "only POST, GET and DELETE are served")

    def _check_origin(self, headers: Mapping[str, str]) -> None:
        """Refuse pages of other sites: a browser says where a request comes from."""
        host = urlsplit(f"//{headers.get('host', '')}").hostname
        if self._is_local and host not in _LOCAL:
            raise _refused(403, f"the host {host!r} is not this machine")
        if (origin := headers.get("origin")) is None:
            return
        own = urlsplit(origin).hostname
        if own not in (_LOCAL if self._is_local else (host,)):
            raise _refused(403, f"the origin {origin!r} may not ask here")

    def _session(self, headers: Mapping[str, str]) -> Session:
        key = headers.get(_SESSION)
        if key is None:
            raise _refused(400, "the header Mcp-Session-Id is missing")
        session = self._sessions.of(key)
        if session is None or session.is_over:
            raise _refused(404, "Session not found", _NO_SESSION)
        return session

    async def _post(
        self, headers: Mapping[str, str], body: bytes, receive: Receive, send: Send
    ) -> None:
        passed = {name: headers[name] for name in ("authorization",) if name in headers}
        try:
            given = list(frames(body, passed, checks=True))
        except ValueError as why:
            raise _refused(400, f"Parse error: {why}", PARSE_ERROR) from None
        first = given[0]
        if _SESSION not in headers and version_in(first) is not None:
            supported = {"supported": list(HANDSHAKES), "requested": version_in(first)}
            text = "Unsupported protocol version: begin with initialize"
            raise _Refused(400, error(first.id, UNSUPPORTED_VERSION, text, supported))
        try:
            is_new = first.method == "initialize"
            session = self._sessions.begin() if is_new else self._session(headers)
        except Disconnected as why:
            raise _refused(503, str(why)) from None
        asked = [frame for frame in given if frame.is_request]
        streams = [(frame, session.opened(frame)) for frame in asked]
        for frame in given:
            await session.take(frame)
        more = {_SESSION: session.id} if is_new else {}
        try:
            if len(streams) == 1:
                await _answer(streams[0][1], more, headers, receive, send)
            elif streams:
                await _batch([stream for _, stream in streams], send)
            else:
                await _empty(send, 202)
        finally:
            for frame, stream in streams:
                session.closed(frame, stream)

    async def _listen(self, session: Session, receive: Receive, send: Send) -> None:
        stream = session.listening()
        try:
            await _begin(send, 200, {"content-type": _EVENTS})
            await _flow(stream, None, receive, send)
        finally:
            session.deaf(stream)


async def _answer(
    stream: Stream,
    more: Mapping[str, str],
    headers: Mapping[str, str],
    receive: Receive,
    send: Send,
) -> None:
    """Answer one request: with JSON, if nothing is to be said before, else with events."""
    wants_events = _EVENTS in headers.get("accept", "")
    first: Frame | None = None
    try:
        first = await stream.get(_SOON if wants_events else None)
        while not wants_events and first is not None and not first.is_answer:
            first = await stream.get()
    except TimeoutError:
        first = None
    if first is not None and first.is_answer:
        await _whole(send, first, first.status, more)
        return
    await _begin(send, 200, {"content-type": _EVENTS, **more})
    await _flow(stream, first, receive, send)


async def _batch(streams: list[Stream], send: Send) -> None:
    """Answer several requests of one post, as 2025-03-26 has them."""
    answers: list[bytes] = []
    for stream in streams:
        while (frame := await stream.get()) is not None:
            answers += [frame.raw] if frame.is_answer else []
    await _begin(send, 200, {"content-type": _JSON})
    body = b"[" + b",".join(answers) + b"]"
    await send({"type": "http.response.body", "body": body})


async def _flow(stream: Stream, first: Frame | None, receive: Receive, send: Send) -> None:
    """Send messages as events until the stream ends or the client is gone."""
    import asyncio

    left = asyncio.create_task(_gone(receive))
    try:
        if first is not None:
            await _chunk(send, event(first.raw))
        while True:
            coming = asyncio.create_task(stream.get())
            await asyncio.wait((coming, left), timeout=_PING, return_when="FIRST_COMPLETED")
            if not coming.done():
                coming.cancel()
                if left.done():
                    return
                await _chunk(send, PING)
            elif (frame := coming.result()) is None:
                break
            else:
                await _chunk(send, event(frame.raw))
        await send({"type": "http.response.body", "body": b""})
    finally:
        left.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _refused(400, "the request broke off")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > _LARGEST:
            raise _refused(413, f"a message has at most {_LARGEST} bytes")
        if not message.get("more_body"):
            return b"".join(parts)


def _refused(status: int, text: str, code: int | None = None) -> _Refused:
    number = code or (INVALID_REQUEST if status < 500 else CLOSED)
    return _Refused(status, error(None, number, text))


async def _begin(send: Send, status: int, headers: Mapping[str, str]) -> None:
    listed = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    listed.append((b"cache-control", b"no-cache, no-transform"))
    await send({"type": "http.response.start", "status": status, "headers": listed})


async def _chunk(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


async def _whole(
    send: Send, frame: Frame, status: int, more: Mapping[str, str] | None = None
) -> None:
    told = {"content-type": _JSON, "content-length": str(len(frame.raw))}
    await _begin(send, status, {**frame.headers, **told, **(more or {})})
    await send({"type": "http.response.body", "body": frame.raw})


async def _empty(send: Send, status: int) -> None:
    await _begin(send, status, {"content-length": "0"})
    await send({"type": "http.response.body", "body": b""})
