"""format-date: writes a date as YYYY-MM-DD where it has one reading."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from selfcorrect.model import Call, Change, Changed, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.pointer import look
from selfcorrect.protocols import RepairContext

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_YEAR_FIRST: Final = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})", re.ASCII)
_YEAR_LAST: Final = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})", re.ASCII)
_ORDINAL: Final = r"(\d{1,2})(?:st|nd|rd|th)?"
_NAME: Final = r"([a-z]{3,9})\.?"
_MONTH_NAMED: Final = re.compile(
    rf"(?:{_ORDINAL}\.? (?:of )?{_NAME}|{_NAME} {_ORDINAL}),? (\d{{4}})", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FormatDate:
    """Format a date; gives up where day and month could be exchanged (03/04/2026)."""

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        before = look(call, diagnosis.path)
        if not isinstance(before, str):
            return GiveUp("there is no text where the error speaks of a date")
        found = readings(before.strip()[:100])
        if len(found) > 1:
            shown = " or ".join(f"{day.day} {day:%B} {day.year}" for day in found)
            return GiveUp(f"{before!r} is {shown}")
        if not found or found[0].isoformat() == before:
            return GiveUp(f"{before!r:.60} is not a date in a known form")
        # A text of four, two and two digits has its order; a month's name has to be read.
        safety = Safety.EXACT if _YEAR_FIRST.fullmatch(before.strip()) else Safety.INFERRED
        after = found[0].isoformat()
        return Changed(Change(diagnosis.path, before, after, safety, "as an ISO date"))


def readings(text: str) -> list[date]:
    """Return the days that a text can mean.

    >>> readings("Oct 26, 2024"), len(readings("03/04/2026")), len(readings("12/25/2026"))
    ([datetime.date(2024, 10, 26)], 2, 1)
    """
    if found := _YEAR_FIRST.fullmatch(text):
        year, _, month, day = found.groups()
        return _days((year, month, day))
    if found := _YEAR_LAST.fullmatch(text):
        first, _, second, year = found.groups()
        return _days((year, first, second), (year, second, first))
    if found := _MONTH_NAMED.fullmatch(text):
        day, name = found[1] or found[4], (found[2] or found[3]).lower()
        months = [n for n, each in enumerate(_MONTHS, 1) if _is_short_for(name, each)]
        return _days(*((found[5], str(month), day) for month in months))
    return []


def _is_short_for(name: str, month: str) -> bool:
    return name in (month, month[:3]) or (name == "sept" and month == "september")


def _days(*numbers: tuple[str, str, str]) -> list[date]:
    found: list[date] = []
    for year, month, day in numbers:
        try:
            found.append(date(int(year), int(month), int(day)))
        except ValueError:
            continue
    return list(dict.fromkeys(found))
