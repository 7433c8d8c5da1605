"""Writes a tool's schema in one form: the newest draft, closed, its references all into `$defs`.

A tool drops an unknown key in silence, so a misspelt one must not pass, at whatever depth. The
schema comes from a tool's server: what would take unbounded time or memory is refused.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.pointer import find, keys_of

_MOST_PARTS: Final = 5_000
"""Parts of one place, with its references written out."""
_DEEPEST: Final = 100


def normalize(schema: JsonObject) -> "tuple[JsonDict, Root]":
    """Return a schema that asks for the same, in the form that `Slot` reads, and its root.

    An object that names its keys allows no others, unless it speaks of others itself.

    >>> schema = {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "null"}}}
    >>> normalize(schema)[1].definitions
    {'properties.b': {'type': 'null'}}

    Raises:
        ValueError: If a reference points to nothing, to itself or to another document, or the
            schema is too deep or too large.
    """
    normal = _Normal(schema, _names_in(schema))
    made = normal.whole()
    return made, Root(normal.definitions, max(normal.weights.values(), default=1))


@dataclass(frozen=True, slots=True)
class Root:
    """What the places of one schema share.

    Attributes:
        definitions: What references point to, by name.
        parts: Parts of its largest place, with the references written out.
    """

    definitions: JsonObject = field(default_factory=dict)
    parts: int = 1


class _Mode(NamedTuple):
    """How a schema is written.

    Attributes:
        closes: Whether it is closed to keys that it does not name.
        shared: Arguments of which other parts of the place speak, too: none of them is closed.
        is_fixed: Whether nothing in it is closed, because it only says when others count.
    """

    closes: bool = True
    shared: frozenset[str] = frozenset()
    is_fixed: bool = False


_FIXED: Final = _Mode(closes=False, is_fixed=True)


@dataclass(slots=True)
class _Normal:
    """A schema that is written anew.

    Attributes:
        root: The schema as it came.
        names: Its parts that have an `$id` or anchor.
        definitions: What its references point to, written anew.
        todo: Definitions that have a name and are not written yet.
        titles: Their names, by target and mode.
        weights: How many parts a place has, by the identity of its schema.
    """

    root: JsonObject
    names: Mapping[str, Any]
    definitions: JsonDict = field(default_factory=dict)
    todo: list[tuple[str, Any, _Mode]] = field(default_factory=list)
    titles: dict[tuple[int, _Mode], str] = field(default_factory=dict)
    weights: dict[int, int] = field(default_factory=dict)

    def whole(self) -> JsonDict:
        """Write the whole schema; definitions one by one, because they may lead in a circle."""
        made: JsonDict = self.place(self.root, _Mode(), 0)
        while self.todo:
            title, target, mode = self.todo.pop()
            self.definitions[title] = self.place(target, mode, 0)
        return made

    def place(self, schema: Any, mode: _Mode, depth: int) -> Any:
        """Write the schema of the arguments, an argument or an item."""
        self.weigh(schema, ())
        return self.part(schema, mode, depth)

    def part(self, schema: Any, mode: _Mode, depth: int) -> Any:
        """Write a schema, or a part of one, such as a branch of a union."""
        if not isinstance(schema, Mapping):
            return schema
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
        own, others = _own_keys(schema), [*self.others(schema)]
        # Where several parts name keys together, each alone would refuse those of the others.
        is_whole = mode.closes and (own is not None or len(others) > 1)
        naming = others if own is None else [*others, own]
        if is_whole or not mode.closes:
            times = Counter(name for each in naming for name in each.names)
            shared = mode.shared.union(name for name, count in times.items() if count > 1)
            mode = _Mode(False, shared, mode.is_fixed)
        made: JsonDict = {}
        for word, value in schema.items():
            self.write(made, word, value, mode, depth + 1)
        if is_whole:
            _close(made, _join(naming))
        return _update(made, schema)

    def write(self, made: JsonDict, word: str, value: Any, mode: _Mode, depth: int) -> None:
        """Write one keyword."""
        # What stands at another place is closed by itself.
        other = _FIXED if mode.is_fixed else _Mode()
        if word in _REFERENCES:
            made["$ref"] = f"#/$defs/{self.define(value, mode)}"
        elif word in ("properties", "patternProperties") and isinstance(value, Mapping):
            made[word] = {
                name: self.place(each, _FIXED if name in mode.shared else other, depth)
                for name, each in value.items()
            }
        elif word in _UNIONS and isinstance(value, list):
            made[word] = [self.part(each, mode, depth) for each in value]
        elif word in ("items", "prefixItems") and isinstance(value, list):
            made["prefixItems"] = [self.place(each, other, depth) for each in value]
        elif word in _PLACES:
            made[word] = self.place(value, other, depth)
        elif word in _CONDITIONS:
            made[word] = self.place(value, _FIXED, depth)
        elif word in ("dependentSchemas", "dependencies") and isinstance(value, Mapping):
            made[word] = {name: self.place(each, _FIXED, depth) for name, each in value.items()}
        elif word not in _DROPPED:
            made[word] = value

    def define(self, reference: Any, mode: _Mode) -> str:
        """Return the name of the definition that a reference points to."""
        target = self.target(reference)
        key = (id(target), mode)
        if key not in self.titles:
            title = _OTHER_SIGNS.sub(".", reference.removeprefix("#/$defs/")).strip(".") or "all"
            if title in self.titles.values():
                title = f"{title}.{len(self.titles)}"
            self.titles[key] = title
            self.todo.append((title, target, mode))
        return self.titles[key]

    def target(self, reference: Any) -> Any:
        """Return what a reference points to."""
        base, _, rest = str(reference).partition("#")
        if base and base not in self.names:
            raise ValueError(f"a reference to another document is not fetched: {base:.100}")
        home = self.names[base] if base else self.root
        found = self.names.get(f"#{rest}") if rest and rest[:1] != "/" else home
        if rest[:1] == "/":
            found = find(home, keys_of(unquote(f"#{rest}"), "#"))
        if isinstance(found, Mapping | bool):
            return found
        raise ValueError(f"a reference points to nothing: {str(reference)[:100]}")

    def groups(self, schema: JsonObject) -> Iterator[tuple[str, list[Any]]]:
        """Yield what says more of the same place: references, parts, unions, conditions."""
        for word, value in schema.items():
            if word in _REFERENCES:
                yield word, [self.target(value)]
            elif word == "allOf" and isinstance(value, list):
                yield from ((word, [each]) for each in value)
            elif word in _UNIONS and isinstance(value, list):
                yield word, value
            elif word in ("if", "then", "else", "not"):
                yield word, [value]
            elif word in ("dependentSchemas", "dependencies") and isinstance(value, Mapping):
                yield word, [*value.values()]

    def others(self, schema: JsonObject) -> "Iterator[_Keys]":
        """Yield the keys that parts of a schema name, for each group that names any."""
        for word, parts in self.groups(schema):
            objects = [each for each in parts if isinstance(each, Mapping) and word != "not"]
            owns = [own for each in objects if (own := _own_keys(each)) is not None]
            found = [*owns, *(keys for each in objects for keys in self.others(each))]
            if found:
                yield _join(found)

    def weigh(self, schema: Any, above: tuple[int, ...]) -> int:
        """Return how many parts a place has; refuse too many, and one that holds itself."""
        if not isinstance(schema, Mapping):
            return 1
        key = id(schema)
        if key in above or len(above) > _DEEPEST:
            raise ValueError("a reference leads back to itself, or through too many others")
        if key not in self.weights:
            parts = (each for _, group in self.groups(schema) for each in group)
            self.weights[key] = 1 + sum(self.weigh(each, (*above, key)) for each in parts)
        if self.weights[key] > _MOST_PARTS:
            raise ValueError(f"one place of it has more than {_MOST_PARTS} parts")
        return self.weights[key]


_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_UNIONS: Final = ("allOf", "anyOf", "oneOf")
_PLACES: Final = ("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems")
_CONDITIONS: Final = ("if", "then", "else", "not", "contains", "propertyNames")
_OTHER_SIGNS: Final = re.compile(r"[^\w.\-]+")
_DROPPED: Final = frozenset(
    {
        *("$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"),
        *("$defs", "definitions", "$comment", "additionalItems"),
    }
)


class _Keys(NamedTuple):
    """The keys that parts of a place name.

    Attributes:
        names: The keys.
        speaks: Whether they say themselves whether others are allowed.
    """

    names: frozenset[str] = frozenset()
    speaks: bool = False


def _own_keys(schema: JsonObject) -> _Keys | None:
    named = schema.get("properties")
    speaks = not _SPEAKS.isdisjoint(schema)
    if not isinstance(named, Mapping):
        return _Keys(speaks=True) if speaks else None
    return _Keys(frozenset(named), speaks)


_SPEAKS: Final = frozenset(("additionalProperties", "unevaluatedProperties", "patternProperties"))


def _join(keys: list[_Keys]) -> _Keys:
    names = frozenset[str]().union(*(each.names for each in keys))
    return _Keys(names, any(each.speaks for each in keys))


def _close(made: JsonDict, keys: _Keys) -> None:
    """Allow the named keys alone, where nothing speaks of others."""
    if not keys.speaks:
        own = made.get("properties", {})
        others = dict.fromkeys(sorted(keys.names.difference(own)), True)
        made |= {"properties": {**own, **others}, "additionalProperties": False}


def _update(made: JsonDict, schema: JsonObject) -> JsonDict:
    """Write keywords of older drafts as the newest one does."""
    if isinstance(schema.get("items"), list) and "additionalItems" in schema:
        made["items"] = schema["additionalItems"]
    depends = made.pop("dependencies", {})
    for name, each in depends.items() if isinstance(depends, Mapping) else ():
        word = "dependentRequired" if isinstance(each, list) else "dependentSchemas"
        made[word] = {**made.get(word, {}), name: each}
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(made.get(word), bool) and made.pop(word) and bound in made:
            made[word] = made.pop(bound)
    return made


def _names_in(schema: JsonObject) -> dict[str, Any]:
    """Return the parts of a schema that have a name of their own, by that name."""
    found: dict[str, Any] = {}
    todo: list[Any] = [schema]
    while todo:
        each = todo.pop()
        if isinstance(each, Mapping):
            for word, mark in (("$id", ""), ("$anchor", "#"), ("$dynamicAnchor", "#")):
                if isinstance(name := each.get(word), str):
                    found.setdefault(f"{mark}{name}", each)
            todo += each.values()
        elif isinstance(each, list):
            todo += each
    return found
