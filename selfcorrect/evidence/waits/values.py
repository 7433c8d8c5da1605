"""What a value made for waits stands for: a number, a duration, a moment."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.words import by_word, number_word

LONGEST: Final = 366 * 86400.0
_MOMENT: Final = 1e9
"""A number as large as this is a Unix time."""
UNITS: Final = by_word(
    {
        0.001: "ms msec msecs millisecond milliseconds millis",
        1.0: """
            s sec secs second seconds second(s) sec(s) sekunde sekunden segundo segundos seconde
            secondes secondi 秒 秒後 秒钟 сек секунд секунды ثانية ثوان ثواني saniye 초 sekund
            sekundy seconden""",
        60.0: """
            m min mins minute minutes minute(s) min(s) minuten minuto minutos minuti 分 分钟 минут
            دقيقة دقائق dakika 분 minut minuty""",
        3600.0: """
            h hr hrs hour hours hour(s) stunde stunden hora horas heure heures ora ore 小时 時間
            часов час ساعة ساعات saat 시간 godzin uur""",
        86400.0: "d day days day(s) tag tage tagen día días dia dias jour jours 天 日",
        604800.0: "week weeks",
    }
)
UNIT: Final = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
NUMBER: Final = r"\d{1,9}(?:[.,]\d{1,9})?"
_PART: Final = re.compile(rf"({NUMBER})[ \u00a0-]?({UNIT})(?![\w(])", re.IGNORECASE)
_TIGHT: Final = re.compile(rf"({NUMBER}) ?(ms|[dhms])(?=\d|\b)", re.IGNORECASE)
_SPOKEN: Final = re.compile(
    rf"(half an? |[a-z]{{1,8}})(?: more| further)?[ -]?({UNIT})(?![\w(])", re.IGNORECASE
)
_CLOCK: Final = re.compile(r"(\d{1,3}):([0-5]\d):([0-5]\d)(?:\.\d{1,9})?(?![\d:])")
_ISO: Final = re.compile(
    r"P(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?(?!\w)"
)
_JOIN: Final = re.compile(r"[ ,]{0,3}(?:and |und |y |et |e )?")
NOT_TIME: Final = re.compile(
    r"[ \"']*(?:times?\b|attempts?\b|retries\b|tries\b|requests?\b|more\b|x\b|calls?\b|tokens?\b)",
    re.IGNORECASE,
)
_STAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} "
    r"\d\d:\d\d:\d\d GMT"
)
_EPOCH: Final = re.compile(r"\d{10}(?:\.\d{1,6})?(?!\d)|\d{13}(?!\d)")


def wait_of_value(
    value: JSON, *, millis: bool = False, now: datetime | None = None
) -> float | None:
    """The seconds that the value of a member or header made for waits stands for, or None.

    A number is seconds (or milliseconds), or a moment where it is as large as one; a text is a
    number, a duration (`34s`, `1m30.5s`, `PT30S`), or a moment (ISO 8601, HTTP date).

    >>> wait_of_value("1m30s"), wait_of_value(1500, millis=True), wait_of_value(-1)
    (90.0, 1.5, None)
    """
    now = now or datetime.now(UTC)
    if isinstance(value, str):
        text = value.strip()[:60]
        number = _as_number(text)
        if number is None:
            seconds = duration(text)
            return bounded(seconds if seconds is not None else until(text, now))
        value = number
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        return None
    if value > _MOMENT:
        value = value / 1000 if value > 1e11 else value
        return bounded(max(0.0, value - now.timestamp()))
    return bounded(value / 1000 if millis else float(value))


def duration(text: str) -> float | None:
    """The seconds of a duration at the start of a text: `1m30s`, `PT5S`, `00:01:30`, `an hour`."""
    if (match := _CLOCK.match(text)) is not None:
        hours, minutes, seconds = (int(group) for group in match.groups())
        return hours * 3600.0 + minutes * 60 + seconds
    if text[:1] == "P" and (match := _ISO.match(text)) is not None and any(match.groups()):
        days, hours_, minutes_, seconds_ = (float(group or 0) for group in match.groups())
        return days * 86400 + hours_ * 3600 + minutes_ * 60 + seconds_
    if (match := _SPOKEN.match(text)) is not None:
        word = match[1].lower()
        count = 0.5 if word[:5] == "half " else 1 if word in ("a", "an") else number_word(word)
        return None if count is None else count * UNITS[match[2].lower()]
    total, position = None, 0
    for _ in range(6):
        match = _PART.match(text, position) or _TIGHT.match(text, position)
        if match is None or NOT_TIME.match(text, match.end()):
            break
        number = float(match[1].replace(",", "."))
        total = (total or 0.0) + number * UNITS[match[2].lower()]
        gap = _JOIN.match(text, match.end())
        position = gap.end() if gap else match.end()
    return total


def until(text: str, now: datetime) -> float | None:
    """The seconds from now to a moment at the start of a text: ISO 8601, HTTP date, Unix time."""
    if (match := _STAMP.match(text)) is not None:
        moment = _moment(match[0])
        return max(0.0, (moment - now).total_seconds()) if moment else None
    if (match := _EPOCH.match(text)) is not None:
        return wait_of_value(float(match[0]), now=now)
    return None


def _moment(text: str) -> datetime | None:
    try:
        if text[:1].isalpha():
            return parsedate_to_datetime(text)
        moment = datetime.fromisoformat(re.sub(" ?(?:UTC|GMT)", "Z", text).replace(" +", "+"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _as_number(text: str | None) -> float | None:
    if not text or len(text) > 20:
        return None
    try:
        number = float(text.strip())
    except ValueError:
        return None
    return number if number >= 0 else None


def bounded(seconds: float | None) -> float | None:
    """The seconds, if they are a wait that anybody would mean."""
    return seconds if seconds is not None and 0 <= seconds <= LONGEST else None
