"""give-up: ends a ladder."""

from dataclasses import dataclass

from selfcorrect.model import Call, Diagnosis, GiveUp, Repair
from selfcorrect.protocols import RepairContext


@dataclass(frozen=True, slots=True)
class GiveUpNow:
    """Give up."""

    reason: str = "The map gives up here."

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        return GiveUp(self.reason)
