"""format-date with `relative = true`: reads a day that is counted from today."""

from collections.abc import Callable
from datetime import datetime, timedelta

from selfcorrect.model import Call, Change, Changed, Diagnosis, Repair, Safety, frozen
from selfcorrect.pointer import look
from selfcorrect.protocols import RepairContext

_AWAY = {"yesterday": -1, "today": 0, "tomorrow": 1}


@frozen
class RelativeDate:
    """Format `today`, `tomorrow` and `yesterday`, by the clock of this machine.

    Attributes:
        otherwise: The strategy that reads any other date.
    """

    otherwise: Callable[..., Repair]

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        written = look(call, diagnosis.path)
        away = _AWAY.get(written.strip().lower()) if isinstance(written, str) else None
        if away is None:
            return self.otherwise(call, diagnosis, context)
        today = datetime.now().astimezone().date()
        day = (today + timedelta(days=away)).isoformat()
        reason = f"counted from today, {today}"
        return Changed(Change(diagnosis.path, written, day, Safety.INFERRED, reason))
