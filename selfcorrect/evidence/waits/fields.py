"""How long headers and JSON bodies ask to wait: `Retry-After`, `retryDelay`, `resetAt`.

Only members that belong to an error are looked into: what a body repeats of the request ("input",
"params", "value") never asks for a wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from selfcorrect.evidence.waits.values import wait_of_value
from selfcorrect.model import JSON
from selfcorrect.words import word_list

_ASKS: Final = re.compile(
    r"(?:x|xms)?(?:retry(?:after|in|delay|at|time)|wait(?:time|for|(?=seconds|ms))|backoff|cooldown"
    r"|resets?(?:in|at|after)|next(?:retry|allowed)at|available(?:in|at)|ratelimitreset(?:after)?)"
    r"(?:in)?(?:seconds|secs?|(?P<ms>ms|millis|milliseconds))?"
    r"|seconds(?:untilreset|towait)|(?P<before>ms)beforenext"
)
"""Names of members that ask for a wait, without case and signs, and whether in milliseconds."""
_INSIDE: Final = frozenset(
    word_list("""
        error errors detail details parameters extensions headers responseheaders meta metadata
        response ratelimit rate limit limits retry retryinfo throttle quota fault info context
        innererror data result status responsemetadata httpheaders reason cause""")
)
_RESETS: Final = (
    "x-ratelimit-reset-after",
    "ratelimit-reset",
    "x-ratelimit-reset",
    "x-rate-limit-reset",
    "x-ratelimit-reset-ms",
)
_MOST: Final = 300
_DEEPEST: Final = 6


def wait_in_body(body: JSON, now: datetime | None = None) -> float | None:
    """The seconds that a body asks to wait, or None; the least deep member counts.

    >>> wait_in_body({"error": {"details": [{"retryDelay": "34s"}]}})
    34.0
    >>> wait_in_body({"error": "bad", "input": {"retry_after": 9}}) is None
    True
    """
    for name, value in _members(body):
        asked = _ASKS.fullmatch(name)
        if asked is None:
            continue
        seconds = wait_of_value(value, millis=bool(asked["ms"] or asked["before"]), now=now)
        if seconds is not None:
            return round(seconds, 6)
    return None


def _members(body: JSON) -> Iterator[tuple[str, JSON]]:
    """The members of an error body, level by level, each with its name without case and signs."""
    level: list[JSON] = [body]
    seen = 0
    for _ in range(_DEEPEST):
        below: list[JSON] = []
        for value in level:
            if isinstance(value, list):
                below += [item for item in value[:20] if isinstance(item, Mapping)]
            if not isinstance(value, Mapping):
                continue
            for key, child in list(value.items())[:100]:
                seen += 1
                if seen > _MOST:
                    return
                name = "".join(char for char in str(key)[:60].lower() if char.isalnum())
                yield name, child
                if name in _INSIDE and isinstance(child, Mapping | list):
                    below.append(child)
        level = below


def wait_in_headers(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that response headers ask to wait, or None. Names are lower-case.

    >>> wait_in_headers({"retry-after": "120"})
    120.0
    """
    now = now or datetime.now(UTC)
    for name in ("retry-after-ms", "x-ms-retry-after-ms", "x-retry-after-ms"):
        if name in headers:
            return wait_of_value(headers[name], millis=True, now=now)
    for name in ("retry-after", "x-retry-after"):
        if headers.get(name, "").strip():
            return wait_of_value(headers[name], now=now)
    if headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining")) != "0":
        return None
    for name in _RESETS:
        if name in headers:
            return wait_of_value(headers[name], now=now)
    return None
