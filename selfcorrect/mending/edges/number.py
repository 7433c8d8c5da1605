"""A number written as text: in digits, in words, with the unit or currency that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.schema.places import Place, object_at, parent
from selfcorrect.text import Unclear, spelling
from selfcorrect.values.quantities import Quantity, read_quantity
from selfcorrect.values.wanted import Wanted, check

_TELL_UNITS: Final = ("unit", "x-unit", "x-currency")


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
        whole = "number" not in want.kinds
        if isinstance(value, float) and whole:
            if not value.is_integer() or abs(value) >= 2**53:
                raise Unclear(f"{value!r} is not a whole number")
            reason = "a whole number without a fraction"
            yield candidate(int(value), "whole-number", reason)
        if not isinstance(value, str):
            return
        known = (
            {spelling(word): number for word, number in self.words.items()} if self.words else {}
        )
        if (told := known.get(spelling(value))) is not None:
            yield candidate(told, "told-word", "a number word that the map gives")
            return
        found = read_quantity(value, whole=whole)
        check(found, _asked(want))
        is_said = "%" in value or any(map(str.isalpha, value))
        cost = "number-words" if is_said else "number-text"
        yield candidate(found.value, cost, "a number written as text")


def numbers(parts: list[str], *, whole: bool) -> list[JSON] | None:
    """The numbers that parts of a text name, if none says more than a number."""
    try:
        found: list[Quantity] = [read_quantity(part, whole=whole) for part in parts]
    except Unclear:
        return None
    if any(one.currency or one.unit or one.percent or one.may_mean_more for one in found):
        return None
    return [one.value for one in found]


def _asked(want: Place) -> Wanted:
    """What the schema, and the arguments beside this one, say of the number."""
    most = [schema.get("maximum") for schema in want.schemas]
    around, above = _arguments(want, "/args"), parent(want.path)
    beside = around if above == "/args" else _arguments(want, above)
    told = [one[key] for one in want.schemas for key in _TELL_UNITS if key in one]
    description = f"{want.description} {' '.join(f'({unit})' for unit in told)}".strip()
    return Wanted(want.name, description, most, want.meets, beside, around)


def _arguments(want: Place, path: str) -> dict[str, JSON]:
    """The arguments that the object at a pointer may have, `None` for those that it has not."""
    around = object_at(want.call, want.tool, path)
    return {} if around is None else {name: around[0].get(name) for name in around[2]}
