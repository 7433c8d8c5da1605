"""Dates and times that have one meaning, in the form that the place wants."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from itertools import product

from selfcorrect.model import JSON, Safety
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading

_LONGEST = 60
_NAMES_OF_MONTHS = (
    "January February March April May June July August September October November December"
)
_MONTHS = tuple(_NAMES_OF_MONTHS.split())
_MONTH_NUMBERS = {"sept": 9} | {
    word.lower(): at for at, name in enumerate(_MONTHS, 1) for word in (name, name[:3])
}
_WEEKDAYS: str = "mon|tue|wed|thu|fri|sat|sun"
_WEEKDAY = re.compile(rf"({_WEEKDAYS})(?:s?day|nesday|rsday|urday|s|rs|r)?\.?,? ", re.IGNORECASE)
_DAY = r"(?P<day>\d{1,2})"
_NTH = rf"{_DAY}(?:st|nd|rd|th)?"
_NUMBER = r"(?P<month>\d{1,2})"
_NAME = r"(?P<month>[a-z]{3,9})\.?"
_YEAR = r"(?P<year>\d{4})"
_MARK = r"(?P<mark>[-/. ])"
_FORMS = tuple(
    (re.compile(form, re.ASCII | re.IGNORECASE), safety)
    for form, safety in (
        # A last digit may have been cut: 2026-11-2 was perhaps 2026-11-25.
        (rf"{_YEAR}{_MARK}{_NUMBER}(?P=mark)(?P<day>\d\d|[4-9])", Safety.EXACT),
        (rf"{_DAY}{_MARK}{_NUMBER}(?P=mark){_YEAR}", Safety.INFERRED),
        (rf"{_NUMBER}{_MARK}{_DAY}(?P=mark){_YEAR}", Safety.INFERRED),
        (rf"{_NAME} (?:the )?{_NTH},? {_YEAR}", Safety.INFERRED),
        (rf"(?:the )?{_NTH}\.?(?: of)?[ -]{_NAME},?[ -]{_YEAR}", Safety.INFERRED),
        (rf"{_YEAR},?[ -]{_NAME}[ -](?P<day>\d\d)(?:st|nd|rd|th)?", Safety.INFERRED),
    )
)
"""The forms of a day; two of them may read the same text."""
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
RELATIVE = {"yesterday": -1, "today": 0, "tomorrow": 1}
"""Words for a day, and how many days after today it is."""
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
    texts = [(text, [""])]
    if parts := _PARTS.fullmatch(text):
        texts.append((parts[1], [f"T{clock}" for clock in _clocks(parts[2], place, has_day=True)]))
    for written, clocks in texts:
        for (day, safety), clock in product(days_in(written), clocks):
            # Where digits may stand in another order, as in an account's number, it is content.
            if not (place.pattern and place.accepts(f"{day:%d-%m-%Y}{clock}")):
                yield Reading(f"{day}{clock}", safety, "format-date")


def read_relative(value: JSON, words: Mapping[str, JSON]) -> Iterator[Reading]:
    """Read a word as a day that is counted from today, by the clock of this machine."""
    away = words.get(" ".join(value.lower().split())) if isinstance(value, str) else None
    if isinstance(away, int):
        day = datetime.now().astimezone().date() + timedelta(days=away)
        yield Reading(day.isoformat(), Safety.INFERRED, "format-date")


def days_in(text: str) -> list[tuple[date, Safety]]:
    """Return the days that a text can mean, and how surely it does.

    >>> [name_day(day.isoformat()) for day, _ in days_in("03/04/2026")]
    ['3 April 2026', '4 March 2026']
    >>> [day.isoformat() for day, _ in days_in("Monday, Oct 26, 2026")]
    ['2026-10-26']
    """
    named = _WEEKDAY.match(text)
    if named is None:
        return _days_in(text)
    # The name of the day has to be true.
    weekday = _WEEKDAYS.split("|").index(named[1].lower())
    days = _days_in(text[named.end() :])
    return [(day, Safety.INFERRED) for day, _ in days if day.weekday() == weekday]


def name_day(value: JSON) -> str:
    """Return an ISO date as people write it; any other value as it stands.

    >>> name_day("2026-03-04"), name_day(5)
    ('4 March 2026', '5')
    """
    if isinstance(value, str):
        with suppress(ValueError):
            day = date.fromisoformat(value[:10])
            return f"{day.day} {_MONTHS[day.month - 1]} {day.year}{value[10:]}"
    return repr(value)[:60]


def _days_in(text: str) -> list[tuple[date, Safety]]:
    days: dict[date, Safety] = {}
    for form, safety in _FORMS:
        if match := form.fullmatch(text):
            with suppress(ValueError):
                month = _MONTH_NUMBERS.get(match["month"].lower()) or int(match["month"])
                days[date(int(match["year"]), month, int(match["day"]))] = safety
    return list(days.items())


def _clocks(text: str, place: Place, *, has_day: bool = False) -> Iterator[str]:
    """Yield a time of day with and without seconds, with the zone that was written."""
    zoned = _ZONE.search(text)
    match = _CLOCK.fullmatch(text[: zoned.start()] if zoned else text)
    if match is None or not (match[2] or match[5]):
        return
    hour, half = int(match[1]), (match[5] or "").lower()
    if half and not 1 <= hour <= 12:
        return
    hour = hour % 12 + 12 * (half == "p") if half else hour
    minute, second, part = match[2] or "00", match[3] or "00", match[4] or ""
    zone = _zone(zoned[1]) if zoned else ""
    # `9:30` may be minutes and seconds where nothing says that it is a time.
    if match[3] or half or has_day or place.format in DATES:
        yield f"{hour:02}:{minute}:{second}{part}{zone}"
    if not (match[3] or zone or place.format):
        yield f"{hour:02}:{minute}"


def _zone(text: str) -> str:
    if text.lower() in ("z", "utc"):
        return "Z"
    return text if ":" in text else f"{text[:3]}:{text[3:]}"
