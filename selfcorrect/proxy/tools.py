"""The tools of a server as it listed them, and the loop that mends their calls."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from selfcorrect.integrations.mcp import listed_tool
from selfcorrect.ledger import MemoryLedger
from selfcorrect.loop.failures import Live
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import REMEMBERED, assemble, tell_left_out
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import JSON
from selfcorrect.protocols import Ledger
from selfcorrect.proxy.answers import OURS
from selfcorrect.proxy.frames import envelope_of, mapping
from selfcorrect.tools import ToolSpec

if TYPE_CHECKING:
    from selfcorrect.proxy.calls import Call, Mending

_MOST_PAGES: Final = 100
_OWN: Final = f"{OURS}-"
_ANY: Final = {"inputSchema": {"type": "object", "additionalProperties": True}}
"""A tool whose schema is missing or unusable takes any arguments; its calls are remembered."""
_REST: Final = 15 * 60.0
"""Seconds after which a call that was refused too often is a new one."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds for every call of a proxy.

    Attributes:
        strategies: The error-strategy map.
        trust: Whether the annotations of the server's tools count as effects.
        timeout: Seconds that one execution may take; None: as long as it takes.
        ledger: What calls that act are written to before they are made, or None.
    """

    strategies: StrategyMap
    trust: bool = False
    timeout: float | None = None
    ledger: Ledger | None = None


class Doubts(MemoryLedger):
    """Remembers what is in doubt; of what was done, that it was, and not what came of it."""

    def settle(self, key: str, status: str, value: JSON = None) -> None:
        """Write what came of an intent, and let it go."""
        super().settle(key, status, None if status == "done" else value)


def by_name(listed: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The tools of one page of a list."""
    page = listed.get("tools")
    tools = page if isinstance(page, list) else ()
    return {name: tool for tool in tools if isinstance(name := mapping(tool).get("name"), str)}


def _none_refused() -> Live[tuple[int, int, float]]:
    """Of each call what was heard when it was refused, how often it was, and when last."""
    return Live((-1, 0, 0.0), REMEMBERED)


@dataclass(slots=True)
class Tools:
    """What one client knows of a server's tools, and what is known of its calls.

    Attributes:
        policy: What holds for their calls.
        thread: Whose calls they are: what was in doubt here is in doubt for equal calls.
        record: Gets every run that was not simply done, or None.
        memory: Calls that may have been done.
        listed: The tools by name; None where the server was not asked, or has no list.
        given: Those that the client was told of last; None where it never asked.
        failed: What failed in the same way again and again, as the loop keeps it.
    """

    policy: Policy
    thread: str = ""
    record: Callable[[Mapping[str, JSON]], None] | None = None
    memory: Doubts = field(default_factory=lambda: Doubts(REMEMBERED))
    listed: dict[str, Mapping[str, Any]] | None = None
    given: dict[str, Mapping[str, Any]] | None = None
    failed: dict[str, JSON] = field(default_factory=dict)
    _heard: int = 0
    _refused: Live[tuple[int, int, float]] = field(default_factory=_none_refused)
    _pages: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _specs: dict[str, ToolSpec | None] = field(default_factory=dict)
    _loop: Loop | None = None
    _listing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _paused: Live[Mending | None] = field(default_factory=lambda: Live(None))
    _mended: Live[Mapping[str, JSON] | None] = field(default_factory=lambda: Live(None))

    def forget(self) -> None:
        """The list is no longer true."""
        self.listed, self._pages = None, {}

    def take(self, cursor: object, listed: Mapping[str, Any]) -> str | None:
        """Take one page of the list; the cursor of the next one, or None after the last.

        A list that is begun anew replaces the one before once it is whole.
        """
        if cursor is None:
            self._pages = {}
        self._pages |= by_name(listed)
        if isinstance(following := listed.get("nextCursor"), str):
            return following
        self.given = self._pages
        self.hold(self._pages)
        return None

    def is_stale(self, name: str) -> bool:
        """Whether the server changed a tool since this client was told of it."""
        given = (self.given or {}).get(name)
        return given is not None and given != (self.listed or {}).get(name)

    def hear(self, key: str) -> None:
        """A call succeeded, refused before or not: something new is known."""
        self._heard += 1
        self._refused.forget(key)

    def hear_person(self) -> None:
        """A person has spoken: whatever was refused may be made again."""
        self._refused = _none_refused()

    def refuse(self, attempts: Iterable[Mapping[str, Any]], written: str) -> None:
        """Note which of these attempts of a tool that acts were refused.

        Args:
            attempts: What was made.
            written: The key of the call that it was made of.
        """
        now = self._now()
        for each in (one for one in attempts if one["outcome"] == "refused"):
            # After an `isError` nobody sees what the tool had done by then; a protocol's is seen.
            heard = self._heard if each["type"] == "ToolReportedError" else -1
            for key in {each["key"], written}:
                self._refused.keep(key, (heard, self._times(key) + 1, now))

    def is_refused(self, key: str) -> bool:
        """Whether an equal call was refused, and nothing new is known since; or too often."""
        is_same = self._refused.of(key)[0] == self._heard
        return is_same or self._times(key) >= self.loop().context.limits.attempts

    def _times(self, key: str) -> int:
        _, times, last = self._refused.of(key)
        return times if self._now() - last < _REST else 0

    def _now(self) -> float:
        return self.loop().context.time.monotonic()

    @property
    def is_sure(self) -> bool:
        """Whether nothing is in doubt, was refused, or fails again and again."""
        return self.policy.ledger is None and self.memory.is_sure and not self.failed

    def hold(self, listed: Mapping[str, Mapping[str, Any]]) -> None:
        """Take a list for the whole; what was made of an equal one stays."""
        if listed != self.listed:
            self._specs, self._loop = {}, None
        self.listed, self._pages = dict(listed), {}

    def has(self, name: object) -> bool:
        """Whether the server listed a tool of this name."""
        return self.listed is not None and name in self.listed

    def schema_of(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool's arguments as the server listed it."""
        return mapping(mapping((self.listed or {}).get(name)).get("inputSchema")) or None

    def spec(self, name: str) -> ToolSpec | None:
        """The tool as the map sees it; None where its schema cannot be used."""
        if name not in self._specs:
            self._specs[name] = self._usable(name)
        return self._specs[name]

    def loop(self) -> Loop:
        """The loop around all tools that can be checked, built when it is first asked for."""
        if self._loop is None:
            specs = [spec for name in self.listed or () if (spec := self.spec(name)) is not None]
            self._loop = assemble(specs, self._options())
        return self._loop

    def _usable(self, name: str) -> ToolSpec | None:
        listed, policy = (self.listed or {})[name], self.policy
        first = listed if listed.get("inputSchema") else {**listed, **_ANY}
        for tool in (first, {**listed, **_ANY}):
            try:
                spec = listed_tool(tool, _elsewhere, trusted=policy.trust, seconds=policy.timeout)
                return assemble([spec], self._options()).context.tools[name]
            except Exception as why:  # whatever a server calls a schema
                tell_left_out(name, why)
        return None

    def _options(self) -> Options:
        # What a tool said goes to the client in its own words; the diagnosis does not repeat them.
        return Options(
            strategies=self.policy.strategies,
            ledger=self.policy.ledger,
            memory=self.memory,
            tool_words="hide",
            is_dry=True,
        )

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
        before = self.listed
        async with self._listing:
            if self.listed is not before:
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
            self.hold(found)


async def _elsewhere(**_: Any) -> None:
    raise NotImplementedError  # the relay executes it
