"""Runs of tools through a host's handler: how each ended, and what is not executed again."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from uuid import uuid4

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from selfcorrect.effects import Outcome, acts
from selfcorrect.errors import ToolReportedError, is_control_flow
from selfcorrect.evidence.outcome import ending_of
from selfcorrect.foreign import is_plain
from selfcorrect.foreign import told as read_in_time
from selfcorrect.integrations.mcp import TRUSTED, protocol_error
from selfcorrect.kernel.outcomes import settled
from selfcorrect.loop.context import AsyncHost, SyncHost
from selfcorrect.model import JSON
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.declarations import stated

Response: TypeAlias = Any
"""What a host answers a tool call with: a `ToolMessage`, a `Command`, or a list of them."""
Handler: TypeAlias = Callable[[ToolCallRequest], Response]
AsyncHandler: TypeAlias = Callable[[ToolCallRequest], Awaitable[Response]]

BESIDE: Final = frozenset({"raw", "cut", "finish_reason", "invalid"})
"""What a drop-in may put beside a call: its text, and what is known of the end of that."""

try:
    from langgraph.errors import is_invalid_resume as _is_invalid_resume
except ImportError:  # older versions never mark such an error

    def _is_invalid_resume(error: BaseException) -> bool:  # noqa: ARG001
        return False


@dataclass(frozen=True, slots=True)
class _Failed:
    """An execution that failed: with what, what it left, and how it ended."""

    args: Any
    outcome: Outcome
    ended: Exception | ToolMessage

    def again(self) -> ToolMessage:
        """The same ending, once more."""
        if isinstance(self.ended, Exception):
            raise self.ended
        return self.ended


class Once:
    """Watches the executions of a tool that acts, and answers repetitions by what is known.

    A middleware between the loop and the tool may call the tool as often as it likes: after an
    execution that may have acted it gets the same answer again, and the tool is left alone.

    Attributes:
        error: What the tool raised last; hosts turn it into a message and forget it.
    """

    def __init__(self, spec: ToolSpec) -> None:
        self.error: Exception | None = None
        self._spec = spec
        self._failed: list[_Failed] = []

    def guarding(self, tool: BaseTool) -> BaseTool:
        """A copy of the tool that asks here before it is run."""
        guarded = tool.model_copy()

        def invoke(given: Any, config: Any = None, **options: Any) -> Any:
            if (known := self._known(given)) is not None:
                return known.again()
            with self._watched(given):
                return self._returned(given, tool.invoke(given, config, **options))

        async def ainvoke(given: Any, config: Any = None, **options: Any) -> Any:
            if (known := self._known(given)) is not None:
                return known.again()
            with self._watched(given):
                return self._returned(given, await tool.ainvoke(given, config, **options))

        # An instance's own attribute comes before the method of its class.
        object.__setattr__(guarded, "invoke", invoke)
        object.__setattr__(guarded, "ainvoke", ainvoke)
        return guarded

    def _known(self, given: Any) -> _Failed | None:
        for item in self._failed:
            if item.outcome is Outcome.LOST or _equal(item.args, _args(given)):
                return item
        return None

    @contextmanager
    def _watched(self, given: Any) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not is_control_flow(error):
                self.error = error
                self._note(given, error, error)
            raise

    def _returned(self, given: Any, value: Any) -> Any:
        self.error = None
        if isinstance(value, ToolMessage) and value.status == "error":
            self._note(given, ToolReportedError(str(value.content)), value)
        return value

    def _note(self, given: Any, error: Exception, ended: Exception | ToolMessage) -> None:
        ending = ending_of(error, self._spec.home)
        left = settled(ending.outcome, atomic=self._spec.atomic, firm=ending.is_firm)
        if left is not Outcome.NOT_DONE:
            self._failed.append(_Failed(_args(given), left, ended))


def _args(given: Any) -> Any:
    is_call = isinstance(given, Mapping) and given.get("type") == "tool_call"
    return given["args"] if is_call else given


def _equal(one: Any, other: Any) -> bool:
    """Equality of arguments; what cannot be compared is taken for equal."""
    try:
        return bool(one == other)
    except Exception:  # injected objects may compare as they like
        return True


@dataclass(frozen=True, slots=True)
class Ended:
    """How one execution ended.

    Attributes:
        response: What the host answered.
        error: What was raised.
        cause: What the tool raised, where the host made an answer of it.
    """

    response: Response = None
    error: Exception | None = None
    cause: Exception | None = None


@dataclass
class Handled:
    """Runs tools through the host's handler; outcomes that are known already are not run again.

    Attributes:
        request: What the host was asked.
        handler: Runs a tool for the host.
        tools: The host's tools, by name.
        known: Outcomes of executions that happened before this walk, in order.
        happened: Every outcome of this walk.
        made: The call that was made last.
        intent: What the ledger calls it.
    """

    request: ToolCallRequest
    handler: Callable[[ToolCallRequest], Any]
    tools: Mapping[str, Any]
    known: list[Ended]
    happened: list[Ended] = field(default_factory=list)
    made: dict[str, JSON] | None = None
    intent: str | None = None

    @property
    def is_begun_anew(self) -> bool:
        """Whether this call may have been executed before, and only a ledger may know of it."""
        return len(self.happened) >= len(self.known)

    def aside(self) -> Handled:
        """A host for calls of other tools: what they come to is no answer to this one."""
        return type(self)(self.request, self.handler, self.tools, [])

    async def run_tool(
        self, tool: ToolSpec, args: Any, call_id: str | None, key: str | None = None
    ) -> Any:
        """The tool's value, out of what the handler answers."""
        del call_id  # the host's own id stays: it is what the answer is matched by
        place, self.intent = len(self.happened), key
        known = self.known[place] if place < len(self.known) else None
        ended = known if known is not None else await self._ended(tool, args, key)
        self.happened.append(ended)
        if ended.error is not None:
            raise ended.error
        return value_of(ended.response, ended.cause)

    async def _ended(self, tool: ToolSpec, args: Any, key: str | None) -> Ended:
        own = {tool.takes_key: key or uuid4().hex} if tool.takes_key is not None else {}
        call = {**self.request.tool_call, "name": tool.name, "args": {**args, **own}}
        for beside in BESIDE:
            call.pop(beside, None)
        self.made = {"name": tool.name, "args": dict(args)}
        changes: dict[str, Any] = {"tool_call": call}
        if tool.name != self.request.tool_call["name"] or self.request.tool is None:
            changes["tool"] = self.tools[tool.name]
        return await attempt(self.request.override(**changes), self.handler, tool)


class SyncHandled(Handled, SyncHost):
    """For a handler that is called."""


class AsyncHandled(Handled, AsyncHost):
    """For a handler that is awaited."""


def value_of(response: Response, cause: Exception | None = None) -> Any:
    """The tool's value in a response.

    Args:
        response: What the host answered.
        cause: What the tool raised, where the host made this answer of it.

    Raises:
        ToolReportedError: If the response reports an error.
    """
    if not isinstance(response, ToolMessage):
        return None if isinstance(response, Command | list) else response
    if response.status == "error":
        raise ToolReportedError(str(response.text)) from cause
    if response.artifact is not None:
        return {"content": response.content, "artifact": response.artifact}
    return response.content


async def attempt(
    request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any], spec: ToolSpec
) -> Ended:
    """One execution by the host, the tool guarded against repetition if it acts."""
    once = Once(spec)
    if acts(spec) and isinstance(request.tool, BaseTool):
        request = request.override(tool=once.guarding(request.tool))
    try:
        value = handler(request)
        return Ended(await value if inspect.isawaitable(value) else value, cause=once.error)
    except Exception as error:
        if is_hosts_own(error):
            raise
        # That of an MCP server as ours, with what is known of the server.
        trusted = stated(getattr(request.tool, "metadata", None) or {}, TRUSTED) is True
        return Ended(error=protocol_error(error, trusted=trusted) or error)


def is_hosts_own(error: Exception) -> bool:
    """Whether an error steers the host and is nobody's failure; one that cannot be read is none."""
    if is_control_flow(error):
        return True
    return not is_plain(error) and read_in_time(lambda: _is_invalid_resume(error), otherwise=False)
