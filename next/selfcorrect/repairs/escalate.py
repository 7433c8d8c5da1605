"""escalate: ends the run and asks for help from above."""

from selfcorrect.model import Call, Diagnosis, Escalate, Repair, Severity, frozen
from selfcorrect.protocols import RepairContext


@frozen
class EscalateNow:
    """End the run with a severity.

    Attributes:
        severity: How urgent it is.
        reason: Why; left out, the kind of the error says it.
    """

    severity: Severity = Severity.HIGH
    reason: str = ""

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        return Escalate(self.reason or f"{call.name}: {diagnosis.kind} error", self.severity)
