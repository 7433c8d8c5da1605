"""Dates and times that have one meaning, in the form that the place wants."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import product
from typing import Any

from selfcorrect.model import JSON, Safety
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading

_LONGEST = 60
_NAMES_OF_MONTHS = (
    "January February March April May June July August September October November December"
)
_MONTHS = tuple(_NAMES_OF_MONTHS.split())
_WEEKDAYS: str = "mon|tue|wed|thu|fri|sat|sun"
_WEEKDAY = re.compile(rf"({_WEEKDAYS})(?:s?day|nesday|rsday|urday|s|rs|r)?\.?,? ", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"(\d{4})([-/. ])(\d{1,2})\2(\d{1,2})", re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/. ])(\d{1,2})\2(\d{4})", re.ASCII)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_YEAR = r"(?P<year>\d{4})"
_IN_WORDS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"{_MONTH} (?:the )?{_DAY},? {_YEAR}",
        rf"(?:the )?{_DAY}\.?(?: of)?[ -]{_MONTH},?[ -]{_YEAR}",
        rf"{_YEAR},?[ -]{_MONTH}[ -](?P<day>\d\d)(?:st|nd|rd|th)?",
    )
)
_CLOCK = re.compile(
    r"([01]?\d|2[0-3])(?::([0-5]\d))?(?::([0-5]\d|60)(\.\d{1,9})?)?(?: ?([ap])\.?m\.?)?",
    re.ASCII | re.IGNORECASE,
)
_OFFSET = r"(?:0\d|1[0-3]):?[0-5]\d|14:?00"
# Behind a time without seconds, a hyphen makes a span of hours: `09:00-10:00`.
_ZONE = re.compile(
    rf"(?<=[\dm.])(?: ?(?=[zu+])|(?<=:\d\d:\d\d) ?(?=-))(z|utc|[+-](?:{_OFFSET}))\Z",
    re.ASCII | re.IGNORECASE,
)
DATES = frozenset({"date", "time", "date-time", "naive-time", "naive-date-time"})
"""Formats of a day, a time of day, or both."""
_PARTS = re.compile(r"(.*\d)(?:[Tt]|, | at | )(\d.*)", re.ASCII)
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?Z?", re.ASCII)


def read_date(value: JSON, place: Place) -> Iterator[Reading]:
    """Read a text as a date, a time, or both; two possible days are two readings."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return
    text = " ".join(value.split())
    if midnight := _MIDNIGHT.fullmatch(text):
        yield Reading(midnight[1], Safety.INFERRED, "format-date")
    for clock in _clocks(text, place):
        yield Reading(clock, Safety.EXACT, "format-time")
    ways = [(text, [""])]
    if parts := _PARTS.fullmatch(text):
        ways.append((parts[1], [f"T{clock}" for clock in _clocks(parts[2], place, has_day=True)]))
    for written, clocks in ways:
        for (day, safety), clock in product(days_in(written), clocks):
            # Where digits may stand in another order, as in an account's number, it is content.
            if not (place.pattern and place.accepts(f"{day:%d-%m-%Y}{clock}")):
                yield Reading(f"{day}{clock}", safety, "format-date")


def days_in(text: str) -> list[tuple[date, Safety]]:
    """Return the days that a text can mean, and how surely it does.

    >>> [name_day(day.isoformat()) for day, _ in days_in("03/04/2026")]
    ['3 April 2026', '4 March 2026']
    >>> [day.isoformat() for day, _ in days_in("Monday, Oct 26, 2026")]
    ['2026-10-26']
    """
    named = _WEEKDAY.match(text)
    found = _days_in(text[named.end() :] if named else text)
    if named is None:
        return found
    # The name of the day has to be true.
    weekday = _WEEKDAYS.split("|").index(named[1].lower())
    return [(day, Safety.INFERRED) for day, _ in found if day.weekday() == weekday]


def name_day(value: Any) -> str:
    """Return an ISO date as people write it; any other value as it stands.

    >>> name_day("2026-03-04"), name_day(5)
    ('4 March 2026', '5')
    """
    try:
        day = date.fromisoformat(value[:10])
    except (ValueError, TypeError):
        return repr(value)[:60]
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}{value[10:]}"


def _days_in(text: str) -> list[tuple[date, Safety]]:
    if found := _YEAR_FIRST.fullmatch(text):
        # A last digit may have been cut: 2026-11-2 was perhaps 2026-11-25.
        is_whole = found[4] not in ("1", "2", "3")
        return _days([(found[1], found[3], found[4])] if is_whole else [], Safety.EXACT)
    if found := _YEAR_LAST.fullmatch(text):
        day_first, month_first = (found[4], found[3], found[1]), (found[4], found[1], found[3])
        return _days([day_first, month_first], Safety.INFERRED)
    for form in _IN_WORDS:
        if found := form.fullmatch(text):
            months = [str(at) for at, name in enumerate(_MONTHS, 1) if _names(found["month"], name)]
            ways = [(found["year"], month, found["day"]) for month in months]
            return _days(ways, Safety.INFERRED)
    return []


def _names(word: str, month: str) -> bool:
    said, name = word.lower(), month.lower()
    return said in (name, name[:3]) or (said == "sept" and name == "september")


def _days(ways: Iterable[tuple[str, str, str]], safety: Safety) -> list[tuple[date, Safety]]:
    found: dict[date, Safety] = {}
    for year, month, day in ways:
        try:
            found[date(int(year), int(month), int(day))] = safety
        except ValueError:
            continue
    return list(found.items())


def _clocks(text: str, place: Place, *, has_day: bool = False) -> Iterator[str]:
    """Yield a time of day with and without seconds, with the zone that was written."""
    zoned = _ZONE.search(text)
    found = _CLOCK.fullmatch(text[: zoned.start()] if zoned else text)
    if found is None or not (found[2] or found[5]):
        return
    hour, half = int(found[1]), (found[5] or "").lower()
    if half and not 1 <= hour <= 12:
        return
    hour = hour % 12 + 12 * (half == "p") if half else hour
    minute, second, part = found[2] or "00", found[3] or "00", found[4] or ""
    zone = _zone(zoned[1]) if zoned else ""
    # `9:30` may be minutes and seconds where nothing says that it is a time.
    if found[3] or half or has_day or place.format in DATES:
        yield f"{hour:02}:{minute}:{second}{part}{zone}"
    if not (found[3] or zone or place.format):
        yield f"{hour:02}:{minute}"


def _zone(text: str) -> str:
    if text.lower() in ("z", "utc"):
        return "Z"
    return text if ":" in text else f"{text[:3]}:{text[3:]}"
