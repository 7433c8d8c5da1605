"""What can be swapped: a strategy, a node, a ledger, a clock. Each is a small Protocol."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from selfcorrect.effects.again import Record, Verdict
from selfcorrect.model import JSON, Call, Diagnosis, JsonObject, Repair
from selfcorrect.models.port import ModelPort


class OfferedTool(Protocol):
    """What a strategy may know of a tool; `ToolSpec` is one."""

    @property
    def name(self) -> str:
        """What the model calls it."""
        ...

    @property
    def description(self) -> str:
        """What the model reads about it."""
        ...

    @property
    def effect(self) -> str:
        """What a call does to the world."""
        ...

    def findings(self, args: JSON) -> Sequence[Any]:
        """Return what is wrong with arguments; nothing if they are valid."""
        ...


@dataclass(frozen=True, slots=True)
class RepairContext:
    """What a strategy sees beside the call and its diagnosis.

    Attributes:
        schema: The schema of the tool's arguments; empty for an unknown tool.
        tools: The tools that are offered, by name.
        effect: The effect of the tool; empty for an unknown tool.
        request: What the user asked for.
        messages: The conversation, if the host passed it.
        attempts: Executions so far.
        model: Asks the model; None where there is none.
        error: The exception that the tool raised, if it ran; `RemoteError` after a resume.
    """

    schema: JsonObject = field(default_factory=dict)
    tools: Mapping[str, OfferedTool] = field(default_factory=dict)
    effect: str = ""
    request: str | None = None
    messages: Sequence[JSON] = ()
    attempts: int = 0
    model: ModelPort | None = None
    error: BaseException | None = None


class Strategy(Protocol):
    """Answers an error of a call; sync or async. A plain function qualifies."""

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext, /) -> Repair:
        """Return what is to be done."""
        ...


Node: TypeAlias = Callable[[Any, Any], Any]
"""`(state, context) -> update`, sync or async; see `CorrectionState` and `RunContext`."""


class Ledger(Protocol):
    """Remembers calls of tools that act. Every method is atomic, and durable when it returns.

    Attributes:
        blocks: Whether a method may wait for a disk or a network.
    """

    blocks: bool

    def begin(self, intent: Record, decide: Callable[[Sequence[Record]], Verdict]) -> Verdict:
        """Ask `decide` about what is known of the intent's keys; write the intent if it may run.

        Nobody else may begin a call with one of these keys meanwhile.
        """
        ...

    def settle(self, key: str, status: str, value: JSON = None, by: str | None = None) -> None:
        """Write what became of a call that was begun; `by` names the person who found out."""

    def records(self, *, doubts: bool = False) -> list[Record]:
        """Return what is remembered, oldest first; with `doubts` only what may have been done."""
        ...


class Clock(Protocol):
    """Tells time and waits."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait in sync code."""

    async def asleep(self, seconds: float) -> None:
        """Wait in async code."""
