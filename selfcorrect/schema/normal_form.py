"""Brings a tool's schema into the normal form that arguments are checked against.

One draft, every reference a pointer from the root, every format one that is asserted, every object
closed. Both engines read it alike. Nothing is ever fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final
from urllib.parse import quote, unquote

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.model import ABSENT
from selfcorrect.plain import problem
from selfcorrect.pointer import get, join
from selfcorrect.schema.closing import (
    LISTED,
    NAMED,
    SAME_PLACE,
    SINGLE,
    Schema,
    close,
    edges,
    nodes,
    parts,
)
from selfcorrect.schema.formats import FORMATS, LOCAL

_FORGOTTEN: Final = ("$schema", "$vocabulary", "$comment", "$id", "$anchor", "$dynamicAnchor")
_DEEPEST: Final = 100
_LARGEST: Final = 50_000
_MOST_ALTERNATIVES: Final = 2_000


def prepared(
    schema: Schema, tool: str, *, local_times: bool = False, inside: bool = True
) -> Schema:
    """The private copy: one draft, pointers only, closed objects.

    Args:
        schema: The schema of a tool's arguments; it stays as it is.
        tool: The tool's name, for errors.
        local_times: Whether a time may lack its offset, as in the schemas that pydantic makes.
        inside: Whether the objects inside the arguments are closed, too.

    Raises:
        ToolDefinitionError: If the schema cannot be used.
    """
    _check_root(schema, tool)
    copy: Schema = _copied(schema, tool)
    copy.setdefault("type", "object")
    _normalise(copy, tool, local_times=local_times)
    _check_loops(copy, tool)
    close(copy, inside=inside)
    return copy


def unusable(tool: str, why: str, path: str = "") -> ToolDefinitionError:
    """The error that says why a schema is refused."""
    where = f" (at {path})" if path else ""
    return ToolDefinitionError(f"the schema of tool {tool!r} cannot be used: {why}{where}")


def _check_root(schema: Any, tool: str) -> None:
    if not isinstance(schema, Mapping):
        raise unusable(tool, f"it is a {type(schema).__name__}, not an object")
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list | tuple) else (kind,)
    if "object" not in kinds and kind is not None:
        raise unusable(
            tool, f'arguments are an object: it must have "type": "object", not {kind!r}'
        )
    known = {*NAMED, *LISTED, *SINGLE, "$ref", "required"}
    if (
        kind is None
        and not known & schema.keys()
        and any(type(each) is dict for each in schema.values())
    ):
        raise unusable(tool, 'the parameters belong under "properties", beside "type": "object"')


def _copied(schema: Any, tool: str) -> Any:
    """A copy that is plain JSON, shares nothing with the original, and has bounds."""
    left = [_LARGEST]

    def copied(value: Any, path: tuple[str | int, ...]) -> Any:
        left[0] -= 1
        if left[0] < 0 or len(path) > _DEEPEST:
            raise unusable(tool, "it is too large or too deep")
        if isinstance(value, Mapping):
            return {key: copied(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [copied(item, (*path, index)) for index, item in enumerate(value)]
        return value

    copy = copied(schema, ())
    wrong = problem(copy)
    if wrong is not None:
        raise unusable(tool, f"it is not JSON: {wrong[1]}", wrong[0])
    return copy


def _normalise(root: Schema, tool: str, *, local_times: bool) -> None:
    """Bring the copy into one draft, with references that are pointers from the root."""
    names: dict[str, str] = {}
    seen: set[int] = set()
    todo: list[tuple[str, Schema, str]] = [("", root, "")]
    refs: list[tuple[Schema, str, str]] = []
    while todo or refs:
        while todo:
            path, schema, base = todo.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            _modernise(schema)
            _spell_out_false(schema)
            _part_required(schema)
            _keep_asserted_format(schema, local_times=local_times)
            base = _note_names(schema, path, base, names)
            if isinstance(schema.get("$ref"), str):
                refs.append((schema, path, base))
            todo += [(path + join(*way), each, base) for _, way, each in parts(schema)]
        for schema, path, base in refs:
            pointer = _pointer(schema["$ref"], base, names)
            found = ABSENT if pointer is None else get(root, pointer)
            if pointer is None or not isinstance(found, dict | bool):
                what = "outside it, and nothing is fetched" if pointer is None else "nothing"
                why = f"$ref {schema['$ref']!r} refers to {what}; put what it means under $defs"
                raise unusable(tool, why, path)
            schema["$ref"] = "#" + quote(pointer, safe="/~$!'()*+,;=:@")
            if isinstance(found, dict):
                todo.append((pointer, found, base))
        refs.clear()


def _note_names(schema: Schema, path: str, base: str, names: dict[str, str]) -> str:
    """Note what this schema may be referred to as, and return the pointer of its resource."""
    name = schema.get("$id")
    if isinstance(name, str) and not name.startswith("#"):
        base = path
        names.setdefault(name.removesuffix("#"), path)
    for keyword in ("$anchor", "$dynamicAnchor", "$id"):
        anchor = schema.get(keyword)
        if isinstance(anchor, str) and (keyword != "$id" or anchor.startswith("#")):
            names.setdefault(f"{base}#{anchor.removeprefix('#')}", path)
    for keyword in _FORGOTTEN:
        schema.pop(keyword, None)
    return base


def _pointer(ref: str, base: str, names: Mapping[str, str]) -> str | None:
    """The pointer from the root that a reference means, or None if it leads out of the schema."""
    resource, _, fragment = ref.partition("#")
    if resource:
        if resource not in names:
            return None
        base = names[resource]
    fragment = unquote(fragment)
    if not fragment or fragment.startswith("/"):
        return base + fragment
    return names.get(f"{base}#{fragment}")


def _modernise(schema: Schema) -> None:
    """Rewrite what older drafts said differently."""
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")
    schema.pop("additionalItems", None)
    dependencies = schema.pop("dependencies", None)
    if isinstance(dependencies, dict):
        for name, each in dependencies.items():
            keyword = "dependentRequired" if isinstance(each, list) else "dependentSchemas"
            schema.setdefault(keyword, {}).setdefault(name, each)
    for bound in ("minimum", "maximum"):
        exclusive = f"exclusive{bound.capitalize()}"
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)
    for keyword in ("$dynamicRef", "$recursiveRef"):
        if keyword in schema:
            ref = schema.pop(keyword)
            if schema.setdefault("$ref", ref) is not ref:
                schema["allOf"] = [*schema.get("allOf", ()), {"$ref": ref}]


def _spell_out_false(schema: Schema) -> None:
    """Write `false` as `{"not": {}}` where a check would lose the place that it speaks of."""
    for keyword in schema.keys() & {*NAMED, *LISTED}:
        held = schema[keyword]
        places = (
            held.items()
            if isinstance(held, dict)
            else enumerate(held if isinstance(held, list) else ())
        )
        for place, each in list(places):
            if each is False:
                held[place] = {"not": {}}


def _part_required(schema: Schema) -> None:
    """Write `required` apart from an `additionalProperties` that is a schema.

    jsonschema-rs 0.44 forgets the one beside the other where two names are required.
    """
    if isinstance(schema.get("additionalProperties"), dict) and "required" in schema:
        schema["allOf"] = [{"required": schema.pop("required")}, *schema.get("allOf", ())]


def _keep_asserted_format(schema: Schema, *, local_times: bool) -> None:
    name = schema.pop("format", None)
    if isinstance(name, str) and name in FORMATS and ":" not in name:
        schema["format"] = LOCAL + name if local_times and LOCAL + name in FORMATS else name


def _check_loops(root: Schema, tool: str) -> None:
    """Refuse a schema that never comes to an end, or that branches beyond all bounds."""
    inner = {
        id(schema): [id(each) for keyword, each in edges(root, schema) if keyword in SAME_PLACE]
        for _, schema in nodes(root)
    }
    weight: dict[int, int] = {}
    try:
        for node in TopologicalSorter(inner).static_order():
            weight[node] = 1 + sum(weight[each] for each in inner[node])
            if weight[node] > _MOST_ALTERNATIVES:
                raise unusable(tool, "it has too many alternatives in one place")
    except CycleError:
        raise unusable(tool, "a $ref leads back to itself without end") from None
