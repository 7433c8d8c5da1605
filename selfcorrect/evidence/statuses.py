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
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"\b(?:status|http|response|error)(?:[ _-]?(?:code|status))?(?: is| was| of)?[ "
            rf":=/(\[]{{1,3}}(?:\d\.\d )?{_CODE}\b(?!\.\d|:\d)"
        ),
        (
            rf"(?:\A|[\s:(\[]){_CODE}[ ,:-]{{1,3}}(?:message=|(?:client error|server error"
            rf"|{_PHRASES}|page not found)\b)"
        ),
        (
            rf"\b(?:returned|responded(?: with)?|answered(?: with)?|received|replied|got|failed "
            rf"with)(?: an?| the)?"
            rf"(?: http)?(?: status| error| code| response){{0,3}}[ :(]{{1,2}}{_CODE}\b(?! "
            rf"(?:bytes|ms|s|seconds|rows|items)\b)"
        ),
        rf"\A\W{{0,3}}{_CODE}(?:: | - |\W{{0,3}}\Z)",
        rf"\bHTTP/\d(?:\.\d)? {_CODE}\b",
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
    text = text[:_LONGEST]
    found = [match for form in _FORMS if (match := form.search(text)) is not None]
    first = min(found, key=lambda match: match.start(), default=None)
    return int(first[1]) if first is not None else None
