"""give-up: ends a ladder."""

from selfcorrect.model import Call, Diagnosis, GiveUp, Repair, frozen
from selfcorrect.protocols import RepairContext


@frozen
class GiveUpNow:
    """Give up."""

    reason: str = "The map gives up here."

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        return GiveUp(self.reason)
