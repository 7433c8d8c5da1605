"""Where a schema marks a field with `x-sensitive`.

`schema/subschema.py` says what a value has to fit, and leaves out what no value can fit. A mark
must be found whatever fits: all branches count here, and what cannot be followed counts as marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from selfcorrect.pointer import split

_MOST: Final = 20_000
_UNKNOWN: Final = {"x-sensitive": True}
"""Stands for what a reference leads to that is not in this schema."""
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_BRANCHES: Final = ("anyOf", "oneOf", "allOf", "if", "then", "else", "not")
_OF_KEYS: Final = ("additionalProperties", "unevaluatedProperties")
_OF_ITEMS: Final = ("items", "prefixItems", "contains", "additionalItems", "unevaluatedItems")


def marked_field(schema: Any, tokens: Sequence[str]) -> str | None:
    """The field along the way, or below its end, that the schema marks; None if there is none.

    >>> schema = {"properties": {"card": {"$ref": "#/$defs/card", "x-sensitive": True}}}
    >>> marked_field(schema, ["card", "number"])
    'card'
    """
    whole = "one of the arguments"
    here = _reached([schema], schema, _composed)
    if _is_marked(here):
        return str(tokens[0]) if tokens else whole
    for token in tokens:
        children = (child for each in here for child in _children(each, token))
        here = _reached(children, schema, _composed)
        if _is_marked(here):
            return str(token)
    # Replacing the whole value would replace a marked field inside it.
    if _is_marked(_reached(here, schema, _everything)):
        return str(tokens[-1]) if tokens else whole
    return None


def _is_marked(schemas: Iterable[Mapping[str, Any]]) -> bool:
    return any(schema.get("x-sensitive") for schema in schemas)


def _reached(
    start: Iterable[Any], root: Any, inside: Callable[[Mapping[str, Any]], Iterable[Any]]
) -> list[Mapping[str, Any]]:
    """The schemas that one comes to from these: by references, and by what stands inside them."""
    todo, seen, found = list(start), set[int](), list[Mapping[str, Any]]()
    while todo:
        item = todo.pop()
        if not isinstance(item, Mapping | list | tuple) or id(item) in seen:
            continue
        if len(seen) >= _MOST:
            return [*found, _UNKNOWN]
        seen.add(id(item))
        if isinstance(item, Mapping):
            found.append(item)
            todo += [*_targets(item, root), *inside(item)]
        else:
            todo += item
    return found


def _composed(schema: Mapping[str, Any]) -> Iterable[Any]:
    """What a schema is composed of at the same place."""
    yield from map(schema.get, _BRANCHES)
    yield from _values(schema.get("dependentSchemas"))
    yield from _values(schema.get("dependencies"))


def _everything(schema: Mapping[str, Any]) -> Iterable[Any]:
    return schema.values()


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
    return found + [schema.get(keyword) for keyword in _OF_ITEMS]


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
