"""What goes between a client and a server of MCP: passed on, but for lists and calls of tools.

Messages are JSON-RPC objects. Requests of the client are sent on under ids of our own. Progress
tokens, and the ids of the server's requests, stay as they are, so progress, sampling, roots and
whatever else the protocol has need no code here.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

import anyio
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, ErrorData

from selfcorrect.integrations.mcp import is_session_over
from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.proxy.tool_calls import CallHost, ToolCalls
from selfcorrect.text import release, text_of

Send: TypeAlias = Callable[[JsonDict, Any], Awaitable[None]]
"""Sends a message; the second argument is the id of the client's request that it belongs to."""
Connection: TypeAlias = tuple[AsyncIterable[JsonDict], Send]
_OWN = "selfcorrect-"
"""What ids of our own requests begin with."""
_CANCELLED = "notifications/cancelled"
_SECONDS_TO_CANCEL = 1


class ReplyError(Exception):
    """The other side replies with an error, or has gone; every version of the SDK has its own."""

    def __init__(self, error: ErrorData) -> None:
        super().__init__(error.message)
        self.error = error


class Peer:
    """One side: what is sent to it, and its replies to requests of our own."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._futures: dict[str, asyncio.Future[JsonDict]] = {}
        self._is_closed = False

    async def send(self, message: JsonDict, about: Any = None) -> None:
        """Send a message.

        Raises:
            ReplyError: If the other side has gone.
            ValueError: If the message is not JSON.
        """
        try:
            await self._send(message, about)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.close()
            raise _closed() from None

    async def request(self, method: str, params: JsonObject, about: Any = None) -> JsonDict:
        """Send a request of our own, and return its result.

        Raises:
            ReplyError: If the reply is an error, or the other side has gone.
        """
        if self._is_closed:
            raise _closed()
        number = f"{_OWN}{uuid4().hex}"
        future = self._futures[number] = asyncio.get_running_loop().create_future()
        try:
            await self.send(_message(id=number, method=method, params=params), about)
            reply = await future
        except asyncio.CancelledError:
            with anyio.move_on_after(_SECONDS_TO_CANCEL, shield=True), suppress(Exception):
                await self.send(_message(method=_CANCELLED, params={"requestId": number}), about)
            raise
        finally:
            del self._futures[number]
        if "error" in reply:
            raise ReplyError(ErrorData.model_validate(reply["error"]))
        result: JsonDict = reply["result"]
        return result

    def take(self, reply: JsonDict) -> bool:
        """Take the reply to a request of our own; say whether it is one."""
        number = str(reply.get("id"))
        if number in self._futures and not self._futures[number].done():
            self._futures[number].set_result(reply)
        # A server may reply to what was cancelled.
        return number.startswith(_OWN)

    def close(self) -> None:
        """Let every request fail that waits."""
        self._is_closed = True
        for number in [*self._futures]:
            self.take({"id": number, "error": _closed().error.model_dump()})


class Relay:
    """One session of a client, and of its own server.

    Args:
        calls: Carries the calls of tools.
        send: Sends to the client.
        connect: Starts the server.
    """

    def __init__(
        self,
        calls: ToolCalls,
        send: Send,
        connect: Callable[[], AbstractAsyncContextManager[Connection]],
    ) -> None:
        self._calls = calls
        self._client = Peer(send)
        self._connect = connect
        self._server: Peer
        self._opening: JsonObject = {}
        self._scopes: dict[Any, anyio.CancelScope] = {}
        self._tasks: Any = None

    async def run(self, messages: AsyncIterable[JsonDict]) -> bool:
        """Relay until one side ends; say whether it was the client.

        Args:
            messages: What the client sends.
        """
        is_client = False

        async def read_client() -> None:
            nonlocal is_client
            # Over HTTP a session ends by closing what is read.
            with suppress(anyio.ClosedResourceError):
                async for message in messages:
                    await self._from_client(message)
            is_client = True
            links.cancel_scope.cancel()

        async with anyio.create_task_group() as links:
            async with anyio.create_task_group() as self._tasks:
                await self._read_server(partial(links.start_soon, read_client))
                # Requests that wait are answered before the end.
                self._server.close()
                self._client.close()
            links.cancel_scope.cancel()
        return is_client

    async def _read_server(self, begin: Callable[[], object]) -> None:
        try:
            async with self._connect() as (messages, send):
                self._server = Peer(send)
                begin()
                async for message in messages:
                    await self._from_server(message)
        except* (anyio.BrokenResourceError, anyio.ClosedResourceError):
            # Somebody wrote to a server that had just died.
            pass

    async def _from_client(self, message: JsonDict) -> None:
        method, number = message.get("method"), message.get("id")
        params = message.get("params") or {}
        if method is None and self._client.take(message):
            return
        cancelled = params.get("requestId") if method == _CANCELLED else None
        if isinstance(cancelled, str | int) and cancelled in self._scopes:
            self._scopes[cancelled].cancel()
        elif method is not None and number is not None:
            own = {"tools/list": self._list, "tools/call": self._call}
            make = own.get(method) or partial(self._pass, method)
            self._tasks.start_soon(self._answer, number, make, params)
        else:
            with suppress(ReplyError, ValueError):
                await self._server.send(message)

    async def _from_server(self, message: JsonDict) -> None:
        if "method" not in message and self._server.take(message):
            return
        if message.get("method") == "notifications/tools/list_changed":
            self._calls.forget()
        # What a server says while one request is open belongs to that request.
        about = [*self._scopes] if len(self._scopes) == 1 else [None]
        with suppress(ReplyError, ValueError):
            await self._client.send(message, about[0])

    async def _answer(self, number: Any, make: Callable[..., Any], params: JsonObject) -> None:
        with anyio.CancelScope() as scope:
            self._scopes[number] = scope
            try:
                reply = {"result": await make(params, number)}
            except Exception as error:
                reply = _error_reply(error)
            finally:
                self._scopes.pop(number, None)
            with suppress(ReplyError):
                await self._client.send(_message(id=number, **reply), number)

    async def _pass(self, method: str, params: JsonObject, _number: Any) -> JsonDict:
        """Return what the server answers."""
        if method == "initialize":
            self._opening = params
        return await self._server.request(method, params)

    async def _list(self, params: JsonObject, _number: Any) -> JsonDict:
        """Return the tools of all pages, as the server lists them."""
        pages: list[JsonDict] = []

        async def page_at(cursor: str | None) -> JsonDict:
            at = {"cursor": cursor} if cursor else {}
            pages.append(await self._server.request("tools/list", {**params, **at}))
            return pages[-1]

        tools = await self._calls.load(page_at)
        whole = {**pages[0], "tools": tools}
        whole.pop("nextCursor", None)
        return whole

    async def _open_anew(self) -> bool:
        """Open the session with the server as the client has opened it; say whether it is open."""
        try:
            await self._server.request("initialize", self._opening)
            await self._server.send(_message(method="notifications/initialized"))
        except ReplyError:
            return False
        return True

    async def _call(self, params: JsonObject, number: Any) -> JsonDict:
        if not self._calls.is_loaded:
            await self._list({}, number)

        async def send(call: JsonObject) -> JsonDict:
            try:
                return await self._server.request("tools/call", call)
            except ReplyError as error:
                # A session that ended has not taken the call.
                if not is_session_over(error) or not await self._open_anew():
                    raise
            return await self._server.request("tools/call", call)

        async def ask(form: JsonObject) -> JsonDict:
            try:
                return await self._client.request("elicitation/create", form, number)
            except ReplyError:
                return {"action": "cancel"}

        can = (self._opening.get("capabilities") or {}).get("elicitation")
        # An empty object means forms, as in the first version that had them.
        can_ask = isinstance(can, dict) and (not can or "form" in can)
        return await self._calls.answer(CallHost(params, send, ask if can_ask else None))


def _message(**parts: Any) -> JsonDict:
    return {"jsonrpc": "2.0", **parts}


def _error_reply(error: Exception) -> JsonDict:
    if isinstance(error, ReplyError):
        return {"error": error.error.model_dump(exclude_none=True)}
    return {"error": {"code": INTERNAL_ERROR, "message": release(text_of(error), 500)}}


def _closed() -> ReplyError:
    return ReplyError(ErrorData(code=CONNECTION_CLOSED, message="the connection is closed"))
