"""What a schema declares inside other objects."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from selfcorrect.model import JsonObject
from selfcorrect.pointer import join, split
from selfcorrect.schema.subschema import Root, alternatives, declared

_MOST_NAMES: Final = 2_000
_MOST_POINTERS: Final = 300
_MOST_LEVELS: Final = 6


def names_below(root: JsonObject) -> tuple[str, ...]:
    """The names of everything that is declared deeper than at the top, without repeats.

    >>> names_below({"properties": {"a": {"properties": {"b": {}}}}})
    ('b',)
    """
    ways = [split(path) for path in _pointers(Root(root), _MOST_NAMES, in_maps=True)]
    return tuple(dict.fromkeys(way[-1] for way in ways if len(way) > 1))


def declared_below(root: JsonObject) -> tuple[str, ...]:
    """Pointers of all that a schema declares, items of a list under the list itself; bounded.

    >>> declared_below({"properties": {"a": {"items": {"properties": {"b": {}}}}}})
    ('/a', '/a/b')
    """
    return _pointers(Root(root), _MOST_POINTERS) if isinstance(root, Mapping) else ()


@lru_cache(maxsize=512)
def _pointers(whole: Root, most: int, *, in_maps: bool = False) -> tuple[str, ...]:
    found: dict[str, None] = {}
    todo = deque([(alternatives(whole.schema, whole.schema), "", 0)])
    while todo and len(found) < most:
        here, path, depth = todo.popleft()
        if path:
            found.setdefault(path)
        if depth >= _MOST_LEVELS:
            continue
        for name, below in declared(here).items():
            todo.append((alternatives(below, whole.schema), path + join(name), depth + 1))
        inner = [one.get("items") for one in here]
        inner += [one.get("additionalProperties") for one in here if in_maps]
        for each in inner:
            if isinstance(each, Mapping):
                todo.append((alternatives(each, whole.schema), path, depth + 1))
    return tuple(found)
