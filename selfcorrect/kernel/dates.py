"""Dates and times: whether one that runs is the one that was written, in another form.

Nothing is read: year, month, day and time of what runs have to stand in what was written, each
once, in one order that can be meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

from selfcorrect.model import Safety

_LONGEST: Final = 80
EXACT, INFERRED = Safety.EXACT, Safety.INFERRED

MONTH_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
MONTHS: Final = {
    name: number
    for number, month in enumerate(MONTH_NAMES, 1)
    for name in (month, month[:3], *(("sept",) if month == "september" else ()))
}
"""The months by their names, whole and cut short."""
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_IDLE: Final = frozenset({"st", "nd", "rd", "th", "of", "the", "at", "t", "on"})


def same_date(written: str, runs: str) -> Safety | None:
    """Whether year, month, day and time of what runs stand there once, in one order.

    The order can be meant: of two numbers up to 12 nobody knows which is the month, unless the
    year comes first, the month is a word, or both are equal.
    """
    ours, theirs = moment(written), moment(runs)
    if ours is None or theirs is None or bool(ours.days) != bool(theirs.days):
        return None
    # What can be meant in two ways stays in its order; else the one meaning is one of the other's.
    is_open = len(ours.days) > 1
    if ours.order != theirs.order if is_open else not ours.days <= theirs.days:
        return None
    if not _is_same_time(ours.clock, theirs.clock, has_day=bool(ours.days)):
        return None
    return EXACT if ours.is_iso and ours.order == theirs.order else INFERRED


class Clock(NamedTuple):
    """A time of day: its fraction of a second with the point, its zone as RFC 3339 writes it."""

    hour: int
    minute: int = 0
    second: int = 0
    fraction: str = ""
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """What a text says of a day and a time.

    Attributes:
        days: Year, month and day, in every way in which they can be meant.
        order: The same numbers as they stand there.
        clock: The time of day.
        is_iso: Whether the text is one of the spellings of ISO 8601.
    """

    days: frozenset[tuple[int, int, int]]
    order: tuple[int, ...]
    clock: Clock | None
    is_iso: bool


_FIRST_YEAR: Final = re.compile(r"(\d{4})([-/.]?)(\d\d?)\2(\d\d?)(?![\d:])", re.ASCII)
_LAST_YEAR: Final = re.compile(r"(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)", re.ASCII)
_ISO_SIGNS: Final = re.compile(r"[\d\-\u2010-\u2015/.:t z+]+(?:utc|gmt)?")
_WORD: Final = re.compile(r"[^\W\d_]+")
_RANGE: Final = re.compile("(?<=:\\d\\d)[\u2012-\u2015]")
"""What stands between two times; before an offset it is a hyphen or a minus."""
_OPEN: Final = re.compile(r"\A[-+]|(?:[-+/:,]|\b(?:at|of|on|the)|(?<=\d)t)\Z")
"""A sign before a date, or an end behind which something was cut off: `2026-10-26T`."""
_EARLIEST: Final = 1_000


def moment(text: str) -> Moment | None:
    """The day and the time in a text; None where anything else is said in it."""
    if len(text) > _LONGEST or _RANGE.search(text):  # the length bounds the time of the search
        return None
    written = text.strip().lower()
    text = _spelled_out(written)
    if _OPEN.search(text) or re.search(r"[^\w\s,./:+\-]", text):
        return None
    found = _CLOCK.search(text)
    if found is not None and found["m"] is None and found["half"] is None:
        found = None
    clock = _clock_of(found) if found is not None else None
    rest = text[: found.start()] if found is not None else text
    words = _WORD.findall(rest)
    days = _days_in(rest, [MONTHS[word] for word in words if word in MONTHS])
    if (found is not None and clock is None) or days is None or not all(map(_is_idle, words)):
        return None
    meant, order = days
    told = {n for word in words for n, name in enumerate(_WEEKDAYS) if _begins(word, name)}
    # A weekday without a date is a day that nobody can tell.
    if any(told - {date(*day).weekday()} for day in meant) or (told and not meant):
        return None
    # At the end of a text more digits may have been cut off: `2036-11-2`.
    is_iso = order[:1] > (31,) and not re.search(r"\D\d\Z", text, re.ASCII)
    is_iso = (is_iso or not order) and _ISO_SIGNS.fullmatch(written) is not None
    return Moment(meant, order, clock, is_iso)


_Days = frozenset[tuple[int, int, int]]


def _days_in(rest: str, months: list[int]) -> tuple[_Days, tuple[int, ...]] | None:
    """The days that a text without its time can mean, and their numbers as they stand there."""
    numbers = re.findall(r"\d+", rest, re.ASCII)
    first, last = _FIRST_YEAR.search(rest), _LAST_YEAR.search(rest)
    if not numbers and not months:
        return frozenset(), ()
    if months:
        years, days = [n for n in numbers if len(n) == 4], [n for n in numbers if len(n) < 3]
        if len(months) != 1 or len(years) != 1 or len(days) != 1 or len(numbers) != 2:
            return None
        parts = re.findall(r"\d+|[^\W\d_]+", rest)
        if [one for one in parts if one in (*numbers, *MONTHS)][1] == years[0]:
            return None  # nobody writes the year between them
        order = (int(years[0]), months[0], int(days[0]))
        meant = {order}
    elif first is not None and (first[2] or re.fullmatch(r"(?:19|2[01])\d{6}", first[0])):
        order = (int(first[1]), int(first[3]), int(first[4]))
        meant = {order}
    elif last is not None:
        one, two, year = int(last[1]), int(last[3]), int(last[4])
        order = (one, two, year)
        meant = {(year, one, two), (year, two, one)}
    else:
        return None
    found = None if months else first or last
    if found is not None and re.search(r"\d", rest[: found.start()] + rest[found.end() :]):
        return None  # a second date is no other spelling of the first
    real = frozenset(filter(_is_real, meant))
    return (real, order) if real else None


def _is_real(day: tuple[int, int, int]) -> bool:
    try:
        return date(*day).year >= _EARLIEST
    except ValueError:
        return False


_BASIC: Final = re.compile(r"(\d{8})t(\d\d)(\d\d)(\d\d)?(?!\d)", re.ASCII)
_HOURS: Final = re.compile(r"(?<=\d)h(\d\d)?(?!\w)", re.ASCII)
_CLOCK_WORDS: Final = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}


def _spelled_out(text: str) -> str:
    """A text with times as clocks show them: `20261026T1400`, `14h30` and `noon` are spellings."""
    text = re.sub("[\u2010-\u2015]", "-", text)
    text = _BASIC.sub(lambda m: f"{m[1]}t{m[2]}:{m[3]}" + (f":{m[4]}" if m[4] else ""), text)
    text = _HOURS.sub(lambda m: f":{m[1] or '00'}", text)
    return _WORD.sub(lambda m: _CLOCK_WORDS.get(m[0], m[0]), text)


def _begins(word: str, name: str) -> bool:
    return len(word) > 2 and name.startswith(word.rstrip("s"))


def _is_idle(word: str) -> bool:
    """Whether a word in a date says no more than the date does: a month, a weekday, `of`."""
    return word in MONTHS or word in _IDLE or any(_begins(word, name) for name in _WEEKDAYS)


_CLOCK: Final = re.compile(
    r"(?<!\d)(?P<h>\d{1,2})(?::(?P<m>\d\d))?(?::(?P<s>\d\d)(?P<f>[.,]\d{1,12})?)?"
    r"\s?(?P<half>[ap]\.?m\.?)?(?P<zone>\s?(?:z|utc|gmt)|\s?[+-]\d\d:?\d\d)?\s*\Z",
    re.ASCII,
)
_EAST, _WEST = 14 * 60, 12 * 60


def _clock_of(found: re.Match[str]) -> Clock | None:
    """The time at the end of a text; None where there is none such, or it may be a range."""
    hour, minute, second = (int(found[part] or 0) for part in "hms")
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"][0] == "p" else 0)
    zone = None
    if found["zone"] is not None:
        told = re.sub(r"[\s:]", "", found["zone"])
        zone = "Z" if told[0] not in "+-" or told[1:] == "0000" else f"{told[:3]}:{told[3:]}"
        away = int(told[1:3]) * 60 + int(told[3:]) if told[0] in "+-" else 0
        if away > (_EAST if told[0] == "+" else _WEST) or told[3:] > "59":
            return None
        # Without seconds an offset may be the end of a range: `09:00-10:00`.
        if told[0] == "-" and found["s"] is None and away > hour * 60 + minute:
            return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    return Clock(hour, minute, second, (found["f"] or "").replace(",", ".").rstrip("0."), zone)


def _is_same_time(written: Clock | None, runs: Clock | None, *, has_day: bool) -> bool:
    # A day is midnight nowhere, but midnight without a zone is that day.
    return written == runs or (has_day and runs is None and written == Clock(0))
