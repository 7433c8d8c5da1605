"""What the nodes of one run share, and the host that calls things for them.

Nodes are written once, as coroutines. Under a sync host nothing ever suspends, so `run_sync` can
drive them; under an async host they are awaited.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias, TypeVar

from selfcorrect.errors import GraphSetupError
from selfcorrect.limits import Limits
from selfcorrect.log import Sink
from selfcorrect.model import JSON
from selfcorrect.policies import PolicySource, SafetyPolicy, ToolErrorPolicy
from selfcorrect.protocols import Ledger
from selfcorrect.state import CorrectionState
from selfcorrect.strategy_map import StrategyMap
from selfcorrect.tools import ToolSpec

T = TypeVar("T")
Update: TypeAlias = Mapping[str, Any]


class Node(Protocol):
    """One step of the loop: reads the state, returns what changes. Sync or async."""

    def __call__(
        self, state: CorrectionState, context: RunContext, /
    ) -> Update | Awaitable[Update]: ...


class Time(Protocol):
    """Where time comes from; tests bring their own."""

    def now(self) -> datetime: ...
    def monotonic(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...
    async def asleep(self, seconds: float) -> None: ...


class SystemTime:
    """The real clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Host(Protocol):
    """Calls tools, models and strategies for the nodes, in its own way of waiting."""

    async def run_tool(self, tool: ToolSpec, args: Any, call_id: str | None) -> Any: ...
    async def call(self, function: Callable[..., Any], *args: Any) -> Any: ...
    async def invoke(self, model: Any, messages: Any) -> Any: ...
    async def sleep(self, clock: Time, seconds: float) -> None: ...


class SyncHost:
    """Never suspends; what needs awaiting is refused with a clear error."""

    async def run_tool(self, tool: ToolSpec, args: Any, call_id: str | None) -> Any:
        return tool.run(args, call_id)

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        value = function(*args)
        return await value if inspect.isawaitable(value) else value

    async def invoke(self, model: Any, messages: Any) -> Any:
        return model.invoke(messages)

    async def sleep(self, clock: Time, seconds: float) -> None:
        clock.sleep(seconds)


class AsyncHost:
    """Awaits what can be awaited; sync tools run in a thread of their own."""

    async def run_tool(self, tool: ToolSpec, args: Any, call_id: str | None) -> Any:
        return await tool.arun(args, call_id)

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        value = function(*args)
        return await value if inspect.isawaitable(value) else value

    async def invoke(self, model: Any, messages: Any) -> Any:
        return await model.ainvoke(messages)

    async def sleep(self, clock: Time, seconds: float) -> None:
        await clock.asleep(seconds)


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Drive a coroutine that never waits.

    Raises:
        GraphSetupError: If it does wait, which means that something async was given to a sync run.
    """
    try:
        work.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    work.close()
    raise GraphSetupError(
        "something in this run is async (a tool, a strategy or a node): call ainvoke, not invoke"
    )


class LiveErrors:
    """The exceptions of running runs, which no checkpoint can hold. Bounded; safe for threads."""

    def __init__(self, capacity: int = 4096) -> None:
        self._capacity = capacity
        self._errors: OrderedDict[str, list[BaseException]] = OrderedDict()

    def add(self, run: str, error: BaseException) -> None:
        self._errors.setdefault(run, []).append(error)
        while len(self._errors) > self._capacity:
            self._errors.popitem(last=False)

    def of(self, run: str) -> list[BaseException]:
        """The exceptions of a run, in order; empty after a resume in another process."""
        return self._errors.get(run, [])

    def forget(self, run: str) -> None:
        self._errors.pop(run, None)


@dataclass(slots=True)
class RunContext:
    """Everything the nodes of one run use.

    Attributes:
        tools: The tools on offer, by name.
        strategies: The error-strategy map; a run keeps the one that it started with.
        policy: Where the policy of a run comes from; nodes use `policy_of`.
        ask_person: Asks a person and returns the answer, or None where nobody can answer.
        diagnoser: The diagnose node in use, also for what comes up inside a repair round.
        selector: The select_strategy node in use, likewise.
        emit: Where log events go, or None.
        tenant: Whose policy holds, or None for the default one.
    """

    tools: Mapping[str, ToolSpec]
    strategies: StrategyMap
    limits: Limits
    policy: ToolErrorPolicy | PolicySource
    safety: SafetyPolicy
    ledger: Ledger | None
    model: Any
    host: Host
    time: Time
    errors: LiveErrors
    diagnoser: Node
    selector: Node
    on_failure: str = "report"
    ask_person: Callable[[JSON], JSON] | None = None
    emit: Sink | None = None
    tenant: str | None = None

    def starting_policy(self) -> ToolErrorPolicy:
        """The policy for a run that starts now: what either code or map ends a run for."""
        if isinstance(self.policy, ToolErrorPolicy):
            return self.policy
        said = ToolErrorPolicy.of_map(self.strategies.policy)
        return self.policy.policy(self.tenant).joined(said, self.tools)

    def policy_of(self, state: CorrectionState) -> ToolErrorPolicy:
        """The policy that a run started with."""
        carried = state.get("policy")
        return ToolErrorPolicy.from_data(carried) if carried else self.starting_policy()
