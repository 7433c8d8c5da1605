"""Dates and times that have one meaning; those that have two are refused.

What stands in a text the kernel reads, for the kernel has to say what is a spelling of it. What
stays open (day or month, a year of two digits, a missing year, `tomorrow`) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, tzinfo
from typing import Final

from selfcorrect.kernel.dates import MONTH_NAMES, Clock, Moment, moment
from selfcorrect.text import Unclear


def read_moment(text: str) -> Moment:
    """The day and the time that a text names.

    Raises:
        Unclear: If it names neither, or says more.

    >>> read_moment("10:00AM").clock[:2], read_moment("14:30Z").clock.zone
    ((10, 0), 'Z')
    """
    found = moment(text)
    if found is None:
        raise Unclear("it is no date or time in a form that has one meaning")
    return found


def day_of(found: Moment) -> date:
    """The one day that was read.

    Raises:
        Unclear: If there is none, or could be several.

    >>> day_of(read_moment("Oct 26, 2026")).isoformat()
    '2026-10-26'
    >>> day_of(read_moment("03/04/2026"))
    Traceback (most recent call last):
        ...
    selfcorrect.text.Unclear: it could be 3 April or 4 March
    """
    days = sorted((date(*each) for each in found.days), key=lambda day: -day.month)
    if not days:
        raise Unclear("it is not a whole date in a form that has one meaning")
    if len(days) > 1:
        named = {f"{day.day} {MONTH_NAMES[day.month - 1].title()}": day for day in days}
        raise Unclear(f"it could be {' or '.join(named)}", named)
    return days[0]


def clock_of(found: Moment) -> Clock:
    """The time of day that was read.

    Raises:
        Unclear: If there is none.
    """
    if found.clock is None:
        raise Unclear("it names no time of day")
    return found.clock


def in_digits(clock: Clock) -> str:
    """A time of day as RFC 3339 writes it, without its zone."""
    return f"{clock.hour:02}:{clock.minute:02}:{clock.second:02}{clock.fraction}"


def zone_named(name: str) -> tzinfo:
    """The zone of a name: `Z`, `+02:00` or `Europe/Berlin`.

    Raises:
        ValueError: If there is no such zone.
    """
    if name in ("Z", "z", "UTC"):
        return UTC
    if name[:1] in ("+", "-"):
        return datetime.fromisoformat(f"2000-01-01T00:00{name}").tzinfo or UTC
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
    local = datetime.combine(day, clock, zone)
    first, second = (local.replace(fold=fold).isoformat()[_OFFSET:] for fold in (0, 1))
    if first != second:
        raise Unclear("the clock changes at that time")
    return "Z" if zone is UTC else first


_OFFSET: Final = len("2026-10-26T14:00:00")


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
