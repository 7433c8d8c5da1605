"""escalate: ends the run and asks for help from above."""

from selfcorrect.model import Call, Diagnosis, Escalate, Repair, Severity
from selfcorrect.protocols import RepairContext


def escalate(
    call: Call,
    diagnosis: Diagnosis,
    context: RepairContext,
    *,
    severity: Severity = Severity.HIGH,
    reason: str = "",
) -> Repair:
    """End the run with a severity.

    Args:
        call: The call.
        diagnosis: What is wrong with it.
        context: What is known beside it.
        severity: How urgent it is.
        reason: Why; left out, the kind of the error says it.
    """
    return Escalate(reason or f"{call.name}: {diagnosis.kind} error", severity)
