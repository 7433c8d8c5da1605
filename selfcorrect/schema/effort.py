"""What a check may cost: an estimate from the schema and the depth of the arguments.

jsonschema-rs is fast, but it goes through a schema again wherever a `$ref` leads to it again. Where
that could grow beyond all bounds, jsonschema does the work instead: slower, each schema once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.schema.closing import SAME_PLACE, Schema, edges, nodes

_MOST_VISITS: Final = 20_000
"""Visits of a schema that a yes or no may take: a fifth of a second where it is worst."""
_MOST_WRITTEN: Final = 50_000
"""Schemas that there may be where each `$ref` is written out."""
_DEEPEST: Final = 128
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})


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

    def _looping(self) -> Iterator[Schema]:
        """The schemas that lead back to themselves, and those between two such."""
        inner: dict[int, set[int]] = {}
        outer: dict[int, set[int]] = defaultdict(set)
        for _, schema in nodes(self.root):
            inner[id(schema)] = {id(each) for _, each in edges(self.root, schema)}
            for each in inner[id(schema)]:
                outer[each].add(id(schema))
        both = _endless(inner) & _endless(outer)
        return (schema for _, schema in nodes(self.root) if id(schema) in both)

    def _written(self, schema: Schema, seen: dict[int, int]) -> int:
        """How many schemas there are where each `$ref` is written out, but for loops."""
        if id(schema) not in seen:
            seen[id(schema)] = 1
            inner = (self._written(each, seen) for _, each in edges(self.root, schema))
            seen[id(schema)] = min(1 + sum(inner), _MOST_WRITTEN + 1)
        return seen[id(schema)]

    def can_answer(self, args: JSON) -> bool:
        """Whether a yes or no can be had from the fast engine."""
        return self.is_tame or self._at(depth_of(args)) <= _MOST_VISITS

    def _at(self, depth: int) -> int:
        try:
            return self.visits(self.root, depth)
        except RecursionError:  # a long chain of references
            return _MOST_VISITS + 1

    def visits(self, schema: Schema, depth: int) -> int:
        """How many parts of a schema speak of a value of this depth, and of all below it."""
        key = id(schema), depth
        if key not in self._visits:
            # A value is compared with each that is listed.
            found = 1 + sum(len(said) if isinstance(said, list) else 1 for said in schema.values())
            for keyword, each in edges(self.root, schema):
                below = depth if keyword in SAME_PLACE else depth - 1
                if below >= 0 and found <= _MOST_VISITS:
                    found += self.visits(each, below)
            self._visits[key] = found
        return self._visits[key]


def _endless(ways: Mapping[int, set[int]]) -> set[int]:
    """What leads into a loop."""
    sorter = TopologicalSorter(ways)
    left = set(ways)
    with suppress(CycleError):  # which says that there is a loop, and only of one where it is
        sorter.prepare()
    while ready := sorter.get_ready():
        left.difference_update(ready)
        sorter.done(*ready)
    return left


def depth_of(args: JSON) -> int:
    """How deep a value is.

    >>> depth_of({"a": ["bc"]})
    2
    """
    depth = 0
    level: list[Any] = [args]
    while level := [
        each
        for item in level
        if isinstance(item, dict | list)
        for each in (item.values() if isinstance(item, dict) else item)
    ]:
        depth += 1
    return depth
