"""Which absent argument of the same object an unknown key stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from selfcorrect.kernel.joint import assigned
from selfcorrect.kernel.likeness import is_placeholder
from selfcorrect.kernel.texts import quoted
from selfcorrect.mending.cost import OFF
from selfcorrect.mending.place import Claims, Level, changes_of, faults_after, place
from selfcorrect.model import Change
from selfcorrect.pointer import join, split
from selfcorrect.schema.keys import (
    Surroundings,
    is_open,
    loosely_fits,
    spelled_alike,
    suitors,
)
from selfcorrect.schema.places import faults_now, parent
from selfcorrect.schema.slots import slots_of
from selfcorrect.schema.subschema import alternatives, required
from selfcorrect.text import Unclear

_MOST_COMPARED: Final = 50
_OPENING: Final = frozenset("{[")
"""How a text begins that may hold several arguments."""
_REASON: Final = "an argument under another name"


def _surroundings(level: Level, synonyms: Mapping[str, str]) -> Surroundings:
    said = {name: alternatives(told, level.tool.schema) for name, told in level.names.items()}
    absent = {name: said[name] for name in level.absent}
    return Surroundings(
        tool=level.tool,
        names=absent,
        required=frozenset(name for name in absent if required(level.schemas, name)),
        synonyms=synonyms,
        is_open=is_open(level.schemas),
    )


def renamed(
    levels: Sequence[Level], prices: Mapping[str, float], synonyms: Mapping[str, str]
) -> list[Change] | Unclear:
    """All keys of the objects in question under their new names, where one of them is meant."""
    made: list[tuple[Level, Mapping[str, str]]] = []
    why = Unclear("the error does not speak of an argument")
    for level in levels:
        found = _renames(level, prices, synonyms)
        if isinstance(found, Unclear):
            why = found if level is levels[0] else why
        else:
            made.append((level, found))
    return _together(made) if made else why


def _renames(
    level: Level, prices: Mapping[str, float], synonyms: Mapping[str, str]
) -> Mapping[str, str] | Unclear:
    """The new names of all keys of an object, if one of them concerns a key in question."""
    unknown = level.unknown
    if level.about.isdisjoint([*unknown, *level.absent]):
        return Unclear("the argument is neither unknown nor missing")
    around = _surroundings(level, synonyms)
    same = spelled_alike(unknown, around.names)
    rest = [key for key in unknown if not same.get(key)][:_MOST_COMPARED]
    near = {key: suitors(key, level.given[key], around) for key in rest}
    placed, blocked = dict[str, str](), set[str]()
    claims: dict[str, Sequence[str]] = {}
    # The surest reason speaks first: the spelling, the letters and words, the only one left.
    for cost, found in (("key-spelling", same), ("key-like", near)):
        if prices[cost] < OFF:
            said = {key: to for key, to in found.items() if to and key not in claims}
            claims |= said
            place(said, placed, blocked)
    left = [key for key in unknown if key not in claims]
    if prices["key-unnamed"] < OFF and len(left) == 1:
        place(_unnamed(left[0], level, around, placed), placed, blocked)
    placed = {key: placed[key] for key in unknown if key in placed}
    if level.about.isdisjoint([*placed, *placed.values()]):
        # A joint assignment rests on both: whoever switches one of them off has none.
        if max(prices["key-spelling"], prices["key-like"]) < OFF:
            where = tuple(split(level.path)[1:])
            if joint := assigned(level.given, slots_of(level.tool.schema), where):
                return joint
        taken = {*placed.values()}
        open_to = {k: [n for n in to if n not in taken] for k, to in claims.items()}
        return _unclear(
            min(level.about), {k: open_to.get(k, ()) for k in unknown if k not in placed}
        )
    return placed


def _unnamed(key: str, level: Level, around: Surroundings, placed: Mapping[str, str]) -> Claims:
    """The one missing argument, for the one key that is no name."""
    missing = [name for name in around.required if name not in placed.values()]
    value = level.given[key]
    holds_more = isinstance(value, str) and value.lstrip()[:1] in _OPENING
    if around.is_open or len(missing) != 1 or holds_more or not is_placeholder(key):
        return {}
    return {key: missing} if loosely_fits(value, around.names[missing[0]]) else {}


def _unclear(wanted: str, claims: Claims) -> Unclear:
    """For what a key could stand, or what could stand for an argument."""
    if wanted in claims:
        names, what = [*claims[wanted]], "could stand for"
    else:
        names = [key for key, claimed in claims.items() if wanted in claimed]
        what = "could be meant by"
    listed = ", ".join(quoted(name, 60) for name in names[:5])
    which = f"any of {listed}" if names else "nothing that is known"
    return Unclear(f"{quoted(wanted, 60)} {what} {which}")


def _together(found: Sequence[tuple[Level, Mapping[str, str]]]) -> list[Change] | Unclear:
    """The renames that break nothing but, at worst, the form of a value."""
    level = found[0][0]
    before = faults_now(level.tool, level.call)
    left = list(found)
    for _ in range(2):
        changes = [
            change
            for one, moves in left
            for change in changes_of(one.path, one.given, moves, _REASON)
        ]
        moved = [one.path + join(to) for one, moves in left for to in moves.values()]
        broken = faults_after(level, changes, moved) - before
        if not broken:
            return changes
        places = {parent(path) for path, _ in broken if path}
        left = [(one, moves) for one, moves in left if one.path not in places]
        if not left:
            break
    return Unclear("the renamed argument would make something else invalid")
