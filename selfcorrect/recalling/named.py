"""Constants that a schema itself names: the only ones that may be learnt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from selfcorrect.model import JSON, JsonObject
from selfcorrect.plain import digest

_NAMED: Final = ("enum", "const", "default", "example", "examples", "minimum", "maximum")
_LONGEST: Final = 2_000
_IN_BRACKETS: Final = re.compile(r"\[([^\[\]]{1,1000})\]")
_ENUM: Final = re.compile(r"\[Enum\]:\s*([^\n]{1,1000})")
_QUOTED: Final = re.compile(r"['\"]([^'\"\n]{1,100})['\"]")
_NUMBER: Final = re.compile(r"(?<![\w.-])-?\d{1,9}(?:\.\d{1,6})?(?![\w-]|\.\d)")
_ANNOTATIONS: Final = frozenset(
    {"title", "description", "examples", "example", "default", "$comment", "$schema", "deprecated"}
)
_DEEPEST: Final = 30


def is_named(value: JSON, schema: JsonObject, listed: JsonObject | None = None) -> bool:
    """Whether a schema itself names this value, so that it is no data of anybody.

    >>> is_named("START", {"enum": ["START", "STOP"]}), is_named("ann", {"type": "string"})
    (True, False)
    >>> is_named(1, {"type": "number", "description": "From 0 (open) to 1 (shut)."})
    True

    Args:
        value: The constant.
        schema: What the schema says of its place.
        listed: The schema of the list around it, whose description may name its items.
    """
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, list):
        items = schema.get("items")
        inner = items if isinstance(items, Mapping) else {}
        return all(is_named(item, inner, schema) for item in value)
    if isinstance(value, Mapping):
        return False
    spoken = str((listed or {}).get("description") or "") + str(schema.get("description") or "")
    return any(equal(value, each) for each in (*_values(schema), *_spoken(spoken[:_LONGEST])))


def schema_mark(schema: JsonObject) -> str:
    """Marks what calls of a tool must look like: the same however they are described."""
    return digest(_bare(schema, _DEEPEST))[:12]


def joint_mark(marks: Iterable[str]) -> str:
    """One mark for the schemas of several tools, in order."""
    return digest(*marks)[:12]


def _bare(schema: Any, depth: int) -> JSON:
    if depth == 0:
        return None
    if isinstance(schema, list | tuple):
        return [_bare(item, depth - 1) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {}
    for key, item in schema.items():
        if key == "properties" and isinstance(item, Mapping):
            kept[key] = {name: _bare(each, depth - 1) for name, each in item.items()}
        elif key not in _ANNOTATIONS and not (key == "required" and not item):
            kept[key] = _bare(item, depth - 1)
    return kept


def _values(schema: JsonObject) -> Iterator[JSON]:
    for key in _NAMED:
        said = schema.get(key)
        yield from said if isinstance(said, list) else [said] if key in schema else []
    for key in ("anyOf", "oneOf"):
        for each in schema.get(key) or ():
            if isinstance(each, Mapping):
                yield from _values(each)


def _spoken(description: str) -> Iterator[JSON]:
    """Items of a list that a description writes out, and numbers that stand in it."""
    for match in _IN_BRACKETS.finditer(description):
        yield from _QUOTED.findall(match[1])
    for match in _ENUM.finditer(description):
        yield from (each.strip(" '\"[].") for each in match[1].split(","))
    for match in _NUMBER.finditer(description):
        yield float(match[0])


def equal(one: JSON, other: JSON) -> bool:
    """Whether two values are one; a truth value is no number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)
