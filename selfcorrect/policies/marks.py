"""Where a schema marks a field with `x-sensitive`.

`schema/subschema.py` says what a value has to fit, and leaves out what no value can fit. A mark
must be found whatever fits: all branches count here, and what cannot be followed counts as marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from selfcorrect.pointer import split

_MOST: Final = 20_000
_UNKNOWN: Final = {"x-sensitive": True}
"""Stands for what a reference leads to that is not in this schema."""
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_BRANCHES: Final = ("anyOf", "oneOf", "allOf")
_CONDITIONS: Final = ("if", "then", "else", "not")
_OF_KEYS: Final = ("additionalProperties", "unevaluatedProperties")
_OF_ITEMS: Final = ("items", "prefixItems", "contains", "additionalItems", "unevaluatedItems")


def marked_field(schema: Any, tokens: Sequence[str]) -> str | None:
    """The field along the way, or below its end, that the schema marks; None if there is none.

    >>> schema = {"properties": {"card": {"$ref": "#/$defs/card", "x-sensitive": True}}}
    >>> marked_field(schema, ["card", "number"])
    'card'
    """
    whole = "one of the arguments"
    here = _branches([schema], schema)
    if _is_marked(here):
        return str(tokens[0]) if tokens else whole
    for token in tokens:
        here = _branches((child for each in here for child in _children(each, token)), schema)
        if _is_marked(here):
            return str(token)
    if _is_marked_below(here, schema):
        return str(tokens[-1]) if tokens else whole
    return None


def _is_marked(schemas: Iterable[Mapping[str, Any]]) -> bool:
    return any(schema.get("x-sensitive") for schema in schemas)


def _branches(schemas: Iterable[Any], root: Any) -> list[Mapping[str, Any]]:
    """The schemas and all that they are composed of at the same place."""
    todo, seen, found = list(schemas), set[int](), list[Mapping[str, Any]]()
    while todo:
        schema = todo.pop()
        if not isinstance(schema, Mapping) or id(schema) in seen:
            continue
        if len(seen) >= _MOST:
            return [*found, _UNKNOWN]
        seen.add(id(schema))
        found.append(schema)
        todo += _targets(schema, root)
        todo += [branch for keyword in _BRANCHES for branch in _items(schema.get(keyword))]
        todo += [schema.get(keyword) for keyword in _CONDITIONS]
        todo += _values(schema.get("dependentSchemas"))
        todo += _values(schema.get("dependencies"))
    return found


def _children(schema: Mapping[str, Any], token: str) -> list[Any]:
    """What a schema itself says of a key or an index.

    Which keys a pattern means is not asked, nor whether a list stands where one is wanted.
    """
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and token in properties:
        found = [properties[token]]
    else:
        found = [schema.get(keyword) for keyword in _OF_KEYS]
    found += _values(schema.get("patternProperties"))
    for keyword in _OF_ITEMS:
        found += _items(schema.get(keyword)) or [schema.get(keyword)]
    return found


def _is_marked_below(schemas: Sequence[Any], root: Any) -> bool:
    """Whether replacing this whole value would replace a marked field inside it."""
    todo, seen = list(schemas), set[int]()
    while todo:
        item = todo.pop()
        if not isinstance(item, Mapping | list | tuple) or id(item) in seen:
            continue
        if len(seen) >= _MOST:
            return True
        seen.add(id(item))
        if isinstance(item, Mapping):
            if item.get("x-sensitive"):
                return True
            todo += _targets(item, root)
        todo += _values(item) or _items(item)
    return False


def _targets(schema: Mapping[str, Any], root: Any) -> list[Any]:
    """What the references of a schema lead to."""
    refs = (schema.get(keyword) for keyword in _REFERENCES)
    return [_target(ref, root) for ref in refs if isinstance(ref, str)]


def _target(ref: str, root: Any) -> Any:
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        return _UNKNOWN
    found = root
    for token in split(unquote(ref[1:])):
        if isinstance(found, Mapping):
            found = found.get(token, _UNKNOWN)
        elif isinstance(found, list | tuple) and token.isdecimal() and int(token) < len(found):
            found = found[int(token)]
        else:
            return _UNKNOWN
    return found


def _values(schemas: Any) -> list[Any]:
    return list(schemas.values()) if isinstance(schemas, Mapping) else []


def _items(schemas: Any) -> list[Any]:
    return list(schemas) if isinstance(schemas, list | tuple) else []
