"""pydantic's `errors()`, and the same list as FastAPI sends it: `{"detail": [{"loc", "msg"}]}`.

https://docs.pydantic.dev/latest/errors/validation_errors/ lists the types and what `ctx` holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from selfcorrect.mapping.captures import allowed_of
from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50

BOUNDS: Final = MappingProxyType(
    {
        "greater_than": ("gt", "exclusiveMinimum"),
        "greater_than_equal": ("ge", "minimum"),
        "less_than": ("lt", "exclusiveMaximum"),
        "less_than_equal": ("le", "maximum"),
        "multiple_of": ("multiple_of", "multipleOf"),
        "string_too_short": ("min_length", "minLength"),
        "string_too_long": ("max_length", "maxLength"),
        "bytes_too_short": ("min_length", "minLength"),
        "bytes_too_long": ("max_length", "maxLength"),
        "too_short": ("min_length", "minItems"),
        "too_long": ("max_length", "maxItems"),
        "string_pattern_mismatch": ("pattern", "pattern"),
    }
)
"""Error type to (key of `ctx`, JSON Schema keyword)."""

TYPES: Final = MappingProxyType(
    {
        "string": "string",
        "str": "string",
        "bytes": "string",
        "int": "integer",
        "float": "number",
        "decimal": "number",
        "bool": "boolean",
        "list": "array",
        "tuple": "array",
        "set": "array",
        "frozen_set": "array",
        "dict": "object",
        "mapping": "object",
        "model": "object",
        "model_attributes": "object",
        "dataclass": "object",
        "none_required": "null",
    }
)
"""What comes before `_type` and `_parsing` in an error type, as a JSON Schema type."""

FORMATS: Final = MappingProxyType(
    {
        "date": "date",
        "datetime": "date-time",
        "time": "time",
        "time_delta": "duration",
        "timezone": "date-time",
        "uuid": "uuid",
        "url": "uri",
        "json": "json",
        "email": "email",
        "ip_v4": "ipv4",
        "ip_v6": "ipv6",
        "ip_any": "ipv4",
    }
)


def read(body: JSON) -> tuple[Finding, ...]:
    """One finding per entry of a list of pydantic errors; nothing if the body is something else."""
    items = _entries(body)
    return tuple(_finding(item) for item in items[:_MOST])


def _entries(body: JSON) -> list[Mapping[str, JSON]]:
    if isinstance(body, Mapping):
        for key in ("detail", "errors", "details"):
            if found := _entries(body.get(key) if isinstance(body.get(key), list) else None):
                return found
        return []
    if not isinstance(body, list):
        return []
    good = [
        item
        for item in body
        if isinstance(item, Mapping)
        and isinstance(item.get("loc"), list | tuple)
        and isinstance(item.get("msg"), str)
    ]
    return good if len(good) == len(body) else []


def _finding(item: Mapping[str, JSON]) -> Finding:
    kind = item.get("type") if isinstance(item.get("type"), str) else None
    context = item.get("ctx")
    loc: list[JSON] = list(item.get("loc") or ())
    if kind == "union_tag_invalid" and isinstance(context, Mapping):
        loc.append(str(context.get("discriminator", "")).strip("'"))
    return Finding(
        text=str(item.get("msg")),
        code=kind,
        paths=(join(*map(str, loc)),) if loc else (),
        constraint=constraint_of(kind or "", context if isinstance(context, Mapping) else {}),
    )


def constraint_of(kind: str, context: Mapping[str, JSON]) -> dict[str, JSON]:
    """What a pydantic error type demands, in JSON Schema words.

    >>> constraint_of("less_than_equal", {"le": 9})
    {'maximum': 9}
    >>> constraint_of("literal_error", {"expected": "'open' or 'closed'"})
    {'enum': ['open', 'closed']}
    """
    if kind in (
        "missing",
        "missing_argument",
        "missing_keyword_only_argument",
        "value_error.missing",
    ):
        return {"required": []}
    if kind in ("extra_forbidden", "unexpected_keyword_argument", "value_error.extra"):
        return {"additionalProperties": False}
    if kind in BOUNDS:
        key, keyword = BOUNDS[kind]
        value = context.get(key)
        return {keyword: value} if value is not None else {}
    if kind in ("literal_error", "enum", "type_error.enum", "value_error.const"):
        expected = context.get("expected")
        return {"enum": (allowed_of(expected) if isinstance(expected, str) else None) or []}
    for ending in ("_type", "_parsing", "_parsing_size", "_from_float", "_exact", "_sub_type"):
        stem = kind.removesuffix(ending)
        if stem != kind:
            break
    else:
        stem = kind
    if kind.startswith(("date", "time", "timezone")) or stem in FORMATS:
        first = next((name for name in FORMATS if stem == name), None) or _date_like(kind)
        return {"format": FORMATS[first]} if first else {}
    return {"type": TYPES[stem]} if stem in TYPES else {}


def _date_like(kind: str) -> str | None:
    for name in ("datetime", "date", "time_delta", "timezone", "time"):
        if kind.startswith(name):
            return name
    return None
