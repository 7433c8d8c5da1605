"""XML error documents: S3 and Azure `<Error><Code>…`, AWS query `<ErrorResponse>`, SOAP faults.

Only the text of a few elements is taken; nothing is parsed, so no entity is ever expanded.
"""

from __future__ import annotations

import html
import re
from typing import Final

from selfcorrect.model import Finding

_ROOT: Final = re.compile(r"<(?:\w{1,20}:)?(?:Error|ErrorResponse|Errors|Fault|error|Response)\b")
_CODES: Final = ("Code", "faultcode", "code", "Value")
_TEXTS: Final = ("Message", "faultstring", "message", "Text", "Reason", "description")
_NAMES: Final = ("QueryParameterName", "HeaderName", "ArgumentName", "Argument")
_LONGEST: Final = 2000


def read(text: str) -> tuple[Finding, ...]:
    """One finding; nothing if the text is not such a document."""
    start = _ROOT.search(text[:4000])
    if start is None:
        return ()
    message = _first(text, _TEXTS)
    code = _first(text, _CODES)
    if message is None and code is None:
        return ()
    name = _first(text, _NAMES)
    code = code.rpartition(":")[2] if code else None
    return (
        Finding(
            text=message or code or "",
            code=code if code and len(code) <= 120 else None,
            paths=(f"/{name}",) if name and name.isidentifier() else (),
        ),
    )


def _first(text: str, names: tuple[str, ...]) -> str | None:
    for name in names:
        for opening in (f"<{name}>", f"<{name} ", f":{name}>", f":{name} "):
            at = text.find(opening)
            begin = text.find(">", at) + 1 if at >= 0 else 0
            end = text.find("</", begin) if begin else -1
            if end >= 0 and (value := html.unescape(text[begin:end][:_LONGEST]).strip()):
                return value
    return None
