"""The exceptions of the library, and the one that a tool's author raises."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass

from selfcorrect.model import Severity


class SelfCorrectError(Exception):
    """Base class of every exception that the library raises."""


class GraphSetupError(SelfCorrectError):
    """A part of the graph is unusable: a node, an edge, an outcome, an option or an update."""


class ToolDefinitionError(GraphSetupError):
    """A tool cannot be used as it is declared."""


class MapError(SelfCorrectError):
    """An error-strategy map is unusable.

    Attributes:
        problems: One sentence each; every one names file, rule and key.
    """

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class LedgerError(SelfCorrectError):
    """The ledger could not be opened, read or written."""


class AnsweredError(SelfCorrectError):
    """Somebody else has answered the question already; the thread goes on with that answer."""


class CorrectionFailed(SelfCorrectError):
    """A run ended without a result, and the caller asked for exceptions.

    Attributes:
        report: The `FailureReport` of the run.
    """

    def __init__(self, message: str, report: object = None) -> None:
        super().__init__(message)
        self.report = report


class LimitReachedError(SelfCorrectError):
    """A model may not be asked any more: a bound of the run is reached."""


class ToolExecutionError(CorrectionFailed):
    """A tool still failed after every attempt.

    Attributes:
        first_cause: The first error.
        last_cause: The last error.
    """

    first_cause: Exception | None = None
    last_cause: Exception | None = None


class ToolErrorTerminal(ToolExecutionError):
    """An error of a kind that ends the run at once; its cause is that error."""


@dataclass(eq=False)
class EscalationError(CorrectionFailed):
    """A run ended in an escalation, and the caller asked for exceptions.

    Attributes:
        source: The tool.
        reason: What is asked of whoever is above.
        severity: How urgent it is.
        original: The tool's error.
        attempts: Executions of the tool.
    """

    source: str
    reason: str
    severity: str = "HIGH"
    original: BaseException | None = None
    attempts: int = 0

    def __post_init__(self) -> None:
        super().__init__(f"{self.source!r} escalated: {self.reason}")


class Escalation(Exception):
    """Raised by a tool or its fixer: the run ends and asks for help from above.

    Attributes:
        reason: What is asked.
        severity: How urgent it is; one that is unknown counts as HIGH.
    """

    def __init__(self, reason: str, severity: str = "HIGH") -> None:
        super().__init__(reason)
        self.reason = reason
        self.severity = severity_of(severity)


class HardFailure(Exception):
    """Raised by a tool or its fixer: nothing else is tried."""


class ToolNotFoundError(CorrectionFailed):
    """A model called a tool that does not exist, too often.

    Attributes:
        requested: The name that the model wrote.
        available: The names of the tools.
    """

    def __init__(self, requested: str, available: Iterable[str], report: object = None) -> None:
        self.requested = requested
        self.available = tuple(available)
        super().__init__(unknown_name("tool", requested, self.available), report)


class NotDone(Exception):
    """Raised by a tool: nothing was done, so the call may be repaired and repeated."""


class ArgumentsError(NotDone):
    """The arguments fit the schema, but not the types that the tool's function annotates."""


class RemoteError(Exception):
    """Stands for an exception of another process, of which a checkpoint holds only the text."""


class ResultError(TypeError):
    """What a tool returned cannot be read, so nobody knows what it did."""


class TooLargeError(ValueError):
    """Arguments are larger, or more is wrong with them, than is looked at."""


@dataclass(eq=False)
class ToolReportedError(Exception):
    """Stands for an error that a tool returned as its value.

    Attributes:
        text: What it says.
        status_code: The HTTP status that the value says.
        code: Its code.
        retry_after: Seconds that it asks to wait.
        timed_out: Whether a field of the value says so.
        is_refusal: Whether the tool's protocol says so: `isError` of an MCP server.
    """

    text: str
    _: KW_ONLY
    status_code: int | None = None
    code: str | None = None
    retry_after: float | None = None
    timed_out: bool = False
    is_refusal: bool = False

    def __post_init__(self) -> None:
        super().__init__(self.text)


def near_name(name: object, names: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the nearest of some names, or an empty string."""
    from selfcorrect.names.likeness import typos

    written = str(name)[:100]
    near = min(names, key=lambda other: typos(written, other), default="")
    # A name of which half of the letters differ is another one.
    is_near = typos(written, near) <= max(len(written), len(near)) // 2
    return f"; did you mean {near!r}?" if near and is_near else ""


def unknown_name(what: str, name: object, names: Iterable[str]) -> str:
    """Return the sentence for a name that does not exist, with the near one or all of them.

    >>> unknown_name("strategy", "wiat", ["wait", "give-up"])
    "unknown strategy 'wiat'; did you mean 'wait'?"
    """
    available = sorted(names)
    hint = near_name(name, available) or f"; available: {', '.join(available)[:500]}"
    return f"unknown {what} {str(name)[:100]!r}{hint}"


def refuse_unknown(
    what: str, written: Iterable[str], names: Iterable[str], place: str = ""
) -> None:
    """Refuse names that do not exist; the place stands in front of the sentence.

    Raises:
        GraphSetupError: For the first of them.
    """
    for name in written:
        if name not in names:
            raise GraphSetupError(f"{place}{unknown_name(what, name, names)}")


def severity_of(name: str) -> Severity:
    """Return a severity by its name, whatever its case; HIGH where there is none of that name."""
    return Severity.__members__.get(str(name).upper(), Severity.HIGH)
