"""GraphQL responses: `{"errors": [{"message", "path", "locations", "extensions": {"code"}}]}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Finding

_MOST: Final = 50
_OWN: Final = ("locations", "path", "extensions")


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per error; nothing if the body is something else.

    `path` names a place in the response, not in the request: it is no parameter at fault.
    """
    items = body.get("errors") if isinstance(body, Mapping) else None
    if not isinstance(items, list) or not items:
        return ()
    errors = [item for item in items if isinstance(item, Mapping)]
    if not all(isinstance(item.get("message"), str) for item in errors):
        return ()
    if not any(key in item for item in errors for key in _OWN) and "data" not in body:
        return ()
    return tuple(_finding(item) for item in errors[:_MOST])


def _finding(item: Mapping[str, JSON]) -> Finding:
    extensions = item.get("extensions")
    extensions = extensions if isinstance(extensions, Mapping) else {}
    code = extensions.get("code") or item.get("code") or item.get("type")
    status = extensions.get("status") or _http(extensions.get("http"))
    wait = extensions.get("retryAfter")
    shown = extensions.get("userPresentableMessage")
    return Finding(
        text=shown if isinstance(shown, str) and shown.strip() else item["message"],
        status=status if isinstance(status, int) and 100 <= status <= 599 else None,
        code=code if isinstance(code, str) else None,
        retry_after=float(wait) if isinstance(wait, int | float) and 0 <= wait < 1e7 else None,
    )


def _http(value: JSON) -> JSON:
    return value.get("status") if isinstance(value, Mapping) else None
