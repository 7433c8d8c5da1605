"""Joi: `{"details": [{"message", "path": […], "type": "number.min", "context": {"limit"}}]}`.

https://joi.dev/api/ lists the types; celebrate and hapi wrap them in `validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50
_SIZES: Final = {"string": "Length", "array": "Items", "object": "Properties"}
_TYPES: Final = {
    "string.base": "string",
    "number.base": "number",
    "number.integer": "integer",
    "boolean.base": "boolean",
    "array.base": "array",
    "object.base": "object",
}
_FORMATS: Final = {
    "string.email": "email",
    "string.uri": "uri",
    "string.guid": "uuid",
    "string.ip": "ipv4",
    "string.isoDate": "date-time",
    "string.isoDuration": "duration",
    "date.base": "date",
    "date.format": "date",
}


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per detail; nothing if the body is something else."""
    for key in ("validation", "error", "body", "query", "params", "details"):
        if isinstance(body, Mapping) and isinstance(body.get(key), Mapping | list):
            body = body[key]
    if not isinstance(body, list) or not body:
        return ()
    items = [item for item in body if isinstance(item, Mapping) and _is_detail(item)]
    return tuple(_finding(item) for item in items[:_MOST]) if len(items) == len(body) else ()


def _is_detail(item: Mapping[str, JSON]) -> bool:
    kind = item.get("type")
    return (
        isinstance(item.get("path"), list)
        and isinstance(item.get("message"), str)
        and isinstance(kind, str)
        and "." in kind
    )


def _finding(item: Mapping[str, JSON]) -> Finding:
    kind = str(item["type"])
    context = item.get("context")
    path = [token for token in item["path"] if isinstance(token, str | int)]
    return Finding(
        text=item["message"],
        code=kind,
        paths=(join(*path),) if path else (),
        constraint=_constraint(kind, context if isinstance(context, Mapping) else {}),
    )


def _constraint(kind: str, context: Mapping[str, JSON]) -> dict[str, JSON]:
    base, _, rule = kind.rpartition(".")
    if rule in ("required", "requiredKeys"):
        return {"required": []}
    if kind == "object.unknown":
        return {"additionalProperties": False}
    if kind in _TYPES:
        return {"type": _TYPES[kind]}
    if kind in _FORMATS:
        return {"format": _FORMATS[kind]}
    if kind == "any.only":
        allowed = context.get("valids")
        return {"enum": allowed if isinstance(allowed, list) else []}
    if kind.startswith("string.pattern"):
        return {"pattern": str(context.get("regex", ""))}
    return _bound(base, rule, context)


def _bound(base: str, rule: str, context: Mapping[str, JSON]) -> dict[str, JSON]:
    limit = context.get("limit")
    if base in _SIZES and rule in ("min", "max", "length"):
        sides = ("min", "max") if rule == "length" else (rule,)
        return {f"{side}{_SIZES[base]}": limit for side in sides}
    if base == "number":
        names = {"min": "minimum", "max": "maximum", "greater": "exclusiveMinimum"}
        names |= {"less": "exclusiveMaximum", "multiple": "multipleOf"}
        if rule in names:
            return {names[rule]: context.get("multiple", limit)}
        if rule in ("positive", "negative"):
            return {"exclusiveMinimum" if rule == "positive" else "exclusiveMaximum": 0}
    return {}
