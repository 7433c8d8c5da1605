"""give-up: ends a ladder."""

from selfcorrect.model import Call, Diagnosis, GiveUp, Repair
from selfcorrect.protocols import RepairContext


def give_up(
    call: Call,
    diagnosis: Diagnosis,
    context: RepairContext,
    *,
    reason: str = "The map gives up here.",
) -> Repair:
    """Give up."""
    return GiveUp(reason)
