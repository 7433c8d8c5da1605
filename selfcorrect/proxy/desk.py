"""What is known of one client's calls of one server."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from selfcorrect.loop.context import Live
from selfcorrect.model import JSON
from selfcorrect.proxy.answers import OURS
from selfcorrect.proxy.revisions import envelope_of
from selfcorrect.proxy.tools import Tools, by_name

if TYPE_CHECKING:
    from selfcorrect.proxy.calls import Call
    from selfcorrect.proxy.mending import Mending

_MOST_PAGES: Final = 100
_OWN: Final = f"{OURS}-"


@dataclass(slots=True)
class Desk:
    """What is known of one client's calls of one server.

    Attributes:
        tools: The server's tools.
        thread: Whose calls they are: what was in doubt here is in doubt for equal calls.
        record: Gets every run that was not simply done, or None.
    """

    tools: Tools
    thread: str
    record: Callable[[Mapping[str, JSON]], None] | None = None
    _listing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _paused: Live[Mending] = field(default_factory=Live)
    _mended: Live[Mapping[str, JSON]] = field(default_factory=Live)

    def pause(self, call: Mending) -> str:
        """Keep a call until the client makes it again with what a person answered; under what."""
        state = f"{_OWN}{secrets.token_hex(16)}"
        self._paused.keep(state, call)
        return state

    def is_own(self, state: object) -> bool:
        """Whether a call was kept under this state once."""
        return isinstance(state, str) and state.startswith(_OWN)

    def paused(self, state: object) -> Mending | None:
        """The call that was kept under this state."""
        kept = self._paused.of(key := str(state))
        self._paused.forget(key)
        return kept

    def keep_mended(self, state: object, params: Mapping[str, JSON]) -> None:
        """Note what a mended call was, since the client makes it again as it wrote it first."""
        if isinstance(state, str):
            self._mended.keep(state, params)

    def mended(self, state: object) -> Mapping[str, JSON]:
        """What the call that the server left in this state was mended to."""
        return (isinstance(state, str) and self._mended.of(state)) or {}

    async def list_tools(self, call: Call) -> None:
        """Ask the server for all its tools; where it has no list, none are known."""
        before = self.tools.listed
        async with self._listing:
            if self.tools.listed is not before:
                return  # another call has asked meanwhile
            found: dict[str, Mapping[str, Any]] = {}
            cursor: dict[str, JSON] = {}
            for _ in range(_MOST_PAGES):
                params = {**envelope_of(call.frame), **cursor}
                answer = await call.ask("tools/list", params)
                page = answer.data.get("result")
                if not isinstance(page, Mapping):
                    return
                found |= by_name(page)
                if not isinstance(following := page.get("nextCursor"), str):
                    break
                cursor = {"cursor": following}
            self.tools.hold(found)
