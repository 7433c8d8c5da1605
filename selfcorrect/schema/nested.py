"""Where the objects are that a schema declares inside others."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from selfcorrect.model import JSON, JsonObject
from selfcorrect.pointer import join
from selfcorrect.schema.subschema import Root, alternatives, at, declared

_DEPTH: Final = 3
_MOST: Final = 200
_MOST_NAMES: Final = 2_000
_MOST_POINTERS: Final = 300
_MOST_LEVELS: Final = 6
_ANY_ITEM: Final = "0"


@dataclass(frozen=True, slots=True)
class Nested:
    """An object inside another.

    Attributes:
        tokens: Where it is, from the object around; `0` for any item of a list.
        names: The properties that it declares.
        listed: Whether a list is on the way.
    """

    tokens: tuple[str, ...]
    names: tuple[str, ...]
    listed: bool


def objects_below(root: JsonObject, tokens: tuple[str, ...] = ()) -> tuple[Nested, ...]:
    """The objects inside an object, at most three levels deeper, nearest first; bounded.

    >>> objects_below({"properties": {"a": {"properties": {"b": {}}}}})
    (Nested(tokens=('a',), names=('b',), listed=False),)
    """
    return _below(Root(root), tokens)


def names_below(root: JsonObject) -> tuple[str, ...]:
    """The names of everything that is declared deeper than at the top, without repeats."""
    return tuple(dict.fromkeys(name for one in objects_below(root) for name in one.names))


def declared_below(root: JsonObject) -> tuple[str, ...]:
    """Pointers of all that a schema declares, items of a list under the list itself; bounded.

    >>> declared_below({"properties": {"a": {"items": {"properties": {"b": {}}}}}})
    ('/a', '/a/b')
    """
    return _pointers(Root(root)) if isinstance(root, Mapping) else ()


@lru_cache(maxsize=512)
def _pointers(whole: Root) -> tuple[str, ...]:
    found: dict[str, None] = {}
    todo = deque([(alternatives(whole.schema, whole.schema), "", 0)])
    while todo and len(found) < _MOST_POINTERS:
        here, path, depth = todo.popleft()
        if path:
            found.setdefault(path)
        if depth >= _MOST_LEVELS:
            continue
        for name, below in declared(here).items():
            todo.append((alternatives(below, whole.schema), path + join(name), depth + 1))
        for one in here:
            if isinstance(items := one.get("items"), Mapping):
                todo.append((alternatives(items, whole.schema), path, depth + 1))
    return tuple(found)


@lru_cache(maxsize=512)
def _below(whole: Root, start: tuple[str, ...]) -> tuple[Nested, ...]:
    found: list[Nested] = []
    level: list[tuple[tuple[str, ...], bool]] = [(start, False)]
    left = _MOST_NAMES
    for depth in range(_DEPTH + 1):
        deeper: list[tuple[tuple[str, ...], bool]] = []
        for tokens, listed in level[:_MOST]:
            names = _declared(whole.schema, tokens) if left > 0 else {}
            left -= len(names)
            if depth and names:
                found.append(Nested(tokens[len(start) :], tuple(names), listed))
            for name in names if len(deeper) < _MOST else ():
                inner = (*tokens, name)
                deeper.append((inner, listed))
                if not _declared(whole.schema, inner):
                    deeper.append(((*inner, _ANY_ITEM), True))
        level = deeper
    return tuple(found[:_MOST])


def _declared(schema: JsonObject, tokens: tuple[str, ...]) -> Mapping[str, JSON]:
    return dict(list(declared(at(schema, tokens) or ()).items())[:_MOST])
