"""How long a sentence asks to wait, in every common form. Never invents one.

A number counts only right behind a word that asks for waiting ("retry after", "try again in",
"available in", "resets in").
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import islice
from typing import Final

from selfcorrect.evidence.waits.values import (
    LONGEST,
    NOT_TIME,
    NUMBER,
    UNIT,
    UNITS,
    duration,
    until,
)

_LATER: Final = re.compile(
    rf"(?<![\d.,])({NUMBER})[ \u00a0]?({UNIT})(?: (?:later|from now|before (?:re)?trying"
    rf"|before (?:you )?retry\w{{0,3}}"
    r"|before (?:trying|attempting|making|sending)|until (?:reset|retry)|sonra|içinde|후|뒤|안에"
    r"|erneut)| ?[후뒤後后])",
    re.IGNORECASE,
)
_CJK: Final = re.compile(r"[^\d\n]{0,12}?(\d{1,9}) ?(秒|分|分钟|小时|時間)")
_BARE: Final = re.compile(rf"[\"']?[:= ]{{0,4}}[\"']?({NUMBER})(?![\w:-]|[.,]\d|[/%])")
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
    r"|\b(?:disponible|disponibile|disponível|dis?p?on\w{1,6}|доступ\w{0,6})\b[ \w]{0,20}? "
    r"(?:dans|en|em|tra|fra|in|через)\b"
    r"|خلال|بعد|请在|请等待|请于|再試行まで|预计|予想",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(
    r"(?:do not|don't|never|not|no|without|cannot|gave up|giving up)\W+\w{0,8}\W{0,2}\Z",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(r"\d \Z")
"""What stands before "retries in 3 s": how often it was tried, not what it asks for."""
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
        return round(float(match[1].replace(",", ".")) * UNITS[match[2].lower()], 6)
    for match in islice(_ASKS.finditer(text), _MOST):
        before = text[max(0, match.start() - 24) : match.start()]
        counted = _COUNTED.search(before) and match[0][:3].lower() in ("ret", "re-", "try", "att")
        if _NEGATED.search(before) or counted:
            continue
        tail = text[match.end() : match.end() + 120]
        rest = _SOFT.sub("", tail, count=1)
        seconds = duration(rest)
        if seconds is None:
            seconds = until(rest, now or datetime.now(UTC))
        if seconds is None and (late := _CJK.match(rest)) is not None:
            seconds = float(late[1]) * UNITS[late[2]]
        if seconds is None and _takes_bare_number(match[0]):
            seconds = _bare(tail, match[0].lower())
        if seconds is not None and 0 <= seconds <= LONGEST:
            return round(seconds, 6)
    return None


def _takes_bare_number(trigger: str) -> bool:
    low = trigger.lower()
    return any(word in low for word in ("retry", "again after", "again in", "wait"))


def _bare(tail: str, trigger: str) -> float | None:
    match = _BARE.match(tail)
    if match is None or NOT_TIME.match(tail, match.end()):
        return None
    value = float(match[1].replace(",", "."))
    if value > 1e9:
        return None
    return value / 1000 if trigger.endswith(("ms", "millis")) or "milli" in trigger else value
