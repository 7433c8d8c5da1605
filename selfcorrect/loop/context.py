"""What the nodes of one run share, and the host that calls things for them.

Nodes are written once, as coroutines. Under a sync host nothing ever suspends, so `run_sync` can
drive them; under an async host they are awaited.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from selfcorrect.errors import GraphSetupError
from selfcorrect.handlers.by_tool import Handlers
from selfcorrect.ledger.memory import MemoryLedger
from selfcorrect.ledger.owners import speaking_for_task
from selfcorrect.limits import Limits
from selfcorrect.log import Sink
from selfcorrect.loop.failures import FailureMemory, Live, LiveErrors
from selfcorrect.loop.senses import SENSES
from selfcorrect.model import JSON, Call, Safety
from selfcorrect.policies.retry_budget import Budgets
from selfcorrect.ports import Senses
from selfcorrect.protocols import Ledger, ToolWords
from selfcorrect.state import CorrectionState

if TYPE_CHECKING:
    from selfcorrect.mapping.strategy_map import StrategyMap
    from selfcorrect.models.port import CountingModel
    from selfcorrect.policies import (
        Hooks,
        OnLimit,
        OnModelError,
        PolicySource,
        SafetyPolicy,
        ToolErrorPolicy,
    )
    from selfcorrect.policies.breaker import Breaker
    from selfcorrect.tools import ToolSpec

T = TypeVar("T")

AGAIN: Final = "selfcorrect_again"
"""The configurable key with which a person says that what may have been done is done again."""
Update: TypeAlias = Mapping[str, Any]


class Node(Protocol):
    """One step of the loop: reads the state, returns what changes. Sync or async."""

    def __call__(
        self, state: CorrectionState, context: RunContext, /
    ) -> Update | Awaitable[Update]: ...


class Inner(Protocol):
    """Makes one call in a run of its own; what it came to, and what it cost."""

    def __call__(
        self, given: Mapping[str, JSON], context: RunContext, /
    ) -> Awaitable[tuple[Update, Update]]: ...


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


class SyncHost:
    """Calls tools, models and strategies for the nodes, and never suspends.

    What needs awaiting is refused with a clear error.
    """

    @property
    def is_begun_anew(self) -> bool:
        return False

    async def run_tool(
        self, tool: ToolSpec, args: Any, call_id: str | None, key: str | None
    ) -> Any:
        return tool.run(args, call_id, key)

    async def off_loop(
        self, function: Callable[..., Any], *args: Any
    ) -> tuple[Any, BaseException | None]:
        return function(*args), None

    async def call(
        self, function: Callable[..., Any], *args: Any, seconds: float | None = None
    ) -> Any:
        del seconds
        value = function(*args)
        return await value if inspect.isawaitable(value) else value

    async def invoke(self, model: Any, messages: Any, seconds: float | None = None) -> Any:
        if seconds is None:
            return model.invoke(messages)
        from selfcorrect.tools.deadlines import in_time

        return in_time(partial(model.invoke, messages), seconds, "model")

    async def sleep(self, clock: Time, seconds: float) -> None:
        clock.sleep(seconds)


class AsyncHost:
    """Awaits what can be awaited; sync tools run in a thread of their own."""

    @property
    def is_begun_anew(self) -> bool:
        return False

    async def run_tool(
        self, tool: ToolSpec, args: Any, call_id: str | None, key: str | None
    ) -> Any:
        return await tool.arun(args, call_id, key)

    async def off_loop(
        self, function: Callable[..., Any], *args: Any
    ) -> tuple[Any, BaseException | None]:
        """Run something that blocks, in a thread, to its end, whatever is cancelled meanwhile.

        Returns:
            Its value, and the cancellation that came meanwhile, for the caller to raise.
        """
        with speaking_for_task():
            work = asyncio.ensure_future(asyncio.to_thread(function, *args))
        cut: BaseException | None = None
        while not work.done():
            try:
                await asyncio.wait({work})
            except asyncio.CancelledError as error:
                cut = error
        if cut is not None and work.exception() is not None:
            raise cut
        return work.result(), cut

    async def call(
        self, function: Callable[..., Any], *args: Any, seconds: float | None = None
    ) -> Any:
        value = function(*args)
        if not inspect.isawaitable(value):
            return value
        async with asyncio.timeout(seconds):
            return await value

    async def invoke(self, model: Any, messages: Any, seconds: float | None = None) -> Any:
        async with asyncio.timeout(seconds):
            return await model.ainvoke(messages)

    async def sleep(self, clock: Time, seconds: float) -> None:
        await clock.asleep(seconds)


Host: TypeAlias = SyncHost | AsyncHost


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


NOBODY = Handlers()
"""No handlers at all."""


@dataclass(slots=True)
class RunContext:
    """Everything the nodes of one run use.

    Attributes:
        tools: The tools on offer, by name.
        strategies: The error-strategy map; a run keeps the one that it started with.
        policy: Where the policy of a run comes from; nodes use `policy_of`.
        ledger: The caller's ledger, or None.
        memory: Takes its place for runs that may come again.
        failures: What failed in earlier runs of a task, without help of a checkpointer.
        budgets: How many repeats the tools have left.
        breaker: Holds back calls of services that fail, or None.
        ask_person: Asks a person and returns the answer, or None where nobody can answer.
        asked_later: A person is asked outside of this run, with the question that it ends with.
        senses: What calls and errors are read with.
        heard: What was read of the last error of running runs.
        readings: What was read of the texts of running runs.
        on_error: Who handles the errors of which tool, before the map.
        on_model_error: Decides about model calls that failed.
        on_limit: Decides about a limit that would end the run.
        hooks: Who is told what happens.
        emit: Where log events go, or None.
        tenant: Whose policy holds, or None for the default one.
        thread: The conversation or job that the run belongs to, if the host has one.
        earlier: Other places than the thread where an equal call was made.
        step: The step of a graph around this one, the same however often it is tried again.
        around: The tasks of graphs around this one; None where a host says what a task is.
        place: The task of the host's graph that runs this; another one on a fork.
        person: Marks the last message of a person, if the host knows it.
        again: A person said that what may have been done is to be done again.
        inner: Makes a call in a run of its own, inside this one.
        under: Keys of the calls that this run is made for, the outermost first.
        tool_words: Whether the model reads what a failed tool said: `show` or `hide`.
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
    heard: Live[object]
    senses: Senses = SENSES
    readings: Live[object] = field(default_factory=partial(Live[object], None))
    on_failure: str = "report"
    on_error: Handlers = NOBODY
    on_model_error: OnModelError | None = None
    on_limit: OnLimit | None = None
    hooks: Hooks | None = None
    ask_person: Callable[[JSON], JSON] | None = None
    asked_later: bool = False
    memory: Ledger = field(default_factory=MemoryLedger)
    failures: FailureMemory = field(default_factory=FailureMemory)
    budgets: Budgets = field(default_factory=Budgets)
    breaker: Breaker | None = None
    emit: Sink | None = None
    tenant: str | None = None
    thread: str | None = None
    earlier: tuple[str, ...] = ()
    step: str | None = None
    around: tuple[tuple[str, str], ...] | None = None
    place: str = ""
    person: str | None = None
    again: bool = False
    inner: Inner | None = None
    under: tuple[str, ...] = ()
    tool_words: ToolWords = "show"

    @property
    def board(self) -> Any:
        """Where small values stand that all who use the ledger share."""
        return self.ledger if hasattr(self.ledger, "swap") else self.memory

    async def ask_store(
        self, store: Any, work: Callable[..., Any], *args: Any
    ) -> tuple[Any, BaseException | None]:
        """What work with a store comes to, and the cancellation that came meanwhile.

        In a thread, where the store is a database that one would have to wait for.
        """
        if getattr(store, "blocks", True):
            return await self.host.off_loop(work, *args)
        return work(*args), None

    async def of_store(self, store: Any, work: Callable[..., Any], *args: Any) -> Any:
        """The same; the cancellation is raised."""
        found, cut = await self.ask_store(store, work, *args)
        if cut is not None:
            raise cut
        return found

    def starting_policy(self) -> ToolErrorPolicy:
        """The policy for a run that starts now: what either code or map ends a run for."""
        from selfcorrect.policies import ToolErrorPolicy

        if isinstance(self.policy, ToolErrorPolicy):
            return self.policy
        said = ToolErrorPolicy.of_map(self.strategies.policy)
        return self.policy.policy(self.tenant).joined(said, self.tools)

    def key_of(self, call: Call) -> str:
        """What a call has in common with every equal one."""
        from selfcorrect.schema.equality import call_key

        return call_key(call, self.tools.get(call.name))

    def is_handler(self, strategy: str | None) -> bool:
        """Whether this name on a ladder is that of the tool's own handler, who speaks for it."""
        return strategy == self.on_error.name

    def rung(self, rule: str | None, name: str, options: Mapping[str, Any] | None = None) -> Any:
        """What a name on a ladder stands for: the tool's handler, or a strategy of the rule.

        The rule's options hold, unless a person chose others.

        Raises:
            StrategyNotFound: If there is no such rule, or its ladder has no such rung.
        """
        if self.is_handler(name):
            return self.on_error
        return self.strategies.strategy(rule or "", name, options)

    def allowed(self, rule: str | None, strategy: str | None) -> frozenset[Safety]:
        """Classes of change that run unasked beside the policy's own.

        A handler in code names its fixer, which is leave for a model to decide; not where the
        policy lets no more than respellings run.
        """
        classes = self.strategies.allowed(rule)
        if self.is_handler(strategy) and Safety.INFERRED in self.safety.allow:
            classes |= {Safety.MODEL}
        return classes

    def port(self, counts: dict[str, Any]) -> CountingModel:
        """The port to this run's models, which counts into `counts`."""
        from selfcorrect.models.port import CountingModel

        return CountingModel(
            self.model,
            counts,
            self.limits,
            self.host.invoke,
            on_error=self.on_model_error,
            sleep=partial(self.host.sleep, self.time),
            clock=self.time.monotonic,
        )

    def policy_of(self, state: CorrectionState) -> ToolErrorPolicy:
        """The policy that a run started with."""
        from selfcorrect.policies import ToolErrorPolicy

        carried = state.get("policy")
        return ToolErrorPolicy.from_data(carried) if carried else self.starting_policy()
