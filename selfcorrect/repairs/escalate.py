"""escalate: the run ends and asks for help from above."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.kernel.texts import quoted
from selfcorrect.model import (
    Call,
    Diagnosis,
    Repair,
    Severity,
)
from selfcorrect.model import (
    Escalate as Escalated,
)
from selfcorrect.protocols import RepairContext


@dataclass(frozen=True, slots=True)
class Escalate:
    """Ends the run and hands the error to whoever is above this loop.

    Attributes:
        severity: `LOW`, `MEDIUM`, `HIGH` or `CRITICAL`.
        reason: What is handed up; None says which tool failed, and how. The tool's own words are
            never in it: whether a model reads those is the policy's matter.

    >>> from selfcorrect.model import Finding
    >>> broken = Diagnosis((Finding("disk full"),))
    >>> Escalate(severity="CRITICAL")(Call("save"), broken, RepairContext()).reason
    '"save" failed (internal)'
    """

    name = "escalate"
    safety = ()
    needs = "nothing"

    severity: Severity | str = Severity.HIGH
    reason: str | None = None

    def __post_init__(self) -> None:
        """Refuse a severity that there is not.

        Raises:
            ValueError: If `severity` is none of the four.
        """
        object.__setattr__(self, "severity", Severity(str(self.severity).upper()))

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Escalate the first finding."""
        del context
        told = f"{quoted(call.name, 80)} failed ({diagnosis.finding.kind.value})"
        return Escalated(self.reason or told, Severity(self.severity))
