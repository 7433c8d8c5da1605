"""A time of day in the form that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import JSON, Category
from selfcorrect.schema.places import Place
from selfcorrect.text import Unclear
from selfcorrect.values.dates import ReadTime, read_time


@dataclass(frozen=True, slots=True)
class Time:
    """The same time of day in the form that the schema asks for.

    Attributes:
        timezone: The offset of a time that has none, or None.
    """

    timezone: str | None = None

    def __call__(self, value: JSON, want: Place) -> Iterator[Fit]:
        """Read a time and write it as it is asked for; no offset is made up, no second dropped."""
        if not isinstance(value, str):
            raise Unclear("the value is no text")
        if not _wants_a_time(want):
            raise Unclear("the schema does not ask for a time of day")
        clock = read_time(value)
        for spelled in _readings(clock, self.timezone):
            for after in _forms(spelled):
                if after != value and want.fits(after):
                    reason = "the same time in the form that is asked for"
                    is_said = any(map(str.isalpha, value))
                    yield candidate(after, "spoken-date" if is_said else "iso-date", reason)
                    return
        raise Unclear("no spelling of this time fits; its time zone may be missing")


def _readings(clock: ReadTime, zone: str | None) -> Iterator[ReadTime]:
    yield clock
    if clock.zone is None and zone is not None:
        yield ReadTime(clock.value, zone)


def _wants_a_time(want: Place) -> bool:
    if "time" in want.formats or want.finding.category is Category.FORMAT_DATE:
        return True
    return any(isinstance(schema.get("pattern"), str) for schema in want.schemas)


def _forms(clock: ReadTime) -> Iterator[str]:
    """Spellings of a time, the full one first; none says less than the text did."""
    zone = clock.zone or ""
    yield f"{clock.value.isoformat()}{zone}"
    if not clock.value.second and not clock.value.microsecond:
        yield f"{clock.value.isoformat('minutes')}{zone}"
    if not clock.value.microsecond and not zone:
        # Not by strftime: its word follows the locale of the process, and most have none.
        twelve = f"{clock.value:%I:%M} {'PM' if clock.value.hour >= 12 else 'AM'}"
        if not clock.value.second:
            yield twelve
            yield twelve.replace(" ", "")
