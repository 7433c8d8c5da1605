"""Writes a tool's schema in one form: the newest draft, closed, its references all into `$defs`.

A tool drops an unknown key in silence, so a misspelt one must not pass, at whatever depth. The
schema comes from a tool's server: what would take unbounded time or memory is refused.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
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
    homes = {each["$id"]: each for each in parts_of(schema) if isinstance(each.get("$id"), str)}
    normal = _Normal(schema, {**homes, "": schema})
    made = normal.whole()
    return made, Root(normal.definitions, max(normal.weights.values(), default=1))


@frozen
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
        closes: Whether it is closed to keys that nobody names.
        peers: What else speaks of the same place; its keys are allowed, too.
        is_fixed: Whether nothing in it is closed, because it only says when others count.
    """

    closes: bool = True
    peers: tuple[JsonObject, ...] = ()
    is_fixed: bool = False


_FIXED = _Mode(closes=False, is_fixed=True)


@dataclass(slots=True)
class _Normal:
    """A schema that is written anew.

    Attributes:
        root: The schema as it came.
        homes: Its parts by their `$id`, and itself.
        definitions: What its references point to, written anew.
        todo: Definitions that have a name and are not written yet.
        titles: Their names, by target and mode.
        work: How often one part of a place was compared with another one.
        weights: How many parts a place has, by the identity of its schema.
    """

    root: JsonObject
    homes: JsonObject
    definitions: JsonDict = field(default_factory=dict)
    todo: list[tuple[str, Any, _Mode]] = field(default_factory=list)
    titles: dict[tuple[int, ...], str] = field(default_factory=dict)
    work: int = 0
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
        every = (*mode.peers, *self.parts(schema))
        # Where it names keys itself, it speaks for its parts; each of them would refuse others.
        is_whole = mode.closes and ("properties" in schema or not _SPEAKS.isdisjoint(schema))
        inside = _Mode(mode.closes and not is_whole, every, mode.is_fixed)
        made: JsonDict = {}
        for word, value in schema.items():
            self.write(made, word, value, inside, depth + 1)
        if is_whole and _SPEAKS.isdisjoint(schema):
            _close(made, every)
        return _update(made, schema)

    def write(self, made: JsonDict, word: str, value: Any, mode: _Mode, depth: int) -> None:
        """Write one keyword; `mode` is that of the parts of its schema."""

        def place(each: Any, *keys: str) -> Any:
            return self.place(each, self.inside(each, mode, word, *keys), depth)

        if word in _PLACES:
            is_list = word == "items" and isinstance(value, list)
            made["prefixItems" if is_list else word] = _write_each(word, value, place)
        elif word in _CONDITIONS:
            made[word] = self.place(value, _FIXED, depth)
        elif word not in _DROPPED:
            name = "$ref" if word in _REFERENCES else word
            made[name] = self.more(word, value, mode, depth)

    def more(self, word: str, value: Any, mode: _Mode, depth: int) -> Any:
        """Write what says more of the same place; what says nothing of keys stays as it is."""
        if word in _REFERENCES:
            return f"#/$defs/{self.define(value, self.beside([self.target(value)], mode))}"
        if word not in (*_UNIONS, *_CONDITIONAL):
            return value
        # Where a condition does not hold, other keys are free.
        inside = mode._replace(closes=mode.closes and word in _UNIONS)
        # One alternative allows no keys of another.
        shared = self.beside(value, mode) if word in ("anyOf", "oneOf") else None

        def write(each: Any, *_: str) -> Any:
            return self.part(each, shared or self.beside([each], inside), depth)

        return _write_each(word, value, write)

    def beside(self, group: list[Any], mode: _Mode) -> _Mode:
        """Return how a group of parts of the same place is written."""
        own = {id(part) for each in group for part in self.parts(each)}
        self.count(mode.peers)
        return mode._replace(peers=tuple(each for each in mode.peers if id(each) not in own))

    def inside(self, schema: Any, mode: _Mode, *keys: str) -> _Mode:
        """Return how a place inside is written, with all that other parts say of it."""
        if mode.is_fixed:
            return _FIXED
        self.count(mode.peers)
        found: dict[int, JsonObject] = {}
        for peer in mode.peers:
            other = find(peer, keys)
            self.weigh(other, ())
            found |= {id(part): part for part in self.parts(other)}
        for own in self.parts(schema):
            found.pop(id(own), None)
        return _Mode(True, tuple(found.values()))

    def count(self, peers: tuple[JsonObject, ...]) -> None:
        """Refuse a schema whose places have too many parts that speak of the same keys."""
        self.work += len(peers)
        if self.work > _MOST_WORK or len(self.titles) > _MOST_PARTS:
            raise ValueError("too many parts of it speak of the same place")

    def define(self, reference: Any, mode: _Mode) -> str:
        """Return the name of the definition that a reference points to."""
        target = self.target(reference)
        key = (id(target), mode.closes, mode.is_fixed, *sorted(map(id, mode.peers)))
        if key not in self.titles:
            title = _OTHER_SIGNS.sub(".", reference.removeprefix("#/$defs/")).strip(".") or "all"
            while title in self.titles.values():
                title += "."
            self.titles[key] = title
            self.todo.append((title, target, mode))
        return self.titles[key]

    def target(self, reference: Any) -> Any:
        """Return what a reference points to."""
        base, _, rest = str(reference).partition("#")
        if base not in self.homes:
            raise ValueError(f"a reference to another document is not fetched: {base:.100}")
        # A place that has only a name, an `$anchor`, is not looked for.
        is_path = rest[:1] in ("", "/")
        found = find(self.homes[base], keys_of(unquote(f"#{rest}"), "#")) if is_path else None
        if isinstance(found, Mapping | bool):
            return found
        raise ValueError(f"a reference points to nothing: {str(reference)[:100]}")

    def others(self, schema: JsonObject) -> Iterator[tuple[str, Any]]:
        """Yield what says more of the same place: references, parts, branches, conditions."""
        for word, value in schema.items():
            if word in _REFERENCES:
                yield word, self.target(value)
            elif word in _BESIDE:
                by_name = word in _BY_NAME and isinstance(value, Mapping)
                held = value.values() if by_name else value if isinstance(value, list) else [value]
                yield from ((word, each) for each in held)

    def parts(self, schema: Any) -> Iterator[JsonObject]:
        """Yield a schema and what says more of the same place, as far as it names keys or items."""
        if isinstance(schema, Mapping):
            if not _NAMING.isdisjoint(schema):
                yield schema
            for word, each in self.others(schema):
                if word != "not":
                    yield from self.parts(each)

    def weigh(self, schema: Any, above: tuple[int, ...]) -> int:
        """Return how many parts a place has; refuse too many, and one that holds itself."""
        if not isinstance(schema, Mapping):
            return 1
        key = id(schema)
        if key in above or len(above) > _DEEPEST:
            raise ValueError("a reference leads back to itself, or through too many others")
        if key not in self.weights:
            others = self.others(schema)
            self.weights[key] = 1 + sum(self.weigh(each, (*above, key)) for _, each in others)
        if self.weights[key] > _MOST_PARTS:
            raise ValueError(f"one place of it has more than {_MOST_PARTS} parts")
        return self.weights[key]


_KEYWORDS = load_table("schema/keywords.toml")
_REFERENCES = _KEYWORDS["references"]
_UNIONS = _KEYWORDS["unions"]
_CONDITIONAL = _KEYWORDS["conditional"]
_BESIDE = (*_UNIONS, *_CONDITIONAL, "if", "not")
_PLACES = _KEYWORDS["places"]
_BY_NAME = _KEYWORDS["by_name"]
_CONDITIONS = _KEYWORDS["conditions"]
_DROPPED = _KEYWORDS["dropped"]
_SPEAKS = frozenset(_KEYWORDS["speaks"])
_NAMING = frozenset(_PLACES)
_OTHER_SIGNS = re.compile(r"[^\w.\-]+")


def _write_each(word: str, value: Any, write: Callable[..., Any]) -> Any:
    """Write every schema that a keyword holds, each with its key where there are several."""
    if word in _BY_NAME and isinstance(value, Mapping):
        return {name: write(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [write(each, str(at)) for at, each in enumerate(value)]
    return write(value)


def _close(made: JsonDict, parts: Iterable[JsonObject]) -> None:
    """Allow the keys that parts of a place name alone, where none of them allows others."""
    names: set[str] = set()
    for each in parts:
        if any(each.get(word, False) is not False for word in _SPEAKS):
            return
        names.update(each.get("properties", ()))
    own = made.get("properties", {})
    others = dict.fromkeys(sorted(names.difference(own)), True)
    made |= {"properties": {**own, **others}, "additionalProperties": False}


def _update(made: JsonDict, schema: JsonObject) -> JsonDict:
    """Write keywords of older drafts as the newest one does."""
    more = made.pop("additionalItems", True)
    if isinstance(schema.get("items"), list):
        made["items"] = more
    depends = made.pop("dependencies", {})
    for name, each in depends.items() if isinstance(depends, Mapping) else ():
        word = "dependentRequired" if isinstance(each, list) else "dependentSchemas"
        made[word] = {**made.get(word, {}), name: each}
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(made.get(word), bool) and made.pop(word) and bound in made:
            made[word] = made.pop(bound)
    return made
