"""One small Protocol per thing that can be swapped, and the context that strategies get.

Every protocol has one method. Plain functions qualify, sync or async.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from selfcorrect.model import JSON, Attempt, Call, Change, Diagnosis, Finding, JsonObject, Repair

Effect: TypeAlias = Literal["read_only", "idempotent", "mutating", "destructive"]


class Tool(Protocol):
    """What a strategy may know of a tool. `ToolSpec` is the implementation."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def schema(self) -> JsonObject:
        """JSON Schema 2020-12 of the arguments, as it is sent to the model."""
        ...

    @property
    def effect(self) -> Effect: ...

    def is_valid(self, args: JsonObject) -> bool:
        """Whether the arguments fit the schema."""
        ...

    def violations(self, args: JsonObject) -> tuple[Finding, ...]:
        """Every violation of the schema, without kind, category or ladder."""
        ...


class ModelPort(Protocol):
    """Asks a chat model for one JSON object. Counts and bounds what it costs.

    Args:
        prompt: The question.
        schema: JSON Schema of the answer.
        model: Another chat model than the run's own.

    Raises:
        BudgetSpent: Before anything is paid, where the run's limits leave no room.
        ModelFailed: If the model raised, or its answer is no object; `said` tells which.
    """

    def __call__(self, prompt: str, schema: JsonObject, model: Any = None) -> Awaitable[JSON]: ...


def utc_now() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


class Clock(Protocol):
    """The current time, as an aware datetime."""

    def __call__(self) -> datetime: ...


ToolWords: TypeAlias = Literal["show", "hide"]
"""Whether the model reads the words of the tool; the diagnosis it reads in any case."""

Form: TypeAlias = Literal["json", "code", "tags", "elements", "react"]
"""How a call is written in a text: as a JSON object, as code, with a tag or an element for each
parameter, or as an action with its input."""


@dataclass(frozen=True, slots=True)
class TextPolicy:
    """Which calls in a text are made.

    Attributes:
        text: `whole` (a text that is nothing but calls), `edge` (also calls in lines of their own
            at its start or its end) or `off` (none). Of a tool that only reads, any call in lines
            of its own is made, unless it is `off`.
        forms: The forms that are read, or None for all.
    """

    text: Literal["whole", "edge", "off"] = "whole"
    forms: tuple[Form, ...] | None = None


@dataclass(frozen=True, slots=True)
class RepairContext:
    """What a strategy gets beside the call and the diagnosis.

    Attributes:
        tool: The tool that the call names, or None if there is no such tool.
        tools: The tools that are offered, by name; the only ones a call may be renamed to.
        request: What the user asked for, if known.
        messages: The last few messages of the conversation, as plain JSON.
        finish_reason: Why the model stopped writing, if known.
        written: The text that the call was read from, as the model wrote it, if it was text.
        reading: Which calls in a text are made.
        read: What was read of the text before, for the strategy that reads it again.
        attempts: The executions so far.
        refused: Changes that a strategy proposed and the policy did not let run unasked.
        proposals: The same changes, those of one answer together.
        beside: The strategies of the same ladder that may be called as well, in its order.
        hidden: Pointers of arguments whose values may not be shown, but to a person who decides.
        ask_model: Asks the model, or None if there is none or policy forbids it.
        now: The current time.
    """

    tool: Tool | None = None
    tools: Mapping[str, Tool] = field(default_factory=dict)
    request: str | None = None
    messages: Sequence[JsonObject] = ()
    finish_reason: str | None = None
    written: str | None = None
    reading: TextPolicy = TextPolicy()
    read: object = None
    attempts: tuple[Attempt, ...] = ()
    refused: tuple[Change, ...] = ()
    proposals: tuple[tuple[Change, ...], ...] = ()
    beside: tuple[Strategy, ...] = ()
    hidden: frozenset[str] = frozenset()
    ask_model: ModelPort | None = None
    now: Clock = utc_now


@runtime_checkable
class Strategy(Protocol):
    """Mends one finding: the first of `diagnosis.findings`. Sync or async.

    A strategy may carry three attributes that let the selector skip it before it runs:
    `name` (kebab-case), `safety` (the classes of change it can make) and `needs`
    (`"nothing"`, `"model"` or `"person"`). Its options are keyword arguments or dataclass fields.
    """

    def __call__(
        self, call: Call, diagnosis: Diagnosis, context: RepairContext, /
    ) -> Repair | Awaitable[Repair]: ...


@dataclass(frozen=True, slots=True)
class Record:
    """What a ledger knows of an intent that was begun before.

    | status | meaning | who gets it |
    |---|---|---|
    | `held` | somebody who is alive is at it | does not hold it: waits, asks again |
    | `done` | it happened; `value` is the stored result | does not hold it |
    | `begun` | whoever began it is gone, and no outcome is known | holds it now |
    | `unknown` | it ended, and nobody knows whether it happened | holds it now |

    Any other word is one that was stored with `settle`, and whoever gets it holds the intent.

    Attributes:
        value: What was stored with the status.
        lost: Whoever began it was only lost sight of, and may act yet.
        detail: What is wrong with the record itself, if something is.
    """

    status: str
    value: JSON = None
    lost: bool = False
    detail: str | None = None


class Ledger(Protocol):
    """Remembers intents and outcomes, so that nothing that may have happened is done twice.

    Whoever holds an intent, and nobody else, may call the tool, and settles it afterwards. Both
    methods may block, unless the ledger says `blocks = False`, and are called from any thread.
    Third parties check theirs with `selfcorrect.testing.check_ledger`.
    """

    def begin(self, key: str) -> Record | None:
        """Write an intent before its effect; durable when this returns.

        Returns:
            None if nothing stands in the way, and the caller holds the intent: it is new, or is
            known as `not_done`. Else what is known of it.

        Raises:
            LedgerError: If it cannot be written or read.
        """
        ...

    def settle(self, key: str, status: str, value: JSON = None) -> None:
        """Write what came of an intent that the caller holds, and let it go.

        Args:
            key: The intent.
            status: `done`, `not_done`, `unknown`, or another word to be handed to whoever asks.
            value: The result, or what belongs to the status.

        Raises:
            LedgerError: If it cannot be written.
        """
        ...


@dataclass(frozen=True, slots=True)
class Posted:
    """What stands on a board under a name.

    Attributes:
        version: Grows with every change; 0 where nothing stands there yet.
        value: What was written last.
        clock: Seconds by the board's own clock; None: it has none, and everybody's own will do.
    """

    version: int = 0
    value: JSON = None
    clock: float | None = None


class Board(Protocol):
    """Small values that all who use a ledger share, changed by compare-and-set.

    A ledger may be one. Both methods may block, unless it says `blocks = False`.
    """

    def look(self, name: str) -> Posted:
        """What stands under this name.

        Raises:
            LedgerError: If it cannot be read; at once, without patience.
        """
        ...

    def swap(self, name: str, version: int, value: JSON) -> bool:
        """Write a value, if what stands there is still of this version.

        Returns:
            Whether it was written; false where somebody else was faster.

        Raises:
            LedgerError: If it cannot be written; at once, without patience.
        """
        ...
