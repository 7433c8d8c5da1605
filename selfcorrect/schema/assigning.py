"""Which unknown keys stand for which absent arguments: one assignment for the whole object.

A key that two arguments claim waits until the others are placed; what is then still open on
either side is a tie, and nobody breaks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from selfcorrect.model import JSON, Safety
from selfcorrect.schema.keys import (
    Surroundings,
    is_described,
    is_placeholder,
    loosely_fits,
    spelled_alike,
    suitors,
)

_MOST: Final = 1_000
_MOST_COMPARED: Final = 50
_OPENING: Final = frozenset("{[")
"""How a text begins that may hold several arguments."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which key stands for which argument.

    Attributes:
        names: By key, the argument that it stands for, and how surely.
        open: By key that was not placed, the arguments that it could stand for.
    """

    names: Mapping[str, tuple[str, Safety]]
    open: Mapping[str, Sequence[str]]

    def key_of(self, name: str) -> str | None:
        """The key that stands for an argument, or None."""
        return next((key for key, (found, _) in self.names.items() if found == name), None)


def assign(unknown: Mapping[str, JSON], around: Surroundings) -> Assignment:
    """The one assignment of unknown keys to absent arguments that leaves no tie.

    Keys that differ in spelling only are placed first, then those that are alike, then those that
    only the description of an argument speaks of.
    """
    keys = list(islice(unknown, _MOST))
    placed: dict[str, tuple[str, Safety]] = {}
    blocked: set[str] = set()
    by_spelling = spelled_alike(keys, around.names)
    _place(by_spelling, placed, blocked, Safety.EXACT)
    rest = [key for key in keys if not by_spelling.get(key)][:_MOST_COMPARED]
    alike = {key: suitors(key, unknown[key], around) for key in rest}
    _place(alike, placed, blocked, Safety.INFERRED)
    loose = [key for key in rest if not alike[key]]
    taken = {name for name, _ in placed.values()}
    described = dict(_described(loose, unknown, around, taken))
    if not described:
        described = dict(_unnamed(loose, unknown, around, taken))
    _place(described, placed, blocked, Safety.INFERRED)
    claims = {**by_spelling, **{k: v for k, v in alike.items() if v}, **described}
    taken = {name for name, _ in placed.values()}
    return Assignment(
        placed,
        {k: [n for n in claims.get(k, ()) if n not in taken] for k in keys if k not in placed},
    )


def _place(
    claims: Mapping[str, Sequence[str]],
    placed: dict[str, tuple[str, Safety]],
    blocked: set[str],
    safety: Safety,
) -> None:
    """Place every key that has one argument left which no other such key has, until none is."""
    open_keys = {key: [*names] for key, names in claims.items() if names}
    while open_keys:
        taken = {name for name, _ in placed.values()} | blocked
        single: dict[str, list[str]] = {}
        for key, names in list(open_keys.items()):
            left = [name for name in names if name not in taken]
            if not left:
                del open_keys[key]
            elif len(left) == 1:
                single.setdefault(left[0], []).append(key)
        if not single:
            break
        for name, keys in single.items():
            if len(keys) == 1:
                placed[keys[0]] = (name, safety)
            else:
                blocked.add(name)
            for key in keys:
                del open_keys[key]
    blocked.update(name for names in open_keys.values() for name in names)


def _described(
    keys: Sequence[str], unknown: Mapping[str, JSON], around: Surroundings, taken: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """The keys that the description of an argument speaks of, if only one key can be meant."""
    if around.is_open:
        return
    for key in keys:
        names = [
            name
            for name in around.names
            if name not in taken and is_described(key, unknown[key], name, around)
        ]
        if names:
            yield key, names


def _unnamed(
    keys: Sequence[str], unknown: Mapping[str, JSON], around: Surroundings, taken: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """The one key that is no name (`params_name`), for the one argument that is missing."""
    missing = [name for name in around.required if name not in taken]
    if around.is_open or len(keys) != 1 or len(missing) != 1:
        return
    (key,), (name,) = keys, missing
    value = unknown[key]
    if isinstance(value, str) and value.lstrip()[:1] in _OPENING:
        return
    if is_placeholder(key) and loosely_fits(value, around.names[name]):
        yield key, missing
