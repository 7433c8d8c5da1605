"""The HTTP status that a text names: "502 Server Error", "status code 404", "code: 429 - …"."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

_PHRASES: Final = "|".join(
    sorted(
        (re.escape(status.phrase) for status in HTTPStatus if status >= 400), key=len, reverse=True
    )
)
_CODE: Final = r"([45]\d\d)"
_FORMS: Final = tuple(
    re.compile("".join(parts), re.IGNORECASE)
    for parts in (
        (
            r"\b(?:status|http|response|error)(?:[ _-]?(?:code|status))?(?: is| was| of)?",
            rf"[ :=/(\[]{{1,3}}(?:\d\.\d )?{_CODE}\b(?!\.\d|:\d)",
        ),
        (
            rf"(?:\A|[\s:(\[]){_CODE}[ ,:-]{{1,3}}",
            rf"(?:message=|(?:client error|server error|{_PHRASES}|page not found)\b)",
        ),
        (
            r"\b(?:(?:returned|responded(?: with)?|answered(?: with)?|replied|failed with)",
            r"(?: an?| the)?(?: http)?(?: status| error| code| response){0,3}",
            r"|(?:received|got)(?: an?| the)?(?: http| status| error| code| response){1,3})",
            rf"[ :(]{{1,2}}{_CODE}\b(?! (?:bytes|ms|s|seconds|rows|items)\b)",
        ),
        (rf"\A\W{{0,3}}{_CODE}(?:: | - |\W{{0,3}}\Z)",),
    )
)
_LONGEST: Final = 600


def status_in_text(text: str) -> int | None:
    """The HTTP error status that the text names first, or None.

    >>> status_in_text("502 Server Error: Bad Gateway for url: http://x/")
    502
    >>> status_in_text("took 502 ms") is None
    True
    """
    return next((status for _, status in _statuses(text)), None)


def behind_a_gateway(text: str) -> int | None:
    """The status 4xx that a gateway's own text gives for what it passed on, or None.

    >>> behind_a_gateway("Bad Gateway: upstream responded with 404: no such user")
    404
    """
    return next((status for _, status in _statuses(text) if 400 <= status < 500), None)


def _statuses(text: str) -> list[tuple[int, int]]:
    """Where statuses stand in a text, and what they are, the first in front."""
    text = text[:_LONGEST]
    return sorted(
        (match.start(), int(match[1])) for form in _FORMS for match in form.finditer(text)
    )
