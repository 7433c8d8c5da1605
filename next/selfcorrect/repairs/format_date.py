"""format-date: writes a date as YYYY-MM-DD where it has one reading."""

from selfcorrect.model import Diagnosis, JsonDict
from selfcorrect.repairs.primitive import Primitive
from selfcorrect.schema.slot import Slot


class FormatDate(Primitive):
    """Format a date; gives up where day and month could be exchanged (03/04/2026)."""

    def demand(self, slot: Slot, diagnosis: Diagnosis) -> JsonDict:
        """Ask for a date where the schema names no format: the error speaks of one."""
        return {"format": slot.format or "date"}
