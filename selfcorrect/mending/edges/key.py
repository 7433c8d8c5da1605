"""Which absent argument of the same object an unknown key stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from selfcorrect.kernel.joint import assigned
from selfcorrect.kernel.spellings import Words
from selfcorrect.kernel.texts import quoted
from selfcorrect.mending.cost import OFF
from selfcorrect.mending.place import Level, changes_of, faults_after
from selfcorrect.model import Change
from selfcorrect.pointer import join, split
from selfcorrect.schema.closing import WORDS
from selfcorrect.schema.keys import names_of
from selfcorrect.schema.places import faults_now, parent
from selfcorrect.text import Unclear

_REASON: Final = "an argument under another name"


def renamed(
    levels: Sequence[Level], prices: Mapping[str, float], synonyms: Mapping[str, str]
) -> list[Change] | Unclear:
    """All keys of the objects in question under their new names, where one of them is meant."""
    off = {kind for kind, price in prices.items() if price >= OFF}
    made: list[tuple[Level, Mapping[str, str]]] = []
    why: Unclear | None = None
    for level in levels:
        is_open = any(one.get(k) not in (None, False) for one in level.schemas for k in WORDS)
        # Where any key may stand, `arg1` may be meant.
        without = frozenset(off | {"key-unnamed"} if is_open else off)
        about = names_of(level.tool, Words(synonyms), without)
        found = assigned(level.given, about, tuple(split(level.path)[1:]))
        if level.about.isdisjoint([*found.names, *found.names.values()]):
            why = why or _unclear(min(level.about), found.claims)
        else:
            made.append((level, found.names))
    none = Unclear("the error does not speak of an argument")
    return _together(made) if made else why or none


def _unclear(wanted: str, claims: Mapping[str, Sequence[str]]) -> Unclear:
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
