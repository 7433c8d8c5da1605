"""Reads dates and times that have one meaning, and refuses those that have two.

The forms are listed here, one by one; nothing is guessed. What stays open (day or month, a year
of two digits, a missing year, `tomorrow`) is refused with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Final

from selfcorrect.kernel.dates import MONTH_NAMES, MONTHS
from selfcorrect.text import Unclear

_LONGEST: Final = 80

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_NUMBER: Final = {
    name: number
    for number, day in enumerate(_DAYS)
    for name in (day, day[:3], *{1: ("tues",), 2: ("weds",), 3: ("thur", "thurs")}.get(number, ()))
}


@dataclass(frozen=True, slots=True)
class ReadTime:
    """A time of day that was read.

    Attributes:
        value: What it is, without a zone.
        zone: Its zone as RFC 3339 writes it, or None if the text has none.
    """

    value: time
    zone: str | None


_WEEKDAY: Final = re.compile(r"(?P<day>[a-z]{3,9})\.?,?\s+(?P<rest>.*)", re.DOTALL)
_NUMBERS: Final = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})", re.ASCII)
_COMPACT: Final = re.compile(r"(\d{4})(\d{2})(\d{2})", re.ASCII)
_ORDINAL: Final = r"(?:the )?(\d{1,2})(?:st|nd|rd|th)?"
_GAP: Final = r"[\s\-/.,]{1,3}"
_NAMED: Final = (
    (re.compile(rf"([a-z]{{3,9}})\.?{_GAP}{_ORDINAL}{_GAP}(\d{{4}})", re.ASCII), (3, 1, 2)),
    (
        re.compile(rf"{_ORDINAL}(?:\s+of)?(?:{_GAP})?([a-z]{{3,9}})(?:{_GAP})?(\d{{4}})", re.ASCII),
        (3, 2, 1),
    ),
    (re.compile(rf"(\d{{4}}){_GAP}([a-z]{{3,9}}){_GAP}{_ORDINAL}", re.ASCII), (1, 2, 3)),
)
_FIRST_YEAR: Final = 1_000
_RELATIVE: Final = {"today": 0, "tomorrow": 1, "yesterday": -1}


def read_date(text: str, *, today: date | None = None) -> date:
    """The one date that a text names.

    Args:
        text: The text.
        today: Resolves `today`, `tomorrow` and `yesterday`, if given.

    Raises:
        Unclear: If it names no date, or could name several.

    >>> read_date("Oct 26, 2026").isoformat()
    '2026-10-26'
    >>> read_date("03/04/2026")
    Traceback (most recent call last):
        ...
    selfcorrect.text.Unclear: it could be 3 April or 4 March
    """
    text = _tidied(text)
    if today is not None and text in _RELATIVE:
        return today + timedelta(days=_RELATIVE[text])
    weekday = _WEEKDAY.fullmatch(text)
    if weekday is not None and weekday["day"] in _DAY_NUMBER:
        found = _read_plain_date(weekday["rest"])
        if found.weekday() != _DAY_NUMBER[weekday["day"]]:
            raise Unclear("the day of the week does not agree with the date")
        return found
    return _read_plain_date(text)


def _tidied(text: str) -> str:
    if len(text) > _LONGEST:
        raise Unclear("it is too long for a date or a time")
    if _LONG_DASH.search(text):
        raise Unclear("it could be a range of times")
    text = re.sub("[\u2010-\u2015]", "-", text)
    return " ".join(text.split()).lower()


_LONG_DASH: Final = re.compile("(?<=:\\d\\d)[\u2012-\u2015]")
"""What stands between two times; before an offset it is a hyphen or a minus."""


def _read_plain_date(text: str) -> date:
    if match := _NUMBERS.fullmatch(text):
        first, _, second, third = match.groups()
        return _from_numbers(first, second, third)
    if match := _COMPACT.fullmatch(text):
        first, second, third = (int(part) for part in match.groups())
        if not 1900 <= first < 2200:
            raise Unclear("eight digits that do not start with a year")
        return _day(first, second, third)
    for pattern, order in _NAMED:
        if match := pattern.fullmatch(text):
            year, month, day = (match[group] for group in order)
            if month in MONTHS:
                return _day(int(year), MONTHS[month], int(day))
    raise Unclear("it is not a whole date in a form that has one meaning")


def _from_numbers(first: str, second: str, third: str) -> date:
    one, two, three = int(first), int(second), int(third)
    if len(first) == 4 and len(third) <= 2:
        return _day(one, two, three)
    if len(third) != 4 or len(first) > 2:
        raise Unclear("its year does not have four digits")
    readings = {day for pair in ((one, two), (two, one)) if (day := _maybe(three, *pair))}
    if not readings or three < _FIRST_YEAR:
        raise Unclear("there is no such day")
    if len(readings) > 1:
        days = sorted(readings, key=lambda day: day.month, reverse=True)
        named = {f"{day.day} {MONTH_NAMES[day.month - 1].title()}": day for day in days}
        raise Unclear(f"it could be {' or '.join(named)}", named)
    return readings.pop()


def _maybe(year: int, day: int, month: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _day(year: int, month: int, day: int) -> date:
    found = _maybe(year, day, month)
    if found is None or year < _FIRST_YEAR:
        raise Unclear("there is no such day")
    return found


_CLOCK: Final = re.compile(
    r"(?P<hour>\d{1,2})(?:(?P<sep>[:h])(?P<minute>\d{2})?(?::(?P<second>\d{2})"
    r"(?:[.,](?P<fraction>\d{1,6})\d{0,6})?)?)?\s?(?P<half>[ap]\.?m\.?)?"
    r"\s?(?P<zone>z|utc|gmt|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
_WORDS: Final = {"noon": time(12), "midday": time(12), "midnight": time(0)}


def read_time(text: str) -> ReadTime:
    """The one time of day that a text names.

    Raises:
        Unclear: If it names no time of day.

    >>> read_time("10:00AM").value.isoformat(), read_time("14:30Z").zone
    ('10:00:00', 'Z')
    """
    text = _tidied(text)
    if text in _WORDS:
        return ReadTime(_WORDS[text], None)
    match = _CLOCK.fullmatch(text)
    if match is None or (match["sep"] is None and match["half"] is None):
        raise Unclear("it is not a time of day in a form that has one meaning")
    if match["sep"] == ":" and match["minute"] is None:
        raise Unclear("its minutes are missing")
    hour = _hour(int(match["hour"]), match["half"])
    try:
        value = time(
            hour,
            int(match["minute"] or 0),
            int(match["second"] or 0),
            int((match["fraction"] or "0").ljust(6, "0")),
        )
    except ValueError:
        raise Unclear("there is no such time of day") from None
    zone = _zone(match["zone"])
    if zone is not None and match["second"] is None and _may_end(value, zone):
        raise Unclear("it could be a range of times, or a time with an offset")
    return ReadTime(value, zone)


def _may_end(start: time, zone: str) -> bool:
    """Whether an offset may be the end of a range instead: `09:00-10:00`."""
    return zone[0] == "-" and zone[1:] > start.isoformat("minutes")


def _hour(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise Unclear("an hour of the 12-hour clock lies between 1 and 12")
    return hour % 12 + (12 if half.startswith("p") else 0)


def _zone(text: str | None) -> str | None:
    if text is None:
        return None
    if text[0] not in "+-":
        return "Z"
    hours, minutes = int(text[1:3]), int(text[-2:])
    furthest = _EAST if text[0] == "+" else _WEST
    if minutes > 59 or timedelta(hours=hours, minutes=minutes) > furthest:
        raise Unclear("there is no such offset")
    return f"{text[0]}{hours:02}:{minutes:02}"


_EAST: Final = timedelta(hours=14)
_WEST: Final = timedelta(hours=12)


_DATE_AND_TIME: Final = re.compile(
    r"(?P<date>.*\d)(?:t|,? at |,? )(?P<time>\d{1,2}(?::\d{2}|h| ?[ap]\.?m).*)", re.DOTALL
)
_BASIC_TIME: Final = re.compile(r"(\d{8})t(\d{2})(\d{2})(\d{2})?(z|[+-]\d{2}:?\d{2})?", re.ASCII)


def read_date_time(text: str) -> tuple[date, ReadTime]:
    """The date and the time of day that a text names.

    Raises:
        Unclear: If it does not name both.

    >>> day, clock = read_date_time("2026-10-26 14:00:00 UTC")
    >>> day.isoformat(), clock.value.isoformat(), clock.zone
    ('2026-10-26', '14:00:00', 'Z')
    """
    text = _tidied(text)
    if match := _BASIC_TIME.fullmatch(text):
        day, hour, minute, second, zone = match.groups()
        text = f"{day}t{hour}:{minute}{f':{second}' if second else ''}{zone or ''}"
    match = _DATE_AND_TIME.fullmatch(text)
    if match is None:
        raise Unclear("it is not a date with a time of day")
    return read_date(match["date"]), read_time(match["time"])


def zone_named(name: str) -> tzinfo:
    """The zone of a name: `Z`, `+02:00` or `Europe/Berlin`.

    Raises:
        ValueError: If there is no such zone.
    """
    if name in ("Z", "z", "UTC"):
        return UTC
    if match := re.fullmatch(r"([+-])(\d{2}):(\d{2})", name, re.ASCII):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(-offset if match[1] == "-" else offset)
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError) as error:
        raise ValueError(f"there is no time zone {name!r}") from error


def offset_in(zone: tzinfo, day: date, clock: time) -> str:
    """The offset of a zone at a local time, as RFC 3339 writes it.

    Raises:
        Unclear: If the clock shows this time twice on that day, or never.
    """
    local = datetime.combine(day, clock)
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    offset = first.utcoffset()
    if offset is None or offset != second.utcoffset():
        raise Unclear("the clock changes at that time")
    if first.tzinfo is UTC:
        return "Z"
    minutes = round(offset.total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


_TEMPLATE: Final = re.compile(
    r"(?<![A-Za-z])(YYYY|DD|MM|%Y|%m|%d|yyyy|dd|mm)([-/.]?)"
    r"(YYYY|DD|MM|%Y|%m|%d|yyyy|dd|mm)\2(YYYY|DD|MM|%Y|%m|%d|yyyy|dd|mm)(?![A-Za-z])"
)


def templates(texts: Iterable[str]) -> list[str]:
    """The date forms that texts name in words such as `YYYY-MM-DD` or `%d/%m/%Y`.

    >>> templates(["in the form DD/MM/YYYY"])
    ['DD/MM/YYYY']
    """
    found: list[str] = []
    for text in texts:
        for match in _TEMPLATE.finditer(text[:2_000]):
            letters = [part.lstrip("%")[0].lower() for part in match.group(1, 3, 4)]
            if sorted(letters) != ["d", "m", "y"]:
                continue
            words = [{"y": "YYYY", "m": "MM", "d": "DD"}[letter] for letter in letters]
            found.append(match[2].join(words))
    return list(dict.fromkeys(found))


def written(day: date, template: str) -> str:
    """A date in one of the forms that `templates` gives.

    >>> written(date(2026, 10, 26), "DD/MM/YYYY")
    '26/10/2026'
    """
    text = template.replace("YYYY", f"{day.year:04}").replace("MM", f"{day.month:02}")
    return text.replace("DD", f"{day.day:02}")
