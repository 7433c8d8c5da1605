"""format-date: the same date, or date and time, in the form that the schema asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from selfcorrect.model import JSON, Call, Category, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, present, without
from selfcorrect.text import Unclear
from selfcorrect.values.dates import (
    Read,
    ReadTime,
    offset_in,
    read_date,
    read_date_time,
    templates,
    written,
    zone_named,
    zone_told,
)


@dataclass(frozen=True, slots=True)
class FormatDate:
    """Writes a date in the form that the schema asks for: `"Oct 26, 2026"` as `"2026-10-26"`.

    Exact for other ISO spellings (`2026/10/26`, `20261026`, midnight without a zone), inferred for
    month names and for `12/25/2026`, which has one reading only. `03/04/2026`, two-digit years,
    dates without a year and a time of day that would be lost are refused. A zone is never made up.

    Attributes:
        relative: Whether `today`, `tomorrow` and `yesterday` are resolved, by the run's clock.
        timezone: The zone of a date-time that has none (`Z`, `+02:00`, `Europe/Berlin`); None
            refuses it, unless the description says that the time is in UTC.
        to: The form to write where the schema names none: `DD/MM/YYYY`. None reads it from the
            error and the description, and takes ISO where the error is about a date.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"day": {"type": "string", "format": "date"}}}
    >>> change = try_strategy(FormatDate(), schema, {"day": "Oct 26, 2026"}).changes[0]
    >>> change.after, change.safety.value
    ('2026-10-26', 'inferred')
    >>> try_strategy(FormatDate(), schema, {"day": "03/04/2026"})
    GiveUp(reason='it could be 3 April or 4 March')
    """

    name: ClassVar[str] = "format-date"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    relative: bool = False
    timezone: str | None = None
    to: str | None = None

    def __post_init__(self) -> None:
        """Refuse options that could never work.

        Raises:
            ValueError: If there is no such zone or no such form.
        """
        if self.timezone is not None:
            zone_named(self.timezone)
        if self.to is not None and templates([self.to]) != [self.to]:
            raise ValueError(f"to = {self.to!r} is no date form such as 'YYYY-MM-DD'")

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Rewrite the date at the first finding."""
        place = present(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if (nothing := without(place)) is not None:
            return nothing
        text = _text(place.value)
        if text is None:
            return GiveUp("the value is no text")
        try:
            after, exact = self._rewritten(text, place, context)
        except Unclear as why:
            return GiveUp(str(why))
        safety = Safety.EXACT if exact else Safety.INFERRED
        return place.mend(after, safety, "the same date in the form that is asked for")

    def _rewritten(self, text: str, place: Place, context: RepairContext) -> tuple[str, bool]:
        if "date-time" not in place.formats:
            return self._date(text, place, context)
        try:
            return self._date_time(text, place)
        except Unclear:
            if "date" not in place.formats:
                raise
        return self._date(text, place, context)

    def _date(self, text: str, place: Place, context: RepairContext) -> tuple[str, bool]:
        today = context.now().date() if self.relative else None
        try:
            found = read_date(text, today=today)
        except Unclear as why:
            found, clock = _date_and_time(text, why)
            if clock.value.isoformat() != "00:00:00" or clock.zone is not None:
                raise Unclear("its time of day would be lost") from None
        return self._written(found.value, place), found.exact

    def _written(self, day: date, place: Place) -> str:
        """The date in the one form that is asked for."""
        if "date" in place.formats:
            return day.isoformat()
        named = self._named_forms(place)
        fitting = dict.fromkeys(text for form in named if place.fits(text := written(day, form)))
        if len(fitting) != 1:
            raise Unclear("the schema does not say in which form it wants a date")
        return next(iter(fitting))

    def _named_forms(self, place: Place) -> list[str]:
        if self.to is not None:
            return [self.to]
        told = place.finding.captures.get("expected", "")
        if named := templates([told]) or templates([place.description]):
            return named
        if any(isinstance(schema.get("pattern"), str) for schema in place.schemas):
            return list(_FORMS)
        return ["YYYY-MM-DD"] if place.finding.category is Category.FORMAT_DATE else []

    def _date_time(self, text: str, place: Place) -> tuple[str, bool]:
        day, clock = read_date_time(text)
        local = f"{day.value.isoformat()}T{clock.value.isoformat()}"
        exact = day.exact and clock.exact
        if clock.zone is not None:
            return local + clock.zone, exact
        if (zone := self.timezone or zone_told(place.description)) is not None:
            return local + offset_in(zone_named(zone), day.value, clock.value), False
        if place.own and place.fits(local):
            return local, exact
        raise Unclear("its time zone is not known")


_FORMS = (
    *("YYYY-MM-DD", "YYYY/MM/DD", "YYYY.MM.DD", "YYYYMMDD"),
    *("DD-MM-YYYY", "DD/MM/YYYY", "DD.MM.YYYY", "DDMMYYYY"),
    *("MM-DD-YYYY", "MM/DD/YYYY", "MM.DD.YYYY", "MMDDYYYY"),
)


def _date_and_time(text: str, why: Unclear) -> tuple[Read, ReadTime]:
    try:
        return read_date_time(text)
    except Unclear:
        raise why from None


def _text(value: JSON) -> str | None:
    """The text of a date; eight digits may come as a number."""
    if isinstance(value, int) and not isinstance(value, bool) and 10**7 <= value < 10**8:
        return str(value)
    return value if isinstance(value, str) else None
