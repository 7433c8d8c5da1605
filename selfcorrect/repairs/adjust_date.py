"""adjust-date: takes the nearest day that the tool or a hook offers."""

import re
from collections.abc import Callable, Iterable
from datetime import date

from selfcorrect.model import Call, Change, Changed, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.pointer import look
from selfcorrect.protocols import RepairContext

_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b", re.ASCII)


def adjust_date(
    call: Call,
    diagnosis: Diagnosis,
    context: RepairContext,
    *,
    available: Callable[[Call], Iterable[str]] | None = None,
    within_days: int = 7,
) -> Repair:
    """Move a day to the nearest one on offer; the change is lossy.

    Args:
        call: The call.
        diagnosis: What is wrong with it.
        context: What is known beside it.
        available: Returns the days on offer, as ISO dates; left out, the error says them.
        within_days: How far a day may move.
    """
    wanted = _day(look(call, diagnosis.path))
    if wanted is None:
        return GiveUp("there is no date where the error points")
    text = context.trust(diagnosis).text
    offered = available(call) if available else _DAY.findall(text)
    days = {day for each in offered if (day := _day(each)) is not None} - {wanted}
    near = [(away, day) for day in days if (away := abs(day - wanted).days) <= within_days]
    if not near:
        return GiveUp(f"no day within {within_days} days of {wanted} is on offer")
    change = Change(
        diagnosis.path,
        wanted.isoformat(),
        min(near)[1].isoformat(),
        Safety.LOSSY,
        "the nearest day on offer",
    )
    return Changed(change)


def _day(value: object) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
