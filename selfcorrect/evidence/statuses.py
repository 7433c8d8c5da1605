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


def status_in_text(text: str, most: int = 599) -> int | None:
    """The HTTP error status, `most` at most, that the text names first, or None.

    >>> status_in_text("502 Server Error: Bad Gateway for url: http://x/")
    502
    >>> status_in_text("took 502 ms") is None
    True
    >>> status_in_text("502 Bad Gateway: upstream responded with 404", most=499)
    404
    """
    found = (match for form in _FORMS for match in form.finditer(text[:_LONGEST]))
    said = ((match.start(), status) for match in found if (status := int(match[1])) <= most)
    return min(said, default=(0, None))[1]
