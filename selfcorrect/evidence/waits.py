"""How long an emitter asks to wait: headers, and every common form in prose. Never invents one.

A number counts only right behind a word that asks for waiting ("retry after", "try again in",
"available in", "resets in"), or in a header made for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

LONGEST: Final = 366 * 86400.0

_UNITS: Final = {
    "ms": 0.001, "msec": 0.001, "msecs": 0.001, "millisecond": 0.001, "milliseconds": 0.001,
    "millis": 0.001,
    "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "second(s)": 1, "sec(s)": 1,
    "sekunde": 1, "sekunden": 1, "segundo": 1, "segundos": 1, "seconde": 1, "secondes": 1,
    "secondi": 1, "秒": 1, "秒後": 1, "秒钟": 1, "сек": 1, "секунд": 1, "секунды": 1,
    "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60, "minute(s)": 60, "min(s)": 60,
    "minuten": 60, "minuto": 60, "minutos": 60, "minuti": 60, "分": 60, "分钟": 60, "минут": 60,
    "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600, "hour(s)": 3600,
    "stunde": 3600, "stunden": 3600, "hora": 3600, "horas": 3600, "heure": 3600, "heures": 3600,
    "ora": 3600, "ore": 3600, "小时": 3600, "時間": 3600, "часов": 3600, "час": 3600,
    "d": 86400, "day": 86400, "days": 86400, "day(s)": 86400, "tag": 86400, "tage": 86400,
    "tagen": 86400, "día": 86400, "días": 86400, "dia": 86400, "dias": 86400, "jour": 86400,
    "jours": 86400, "天": 86400, "日": 86400,
    "ثانية": 1, "ثوان": 1, "ثواني": 1, "دقيقة": 60, "دقائق": 60, "ساعة": 3600, "ساعات": 3600,
    "saniye": 1, "dakika": 60, "saat": 3600, "초": 1, "분": 60, "시간": 3600,
    "sekund": 1, "sekundy": 1,
    "minut": 60, "minuty": 60, "godzin": 3600, "seconden": 1, "uur": 3600,
    "week": 604800, "weeks": 604800,
}  # fmt: skip
_WORDS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40,
    "sixty": 60, "ninety": 90,
}  # fmt: skip

_UNIT: Final = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_NUMBER: Final = r"\d{1,9}(?:[.,]\d{1,9})?"
_PART: Final = re.compile(rf"({_NUMBER})[ \u00a0-]?({_UNIT})(?![\w(])", re.IGNORECASE)
_TIGHT: Final = re.compile(rf"({_NUMBER}) ?(ms|[dhms])(?=\d|\b)", re.IGNORECASE)
_SPOKEN: Final = re.compile(
    rf"(half an? |{'|'.join(_WORDS)})(?: more| further)?[ -]?({_UNIT})(?![\w(])", re.IGNORECASE
)
_CLOCK: Final = re.compile(r"(\d{1,3}):([0-5]\d):([0-5]\d)(?:\.\d{1,9})?(?![\d:])")
_ISO: Final = re.compile(
    r"P(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?(?!\w)"
)
_LATER: Final = re.compile(
    rf"(?<![\d.,])({_NUMBER})[ \u00a0]?({_UNIT})(?: (?:later|from now|before (?:re)?trying"
    rf"|before (?:you )?retry\w{{0,3}}"
    r"|before (?:trying|attempting|making|sending)|until (?:reset|retry)|sonra|içinde|후|뒤|안에"
    r"|erneut)| ?[후뒤後后])",
    re.IGNORECASE,
)
_CJK: Final = re.compile(r"[^\d\n]{0,12}?(\d{1,9}) ?(秒|分|分钟|小时|時間)")
_JOIN: Final = re.compile(r"[ ,]{0,3}(?:and |und |y |et |e )?")
_BARE: Final = re.compile(rf"[\"']?[:= ]{{0,4}}[\"']?({_NUMBER})(?![\w:-]|[.,]\d|[/%])")
_NOT_TIME: Final = re.compile(
    r"[ \"']*(?:times?\b|attempts?\b|retries\b|tries\b|requests?\b|more\b|x\b|calls?\b|tokens?\b)",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"(?:retry|retri\w{2,4}|re-?try|try|versuch\w{0,4}|attempt|trying|wieder|erneut"
    r"|réessay\w{1,3}|reintent\w{1,3}"
    r"|inténtelo|intenta|riprova\w{0,3}|tente)\b[ \w,'’-]{0,60}?\b(?:in|after|within|for|until"
    r"|at|nach"
    r"|dans|en|dentro de|après|tra|em|через)\b"
    r"|\bretry[-_ ]?(?:after|in|delay|at)(?:[-_ ]?(?:seconds|secs?|ms|millis\w*))?"
    r"|\b(?:wait|waiting|pause|sleep|hold (?:on|off)|back(?:ing)?[ -]?off|cool(?:ing)?[ -]?down"
    r"|warten|espere|attendez|attendre|aspetta\w{0,2}|aguarde|подождите)(?: sie)?(?: period)?"
    r"(?: (?:of|for|at least|about|approximately|another|until|is|time|bitte|al menos))*"
    r"|\b(?:available|possible|allowed|permitted|lifted|unlocked|unblocked|resum\w{1,3}"
    r"|reset\w{0,4}"
    r"|refresh\w{0,3}|replenish\w{0,3}|renew\w{0,3}|back|ready|restored|verfügbar)\b"
    r"(?: again| wieder)?(?: (?:quota|limit|window|time))?"
    r"[ :]{0,2}(?:in|after|within|at|on|until|about|=)?\b"
    r"|\b(?:limit|ban|block|lock|window|cooldown|restriction) expires in\b|\bagain (?:in|after)\b"
    r"|\b(?:disponible|disponibile|disponível|disp?on\w{1,6}|доступ\w{0,6})\b[ \w]{0,20}? "
    r"(?:dans|en|em|tra|fra|in|через)\b"
    r"|خلال|بعد|请在|请等待|请于|再試行まで|预计|予想",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(
    r"(?:do not|don't|never|not|no|without|cannot|gave up|giving up|\d)\W+\w{0,8}\W{0,2}\Z",
    re.IGNORECASE,
)
_STAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}, \d\d[ -][A-Z][a-z]{2}[ -]\d{2,4} "
    r"\d\d:\d\d:\d\d GMT"
)
_EPOCH: Final = re.compile(r"\d{10}(?:\.\d{1,6})?(?!\d)|\d{13}(?!\d)")
_SOFT: Final = re.compile(
    r"[\s:=\"'(~≈]*(?:(?:about|around|approximately|approx\.?|at least|another|up to|a further"
    r"|the next"
    r"|roughly|circa|etwa|in|after|for|of|is|at|on|until|unos|environ|ca\.)[\s:=\"'(~≈]+)*"
)
_MOST: Final = 40


def wait_in_text(text: str, now: datetime | None = None) -> float | None:
    """The seconds that a text asks to wait, or None. The first request in the text counts.

    >>> wait_in_text("Rate limit reached, try again in 1m30s")
    90.0
    >>> wait_in_text("timed out after 30 seconds") is None
    True
    """
    if (match := _LATER.search(text[:4000])) is not None:
        return round(float(match[1].replace(",", ".")) * _UNITS[match[2].lower()], 6)
    for count, match in enumerate(_ASKS.finditer(text)):
        if count >= _MOST:
            break
        if _NEGATED.search(text[max(0, match.start() - 24) : match.start()]):
            continue
        tail = text[match.end() : match.end() + 120]
        soft = _SOFT.match(tail)
        rest = tail[soft.end() :] if soft else tail
        seconds = _duration(rest)
        if seconds is None:
            seconds = _until(rest, now or datetime.now(UTC))
        if seconds is None and (late := _CJK.match(rest)) is not None:
            seconds = float(late[1]) * _UNITS[late[2]]
        if seconds is None and _takes_bare_number(match[0]):
            seconds = _bare(tail, match[0].lower())
        if seconds is not None and 0 <= seconds <= LONGEST:
            return round(seconds, 6)
    return None


def wait_in_headers(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that response headers ask to wait, or None. Names are lower-case.

    >>> wait_in_headers({"retry-after": "120"})
    120.0
    """
    now = now or datetime.now(UTC)
    millis = _as_number(headers.get("retry-after-ms") or headers.get("x-ms-retry-after-ms"))
    if millis is not None:
        return _bounded(millis / 1000)
    value = headers.get("retry-after", "").strip()
    if value:
        number = _as_number(value)
        return _bounded(number if number is not None else _until(value, now))
    if headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining")) != "0":
        return None
    for name in ("x-ratelimit-reset-after", "ratelimit-reset", "x-ratelimit-reset"):
        number = _as_number(headers.get(name))
        if number is not None:
            return _bounded(number - now.timestamp() if number > 1e9 else number)
    return None


def _takes_bare_number(trigger: str) -> bool:
    low = trigger.lower()
    return any(word in low for word in ("retry", "again after", "again in", "wait"))


def _bare(tail: str, trigger: str) -> float | None:
    match = _BARE.match(tail)
    if match is None or _NOT_TIME.match(tail, match.end()):
        return None
    value = float(match[1].replace(",", "."))
    if value > 1e9:
        return None
    return value / 1000 if trigger.endswith(("ms", "millis")) or "milli" in trigger else value


def _duration(text: str) -> float | None:
    if (match := _CLOCK.match(text)) is not None:
        hours, minutes, seconds = (int(group) for group in match.groups())
        return hours * 3600.0 + minutes * 60 + seconds
    if text[:1] == "P" and (match := _ISO.match(text)) is not None and any(match.groups()):
        days, hours_, minutes_, seconds_ = (float(group or 0) for group in match.groups())
        return days * 86400 + hours_ * 3600 + minutes_ * 60 + seconds_
    if (match := _SPOKEN.match(text)) is not None:
        word = match[1].lower().strip()
        count = 0.5 if word.startswith("half") else _WORDS[word]
        return count * _UNITS[match[2].lower()]
    total, position = None, 0
    for _ in range(6):
        match = _PART.match(text, position) or _TIGHT.match(text, position)
        if match is None or _NOT_TIME.match(text, match.end()):
            break
        number = float(match[1].replace(",", "."))
        total = (total or 0.0) + number * _UNITS[match[2].lower()]
        gap = _JOIN.match(text, match.end())
        position = gap.end() if gap else match.end()
    return total


def _until(text: str, now: datetime) -> float | None:
    if (match := _STAMP.match(text)) is not None:
        moment = _moment(match[0])
        return max(0.0, (moment - now).total_seconds()) if moment else None
    if (match := _EPOCH.match(text)) is not None:
        number = float(match[0])
        number = number / 1000 if number > 1e11 else number
        return max(0.0, number - now.timestamp())
    return None


def _moment(text: str) -> datetime | None:
    try:
        if text[:1].isalpha():
            return parsedate_to_datetime(text)
        plain = (
            text.replace(" UTC", "Z").replace(" GMT", "Z").replace("UTC", "Z").replace("GMT", "Z")
        )
        moment = datetime.fromisoformat(plain.replace(" +", "+"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _as_number(text: str | None) -> float | None:
    if not text or len(text) > 20:
        return None
    try:
        number = float(text.strip().removesuffix("s"))
    except ValueError:
        return None
    return number if number >= 0 else None


def _bounded(seconds: float | None) -> float | None:
    return seconds if seconds is not None and 0 <= seconds <= LONGEST else None
