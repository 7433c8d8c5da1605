"""The streamable HTTP endpoint of the proxy, as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from selfcorrect.proxy.events import PING, event
from selfcorrect.proxy.frames import (
    CLOSED,
    HANDSHAKES,
    INVALID_REQUEST,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Frame,
    error,
    frames,
    version_in,
)
from selfcorrect.proxy.sessions import Session, Sessions, Stream
from selfcorrect.proxy.sides import Disconnected

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
_FRESH: Final = {"cache-control": "no-cache, no-transform"}


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
        host: What is served. Where that is this machine alone, only its own pages may ask.
    """

    def __init__(self, sessions: Sessions, host: str) -> None:
        self._sessions = sessions
        self._is_local = host in _LOCAL

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            await self._serve(request, send)
        except _Refused as refused:
            await _whole(refused.frame, refused.status)(scope, receive, send)

    async def _serve(self, request: Request, send: Send) -> None:
        if request.scope["path"] not in PATHS:
            raise _refused(404, "there is nothing here; the endpoint is /mcp")
        self._check_origin(request.headers)
        match request.method:
            case "POST":
                await self._post(request, send)
            case "GET":
                await self._listen(request, send)
            case "DELETE":
                await self._sessions.end(self._session(request.headers))
                await Response(headers=_FRESH)(request.scope, request.receive, send)
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

    async def _post(self, request: Request, send: Send) -> None:
        headers, body = request.headers, await _body(request)
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
            session = (
                self._sessions.begin(passed.get("authorization"))
                if is_new
                else self._session(headers)
            )
        except Disconnected as why:
            raise _refused(503, str(why)) from None
        streams = [session.opened(frame) for frame in given if frame.is_request]
        for frame in given:
            await session.take(frame)
        more = {_SESSION: session.id} if is_new else {}
        try:
            response = await _answers(streams, more, headers)
            await response(request.scope, request.receive, send)
        finally:
            for stream in streams:
                session.closed(stream)

    async def _listen(self, request: Request, send: Send) -> None:
        session = self._session(request.headers)
        stream = session.listening()
        try:
            await _told(stream, None, {})(request.scope, request.receive, send)
        finally:
            session.deaf(stream)


async def _answers(
    streams: list[Stream], more: Mapping[str, str], headers: Mapping[str, str]
) -> Response:
    """What answers the requests of one post; several are answered as 2025-03-26 has them."""
    if not streams:
        return Response(status_code=202, headers=_FRESH)
    if len(streams) == 1:
        return await _answer(streams[0], more, wants_events=_EVENTS in headers.get("accept", ""))
    answers: list[bytes] = []
    for stream in streams:
        while (frame := await stream.get()) is not None:
            answers += [frame.raw] if frame.is_answer else []
    return Response(b"[" + b",".join(answers) + b"]", headers=_FRESH, media_type=_JSON)


async def _answer(stream: Stream, more: Mapping[str, str], *, wants_events: bool) -> Response:
    """What answers one request: JSON, if nothing is to be said before, else events."""
    first: Frame | None = None
    try:
        first = await stream.get(_SOON if wants_events else None)
        while not wants_events and first is not None and not first.is_answer:
            first = await stream.get()
    except TimeoutError:
        first = None
    if first is not None and first.is_answer:
        return _whole(first, first.status, more)
    return _told(stream, first, more)


def _told(stream: Stream, first: Frame | None, more: Mapping[str, str]) -> Response:
    """Messages as events, until the stream ends or the client is gone."""

    async def told() -> AsyncIterator[bytes]:
        if first is not None:
            yield event(first.raw)
        while True:
            try:
                frame = await stream.get(_PING)
            except TimeoutError:
                yield PING
                continue
            if frame is None:
                return
            yield event(frame.raw)

    return StreamingResponse(told(), headers={**_FRESH, "content-type": _EVENTS, **more})


def _whole(frame: Frame, status: int, more: Mapping[str, str] | None = None) -> Response:
    headers = {**frame.headers, **_FRESH, **(more or {})}
    return Response(frame.raw, status, headers, media_type=_JSON)


async def _body(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            parts.append(part)
            size += len(part)
            if size > _LARGEST:
                raise _refused(413, f"a message has at most {_LARGEST} bytes")
    except ClientDisconnect:
        raise _refused(400, "the request broke off") from None
    return b"".join(parts)


def _refused(status: int, text: str, code: int | None = None) -> _Refused:
    number = code or (INVALID_REQUEST if status < 500 else CLOSED)
    return _Refused(status, error(None, number, text))
