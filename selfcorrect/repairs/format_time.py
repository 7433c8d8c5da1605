"""format-time: the same time of day in the form that the schema asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.model import Call, Category, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, present, without
from selfcorrect.text import Unclear
from selfcorrect.values.dates import ReadTime, read_time, zone_told


@dataclass(frozen=True, slots=True)
class FormatTime:
    """Writes a time of day in the form that the schema asks for: `"2 pm"` as `"14:00"`.

    Exact for 24-hour spellings (`9:30`), inferred for `9:30 AM`, `14h` and `noon`. RFC 3339 wants
    an offset behind a time; one is never made up, and seconds are never dropped.

    Attributes:
        timezone: The offset of a time that has none (`Z`, `+02:00`); None refuses it where the
            schema asks for one, unless the description says that the time is in UTC.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"at": {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]$"}}}
    >>> change = try_strategy(FormatTime(), schema, {"at": "2:30 PM"}).changes[0]
    >>> change.after, change.safety.value
    ('14:30', 'inferred')
    """

    name: ClassVar[str] = "format-time"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    timezone: str | None = None

    def __post_init__(self) -> None:
        """Refuse an offset that is none.

        Raises:
            ValueError: If `timezone` is neither `Z` nor an offset such as `+02:00`.
        """
        if self.timezone is not None:
            try:
                offset = read_time(f"00:00:00{self.timezone}").zone
            except Unclear:
                offset = None
            if offset != self.timezone:
                raise ValueError(f"timezone = {self.timezone!r} is no offset such as '+02:00'")

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Rewrite the time at the first finding."""
        place = present(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if (nothing := without(place)) is not None:
            return nothing
        if not isinstance(place.value, str):
            return GiveUp("the value is no text")
        if not _wants_a_time(place):
            return GiveUp("the schema does not ask for a time of day")
        try:
            clock = read_time(place.value)
        except Unclear as why:
            return GiveUp(str(why))
        zone = self.timezone or zone_told(place.description)
        for spelled in _readings(clock, zone):
            for after in _forms(spelled):
                if after != place.value and place.fits(after):
                    safety = Safety.EXACT if spelled.exact else Safety.INFERRED
                    return place.mend(after, safety, "the same time in the form that is asked for")
        return GiveUp("no spelling of this time fits; its time zone may be missing")


def _readings(clock: ReadTime, zone: str | None) -> Iterator[ReadTime]:
    yield clock
    if clock.zone is None and zone is not None:
        yield ReadTime(clock.value, zone, exact=False)


def _wants_a_time(place: Place) -> bool:
    if "time" in place.formats or place.finding.category is Category.FORMAT_DATE:
        return True
    return any(isinstance(schema.get("pattern"), str) for schema in place.schemas)


def _forms(clock: ReadTime) -> Iterator[str]:
    """Spellings of a time, the full one first; none says less than the text did."""
    zone = clock.zone or ""
    yield f"{clock.value.isoformat()}{zone}"
    if not clock.value.second and not clock.value.microsecond:
        yield f"{clock.value.isoformat('minutes')}{zone}"
    if not clock.value.microsecond and not zone:
        twelve = clock.value.strftime("%I:%M %p")
        if not clock.value.second:
            yield twelve
            yield twelve.replace(" ", "")
