"""Writes a tool's schema in one form: the newest draft, closed, its references all into `$defs`.

A tool drops an unknown key in silence, so a misspelt one must not pass, at whatever depth. The
schema comes from a tool's server: what would take unbounded time or memory is refused.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import unquote

from selfcorrect.lazy import load_table
from selfcorrect.model import JsonDict, JsonObject, frozen
from selfcorrect.pointer import find, keys_of, parts_of

_MOST_PARTS = 5_000
"""Parts of one place, with its references written out."""
_DEEPEST = 100
_MOST_WORK = 500_000


def normalize(schema: JsonObject) -> "tuple[JsonDict, Root]":
    """Return a schema that asks for the same, in the form that `Place` reads, and its root.

    An object that names its keys allows no others, unless it speaks of others itself.

    >>> schema = {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "null"}}}
    >>> normalize(schema)[1].definitions
    {'properties.b': {'type': 'null'}}

    Raises:
        ValueError: If a reference points to nothing, to itself or to another document, or the
            schema is too deep or too large.
    """
    homes = {part["$id"]: part for part in parts_of(schema) if isinstance(part.get("$id"), str)}
    normal = _Normal({**homes, "": schema})
    whole = normal.place(schema, {}, 0)
    # Definitions are written one by one, because they may lead in a circle.
    while normal.todo:
        title, target, parts, closes = normal.todo.pop()
        normal.definitions[title] = normal.part(target, parts, 0, closes=closes)
    return whole, Root(normal.definitions, max(normal.weights.values(), default=1))


@frozen
class Root:
    """What the places of one schema share.

    Attributes:
        definitions: What references point to, by name.
        parts: Parts of its largest place, with the references written out.
    """

    definitions: JsonObject = field(default_factory=dict)
    parts: int = 1


_Parts: TypeAlias = Mapping[int, JsonObject]
"""What names keys or items of one place, by identity."""


@dataclass(slots=True)
class _Normal:
    """A schema that is written anew.

    What may not be, or only says when others count, is written without parts: nothing in it is
    closed.

    Attributes:
        homes: Its parts by their `$id`, and itself.
        definitions: What its references point to, written anew.
        todo: Definitions that have a name and are not written yet.
        titles: Their names, by target and parts.
        work: How often one part of a place was compared with another one.
        weights: How many parts a place has, by the identity of its schema.
    """

    homes: JsonObject
    definitions: JsonDict = field(default_factory=dict)
    todo: list[tuple[str, Any, _Parts | None, bool]] = field(default_factory=list)
    titles: dict[tuple[int, ...], str] = field(default_factory=dict)
    work: int = 0
    weights: dict[int, int] = field(default_factory=dict)

    def place(self, schema: Any, parts: _Parts | None, depth: int) -> Any:
        """Write the schema of the arguments, an argument or an item."""
        self.weigh(schema, ())
        return self.part(schema, parts, depth, closes=parts is not None)

    def part(self, schema: Any, parts: _Parts | None, depth: int, *, closes: bool) -> Any:
        """Write a schema, or a part of one, such as a branch of a union.

        Args:
            schema: The schema.
            parts: What else speaks of the same place; its keys are allowed, too.
            depth: How deep it is nested.
            closes: Whether it is closed to keys that no part names.
        """
        if not isinstance(schema, Mapping):
            return schema
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
        every = None if parts is None else self.gather([schema], parts)
        # Where it names keys itself, it speaks for its parts; each of them would refuse others.
        is_whole = closes and ("properties" in schema or not _SPEAKS.isdisjoint(schema))
        closes = closes and not is_whole
        schema = {
            "$ref" if word in _REFERENCES else word: self.write(
                word, value, every, depth + 1, closes=closes
            )
            for word, value in schema.items()
            if word not in _DROPPED
        }
        if every and is_whole and _SPEAKS.isdisjoint(schema):
            _close(schema, every.values())
        return _update(schema)

    def write(
        self, word: str, value: Any, parts: _Parts | None, depth: int, *, closes: bool
    ) -> Any:
        """Write what stands under a keyword of a schema, all of whose parts are given."""
        if word in _REFERENCES:
            return f"#/$defs/{self.define(value, parts, closes=closes)}"
        if word in _CONDITIONS:
            return self.place(value, None, depth)
        if word in _PLACES:
            return _map_schemas(
                lambda each, *keys: self.place(each, self.inside(parts, word, *keys), depth),
                word,
                value,
            )
        if word not in _BESIDE:
            return value
        if parts and word in ("anyOf", "oneOf"):
            # One alternative allows no keys of another.
            own = self.gather([{word: value}], {})
            parts = {key: part for key, part in parts.items() if key not in own}
        # Where a condition does not hold, other keys are free.
        closes = closes and word in ("allOf", "anyOf", "oneOf")
        return _map_schemas(
            lambda each, *_: self.part(each, parts, depth, closes=closes), word, value
        )

    def inside(self, parts: _Parts | None, *keys: str) -> _Parts | None:
        """Return what the parts of a place say of a place inside it."""
        if parts is None:
            return None
        return self.gather([find(part, keys) for part in parts.values()], {})

    def gather(self, schemas: list[Any], parts: _Parts) -> _Parts:
        """Return parts of a place, with schemas of it and what says more under these.

        Raises:
            ValueError: If too many parts speak of the same keys.
        """
        self.work += len(schemas) + len(parts)
        if self.work > _MOST_WORK or len(self.titles) > _MOST_PARTS:
            raise ValueError("too many parts of it speak of the same place")
        every: dict[int, JsonObject] = {}
        while schemas:
            schema = schemas.pop()
            if isinstance(schema, Mapping) and id(schema) not in every:
                every[id(schema)] = schema
                schemas += self.others(schema, _BESIDE)
        return {**parts, **{key: each for key, each in every.items() if _NAMING & each.keys()}}

    def define(self, reference: Any, parts: _Parts | None, *, closes: bool) -> str:
        """Return the name of the definition that a reference points to."""
        target = self.target(reference)
        # Without parts it is written as with none.
        key = (id(target), closes, *sorted(parts or ()))
        if key not in self.titles:
            title = _OTHER_SIGNS.sub(".", reference.removeprefix("#/$defs/")).strip(".") or "all"
            while title in self.titles.values():
                title += "."
            self.titles[key] = title
            self.todo.append((title, target, parts, closes))
        return self.titles[key]

    def target(self, reference: Any) -> Any:
        """Return what a reference points to."""
        base, _, rest = str(reference).partition("#")
        if base not in self.homes:
            raise ValueError(f"a reference to another document is not fetched: {base:.100}")
        # A place that has only a name, an `$anchor`, is not looked for.
        is_path = rest[:1] in ("", "/")
        target = find(self.homes[base], keys_of(unquote(f"#{rest}"), "#")) if is_path else None
        if isinstance(target, Mapping | bool):
            return target
        raise ValueError(f"a reference points to nothing: {str(reference)[:100]}")

    def others(self, schema: JsonObject, beside: Sequence[str]) -> list[Any]:
        """Return what says more of the same place: under references, and keywords beside them."""
        others: list[Any] = []
        for word, value in schema.items():
            if word in _REFERENCES:
                others.append(self.target(value))
            elif word in beside:
                _map_schemas(lambda each, *_: others.append(each), word, value)
        return others

    def weigh(self, schema: Any, above: tuple[int, ...]) -> int:
        """Return how many parts a place has; refuse too many, and one that holds itself."""
        if not isinstance(schema, Mapping):
            return 1
        key = id(schema)
        if key in above or len(above) > _DEEPEST:
            raise ValueError("a reference leads back to itself, or through too many others")
        if key not in self.weights:
            others = self.others(schema, (*_BESIDE, "not"))
            self.weights[key] = 1 + sum(self.weigh(each, (*above, key)) for each in others)
        if self.weights[key] > _MOST_PARTS:
            raise ValueError(f"one place of it has more than {_MOST_PARTS} parts")
        return self.weights[key]


_KEYWORDS = load_table("schema/keywords.toml")
_REFERENCES = _KEYWORDS["references"]
_BESIDE = _KEYWORDS["beside"]
_PLACES = _KEYWORDS["places"]
_BY_NAME = _KEYWORDS["by_name"]
_CONDITIONS = _KEYWORDS["conditions"]
_DROPPED = _KEYWORDS["dropped"]
_SPEAKS = frozenset(_KEYWORDS["speaks"])
_NAMING = frozenset(_PLACES)
_OTHER_SIGNS = re.compile(r"[^\w.\-]+")


def _map_schemas(write: Callable[..., Any], word: str, value: Any) -> Any:
    """Write every schema that a keyword holds, each with its key where there are several."""
    if word in _BY_NAME and isinstance(value, Mapping):
        return {name: write(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [write(each, str(at)) for at, each in enumerate(value)]
    return write(value)


def _close(schema: JsonDict, parts: Collection[JsonObject]) -> None:
    """Allow only the keys that parts of a place name, where none of them allows others."""
    if any(part.get(word, False) is not False for part in parts for word in _SPEAKS):
        return
    own = schema.get("properties", {})
    names = {name for part in parts for name in part.get("properties", ())}
    others = dict.fromkeys(sorted(names.difference(own)), True)
    schema |= {"properties": {**own, **others}, "additionalProperties": False}


def _update(schema: JsonDict) -> JsonDict:
    """Write keywords of older drafts as the newest one does."""
    more = schema.pop("additionalItems", True)
    if isinstance(schema.get("items"), list):
        schema["prefixItems"], schema["items"] = schema["items"], more
    depends = schema.pop("dependencies", {})
    for name, each in depends.items() if isinstance(depends, Mapping) else ():
        word = "dependentRequired" if isinstance(each, list) else "dependentSchemas"
        schema[word] = {**schema.get(word, {}), name: each}
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(word), bool) and schema.pop(word) and bound in schema:
            schema[word] = schema.pop(bound)
    return schema
