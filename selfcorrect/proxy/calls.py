"""One `tools/call`: straight to the server where it fits, through the loop where it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from selfcorrect.effects import acts
from selfcorrect.log import warning
from selfcorrect.model import JSON
from selfcorrect.proxy.answers import failed
from selfcorrect.proxy.desk import Desk
from selfcorrect.proxy.frames import CLOSED, Frame, error, mapping, request
from selfcorrect.proxy.mending import Ended, Mending, ended
from selfcorrect.proxy.revisions import capabilities_in, complete, version_in
from selfcorrect.proxy.sides import Disconnected
from selfcorrect.tools import ToolSpec

if TYPE_CHECKING:
    from selfcorrect.proxy.relay import Relay

_INTERNAL: Final = -32603
_NOT_KEPT: Final = (
    "The call was not made: it no longer waits for this answer. Make it again without requestState."
)
_ANSWER: Final = ("requestState", "inputResponses")
"""What a client adds to a call that it makes again: of ours the server must not see it."""


class Call:
    """A client's call of a tool.

    Attributes:
        line: The relay that it came through.
        frame: The call, under the client's id.
        cancelled: The notification with which the client called it off.
        task: What works on it.
    """

    def __init__(self, line: Relay, desk: Desk, frame: Frame) -> None:
        self.line = line
        self.desk = desk
        mended = desk.mended(frame.params.get("requestState"))
        self.frame = frame.saying({**frame.params, **mended}) if mended else frame
        self.cancelled: Frame | None = None
        self.task: asyncio.Task[Any] | None = None

    @property
    def id(self) -> JSON:
        return self.frame.id

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the client can do."""
        modern = version_in(self.frame) is not None
        return capabilities_in(self.frame) if modern else self.line.capabilities

    def cancel(self, said: Frame) -> None:
        """The client wants no answer any more."""
        self.cancelled = said
        if self.task is not None:
            self.task.cancel()

    async def run(self) -> None:
        """Answer the call, unless it is called off."""
        try:
            answer = await self._answer()
        except asyncio.CancelledError:
            if self.cancelled is None:
                raise
            return
        except Disconnected as why:
            answer = error(self.id, CLOSED, f"Connection closed: {why}")
        except Exception as why:  # a fault of ours must not leave the client waiting
            if (warn := warning()) is not None:
                warn("selfcorrect.proxy_fault", {"exception": type(why).__name__, "text": why})
            answer = error(self.id, _INTERNAL, f"selfcorrect proxy: {type(why).__name__}")
        await self.line.to_client(answer, self.id)

    async def ask(self, method: str, params: Mapping[str, JSON]) -> Frame:
        """The server's answer to a request of our own on behalf of this call.

        Raises:
            Disconnected: If it ends before.
        """
        own = request(self.line.own_id(), method, params, self.frame.headers)
        return await self.line.ask_server(own, self)

    async def execute(self, name: str, args: Mapping[str, JSON]) -> Frame:
        """The server's answer to the call with another name or other arguments."""
        return await self.ask("tools/call", {**self.frame.params, "name": name, "arguments": args})

    async def _answer(self) -> Frame:
        params, tools = self.frame.params, self.desk.tools
        if (kept := self.desk.paused(params.get("requestState"))) is not None:
            own = {key: value for key, value in params.items() if key not in _ANSWER}
            self.frame = self.frame.saying(own)
            return await kept.resume(self, mapping(params.get("inputResponses")))
        if self.desk.is_own(params.get("requestState")):
            # Answered before, or too long ago: as a new call it would be made with nobody's answer.
            note: dict[str, JSON] = {"executions": 0, "reason": "rejected", "detail": _NOT_KEPT}
            return failed(self.id, _NOT_KEPT, note, None, complete(self.frame))
        name = params.get("name")
        if not tools.has(name):
            await self.desk.list_tools(self)
        if tools.listed is None or (tools.has(name) and tools.spec(str(name)) is None):
            return await self.line.ask_server(self.frame, self)  # nothing to check it by
        spec = tools.spec(str(name)) if tools.has(name) else None
        if spec is None or not self._fits(spec):
            return await Mending(self).run()
        first = await self._passed_on(spec)
        if first.is_fine and first.answer is not None:
            return first.answer
        return await Mending(self, [first]).run()

    def _fits(self, spec: ToolSpec) -> bool:
        """Whether the call may go straight to the server: it is valid, and nothing is in doubt."""
        args = self.frame.params.get("arguments", {})
        sure = self.desk.tools.policy.ledger is None and self.desk.tools.memory.is_sure
        return sure and type(args) is dict and spec.is_valid(args)

    async def _passed_on(self, spec: ToolSpec) -> Ended:
        """The call as it came, and what became of it."""
        begin = partial(self.line.ask_server, self.frame, self)
        try:
            return await ended(begin, spec, trusted=self.desk.tools.policy.trust)
        except asyncio.CancelledError as cut:
            if acts(spec):
                await self._remember(cut)
            raise

    async def _remember(self, cut: asyncio.CancelledError) -> None:
        """Note that nobody will know whether the call was done."""
        try:
            await Mending(self, [Ended(error=cut)]).run()
        except asyncio.CancelledError:
            return
