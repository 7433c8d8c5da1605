"""A date, or date and time, in the form that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Final

from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import JSON, Category
from selfcorrect.schema.places import Place
from selfcorrect.text import Unclear
from selfcorrect.values.dates import (
    clock_of,
    day_of,
    in_digits,
    offset_in,
    read_moment,
    templates,
    written,
    zone_named,
)

_FORMS: Final = [
    sign.join(order)
    for order in (("YYYY", "MM", "DD"), ("DD", "MM", "YYYY"), ("MM", "DD", "YYYY"))
    for sign in ("-", "/", ".", "")
]
_RELATIVE: Final = {"today": 0, "tomorrow": 1, "yesterday": -1}


@dataclass(frozen=True, slots=True)
class Date:
    """The same date, or date and time, in the form that the schema asks for.

    Attributes:
        timezone: The zone of a date-time that has none, or None.
        to: The form to write where the schema names none, or None.
        relative: Whether `today`, `tomorrow` and `yesterday` are resolved.
    """

    timezone: str | None = None
    to: str | None = None
    relative: bool = False

    def __call__(self, value: JSON, want: Place) -> Iterator[Fit]:
        """Read a date and write it as it is asked for; two readings and made-up zones refuse."""
        told = _text(value)
        if told is None:
            raise Unclear("the value is no text")
        reason = "the same date in the form that is asked for"
        cost = "iso-date" if told[:4].isdigit() else "spoken-date"
        yield candidate(self._rewritten(told, want), cost, reason)

    def _rewritten(self, told: str, want: Place) -> str:
        if "date-time" not in want.formats:
            return self._date(told, want)
        try:
            return self._date_time(told, want)
        except Unclear:
            if "date" not in want.formats:
                raise
        return self._date(told, want)

    def _date(self, told: str, want: Place) -> str:
        if self.relative and (days := _RELATIVE.get(told.strip().lower())) is not None:
            return self._written(want.now().date() + timedelta(days=days), want)
        try:
            return self._written(day_of(read_moment(told)), want)
        except Unclear as why:
            each = {words: self._written(day, want) for words, day in why.readings.items()}
            raise Unclear(str(why), each) from None

    def _written(self, day: date, want: Place) -> str:
        if "date" in want.formats:
            return day.isoformat()
        forms = dict.fromkeys(written(day, form) for form in self._named_forms(want))
        fitting = [form for form in forms if want.fits(form)]
        if len(fitting) != 1:
            raise Unclear("the schema does not say in which form it wants a date")
        return fitting[0]

    def _named_forms(self, want: Place) -> list[str]:
        if self.to is not None:
            return [self.to]
        told = want.finding.captures.get("expected", "")
        if named := templates([told]) or templates([want.description]):
            return named
        if any(isinstance(schema.get("pattern"), str) for schema in want.schemas):
            return _FORMS
        return ["YYYY-MM-DD"] if want.finding.category is Category.FORMAT_DATE else []

    def _date_time(self, told: str, want: Place) -> str:
        found = read_moment(told)
        day, clock = day_of(found), clock_of(found)
        local = f"{day.isoformat()}T{in_digits(clock)}"
        if clock.zone is not None:
            return local + clock.zone
        if (zone := self.timezone) is not None:
            return local + offset_in(zone_named(zone), day, time(*clock[:3]))
        if want.own and want.fits(local):
            return local
        raise Unclear("its time zone is not known")


def _text(value: JSON) -> str | None:
    """The text of a date; eight digits may come as a number."""
    if isinstance(value, int) and not isinstance(value, bool) and 10**7 <= value < 10**8:
        return str(value)
    return value if isinstance(value, str) else None


def check_form(form: str) -> None:
    """Refuse a form that names no date.

    Raises:
        ValueError: If it is none such as `YYYY-MM-DD`.
    """
    if templates([form]) != [form]:
        raise ValueError(f"to = {form!r} is no date form such as 'YYYY-MM-DD'")
