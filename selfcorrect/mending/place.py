"""Where does this value belong? The objects in question, and the changes that move their keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from selfcorrect.mending.choice import Refusal
from selfcorrect.model import ABSENT, JSON, Call, Change, JsonObject, edit
from selfcorrect.pointer import apply, join
from selfcorrect.protocols import Tool
from selfcorrect.schema.places import Place, faults, is_within, object_at, parent
from selfcorrect.schema.subschema import Alternatives
from selfcorrect.text import Unclear


@dataclass(frozen=True, slots=True)
class Level:
    """An object in the arguments, and what the schema says of it.

    Attributes:
        call: The call.
        tool: The tool that it names.
        path: JSON Pointer of the object.
        about: The keys in question.
        given: The object.
        schemas: Its schemas.
        names: What they declare.
    """

    call: Call
    tool: Tool
    path: str
    about: frozenset[str]
    given: JsonObject
    schemas: Alternatives
    names: Mapping[str, JSON]


def is_of_keys(place: Place) -> bool:
    """Whether a place asks where a value belongs, not which."""
    return place.value is ABSENT or not place.declared


def levels_of(places: Iterable[Place]) -> list[Level]:
    """The objects that places stand in, as far as the schema knows them."""
    about: dict[str, list[Place]] = {}
    for place in places:
        about.setdefault(parent(place.path), []).append(place)
    return [
        Level(some[0].call, some[0].tool, path, frozenset(one.key for one in some), *found)
        for path, some in about.items()
        if (found := object_at(some[0].call, some[0].tool, path)) is not None
    ]


Way: TypeAlias = Callable[[Sequence[Level]], Sequence[Change] | Unclear]
"""Finds where the keys in question belong, or says why nowhere."""


def moved(levels: Sequence[Level], ways: Iterable[tuple[str, Way]]) -> tuple[Change, ...] | Refusal:
    """The changes that bring keys to their places, by the first way that finds any."""
    whys: dict[str, Unclear] = {}
    for strategy, way in ways:
        found = way(levels)
        if not isinstance(found, Unclear):
            return tuple(replace(change, strategy=strategy) for change in found)
        whys[strategy] = found
    return Refusal(str(next(reversed(whys.values()), "no key may be moved")), whys)


def changes_of(
    path: str, given: JsonObject, moves: Mapping[str, str], reason: str
) -> Iterator[Change]:
    """The changes that carry out some moves: each key goes, each name comes."""
    for key, to in moves.items():
        yield edit(path + join(key), given[key], ABSENT, reason)
        yield edit(path + join(to), ABSENT, given[key], reason)


Faults: TypeAlias = Counter[tuple[str | None, str | None]]


def faults_after(level: Level, changes: Sequence[Change], moved: Iterable[str] = ()) -> Faults:
    """What is wrong after some changes, but for the values at the places that were moved to."""
    args: Any = apply(level.call, changes).args
    if level.tool.is_valid(args):
        return Counter()
    places = tuple(moved)
    left = level.tool.violations(args)
    return faults([f for f in left if not any(is_within(f.path, place) for place in places)])
