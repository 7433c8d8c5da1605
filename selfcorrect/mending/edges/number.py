"""A number written as text: in digits, in words, with the unit or currency that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from selfcorrect.kernel.spellings import Slot
from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.pointer import split
from selfcorrect.schema.places import Place, object_at, parent
from selfcorrect.schema.slots import slots_of
from selfcorrect.text import Unclear, spelling, tokens
from selfcorrect.values.quantities import read_number

_TELL_UNITS: Final = frozenset({"ccy", "currency", "scale", "unit", "units"})


@dataclass(frozen=True, slots=True)
class Number:
    """The number that a text names, if what stands beside it agrees with the parameter.

    Attributes:
        words: What else names a number here, by its spelling.
    """

    words: Mapping[str, float] = field(default_factory=dict)

    def __call__(self, value: JSON, want: Place) -> Iterator[Fit]:
        """Read a number where one is asked for; never rounded, never out of an expression."""
        if not want.kinds & {"integer", "number"}:
            return
        if isinstance(value, float) and "number" not in want.kinds:
            if not value.is_integer() or abs(value) >= 2**53:
                raise Unclear(f"{value!r} is not a whole number")
            reason = "a whole number without a fraction"
            yield candidate(int(value), "whole-number", reason)
        if not isinstance(value, str):
            return
        known = (
            {spelling(word): number for word, number in self.words.items()} if self.words else {}
        )
        if (given := known.get(spelling(value))) is not None:
            yield candidate(given, "told-word", "a number word that the map gives")
            return
        slot = replace(slots_of(want.tool.schema)(tuple(split(want.path)[1:])), kinds=want.kinds)
        for told in _units_beside(want):
            # Where the argument beside says another unit than the schema, either may be meant.
            read_number(value, Slot(kinds=want.kinds, said=f"({told})"))
        number = read_number(value, slot)
        is_said = "%" in value or any(map(str.isalpha, value))
        cost = "number-words" if is_said else "number-text"
        yield candidate(number, cost, "a number written as text")


def numbers(parts: list[str], kinds: frozenset[str]) -> list[JSON] | None:
    """The numbers that parts of a text name, if none says more than a number."""
    try:
        return [read_number(part, Slot(kinds=kinds)) for part in parts]
    except Unclear:
        return None


def _units_beside(want: Place) -> list[str]:
    """What the one argument beside the number says that tells its unit or currency."""
    around = object_at(want.call, want.tool, parent(want.path))
    given = {} if around is None else {name: around[0].get(name) for name in around[2]}
    names = [name for name in given if not _TELL_UNITS.isdisjoint(tokens(name))]
    own = [name for name in names if tokens(name)[:-1] == tokens(want.name)] or names
    told = [given[name] for name in own if len(own) == 1]
    return [one for one in told if isinstance(one, str) and one.strip()]
