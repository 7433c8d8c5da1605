"""A relay: every message passes between one client and one server, but for `tools/call`."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.proxy.answers import refused
from selfcorrect.proxy.calls import Call
from selfcorrect.proxy.frames import (
    CLOSED,
    INVALID_REQUEST,
    PARSE_ERROR,
    Frame,
    error,
    key_of,
    mapping,
    notification,
    same_id,
)
from selfcorrect.proxy.sides import Come, Disconnected, Inbox, Server, Side, Tasks, until
from selfcorrect.proxy.tools import Tools

_GRACE: Final = 1.0
"""Seconds in which answers that are under way still arrive after the client has gone."""
_CANCELLED: Final = "notifications/cancelled"
_LIST: Final = "tools/list"


class Relay:
    """Passes messages on; calls of tools are mended.

    Args:
        client: Who calls.
        server: Who has the tools.
        tools: What is known of the server's tools and of their calls.
    """

    def __init__(self, client: Side, server: Server, tools: Tools) -> None:
        self.client = client
        self.server = server
        self.tools = tools
        self.gone: str | None = None
        self.capabilities: Mapping[str, Any] = {}
        self._own = (f"selfcorrect-{secrets.token_hex(4)}-{n}" for n in itertools.count(1))
        self._open: dict[str, Frame] = {}
        self._calls: dict[str, Call] = {}
        self._asked: dict[str, asyncio.Future[Frame]] = {}
        self._related: dict[str, JSON] = {}
        self._tasks = Tasks()

    async def run(self) -> bool:
        """Relay until one side ends; whether it was the client.

        Raises:
            Disconnected: If the server cannot be started.
        """
        await self.server.start()
        from_client = self._tasks.spawn(_each(self.client.inbox, self._from_client))
        from_server = self._tasks.spawn(_each(self.server.inbox, self._from_server))
        try:
            await asyncio.wait((from_client, from_server), return_when=asyncio.FIRST_COMPLETED)
            was_client = from_client.done()
            if was_client:
                # What is under way may still arrive.
                await until(lambda: not self._open and not self._calls, _GRACE)
            else:
                await self._lost(await self.server.ending())
            return was_client
        finally:
            await self._tasks.end()
            await self.server.close()

    async def _lost(self, how: str) -> None:
        """The server is gone: whoever waits for it is told."""
        self.gone = how
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_exception(Disconnected(how))
        for frame in list(self._open.values()):
            await self.to_client(error(frame.id, CLOSED, f"Connection closed: {how}"), frame.id)
        self._open.clear()
        calls = [call.task for call in self._calls.values() if call.task is not None]
        if calls:
            await asyncio.wait(calls, timeout=_GRACE)
        for call in self._calls.values():
            await self.to_client(error(call.id, CLOSED, f"Connection closed: {how}"), call.id)

    # --- what comes from the client -----------------------------------------------------------

    async def _from_client(self, come: Come) -> None:
        frame = come.frame
        if frame.fault is not None and not frame.is_answer:
            await self._unclear(frame, frame.fault)
        elif frame.is_answer:
            if frame.fault is not None:  # whoever asked waits for some answer
                frame = error(frame.id, INVALID_REQUEST, frame.fault)
            if not self._answered(frame):
                await self._pass_on(frame)
        elif frame.method == "tools/call" and frame.is_request:
            call = Call(self, frame)
            self._calls[key_of(frame.id)] = call
            call.task = self._tasks.spawn(call.run())
            call.task.add_done_callback(lambda _: self._calls.pop(key_of(frame.id), None))
        elif frame.method == _CANCELLED:
            await self._cancelled(frame)
        else:
            if frame.method == "initialize":
                self.capabilities = mapping(frame.params.get("capabilities"))
            if frame.is_request:
                self._open[key_of(frame.id)] = frame
            await self._pass_on(frame)

    async def _unclear(self, frame: Frame, why: str) -> None:
        """Pass on nothing in which the server could read something else than we do."""
        if frame.is_request and frame.method == "tools/call":
            text = f"The call was not made: {why}. Make it again with one of them."
            told = refused(frame, "invalid_input", why, text)
        elif frame.is_request or not frame.data:
            code = INVALID_REQUEST if frame.data else PARSE_ERROR
            told = error(frame.id, code, why)
        else:
            return  # nobody waits for an answer to a notification
        await self.to_client(told, frame.id)

    async def _pass_on(self, frame: Frame) -> None:
        try:
            await self.server.send(frame, frame.id if frame.is_request else None)
        except Disconnected as why:
            if frame.is_request and self._open.pop(key_of(frame.id), None) is not None:
                await self.to_client(error(frame.id, CLOSED, f"Connection closed: {why}"), frame.id)

    async def _cancelled(self, frame: Frame) -> None:
        key = key_of(frame.params.get("requestId"))
        if (call := self._calls.get(key)) is not None:
            call.cancel(frame)
            return
        self._open.pop(key, None)
        await self._pass_on(frame)

    # --- what comes from the server -----------------------------------------------------------

    async def _from_server(self, come: Come) -> None:
        frame = come.frame
        if frame.is_answer:
            if self._answered(frame):
                return
            asked = self._open.pop(key_of(frame.id), None)
            listed = frame.data.get("result")
            if asked is not None and asked.method == _LIST and isinstance(listed, Mapping):
                # What the client was told of tools holds for its calls.
                self.tools.take(asked.params.get("cursor"), listed)
            if asked is not None or frame.id is None:  # else nobody waits for it any more
                await self.to_client(frame, frame.id)
            return
        if frame.method == "notifications/tools/list_changed":
            self.tools.forget()
        related = come.related
        if related is None and frame.method == "notifications/progress":
            related = self._of_token(frame.params.get("progressToken"))
        await self.to_client(frame, self._related.get(key_of(related), related))

    def _of_token(self, token: JSON) -> JSON:
        """The client's request that has this progress token."""
        if token is None:
            return None
        requests = (*self._open.values(), *(call.frame for call in self._calls.values()))
        tokens = ((one.meta.get("progressToken"), one.id) for one in requests)
        return next((own for known, own in tokens if same_id(known, token)), None)

    # --- what we ask --------------------------------------------------------------------------

    def _answered(self, frame: Frame) -> bool:
        waiting = self._asked.get(key_of(frame.id))
        if waiting is None:
            return False
        if not waiting.done():
            waiting.set_result(frame)
        return True

    def own_id(self) -> str:
        """An id that neither side uses."""
        return next(self._own)

    async def ask_server(self, frame: Frame, call: Call) -> Frame:
        """Send a request on behalf of a call, and wait for the answer.

        Raises:
            Disconnected: If the server ends before it answers.
        """
        if self.gone is not None:
            raise Disconnected(self.gone)
        self._related[key_of(frame.id)] = call.id
        try:
            return await self._ask(self.server, frame, call)
        finally:
            self._related.pop(key_of(frame.id), None)

    async def ask_client(self, frame: Frame, call: Call) -> Frame:
        """Send a request to the client while it waits for a call, and wait for the answer."""
        return await self._ask(self.client, frame, call)

    async def _ask(self, side: Side, frame: Frame, call: Call) -> Frame:
        key = key_of(frame.id)
        waiting: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._asked[key] = waiting
        try:
            await side.send(frame, call.id)
            return await waiting
        except asyncio.CancelledError:
            self._tasks.spawn(self._call_off(side, frame, call))
            raise
        finally:
            del self._asked[key]

    async def _call_off(self, side: Side, frame: Frame, call: Call) -> None:
        """Tell a side that nobody waits for its answer any more."""
        said = call.cancelled
        why = said.params if said is not None else {"reason": "it took too long"}
        own = notification(_CANCELLED, {**why, "requestId": frame.id})
        is_same = said is not None and same_id(frame.id, call.id)
        with suppress(Disconnected):
            await side.send(said if said is not None and is_same else own, call.id)

    async def to_client(self, frame: Frame, related: JSON = None) -> None:
        """Hand a message to the client, if it is still there."""
        with suppress(Disconnected):
            await self.client.send(frame, related)


async def _each(inbox: Inbox, take: Callable[[Come], Awaitable[None]]) -> None:
    while (come := await inbox.get()) is not None:
        await take(come)
