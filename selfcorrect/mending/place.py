"""Where does this value belong? One assignment of the unknown keys of an object to places.

A place is another name in the same object, or one deeper inside. A key that two places claim waits
until the others are placed; what is then still open on either side is a tie, and nobody breaks it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from selfcorrect.mending.cost import OFF
from selfcorrect.model import ABSENT, JSON, Call, Change, JsonObject, Safety
from selfcorrect.pointer import apply, join, split
from selfcorrect.protocols import Tool
from selfcorrect.schema.places import faults, is_within, object_at
from selfcorrect.schema.subschema import Alternatives

_MOST: Final = 1_000

Tokens: TypeAlias = tuple[str, ...]
"""A place, from the object that a key stands in."""


@dataclass(frozen=True, slots=True)
class Level:
    """An object in the arguments, and what the schema says of it.

    Attributes:
        call: The call.
        tool: The tool that it names.
        path: JSON Pointer of the object.
        given: The object.
        schemas: Its schemas.
        names: What they declare.
    """

    call: Call
    tool: Tool
    path: str
    given: JsonObject
    schemas: Alternatives
    names: Mapping[str, JSON]

    @property
    def unknown(self) -> list[str]:
        """The keys that are not declared, bounded."""
        return [key for key in self.given if key not in self.names][:_MOST]

    @property
    def where(self) -> Tokens:
        """The place of the object, from the arguments."""
        return split(self.path)[1:]


def level_at(call: Call, tool: Tool, path: str) -> Level | None:
    """The object at a pointer into a call, if there is one that the schema knows."""
    around = object_at(call, tool, path)
    return None if around is None else Level(call, tool, path, *around)


Claims: TypeAlias = Mapping[str, Sequence[Tokens]]
"""By key, the places where it could belong."""


class KeyEdge(NamedTuple):
    """One reason why a key could belong somewhere.

    Attributes:
        cost: Its row in the table of costs.
        safety: The class of a change for this reason.
        claims: Says where each of some keys could belong, given the places that are taken.
    """

    cost: str
    safety: Safety
    claims: Callable[[Sequence[str], frozenset[Tokens], Level], Claims]


class Move(NamedTuple):
    """A key, and where it belongs."""

    key: str
    to: Tokens
    safety: Safety


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which key belongs where.

    Attributes:
        moves: The keys that were placed.
        open: By key that was not placed, the places that it could have.
    """

    moves: tuple[Move, ...]
    open: Claims


def assign(
    level: Level, keys: Sequence[str], edges: Iterable[KeyEdge], prices: Mapping[str, float]
) -> Assignment:
    """The one assignment of unknown keys that leaves no tie; the cheapest reason speaks first."""
    placed: dict[str, Move] = {}
    claims: dict[str, Sequence[Tokens]] = {}
    blocked: set[Tokens] = set()
    dear = [edge for edge in edges if prices[edge.cost] < OFF]
    for edge in sorted(dear, key=lambda one: prices[one.cost]):
        rest = [key for key in keys if not claims.get(key)]
        if not rest:
            break
        taken = frozenset(move.to for move in placed.values())
        found = {key: to for key, to in edge.claims(rest, taken, level).items() if to}
        claims |= found
        _place(found, placed, blocked, edge.safety)
    taken = frozenset(move.to for move in placed.values())
    left = {k: [to for to in claims.get(k, ()) if to not in taken] for k in keys if k not in placed}
    return Assignment(tuple(placed[key] for key in keys if key in placed), left)


def _place(claims: Claims, placed: dict[str, Move], blocked: set[Tokens], safety: Safety) -> None:
    """Place every key that has one place left which no other such key has, until none is."""
    waiting = {key: [*places] for key, places in claims.items()}
    while waiting:
        taken = {move.to for move in placed.values()} | blocked
        single: dict[Tokens, list[str]] = {}
        for key, places in list(waiting.items()):
            left = [to for to in places if to not in taken]
            if not left:
                del waiting[key]
            elif len(left) == 1:
                single.setdefault(left[0], []).append(key)
        if not single:
            break
        for to, keys in single.items():
            if len(keys) == 1:
                placed[keys[0]] = Move(keys[0], to, safety)
            else:
                blocked.add(to)
            for key in keys:
                del waiting[key]
    blocked.update(to for places in waiting.values() for to in places)


def changes_of(level: Level, moves: Sequence[Move], reason: str) -> Iterator[Change]:
    """The changes that carry out some moves: each key goes, each place or its object comes."""
    built: dict[str, Any] = {}
    kept: dict[str, Safety] = {}
    for key, to, safety in moves:
        value = level.given[key]
        yield Change(level.path + join(key), value, ABSENT, safety, reason)
        if len(to) == 1:
            yield Change(level.path + join(*to), ABSENT, value, safety, reason)
            continue
        here = built.setdefault(to[0], dict(level.given.get(to[0]) or {}))
        kept[to[0]] = max(safety, kept.get(to[0], safety), key=list(Safety).index)
        for token in to[1:-1]:
            here[token] = dict(here.get(token) or {})
            here = here[token]
        here[to[-1]] = value
    for name, value in built.items():
        before = level.given.get(name, ABSENT)
        yield Change(level.path + join(name), before, value, kept[name], reason)


Faults: TypeAlias = Counter[tuple[str | None, str | None]]


def faults_after(level: Level, changes: Sequence[Change], moved: Iterable[str] = ()) -> Faults:
    """What is wrong after some changes, but for the values at the places that were moved to."""
    args: Any = apply(level.call, changes).args
    if level.tool.is_valid(args):
        return Counter()
    places = tuple(moved)
    left = level.tool.violations(args)
    return faults([f for f in left if not any(is_within(f.path, place) for place in places)])


def faults_now(level: Level) -> Faults:
    """What is wrong with the call as it is."""
    valid = level.tool.is_valid(level.call.args)
    return Counter() if valid else faults(level.tool.violations(level.call.args))


def is_free(level: Level, to: Tokens) -> bool:
    """Whether nothing stands at a place, and only objects on the way to it."""
    here: JSON = level.given
    for token in to[:-1]:
        here = here.get(token)
        if here is None:
            return True
        if not isinstance(here, Mapping):
            return False
    return to[-1] not in here
