"""Finds the schema of a place in the arguments."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from selfcorrect.model import JsonDict, JsonObject

_DEPTH: Final = 32
"""How many references lead from one place to its schema; a circle of them ends here."""


def subschema(schema: JsonObject, keys: Sequence[str]) -> JsonObject:
    """Return the schema of a place, references resolved; empty where there is none.

    Of a union with null, the other alternative counts.

    >>> age = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    >>> subschema({"properties": {"people": {"items": age}}}, ["people", "0"])
    {'type': 'integer'}
    """
    current = _plain(schema, schema, _DEPTH)
    for key in keys:
        current = _plain(_inner(current, key), schema, _DEPTH)
    return current


def properties_of(schema: JsonObject, keys: Sequence[str] = ()) -> dict[str, JsonObject]:
    """Return the schemas of the arguments, or of the keys of a place, by name."""
    names = subschema(schema, keys).get("properties")
    return {name: subschema(schema, [*keys, name]) for name in _mapping(names)}


def target(schema: JsonObject, reference: object) -> Any:
    """Return what a local `$ref` points to, or None."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found: Any = schema
    for key in unquote(reference).split("/")[1:]:
        name = key.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            found = _mapping(found).get(name)
    # Anchors, such as "#name", are not resolved.
    return found if reference == "#" or reference.startswith("#/") else None


def _plain(schema: Any, root: JsonObject, depth: int) -> JsonObject:
    """Return a schema without `$ref`, `allOf` and the null of a union."""
    here: JsonDict = dict(_mapping(schema))
    if depth == 0:
        return {}
    if "$ref" in here:
        here = {**_mapping(target(root, here.pop("$ref"))), **here}
        return _plain(here, root, depth - 1)
    for part in here.pop("allOf", ()):
        more = _plain(part, root, depth - 1)
        both = {**_mapping(more.get("properties")), **_mapping(here.get("properties"))}
        here = {**more, **here, **({"properties": both} if both else {})}
    for union in ("anyOf", "oneOf"):
        others = [each for each in here.get(union, ()) if _mapping(each).get("type") != "null"]
        if len(others) == 1:
            del here[union]
            return _plain({**_mapping(others[0]), **here}, root, depth - 1)
    return here


def _inner(schema: JsonObject, key: str) -> Any:
    properties = _mapping(schema.get("properties"))
    if key in properties:
        return properties[key]
    if key.isdecimal() and ("items" in schema or "prefixItems" in schema):
        first = schema.get("prefixItems", ())
        return first[int(key)] if int(key) < len(first) else schema.get("items")
    return schema.get("additionalProperties")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
