"""Dates and times: whether one that runs is the one that was written, in another form.

Nothing is read: year, month, day and time of what runs have to stand in what was written, each
once, in one order that can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

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
_WEEKDAYS: Final = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "weds",
)
_IDLE: Final = frozenset({"st", "nd", "rd", "th", "of", "the", "at", "t", "z", "utc", "on", "gmt"})


def is_date_like(runs: str, formats: Collection[str]) -> bool:
    """Whether a date or time may be asked for here."""
    named = {"date", "date-time", "time"}.intersection(formats)
    return (
        bool(named)
        or bool(re.search(r"\d{2,4}[-/.:]\d\d", runs, re.ASCII))
        or (runs.isdigit() and len(runs) == 8)
    )


def same_date(written: str, runs: str) -> Safety | None:
    """Whether year, month, day and time of what runs stand there once, in one order.

    The order can be meant: of two numbers up to 12 nobody knows which is the month, unless the
    year comes first, the month is a word, or both are equal.
    """
    ours, theirs = _read(written.strip().lower()), _read(runs.lower())
    if ours is None or theirs is None or bool(ours.days) != bool(theirs.days):
        return None
    # What can be meant in two ways stays in its order; else the one meaning is one of the other's.
    is_open = len(ours.days) > 1
    if ours.order != theirs.order if is_open else not ours.days <= theirs.days:
        return None
    if not _is_same_time(ours.clock, theirs.clock, has_day=bool(ours.days)):
        return None
    return EXACT if ours.is_iso and ours.order == theirs.order else INFERRED


_Clock = tuple[int, int, int, str, str | None]


@dataclass(frozen=True, slots=True)
class _Moment:
    """What a text says of a day and a time.

    Attributes:
        days: Year, month and day, in every way in which they can be meant.
        order: The same numbers as they stand there.
        clock: Hour, minute, second, fraction and zone.
        is_iso: Whether the text is one of the spellings of ISO 8601.
    """

    days: frozenset[tuple[int, int, int]]
    order: tuple[int, ...]
    clock: _Clock | None
    is_iso: bool


_FIRST_YEAR: Final = re.compile(r"(\d{4})([-/.]?)(\d\d?)\2(\d\d?)(?![\d:])", re.ASCII)
_LAST_YEAR: Final = re.compile(r"(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)", re.ASCII)
_ISO_SIGNS: Final = re.compile(r"[\d\-\u2010-\u2015/.:t z+]+(?:utc|gmt)?")
_WORD: Final = re.compile(r"[^\W\d_]+")


def _read(text: str) -> _Moment | None:
    """The day and the time in a text; None where anything else is said in it."""
    written, text = text, _spelled_out(text)
    if len(text) > _LONGEST or re.search(r"[^\w\s,./:+\-\u2010-\u2015]", text):
        return None
    clock = _CLOCK.search(text)
    if clock is not None and clock["m"] is None and clock["half"] is None:
        clock = None
    rest = text[: clock.start()] if clock is not None else text
    months = [MONTHS[word] for word in _WORD.findall(rest) if word in MONTHS]
    if any(not _is_idle(word) for word in _WORD.findall(rest)) or len(months) > 1:
        return None
    numbers = re.findall(r"\d+", rest, re.ASCII)
    first, last = _FIRST_YEAR.search(rest), _LAST_YEAR.search(rest)
    order: tuple[int, ...] = ()
    if months:
        years, days = [n for n in numbers if len(n) == 4], [n for n in numbers if len(n) < 3]
        if len(years) != 1 or len(days) != 1 or len(numbers) != 2:
            return None
        order = (int(years[0]), months[0], int(days[0]))
        meant = {order}
    elif first is not None and (first[2] or len(first[3] + first[4]) == 4):
        order = (int(first[1]), int(first[3]), int(first[4]))
        meant = {order}
    elif last is not None:
        one, two, year = int(last[1]), int(last[3]), int(last[4])
        order = (one, two, year)
        meant = {(year, m, d) for m, d in ((one, two), (two, one)) if m <= MONTHS["december"]}
    else:
        meant = set()
    found = None if months else first or last
    if found is not None and re.search(r"\d", rest[: found.start()] + rest[found.end() :]):
        return None  # a second date is no other spelling of the first
    if not meant and numbers:
        return None
    # At the end of a text more digits may have been cut off: `2036-11-2`.
    is_iso = not months and last is None and not re.search(r"\D\d\Z", text, re.ASCII)
    is_iso = is_iso and _ISO_SIGNS.fullmatch(written) is not None
    return _Moment(frozenset(meant), order, _clock_of(clock) if clock else None, is_iso)


_BASIC: Final = re.compile(r"(\d{8})t(\d\d)(\d\d)(\d\d)?(?!\d)", re.ASCII)
_HOURS: Final = re.compile(r"(?<=\d)h(\d\d)?(?!\w)", re.ASCII)
_CLOCK_WORDS: Final = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}


def _spelled_out(text: str) -> str:
    """A text with times as clocks show them: `20261026T1400`, `14h30` and `noon` are spellings."""
    text = re.sub("[\u2010-\u2015]", "-", text)
    text = _BASIC.sub(lambda m: f"{m[1]}t{m[2]}:{m[3]}:{m[4] or '00'}", text[: _LONGEST + 1])
    text = _HOURS.sub(lambda m: f":{m[1] or '00'}", text)
    return _WORD.sub(lambda m: _CLOCK_WORDS.get(m[0], m[0]), text)


def _is_idle(word: str) -> bool:
    """Whether a word in a date says no more than the date does: a month, a weekday, `of`."""
    is_weekday = len(word) > 2 and any(day.startswith(word) for day in _WEEKDAYS)
    return word in MONTHS or word in _IDLE or is_weekday


_CLOCK: Final = re.compile(
    r"(?<!\d)(?P<h>\d{1,2})(?::(?P<m>\d\d))?(?::(?P<s>\d\d)(?P<f>\.\d+)?)?\s?(?P<half>[ap]\.?m\.?)?"
    r"(?P<zone>z|\s?[+-]\d\d:?\d\d|\s?(?:utc|gmt))?\s*\Z",
    re.ASCII,
)


def _clock_of(found: re.Match[str]) -> _Clock:
    """Hour, minute, second, fraction and zone of a time at the end of a text."""
    hour = int(found["h"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"][0] == "p" else 0)
    told = None if found["zone"] is None else re.sub(r"[\s:]", "", found["zone"])
    told = "z" if told in ("z", "utc", "gmt", "+0000", "-0000") else told
    fraction = (found["f"] or "").rstrip("0").rstrip(".")
    return hour, int(found["m"] or 0), int(found["s"] or 0), fraction, told


def _is_same_time(written: _Clock | None, runs: _Clock | None, *, has_day: bool) -> bool:
    # A day is midnight nowhere, but midnight without a zone is that day.
    is_day = has_day and runs is None and written is not None
    return written == runs or (is_day and written == (0, 0, 0, "", None))
