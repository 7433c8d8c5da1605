"""GitHub: `{"message", "documentation_url", "errors": [{"resource", "field", "code"}], "status"}`.

https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api lists the codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50
_WORDS: Final = {
    "missing": "the resource does not exist",
    "missing_field": "this field is required",
    "invalid": "the value is invalid",
    "already_exists": "a resource with this value already exists",
    "unprocessable": "the value is invalid",
}
_CONSTRAINTS: Final[dict[str, dict[str, JSON]]] = {"missing_field": {"required": []}}


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per listed error, or one for the message; nothing if the body is something else."""
    if not isinstance(body, Mapping) or not isinstance(body.get("message"), str):
        return ()
    items = body.get("errors")
    if "documentation_url" not in body and not _has_resources(items):
        return ()
    raw = body.get("status")
    status = int(raw) if isinstance(raw, str) and raw.isdigit() and len(raw) == 3 else None
    found = [
        _finding(item, status)
        for item in (items if isinstance(items, list) else [])[:_MOST]
        if isinstance(item, Mapping)
    ]
    texts = [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
    found += [Finding(text, status=status) for text in texts[:_MOST]]
    return tuple(found) or (Finding(body["message"], status=status),)


def _has_resources(items: JSON) -> bool:
    return isinstance(items, list) and any(
        isinstance(item, Mapping) and "resource" in item and "code" in item for item in items
    )


def _finding(item: Mapping[str, JSON], status: int | None) -> Finding:
    code, field, text = item.get("code"), item.get("field"), item.get("message")
    words = _WORDS.get(str(code), str(code or "invalid"))
    return Finding(
        text=text if isinstance(text, str) else f"{field or item.get('resource')}: {words}",
        status=status,
        code=code if isinstance(code, str) and code != "custom" else None,
        paths=(join(field),) if isinstance(field, str) and field else (),
        constraint=_CONSTRAINTS.get(str(code), {}),
    )
