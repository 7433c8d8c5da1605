"""The exceptions that selfcorrect itself raises: one root, stable codes.

Mistakes of an author (a bad map, a bad tool, bad wiring) raise early. A run that could not be
mended is not an exception by default: it ends in a `FailureReport`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


class SelfCorrectError(Exception):
    """Root of everything this library raises on its own account; `code` is stable."""

    code: ClassVar[str] = "SC000"


@dataclass(frozen=True, slots=True)
class MapFault:
    """One fault of an error-strategy map: where, what, and what was probably meant."""

    message: str
    file: str | None = None
    rule: str | None = None
    key: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        where = ": ".join(
            part
            for part in (
                self.file,
                f"rule {self.rule!r}" if self.rule else None,
                f"key {self.key!r}" if self.key else None,
            )
            if part
        )
        text = f"{where}: {self.message}" if where else self.message
        return f"{text} ({self.hint})" if self.hint else text


class MapError(SelfCorrectError):
    """An error-strategy map cannot be used; `faults` lists every fault that was found."""

    code: ClassVar[str] = "SC101"

    def __init__(self, faults: Sequence[MapFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class StrategyNotFound(SelfCorrectError):
    """A map or a caller names a strategy that nobody provides; `near` lists close names."""

    code: ClassVar[str] = "SC102"

    def __init__(self, name: str, near: Sequence[str] = ()) -> None:
        self.name = name
        self.near = tuple(near)
        hint = f"; did you mean {' or '.join(map(repr, self.near))}?" if self.near else ""
        super().__init__(f"there is no repair strategy named {name!r}{hint}")


class GraphSetupError(SelfCorrectError):
    """The graph cannot be built, or cannot be run the way it was called."""

    code: ClassVar[str] = "SC103"


class ToolDefinitionError(GraphSetupError):
    """A tool cannot be used: its name, schema or signature is unusable."""

    code: ClassVar[str] = "SC104"


class MissingExtra(SelfCorrectError, ImportError):
    """A feature needs an optional dependency; the message names the command that installs it."""

    code: ClassVar[str] = "SC105"

    def __init__(self, extra: str, feature: str) -> None:
        self.extra = extra
        super().__init__(f"{feature} needs an optional part: pip install 'selfcorrect[{extra}]'")


class CorrectionFailed(SelfCorrectError):
    """A run ended in a report, and the caller wanted an exception; `report` is the report."""

    code: ClassVar[str] = "SC201"

    def __init__(self, message: str, report: Any = None) -> None:
        self.report = report
        super().__init__(message)


class ToolNotFoundError(CorrectionFailed):
    """The call names a tool that is not offered, and no tool was meant with a clear margin."""

    code: ClassVar[str] = "SC202"

    def __init__(self, requested: str, available: Sequence[str], report: Any = None) -> None:
        self.requested = requested
        self.available = tuple(available)
        super().__init__(f"there is no tool named {requested!r}", report)


class ToolErrorTerminal(CorrectionFailed):
    """A settled tool error is of a kind that the policy ends a run for."""

    code: ClassVar[str] = "SC203"


class ToolExecutionError(CorrectionFailed):
    """A tool went on failing, or a handler gave it up for a `reason`.

    `first_cause` and `last_cause` are the first and last errors.
    """

    code: ClassVar[str] = "SC204"

    def __init__(
        self,
        tool: str,
        attempts: int,
        first_cause: BaseException | None,
        last_cause: BaseException | None,
        report: Any = None,
        reason: str | None = None,
    ) -> None:
        self.tool = tool
        self.attempts = attempts
        self.first_cause = first_cause
        self.last_cause = last_cause
        message = f"tool {tool!r} failed after {attempts} execution{'s' if attempts != 1 else ''}"
        if reason is not None or last_cause is not None:
            message += f": {reason or repr(last_cause)}"
        if first_cause is not None and first_cause is not last_cause:
            message += f" (first: {first_cause!r})"
        super().__init__(message, report)


class RemoteError(SelfCorrectError):
    """Stands in for an exception that was raised before a resume in another process."""

    code: ClassVar[str] = "SC205"

    def __init__(self, type_name: str, text: str) -> None:
        self.type_name = type_name
        self.text = text
        super().__init__(f"{type_name}: {text}")


class ToolReportedError(SelfCorrectError):
    """A tool returned its error as a value (`status="error"`, `isError`) instead of raising it."""

    code: ClassVar[str] = "SC206"


class NotDone(SelfCorrectError):
    """Raised by a tool that did nothing: the call may be mended and made again, whatever it does.

    Not the right error where anything may have happened before it: a tool that raises it promises.

    >>> raise NotDone("the seat map is closed until 06:00")
    Traceback (most recent call last):
    selfcorrect.errors.NotDone: the seat map is closed until 06:00
    """

    code: ClassVar[str] = "SC207"


class Escalation(SelfCorrectError):
    """Raised by a fixer or a tool that asks for help from above; the run ends as `escalated`.

    Args:
        reason: What is handed up; the model that made the call may read it.
        severity: `LOW`, `MEDIUM`, `HIGH` or `CRITICAL`, in any case; anything else means HIGH.
    """

    code: ClassVar[str] = "SC303"

    def __init__(self, reason: str, severity: object = "HIGH") -> None:
        self.reason = reason
        said = str(getattr(severity, "value", severity)).strip().upper()
        self.severity = said if said in ("LOW", "MEDIUM", "HIGH", "CRITICAL") else "HIGH"
        super().__init__(reason)


class HardFailure(SelfCorrectError):
    """Raised by a fixer or a tool where nothing can help: the run ends, whatever retries remain."""

    code: ClassVar[str] = "SC304"


class BudgetSpent(SelfCorrectError):
    """A model call would exceed the run's limits; raised before anything is paid."""

    code: ClassVar[str] = "SC301"


class LedgerError(SelfCorrectError):
    """The ledger cannot be read or written; a tool that changes things is then not called."""

    code: ClassVar[str] = "SC401"


class AnsweredBefore(SelfCorrectError):
    """A question has one answer, and somebody else gave it; the run goes on with theirs."""

    code: ClassVar[str] = "SC402"


class UnusableInput(SelfCorrectError):
    """What came in is neither a call nor a text that may hold one."""

    code: ClassVar[str] = "SC303"


class UnusableFile(SelfCorrectError):
    """A file of JSON lines cannot be opened, unpacked or written; the message names it."""

    code: ClassVar[str] = "SC304"


class ModelFailed(SelfCorrectError):
    """A model raised, or answered something that is not what was asked for.

    Attributes:
        said: What it answered, or None where it did not.
    """

    code: ClassVar[str] = "SC302"

    def __init__(self, message: str, said: str | None = None) -> None:
        self.said = said
        super().__init__(message)


def is_control_flow(error: BaseException) -> bool:
    """Whether this exception is how the host steers (LangGraph's interrupts and commands).

    Such exceptions pass through untouched. Recognised by name, so that nothing is imported.
    """
    return any(
        cls.__name__ == "GraphBubbleUp" and cls.__module__.startswith("langgraph.")
        for cls in type(error).__mro__
    )
