"""Dates and times: whether one that runs is the one that was written, in another form.

Nothing is read: year, month, day and time of what runs have to stand in what was written, each
once, in one order that can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.model import Safety

EXACT, INFERRED = Safety.EXACT, Safety.INFERRED

_MONTHS: Final = {
    name: number
    for number, month in enumerate(
        [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
        1,
    )
    for name in (month, month[:3])
} | {"sept": 9}
_WEEKDAYS: Final = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "weds",
)
_ISO: Final = re.compile(r"(\d{4})[-/.]?(\d{1,2})[-/.]?(\d{1,2})(?!\d)", re.ASCII)
_IDLE: Final = frozenset({"st", "nd", "rd", "th", "of", "the", "at", "t", "z", "utc", "on", "gmt"})
_FULL_DATE: Final = 3


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
    text = written.strip().lower()
    ours, theirs = _numbers(text), _numbers(runs.lower())
    if ours is None or theirs is None:
        return None
    day, dated = _day_of(text, ours), _day_of(runs.lower(), theirs)
    if (day is None) != (dated is None):
        return None
    if day is not None and dated is not None and not _is_same_day(day, dated):
        return None
    clock, timed = _clock_of(text), _clock_of(runs.lower())
    if day is not None and dated is not None and clock is None and timed is None:
        # At the end of a text more digits may have been cut off: `2036-11-2`.
        is_whole = _ISO.fullmatch(text) and not re.search(r"\D\d\Z", text, re.ASCII)
        return EXACT if is_whole and day == dated else INFERRED
    if not _is_same_time(clock, timed, has_day=day is not None):
        return None
    is_iso = re.fullmatch(r"[\d\-/.:t z+]+", text) is not None and ours.word is None
    return EXACT if is_iso and (day is None or dated is None or day[0] == dated[0]) else INFERRED


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The words of a date: its numbers in order, and the month if it is a word."""

    numbers: tuple[str, ...]
    word: int | None


def _numbers(text: str) -> _Numbers | None:
    """The numbers of a date; None where a word or a sign in it says anything else."""
    if len(text) > 80 or re.search(r"[^\w\s,./:+\-\u2010-\u2015]", text):
        return None
    word: int | None = None
    for piece in re.findall(r"[^\W\d_]+", text):
        if piece in _MONTHS and word is None:
            word = _MONTHS[piece]
        elif piece not in _IDLE | {"am", "pm", "a", "p", "m"} and not _is_weekday(piece):
            return None
    return _Numbers(tuple(re.findall(r"\d+", text, re.ASCII)), word)


def _is_weekday(word: str) -> bool:
    return len(word) > 2 and any(day.startswith(word) for day in _WEEKDAYS)


_Day = tuple[int, int, int]


def _day_of(text: str, found: _Numbers) -> _Day | tuple[int, int, int, str] | None:
    """Year, month and day, in the order in which they stand; None where no date stands there."""
    if found.word is not None:
        plain = re.findall(r"(?<![\d:])\d+(?![\d:])", text, re.ASCII)
        years = [n for n in plain if len(n) == 4]
        days = [n for n in plain if len(n) < 3]
        if len(years) != 1 or not days:
            return None
        return (int(years[0]), found.word, int(days[0]))
    iso = re.match(r"\D*(\d{4})([-/.]?)(\d\d?)\2(\d\d?)(?![\d:])", text, re.ASCII)
    if iso is not None and (iso[2] or len(iso[3] + iso[4]) == 4):
        return (int(iso[1]), int(iso[3]), int(iso[4]))
    other = re.match(r"\D*(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)", text, re.ASCII)
    if other is not None:
        return (int(other[4]), int(other[1]), int(other[3]), "open")
    return None


def _is_same_day(written: tuple[Any, ...], runs: tuple[Any, ...]) -> bool:
    year, one, two, *is_open = written
    if not is_open:
        return bool((year, one, two) == tuple(runs[:3])) or (
            len(runs) > 3 and (year, {one, two}) == (runs[0], {runs[1], runs[2]})
        )
    if len(runs) > 3:  # both leave open which number is the month: only their order tells
        return bool(tuple(written) == tuple(runs)) or (one > 12 or two > 12 or one == two)
    meant = {(one, two), (two, one)}
    if one <= 12 and two <= 12 and one != two:
        return False
    return year == runs[0] and (runs[1], runs[2]) in meant


_CLOCK: Final = re.compile(
    r"(?<!\d)(?P<h>\d{1,2})(?::(?P<m>\d\d))?(?::(?P<s>\d\d)(?P<f>\.\d+)?)?\s?(?P<half>[ap]\.?m\.?)?"
    r"(?P<zone>z|\s?[+-]\d\d:?\d\d|\s?(?:utc|gmt))?\s*\Z",
    re.ASCII,
)


def _clock_of(text: str) -> tuple[int, int, int, str, str | None] | None:
    """Hour, minute, second, fraction and zone of a text that ends in a time."""
    found = _CLOCK.search(text)
    if found is None or (found["m"] is None and found["half"] is None):
        return None
    hour = int(found["h"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"][0] == "p" else 0)
    zone = found["zone"]
    told = None if zone is None else re.sub(r"[\s:]", "", zone)
    told = "z" if told in ("z", "utc", "gmt", "+0000", "-0000") else told
    fraction = (found["f"] or "").rstrip("0").rstrip(".")
    return hour, int(found["m"] or 0), int(found["s"] or 0), fraction, told


def _is_same_time(
    written: tuple[Any, ...] | None, runs: tuple[Any, ...] | None, *, has_day: bool
) -> bool:
    if written is None or runs is None:
        # A day without a time is midnight nowhere, but midnight without a zone is that day.
        return has_day and written is not None and written[:4] == (0, 0, 0, "") and not written[4]
    return bool(written == runs)
