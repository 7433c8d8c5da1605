"""The report of a run that ended without a result: data for a person, an operator and the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, TypeAlias, get_args

from selfcorrect.errors import CorrectionFailed, ToolNotFoundError
from selfcorrect.model import JSON, Category, JsonObject

Reason: TypeAlias = Literal[
    "no_strategy",
    "attempts_exhausted",
    "limit_reached",
    "terminal_kind",
    "repeated_failure",
    "needs_person",
    "rejected",
    "no_call",
    "refused",
    "unavailable",
    "unknown_outcome",
    "escalated",
    "invalid_input",
]
"""Why a run ended without a result."""

REASONS: Final[tuple[Reason, ...]] = get_args(Reason)


@dataclass(frozen=True, slots=True)
class FailureReport:
    """Why a run ended without a result, and what a person could do.

    Attributes:
        reason: One of `REASONS`.
        detail: Why it stopped, in one sentence.
        tool: The tool that was meant, as far as known.
        call: The call as it stood at the end.
        original: The call as it came in.
        findings: What was still wrong.
        attempts: Every execution.
        changes: Every change that was made, with rule, strategy and safety class.
        tried: What was tried and did not help: `{"rule", "strategy", "outcome"}`.
        question: What a person would have to answer, where reason is `needs_person`.
        proposal: The mended call, ready to be made, where the run itself may not make it:
            `{"name", "args"}`.
        value: What the tool answered, whole, where its value was an error.
        where: File and line of the tool's own code that the last error came from, if known.
        until: When the tool may be called again, where reason is `unavailable`; ISO 8601.
        advice: What a person could do, one sentence each.
        for_model: Text for the model: what became of the call, what is wrong, what the tool said,
            redacted and quoted as data, and what to do next; at most 1,200 characters.
        counts: Executions, repair rounds, model calls, tokens, seconds; `left_out` says how many
            items of a long list the report does not hold.
    """

    reason: Reason
    detail: str
    tool: str | None = None
    call: JsonObject | None = None
    original: JsonObject | None = None
    findings: tuple[JsonObject, ...] = ()
    attempts: tuple[JsonObject, ...] = ()
    changes: tuple[JsonObject, ...] = ()
    tried: tuple[JsonObject, ...] = ()
    question: JsonObject | None = None
    proposal: JsonObject | None = None
    value: JSON = None
    where: str | None = None
    severity: str | None = None
    until: str | None = None
    advice: tuple[str, ...] = ()
    for_model: str = ""
    counts: JsonObject = field(default_factory=dict)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> FailureReport | None:
        """The report of a finished run (the graph's output), or None where it succeeded."""
        failure = state.get("failure")
        if not failure:
            return None
        known = {f.name for f in fields(cls)}
        values = {key: value for key, value in failure.items() if key in known}
        for name in ("findings", "attempts", "changes", "tried", "advice"):
            values[name] = tuple(values.get(name, ()))
        return cls(**values)

    def raise_(self) -> None:
        """Raise this report as an exception.

        Raises:
            ToolNotFoundError: If the tool does not exist.
            CorrectionFailed: Otherwise; its `report` is this report.
        """
        message = f"{self.tool or 'call'}: {self.reason}: {self.detail}"
        for finding in self.findings:
            if finding.get("category") == Category.UNKNOWN_TOOL:
                constraint = finding.get("constraint") or {}
                raise ToolNotFoundError(self.tool or "", constraint.get("enum", ()), self)
        raise CorrectionFailed(message, self)
