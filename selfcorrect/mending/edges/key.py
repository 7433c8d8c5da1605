"""Which absent argument of the same object an unknown key stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from selfcorrect.kernel.likeness import is_placeholder
from selfcorrect.mending.place import (
    Assignment,
    Claims,
    KeyEdge,
    Level,
    Move,
    assign,
    changes_of,
    faults_after,
)
from selfcorrect.model import Call, Change
from selfcorrect.pointer import join
from selfcorrect.protocols import Tool
from selfcorrect.redaction import quoted
from selfcorrect.schema.keys import (
    Surroundings,
    is_open,
    loosely_fits,
    spelled_alike,
    suitors,
)
from selfcorrect.schema.places import faults_now, parent
from selfcorrect.schema.subschema import alternatives, required
from selfcorrect.text import Unclear

_MOST_COMPARED: Final = 50
_OPENING: Final = frozenset("{[")
"""How a text begins that may hold several arguments."""
_REASON: Final = "an argument under another name"


def key_edges(level: Level, synonyms: Mapping[str, str]) -> tuple[KeyEdge, ...]:
    """Why a key may stand for an argument: by its name, or as the only one left."""
    around = _surroundings(level, synonyms)
    same = spelled_alike(level.unknown, around.names)
    compared = dict.fromkeys([key for key in level.unknown if not same.get(key)][:_MOST_COMPARED])

    def spelled(keys: Sequence[str], _: frozenset[str]) -> Claims:
        return {key: same.get(key, ()) for key in keys}

    def alike(keys: Sequence[str], _: frozenset[str]) -> Claims:
        near = [key for key in keys if key in compared]
        return {key: suitors(key, level.given[key], around) for key in near}

    def unnamed(keys: Sequence[str], taken: frozenset[str]) -> Claims:
        missing = [name for name in around.required if name not in taken]
        if around.is_open or len(keys) != 1 or len(missing) != 1:
            return {}
        value = level.given[keys[0]]
        holds_more = isinstance(value, str) and value.lstrip()[:1] in _OPENING
        fits = not holds_more and loosely_fits(value, around.names[missing[0]])
        return {keys[0]: missing} if fits and is_placeholder(keys[0]) else {}

    return (
        KeyEdge("key-spelling", spelled),
        KeyEdge("key-like", alike),
        KeyEdge("key-unnamed", unnamed),
    )


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
    _: Call,
    __: Tool,
    levels: Sequence[Level],
    prices: Mapping[str, float],
    synonyms: Mapping[str, str],
) -> list[Change] | Unclear:
    """All keys of the objects in question under their new names, where one of them is meant."""
    made: list[tuple[Level, Sequence[Move]]] = []
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
) -> Sequence[Move] | Unclear:
    """The new names of all keys of an object, if one of them concerns a key in question."""
    unknown = level.unknown
    if level.about.isdisjoint([*unknown, *level.absent]):
        return Unclear("the argument is neither unknown nor missing")
    found = assign(unknown, key_edges(level, synonyms), prices)
    if level.about.isdisjoint([name for move in found.moves for name in (move.key, move.to)]):
        return _unclear(min(level.about), found)
    return found.moves


def _unclear(wanted: str, found: Assignment) -> Unclear:
    """For what a key could stand, or what could stand for an argument."""
    if wanted in found.open:
        names, what = [*found.open[wanted]], "could stand for"
    else:
        names = [key for key, claimed in found.open.items() if wanted in claimed]
        what = "could be meant by"
    listed = ", ".join(quoted(name, 60) for name in names[:5])
    which = f"any of {listed}" if names else "nothing that is known"
    return Unclear(f"{quoted(wanted, 60)} {what} {which}")


def _together(found: Sequence[tuple[Level, Sequence[Move]]]) -> list[Change] | Unclear:
    """The renames that break nothing but, at worst, the form of a value."""
    level = found[0][0]
    before = faults_now(level.tool, level.call)
    left = list(found)
    for _ in range(2):
        changes = [change for one, moves in left for change in changes_of(one, moves, _REASON)]
        moved = [one.path + join(move.to) for one, moves in left for move in moves]
        broken = faults_after(level, changes, moved) - before
        if not broken:
            return changes
        places = {parent(path) for path, _ in broken if path}
        left = [(one, moves) for one, moves in left if one.path not in places]
        if not left:
            break
    return Unclear("the renamed argument would make something else invalid")
