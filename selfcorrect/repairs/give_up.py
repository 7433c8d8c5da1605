"""give-up: a ladder ends here, with the reason that the map states."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.model import Call, Diagnosis, Repair
from selfcorrect.model import GiveUp as GivenUp
from selfcorrect.protocols import RepairContext


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Mends nothing: for an error that is to be reported as it is.

    Attributes:
        reason: What the report says.

    >>> from selfcorrect.model import Finding
    >>> GiveUp(reason="the archive is closed")(
    ...     Call("search"), Diagnosis((Finding("closed"),)), RepairContext())
    GiveUp(reason='the archive is closed')
    """

    name = "give-up"
    safety = ()
    needs = "nothing"

    reason: str = "the map says that nothing can be done"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Give up."""
        del call, diagnosis, context
        return GivenUp(self.reason)
