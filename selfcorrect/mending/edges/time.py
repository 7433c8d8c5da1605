"""A time of day in the form that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from selfcorrect.kernel.dates import Clock
from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.schema.places import Place
from selfcorrect.text import Unclear
from selfcorrect.values.dates import clock_of, in_digits, read_moment


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
        clock = clock_of(read_moment(value))
        zoned = clock._replace(zone=clock.zone or self.timezone)
        for after in (*_forms(clock), *_forms(zoned)):
            if after != value and want.fits(after):
                reason = "the same time in the form that is asked for"
                is_said = any(map(str.isalpha, value))
                yield candidate(after, "spoken-date" if is_said else "iso-date", reason)
                return
        raise Unclear("no spelling of this time fits; its time zone may be missing")


def _forms(clock: Clock) -> Iterator[str]:
    """Spellings of a time, the full one first."""
    full, zone = in_digits(clock), clock.zone or ""
    half = "PM" if clock.hour >= 12 else "AM"
    twelve = f"{(clock.hour - 1) % 12 + 1:02}{full[2:5]}"
    yield from (f"{full}{zone}", f"{full[:5]}{zone}", f"{twelve} {half}", f"{twelve}{half}")
