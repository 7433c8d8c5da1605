"""Gemini's way to write a schema, as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_TYPES: Final = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_COUNTS: Final = (
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
)
_ONE: Final = ("items", "additionalProperties")
_SEVERAL: Final = ("anyOf", "prefixItems")
_NAMED: Final = ("properties", "$defs")
_DEEPEST: Final = 100


def as_json_schema(schema: Any) -> Any:
    """The schema with types as JSON Schema writes them; the very same where it has them so already.

    >>> given = {"type": "OBJECT", "properties": {"n": {"type": "INTEGER", "nullable": True}}}
    >>> as_json_schema(given)
    {'type': 'object', 'properties': {'n': {'type': ['integer', 'null']}}}
    >>> plain = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> as_json_schema(plain) is plain
    True
    """
    return _lowered(schema) if _is_geminis(schema, 0) else schema


def _inside(schema: Mapping[str, Any]) -> list[Any]:
    """The schemas in a schema."""
    found = [schema[key] for key in _ONE if key in schema]
    for key in _SEVERAL:
        found += schema[key] if isinstance(schema.get(key), list) else []
    for key in _NAMED:
        found += schema[key].values() if isinstance(schema.get(key), Mapping) else []
    return found


def _is_geminis(schema: Any, depth: int) -> bool:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return False
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        return True
    return any(_is_geminis(each, depth + 1) for each in _inside(schema))


def _lowered(schema: Any, depth: int = 0) -> Any:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return schema
    out = {key: item for key, item in schema.items() if key not in ("nullable", "propertyOrdering")}
    kind = out.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        out["type"] = kind.lower()
    elif kind == "TYPE_UNSPECIFIED":
        del out["type"]
    if schema.get("nullable") is True:
        _allow_null(out)
    return {key: _part(key, item, depth + 1) for key, item in out.items()}


def _part(key: str, item: Any, depth: int) -> Any:
    """What stands under a key of a schema."""
    if key in _COUNTS and isinstance(item, str) and item.isdecimal():
        return int(item)  # 64 bits, which its JSON writes as text
    if key in _ONE:
        return _lowered(item, depth)
    if key in _SEVERAL and isinstance(item, list):
        return [_lowered(each, depth) for each in item]
    if key in _NAMED and isinstance(item, Mapping):
        return {name: _lowered(each, depth) for name, each in item.items()}
    return item


def _allow_null(schema: dict[str, Any]) -> None:
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    if isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
