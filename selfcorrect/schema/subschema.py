"""What a JSON Schema says of one place: `$ref`, `allOf`, `anyOf`, `oneOf` resolved along a pointer.

The answer is a guide for repairs, never the judge: whether a value fits, the whole schema says.
Depth, references and alternatives are bounded, so a hostile schema costs little and says less.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import Any, Final, TypeGuard

from selfcorrect.model import ABSENT, JSON, JsonObject
from selfcorrect.pointer import get

_DEPTH: Final = 24
_MOST: Final = 32
_VISITS: Final = 512

Alternatives = tuple[JsonObject, ...]
"""Schemas without combinators; a value fits the place if it fits any of them."""


def alternatives(schema: JSON, root: JsonObject) -> Alternatives:
    """The schema as flat alternatives.

    >>> alternatives({"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]},
    ...              {"$defs": {"a": {"type": "integer"}}})
    ({'type': 'integer'}, {'type': 'null'})
    """
    if isinstance(schema, Mapping) and _COMBINATORS.isdisjoint(schema):
        return (schema,)
    return tuple(_flat(schema, root, _DEPTH, _Budget(_VISITS))[:_MOST])


@dataclass(slots=True)
class _Budget:
    """Schemas that may still be looked at; references in a circle would never end."""

    left: int

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


def _flat(schema: JSON, root: JsonObject, depth: int, budget: _Budget) -> list[JsonObject]:
    if schema is False or depth == 0 or not budget.take():
        return []
    if not isinstance(schema, Mapping):
        return [{}]
    found: list[JsonObject] = [{k: v for k, v in schema.items() if k not in _COMBINATORS}]
    parts: list[list[JsonObject]] = []
    if isinstance(ref := schema.get("$ref"), str):
        parts.append(_flat(_target(ref, root), root, depth - 1, budget))
    parts += [_flat(part, root, depth - 1, budget) for part in _listed(schema, "allOf")]
    for keyword in ("anyOf", "oneOf"):
        branches = _listed(schema, keyword)
        if branches:
            parts.append([flat for one in branches for flat in _flat(one, root, depth - 1, budget)])
    for part in parts:
        pairs = ((one, other) for one in found for other in part[:_MOST])
        found = [both for one, other in pairs if (both := merged(one, other)) is not None][:_MOST]
    return found


_COMBINATORS: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "$defs", "definitions"})


def _listed(schema: JsonObject, keyword: str) -> Sequence[JSON]:
    value = schema.get(keyword)
    return value[:_MOST] if isinstance(value, list | tuple) else ()


def _target(ref: str, root: JsonObject) -> JSON:
    try:
        found = get(root, ref.removeprefix("#")) if ref.startswith("#") else ABSENT
    except ValueError:
        found = ABSENT
    return True if found is ABSENT else found


def merged(one: JsonObject, other: JsonObject) -> JsonObject | None:
    """What fits both flat schemas, or None if nothing does as far as types tell."""
    both = {**other, **one}
    kinds, others = types_of(one), types_of(other)
    if kinds and others:
        if "number" in kinds and "integer" in others:
            kinds = kinds | {"integer"}
        if "number" in others and "integer" in kinds:
            others = others | {"integer"}
        common = kinds & others
        if not common:
            return None
        both["type"] = sorted(common) if len(common) > 1 else next(iter(common))
    for keyword, tighter in _TIGHTER.items():
        values = [v for v in (one.get(keyword), other.get(keyword)) if is_number(v)]
        if len(values) == 2:
            both[keyword] = tighter(values)
    ours, theirs = one.get("properties"), other.get("properties")
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        shared = {name: {"allOf": [ours[name], theirs[name]]} for name in ours if name in theirs}
        both["properties"] = {**theirs, **ours, **shared}
    if "required" in one and "required" in other:
        both["required"] = [*strings(one["required"]), *strings(other["required"])]
    if isinstance(one.get("enum"), list) and isinstance(other.get("enum"), list):
        both["enum"] = [value for value in one["enum"] if value in other["enum"]]
    return both


_TIGHTER: Final = {
    "minimum": max,
    "exclusiveMinimum": max,
    "minLength": max,
    "minItems": max,
    "maximum": min,
    "exclusiveMaximum": min,
    "maxLength": min,
    "maxItems": min,
}


def at(root: JsonObject, tokens: Sequence[str]) -> Alternatives | None:
    """What the schema says of the place that these tokens lead to; None if it does not know it.

    >>> at({"properties": {"a": {"items": {"type": "integer"}}}}, ["a", "0"])
    ({'type': 'integer'},)
    """
    return _at(Root(root), tuple(tokens))


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A whole schema, compared by identity, so that what is found in it can be remembered."""

    schema: JsonObject

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and other.schema is self.schema


@lru_cache(maxsize=2_048)
def _at(whole: Root, tokens: tuple[str, ...]) -> Alternatives | None:
    root = whole.schema
    here = alternatives(root, root)
    for token in tokens:
        below: list[JsonObject] = []
        known = False
        for one in here:
            child = _child(one, token)
            if child is not None:
                known = True
                below += alternatives(child, root)
        if not known:
            return None
        here = tuple(below[:_MOST])
    return here


def _child(schema: JsonObject, token: str) -> JSON:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and token in properties:
        return properties[token]
    if token.isascii() and token.isdigit() and len(token) < 10:
        first = schema.get("prefixItems", schema.get("items"))
        if isinstance(first, list) and int(token) < len(first):
            return first[int(token)]
        if isinstance(schema.get("items"), Mapping):
            return schema["items"]
    extra = schema.get("additionalProperties")
    return extra if isinstance(extra, Mapping) and extra else None


def declared(schemas: Iterable[JsonObject]) -> dict[str, JSON]:
    """The properties that any of these alternatives declares, in order."""
    found: dict[str, JSON] = {}
    for schema in schemas:
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            for name, value in properties.items():
                found.setdefault(str(name), value)
    return found


def kinds_of(schemas: Alternatives) -> frozenset[str]:
    """The JSON types that may stand there, without null; empty if the schema does not say."""
    found = [types_of(schema) for schema in schemas]
    return frozenset().union(*found) - {"null"} if all(found) else frozenset()


def formats_of(schemas: Alternatives) -> frozenset[str]:
    """The formats that a string there may have."""
    return frozenset(strings([schema.get("format") for schema in schemas]))


def required(schemas: Sequence[JsonObject], name: str) -> bool:
    """Whether every alternative that describes an object asks for this property."""
    objects = [one for one in schemas if not types_of(one) or "object" in types_of(one)]
    return bool(objects) and all(name in strings(one.get("required")) for one in objects)


def types_of(schema: JsonObject) -> frozenset[str]:
    """The JSON types that a flat schema allows; empty if it does not say.

    >>> sorted(types_of({"enum": ["a", 1]}))
    ['integer', 'string']
    """
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return frozenset({kinds})
    if isinstance(kinds, list | tuple):
        return frozenset(kind for kind in kinds if isinstance(kind, str))
    if isinstance(members := schema.get("enum"), list) and members:
        return frozenset(type_of(member) for member in members[:1_000])
    if "const" in schema:
        return frozenset({type_of(schema["const"])})
    for kind, keywords in _IMPLIED.items():
        if any(keyword in schema for keyword in keywords):
            return frozenset({kind})
    return frozenset()


_IMPLIED: Final = {"object": ("properties", "required"), "array": ("items", "prefixItems")}


def type_of(value: JSON) -> str:
    """The JSON Schema type of a value; a float without a fraction is a number here."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list | tuple) else "object"


def members(schemas: Iterable[JsonObject]) -> list[JSON]:
    """The values that `enum` and `const` list, without repeats."""
    found: list[JSON] = []
    for schema in schemas:
        listed = schema.get("enum")
        listed = list(listed[:1_000]) if isinstance(listed, list | tuple) else []
        if "const" in schema:
            listed.append(schema["const"])
        found += [value for value in listed if not any(same(value, old) for old in found)]
    return found


def listed(schemas: Alternatives) -> list[JSON]:
    """The values that are listed as allowed, or nothing where others are allowed too."""
    listing = [one for one in schemas if types_of(one) != {"null"}]
    if not all("enum" in one or "const" in one for one in listing):
        return []
    return members(listing)


def same(one: JSON, other: JSON) -> bool:
    """Equality of JSON values: `True` is not `1`."""
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    return bool(one == other)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether this is a finite JSON number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def strings(value: Any) -> tuple[str, ...]:
    """The strings of a list; nothing if it is no list."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item for item in value if isinstance(item, str))


def meets(value: JSON, schema: JsonObject) -> bool:
    """Whether a value keeps the simple bounds of a flat schema: type, members, range, length.

    Patterns, formats and what lies inside a value are left to the tool's own check.
    """
    if "const" in schema and not same(value, schema["const"]):
        return False
    listed = schema.get("enum")
    if isinstance(listed, list | tuple) and not any(same(value, one) for one in listed):
        return False
    if (kinds := types_of(schema)) and not has_type(value, kinds):
        return False
    if is_number(value):
        return _keeps(value, schema, _BOUNDS)
    if isinstance(value, str):
        return _keeps(len(value), schema, _LENGTHS)
    return not isinstance(value, list | tuple) or _keeps(len(value), schema, _COUNTS)


_BOUNDS: Final = {"minimum": ge, "maximum": le, "exclusiveMinimum": gt, "exclusiveMaximum": lt}
_LENGTHS: Final = {"minLength": ge, "maxLength": le}
_COUNTS: Final = {"minItems": ge, "maxItems": le}


def _keeps(size: float, schema: JsonObject, bounds: Mapping[str, Callable[..., bool]]) -> bool:
    said = [(holds, schema.get(keyword)) for keyword, holds in bounds.items()]
    return all(not is_number(bound) or holds(size, bound) for holds, bound in said)


def has_type(value: JSON, kinds: Iterable[str]) -> bool:
    """Whether a value is of one of these JSON Schema types; `5.0` counts as an integer."""
    kind = type_of(value)
    kinds = frozenset(kinds)
    if kind in kinds:
        return True
    if kind == "integer":
        return "number" in kinds
    return kind == "number" and "integer" in kinds and float(value).is_integer()


def shown(schema: JSON, root: JsonObject, limit: int = 1_500) -> JsonObject:
    """The schema of one place for a prompt: references put in, nothing else added, bounded.

    What does not fit in `limit` characters shrinks to its types and members.
    """
    for depth in (8, 4, 2):
        inlined = _inlined(schema, root, depth, _Budget(_VISITS))
        if len(json.dumps(inlined, default=str)) <= limit:
            return inlined if isinstance(inlined, Mapping) else {}
    kinds = sorted({kind for one in alternatives(schema, root) for kind in types_of(one)})
    return {"type": kinds} if kinds else {}


def _inlined(schema: JSON, root: JsonObject, depth: int, budget: _Budget) -> JSON:
    if isinstance(schema, list | tuple):
        if depth == 0 or not budget.take():
            return []
        return [_inlined(item, root, depth - 1, budget) for item in schema[:200]]
    if not isinstance(schema, Mapping):
        return schema
    if depth == 0 or not budget.take():
        return {key: schema[key] for key in ("type", "format") if key in schema}
    out: dict[str, JSON] = {}
    if isinstance(ref := schema.get("$ref"), str):
        target = _inlined(_target(ref, root), root, depth - 1, budget)
        out |= target if isinstance(target, Mapping) else {}
    kept = [key for key in schema if key not in ("$ref", "$defs", "definitions")]
    return out | {key: _inlined(schema[key], root, depth - 1, budget) for key in kept}
