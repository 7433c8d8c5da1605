"""The parts of a JSON Schema, and how its objects are closed to keys that nobody declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from selfcorrect.model import ABSENT
from selfcorrect.pointer import get, join

Schema: TypeAlias = dict[str, Any]

NAMED: Final = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
LISTED: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
SINGLE: Final = (
    "items",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)
SAME_PLACE: Final = frozenset(
    {"$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}
)
"""Keywords whose subschemas speak of the very value that the schema speaks of."""
_ALWAYS: Final = frozenset({"$ref", "allOf"})
_CONDITIONS: Final = frozenset({"not", "if", "contains", "propertyNames"})
"""Keywords whose subschemas must not become stricter: that could make the whole more lenient."""
_STORES: Final = frozenset({"$defs", "definitions"})
WORDS: Final = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
"""Keywords that speak of keys which `properties` does not name."""


def parts(schema: Schema) -> Iterator[tuple[str, tuple[str, ...], Schema]]:
    """The subschemas that a schema holds: keyword, way to it, subschema."""
    for keyword, value in schema.items():
        if keyword in NAMED and isinstance(value, dict):
            found: Iterable[tuple[tuple[str, ...], Any]] = (
                ((keyword, name), each) for name, each in value.items()
            )
        elif keyword in LISTED and isinstance(value, list):
            found = (((keyword, str(index)), each) for index, each in enumerate(value))
        elif keyword in SINGLE:
            found = (((keyword,), value),)
        else:
            continue
        yield from ((keyword, way, each) for way, each in found if isinstance(each, dict))


def target(root: Schema, schema: Schema) -> Any:
    """What the `$ref` of a normalised schema points to, or `ABSENT`."""
    ref = schema.get("$ref")
    return get(root, unquote(ref[1:])) if isinstance(ref, str) else ABSENT


def edges(root: Schema, schema: Schema) -> Iterator[tuple[str, Schema]]:
    """What a schema leads to: keyword and subschema; a `$ref` leads to its target."""
    for keyword, _, each in parts(schema):
        if keyword not in _STORES:
            yield keyword, each
    referred = target(root, schema)
    if isinstance(referred, dict):
        yield "$ref", referred


def nodes(root: Schema) -> Iterator[tuple[str, Schema]]:
    """Every schema in a normalised schema, with its pointer; in `$defs` too."""
    todo: list[tuple[str, Schema]] = [("", root)]
    seen = set()
    while todo:
        path, schema = todo.pop()
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        referred = target(root, schema)
        if isinstance(referred, dict):
            todo.append((unquote(schema["$ref"][1:]), referred))
        todo += [(path + join(*way), each) for _, way, each in parts(schema)]
        yield path, schema


def _reached(
    root: Schema, starts: Iterable[Schema], follow: Callable[[str], bool]
) -> dict[int, Schema]:
    found: dict[int, Schema] = {}
    todo = list(starts)
    while todo:
        schema = todo.pop()
        if id(schema) not in found:
            found[id(schema)] = schema
            todo += [each for keyword, each in edges(root, schema) if follow(keyword)]
    return found


def same_place(root: Schema, schema: Schema) -> list[Schema]:
    """The schema and all subschemas that speak of the same value, but for those under `not`."""
    return list(_reached(root, [schema], lambda keyword: keyword in SAME_PLACE - {"not"}).values())


def close(root: Schema, *, inside: bool = True) -> None:
    """Close every object that declares properties, and the whole, to keys that are not declared.

    An object may be described in several places at once (`$ref`, `allOf`, `anyOf` …). It is closed
    where all that is declared can be seen: with `additionalProperties` where one schema declares
    everything, else with `unevaluatedProperties` around the whole. What a schema says in words
    stays, and so do conditions.

    Args:
        root: A schema in normal form; it is changed.
        inside: Whether the objects inside it are closed, too.
    """
    tops, conditions = _tops(root)
    fixed = _reached(root, conditions, lambda _: True)
    members = {key: same_place(root, top) for key, top in tops.items()}
    plans = {key: _where_to_close(root, top, members[key]) for key, top in tops.items()}
    users: dict[int, list[Schema | None]] = {}
    for key, group in members.items():
        for each in group:
            users.setdefault(id(each), []).append(plans[key])

    def is_free(place: Schema, plan: Schema) -> bool:
        """Whether a schema may be closed: nobody else uses it for something wider."""
        wanted = users[id(place)]
        return id(place) not in fixed and all(each is plan for each in wanted)

    edits: list[tuple[Schema, str]] = []
    for key, top in tops.items():
        place = plans[key]
        if place is None or not (inside or top is root):
            continue
        if is_free(place, place):
            whole = place is not top or _declares_all(top, members[key])
            edits.append((place, "additionalProperties" if whole else "unevaluatedProperties"))
        elif place is not top and is_free(top, place):
            edits.append((top, "unevaluatedProperties"))
    for place, keyword in edits:
        place[keyword] = False


def _tops(root: Schema) -> tuple[dict[int, Schema], list[Schema]]:
    """The schemas that are the whole of what is said of a value, and those that are conditions."""
    tops = {id(root): root}
    conditions = []
    for schema in _reached(root, [root], lambda keyword: keyword not in _CONDITIONS).values():
        for keyword, each in edges(root, schema):
            if keyword in _CONDITIONS:
                conditions.append(each)
            elif keyword not in SAME_PLACE:
                tops[id(each)] = each
    return tops, conditions


def _declares_all(place: Schema, members: list[Schema]) -> bool:
    own = _declared(place)
    return all(_declared(each) <= own and not WORDS & each.keys() for each in members)


def _declared(schema: Schema) -> frozenset[str]:
    properties = schema.get("properties")
    return frozenset(properties if isinstance(properties, dict) else ())


def _where_to_close(root: Schema, top: Schema, members: list[Schema]) -> Schema | None:
    """The schema that is to be closed for the value that `top` speaks of, or None for open."""
    declaring = [each for each in members if "properties" in each]
    if WORDS & top.keys() or (not declaring and top is not root):
        return None
    if len(declaring) != 1:
        return top
    (only,) = declaring
    if any(WORDS & each.keys() for each in members if each is not only):
        return top
    if top is root and id(only) not in _reached(root, [root], _ALWAYS.__contains__):
        return top
    return None if WORDS & only.keys() else only
