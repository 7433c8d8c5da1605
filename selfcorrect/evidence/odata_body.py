"""OData and Azure: `{"error": {"code", "message", "target", "details", "innererror"}}`.

The older `{"odata.error": {"code", "message": {"value"}}}` is read too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per detail with a target, or one for the error; nothing for other bodies."""
    if not isinstance(body, Mapping):
        return ()
    error = body.get("odata.error") or body.get("error")
    if not isinstance(error, Mapping):
        return ()
    old = "odata.error" in body
    if not old and not ("target" in error or "innererror" in error or "details" in error):
        return ()
    text, code = _text(error), error.get("code")
    if text is None:
        return ()
    code = code if isinstance(code, str) and code else None
    details = tuple(_details(error, code))[:_MOST]
    target = error.get("target")
    paths = (join(*target.split(".")),) if isinstance(target, str) and target else ()
    return details or (Finding(text, code=code, paths=paths),)


def _details(error: Mapping[str, JSON], code: str | None) -> Iterator[Finding]:
    items = error.get("details")
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, Mapping):
            continue
        text, target, own = _text(item), item.get("target"), item.get("code")
        if text and isinstance(target, str) and target:
            path = join(*target.split("."))
            yield Finding(text, code=own if isinstance(own, str) else code, paths=(path,))


def _text(error: Mapping[str, JSON]) -> str | None:
    message = error.get("message")
    if isinstance(message, Mapping):
        message = message.get("value")
    return message if isinstance(message, str) and message.strip() else None
