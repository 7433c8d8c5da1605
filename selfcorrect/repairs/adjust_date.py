"""adjust-date: the nearest date for which the tool has something."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

from selfcorrect.model import Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import place_of

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class AdjustDate:
    """Moves a date to the nearest one that is on offer, never into the past.

    Always lossy. Which dates are on offer says a hook, or else the error itself where it suggests
    some. Of two dates equally near, none is chosen.

    Attributes:
        within_days: How far the date may be moved, in days.
        available: Gives the dates on offer for a call: dates, or ISO texts.

    >>> from selfcorrect.model import Finding
    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"day": {"type": "string", "format": "date"}}}
    >>> none_left = Finding("no seats", paths=("/args/day",), suggestions=("2050-10-28",))
    >>> change = try_strategy(AdjustDate(), schema, {"day": "2050-10-26"}, none_left).changes[0]
    >>> change.after, change.safety.value
    ('2050-10-28', 'lossy')
    """

    name = "adjust-date"
    safety = (Safety.LOSSY,)
    needs = "nothing"

    within_days: int = 3
    available: Callable[[Call], Iterable[Any]] | None = None

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Move the date at the first finding."""
        place = place_of(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        wanted = _day(place.value)
        if wanted is None or wanted.isoformat() != place.value:
            return GiveUp("the argument at fault holds no ISO date")
        if self.available is not None:
            offered: Iterable[Any] = self.available(call)
        else:
            offered = diagnosis.finding.suggestions
        today = context.now().date()
        days = {day for item in islice(offered, _MOST) if (day := _day(item)) is not None}
        near = [
            day for day in days if day >= today and day != wanted and self._is_near(day, wanted)
        ]
        near.sort(key=lambda day: abs(day - wanted))
        if not near:
            return GiveUp(f"no date is on offer within {self.within_days} days")
        if len(near) > 1 and abs(near[0] - wanted) == abs(near[1] - wanted):
            first, second = sorted(near[:2])
            return GiveUp(f"{first.isoformat()} and {second.isoformat()} are equally near")
        return place.mend(near[0].isoformat(), "the nearest date on offer")

    def _is_near(self, day: date, wanted: date) -> bool:
        return abs(day - wanted) <= timedelta(days=self.within_days)


def _day(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None
