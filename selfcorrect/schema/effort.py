"""What a check may cost: an estimate from the schema and the size of the arguments.

jsonschema-rs is fast, but it goes through a schema again wherever a `$ref` leads to it again, and
lists all violations at once, each with a copy of the value that is wrong. Where that could grow
beyond all bounds, jsonschema does the work instead: slower, one violation at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.schema.closing import LISTED, NAMED, SAME_PLACE, SINGLE, Schema, edges, nodes

_MOST_VISITS: Final = 20_000
"""Visits of a schema that a yes or no may take: a fifth of a second where it is worst."""
_MOST_WRITTEN: Final = 50_000
"""Schemas that there may be where each `$ref` is written out."""
_MOST_COPIED: Final = 16_000_000
"""Visits times characters that a list of violations may take."""
_NODE: Final = 64
"""What a value weighs beside its characters."""
_DEEPEST: Final = 128
_INNER: Final = frozenset({*NAMED, *LISTED, *SINGLE})
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_PER_NAME: Final = 1_000
"""`propertyNames` copies the whole object for each of its keys."""


class Effort:
    """How often a schema is visited for arguments of some depth.

    Args:
        root: A schema in normal form.
    """

    def __init__(self, root: Schema) -> None:
        self.root = root
        self._visits: dict[tuple[int, int], int] = {}
        self._leads = any("$ref" in each for _, each in nodes(root))

    @cached_property
    def is_tame(self) -> bool:
        """Whether the fast engine can answer for all arguments that there are."""
        return not self._leads or self._at(_DEEPEST) <= _MOST_VISITS

    def can_compile(self) -> bool:
        """Whether the fast engine can read the schema.

        Some versions of it (0.44, for one) end the whole process over a loop with `unevaluated…`
        in it.
        """
        if not self._leads:
            return True
        try:
            written = self._written(self.root, {})
        except RecursionError:  # a long chain of references
            return False
        loops = (_UNEVALUATED & schema.keys() for schema in self._looping())
        return written <= _MOST_WRITTEN and not any(loops)

    def _looping(self) -> list[Schema]:
        """The schemas that lead back to themselves, and those between two such."""
        found = {id(schema): schema for _, schema in nodes(self.root)}
        inner = {
            key: {id(each) for _, each in edges(self.root, schema)} for key, schema in found.items()
        }
        outer = _turned(inner)
        for ways, back in ((inner, outer), (outer, inner)):
            left = {key: len(ways[key] & found.keys()) for key in found}
            ended = [key for key, count in left.items() if not count]
            while ended:
                key = ended.pop()
                del found[key]
                for each in back[key] & found.keys():
                    left[each] -= 1
                    if not left[each]:
                        ended.append(each)
        return list(found.values())

    def _written(self, schema: Schema, seen: dict[int, int]) -> int:
        """How many schemas there are where each `$ref` is written out, but for loops."""
        if id(schema) not in seen:
            seen[id(schema)] = 1
            inner = (self._written(each, seen) for _, each in edges(self.root, schema))
            seen[id(schema)] = min(1 + sum(inner), _MOST_WRITTEN + 1)
        return seen[id(schema)]

    def can_answer(self, args: JSON) -> bool:
        """Whether a yes or no can be had from the fast engine."""
        return self.is_tame or self._at(measured(args)[0]) <= _MOST_VISITS

    def can_list(self, args: JSON) -> bool:
        """Whether all violations can be had at once."""
        depth, size = measured(args)
        return self._at(depth) * size <= _MOST_COPIED

    def _at(self, depth: int) -> int:
        try:
            return self.visits(self.root, depth)
        except RecursionError:  # a long chain of references
            return _MOST_COPIED + 1

    def visits(self, schema: Schema, depth: int) -> int:
        """How many parts of a schema speak of a value of this depth, and of all below it."""
        key = id(schema), depth
        if key not in self._visits:
            found = _own(schema)
            for keyword, each in edges(self.root, schema):
                below = depth if keyword in SAME_PLACE else depth - 1
                if below >= 0 and found <= _MOST_COPIED:
                    found += self.visits(each, below)
            self._visits[key] = found
        return self._visits[key]


def _turned(ways: Mapping[int, set[int]]) -> dict[int, set[int]]:
    """The same ways, the other way round."""
    turned: dict[int, set[int]] = {key: set() for key in ways}
    for key, ends in ways.items():
        for end in ends:
            turned[end].add(key)
    return turned


def measured(args: JSON) -> tuple[int, int]:
    """How deep a value is, and how large.

    >>> measured({"a": ["bc"]})
    (2, 195)
    """
    depth = size = 0
    level: list[Any] = [args]
    while level:
        size += _NODE * len(level)
        size += sum(len(item) for item in level if isinstance(item, str))
        size += sum(item.bit_length() // 3 for item in level if isinstance(item, int))
        size += sum(len(key) for item in level if isinstance(item, dict) for key in item)
        inner = (
            item.values() if isinstance(item, dict) else item
            for item in level
            if isinstance(item, dict | list)
        )
        level = list(chain.from_iterable(inner))
        depth += bool(level)
    return depth, size


def _own(schema: Schema) -> int:
    """What a schema says itself, without its subschemas."""
    found = _PER_NAME if "propertyNames" in schema else 1
    for keyword, value in schema.items():
        found += len(value) if keyword not in _INNER and isinstance(value, list | dict) else 1
    return found
