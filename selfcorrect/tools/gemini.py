"""Gemini's way to write a schema, as JSON Schema."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

from selfcorrect.plain import is_one_of
from selfcorrect.schema.closing import Schema, parts

_TYPES: Final = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_COUNTS: Final = (
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
)
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
    if not any(is_one_of(each.get("type"), _TYPES) for each in _walk(schema)):
        return schema
    try:
        made = copy.deepcopy(schema)
    except RecursionError:  # too deep: refused where it is checked
        return schema
    for each in _walk(made):
        _lower(each)
    return made


def _walk(schema: Any, depth: int = 0) -> Iterator[Schema]:
    """A schema and all that it holds, as far down as one is written by hand."""
    if isinstance(schema, dict) and depth <= _DEEPEST:
        for _, _, each in parts(schema):
            yield from _walk(each, depth + 1)
        yield schema


def _lower(schema: Schema) -> None:
    """Write one schema, but for those in it, as JSON Schema does."""
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        schema["type"] = kind.lower()
    elif kind == "TYPE_UNSPECIFIED":
        del schema["type"]
    for key in _COUNTS:
        if isinstance(schema.get(key), str) and schema[key].isdecimal():
            schema[key] = int(schema[key])  # 64 bits, which its JSON writes as text
    schema.pop("propertyOrdering", None)
    if schema.pop("nullable", None) is True:
        _allow_null(schema)


def _allow_null(schema: Schema) -> None:
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    if isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [*schema["anyOf"], {"type": "null"}]
