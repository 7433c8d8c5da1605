"""Zod, Valibot and kin: lists of issues `{"code", "path", "message", "expected", "minimum" …}`.

https://zod.dev/error-customization; both the names of version 3 and of version 4 are known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50
_TYPES: Final = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "int": "integer",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
    "record": "object",
    "null": "null",
}
_FORMATS: Final = {
    "email": "email",
    "url": "uri",
    "uuid": "uuid",
    "guid": "uuid",
    "datetime": "date-time",
    "date": "date",
    "time": "time",
    "duration": "duration",
    "ipv4": "ipv4",
    "ipv6": "ipv6",
    "ip": "ipv4",
}
_SIZED: Final = {"string": "Length", "array": "Items", "set": "Items"}


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per issue; nothing if the body is something else."""
    items = _issues(body)
    return tuple(found for item in items[:_MOST] for found in _findings(item))


def _issues(body: JSON) -> list[Mapping[str, JSON]]:
    for _ in range(4):
        if isinstance(body, Mapping):
            key = next((k for k in ("issues", "error", "errors", "message") if body.get(k)), None)
            body = body.get(key) if key else None
        elif isinstance(body, str) and body.lstrip().startswith("["):
            try:
                body = json.loads(body)
            except (ValueError, RecursionError):
                return []
        else:
            break
    if not isinstance(body, list) or not body:
        return []
    good = [item for item in body if isinstance(item, Mapping) and _is_issue(item)]
    return good if len(good) == len(body) else []


def _is_issue(item: Mapping[str, JSON]) -> bool:
    path = item.get("path")
    return (
        isinstance(path, list)
        and all(isinstance(token, str | int | Mapping) for token in path)
        and isinstance(item.get("message"), str)
        and any(isinstance(item.get(key), str) for key in ("code", "kind"))
    )


def _findings(item: Mapping[str, JSON]) -> tuple[Finding, ...]:
    path = [t.get("key", "") if isinstance(t, Mapping) else t for t in item["path"]]
    code = str(item.get("code") or item.get("kind"))
    keys = item.get("keys")
    if code == "unrecognized_keys" and isinstance(keys, list):
        return tuple(
            Finding(
                item["message"],
                code=code,
                paths=(join(*path, str(key)),),
                constraint={"additionalProperties": False},
            )
            for key in keys[:_MOST]
        )
    return (
        Finding(
            text=item["message"],
            code=code,
            paths=(join(*path),) if path else (),
            constraint=_constraint(item, code),
        ),
    )


def _constraint(item: Mapping[str, JSON], code: str) -> dict[str, JSON]:
    expected = item.get("expected")
    received = item.get("received")
    gone = received == "undefined" or "received undefined" in item["message"]
    if code == "invalid_type" and (gone or item["message"] == "Required"):
        return {"required": [], **({"type": _TYPES[expected]} if expected in _TYPES else {})}
    if code == "invalid_type":
        return (
            {"type": _TYPES[expected]} if isinstance(expected, str) and expected in _TYPES else {}
        )
    if code in ("too_small", "too_big"):
        side = "minimum" if code == "too_small" else "maximum"
        bound = item.get(side)
        sized = _SIZED.get(str(item.get("type") or item.get("origin")))
        if sized:
            return {f"{side[:3]}{sized}": bound}
        name = side if item.get("inclusive", True) else f"exclusive{side.capitalize()}"
        return {name: bound}
    if code == "not_multiple_of":
        return {"multipleOf": item.get("multipleOf") or item.get("divisor")}
    if code in ("invalid_enum_value", "invalid_value", "invalid_literal"):
        allowed = item.get("options") or item.get("values") or [expected]
        return {"enum": list(allowed) if isinstance(allowed, list) else []}
    if code in ("invalid_string", "invalid_format"):
        wanted = item.get("validation") or item.get("format")
        if wanted == "regex":
            return {"pattern": item.get("pattern", "")}
        return {"format": _FORMATS.get(str(wanted), str(wanted))}
    if code == "invalid_date":
        return {"format": "date-time"}
    return {}
