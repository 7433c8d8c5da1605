"""clamp: the nearest value within the bounds."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from selfcorrect.model import JSON, Call, Diagnosis, GiveUp, JsonObject, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, present
from selfcorrect.schema.subschema import is_number, types_of
from selfcorrect.text import LONGEST, tokens
from selfcorrect.words import singular


@dataclass(frozen=True, slots=True)
class Clamp:
    """Moves a value to the nearest one within bounds: 500 to 100 where 100 is the most.

    Every such change is lossy, because the meaning changes. Numbers are moved to the minimum or
    maximum (exclusive ones for integers only) and down to a multiple; texts and lists that are too
    long are cut. What is too short cannot be mended here, and what is no size is left alone: the
    nearest month, place or number of an order is another one. Only the schema's own bounds count,
    never one that an error tells of.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"limit": {"type": "integer", "maximum": 100}}}
    >>> change = try_strategy(Clamp(), schema, {"limit": 500}).changes[0]
    >>> change.after, change.safety.value
    (100, 'lossy')
    """

    name = "clamp"
    safety = (Safety.LOSSY,)
    needs = "nothing"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Clamp the value at the first finding."""
        place = present(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if not place.own:
            return GiveUp("the schema names no bound that it breaks")
        # A rule may let lossy changes of a tool that reads run: month 12 in place of 13 is wrong.
        if not isinstance(place.value, list | tuple) and _is_no_size(place):
            return GiveUp("it says which one, not how much, so the nearest one is another")
        after = _within_bounds(place)
        if isinstance(after, GiveUp):
            return after
        return place.mend(after, "the nearest value within the bounds", Safety.LOSSY)


_CLOCK: Final = frozenset({"day", "hour", "minute", "month", "quarter", "week", "weekday", "year"})
_POINTS: Final = _CLOCK | {"date", "epoch", "timestamp"}
_WHICH: Final = frozenset(
    {"code", "id", "identifier", "index", "isbn", "key", "number", "phone", "pin", "port"}
    | {"postcode", "sku", "uuid", "version", "zip", "zipcode"}
    | {"lat", "latitude", "lng", "lon", "longitude", "second", "time"}
)
"""Last words of names by which something is told from others."""
_SIZES: Final = frozenset(
    {"count", "duration", "length", "limit", "offset", "per", "size", "total"}
)
_PAGES: Final = frozenset({"page"})
_ROUNDS: Final = frozenset({23, 59})
"""How far a clock counts before it begins again."""


def _is_no_size(place: Place) -> bool:
    """Whether the name is that of a part of a date or time, or of an identifier."""
    words = tokens(place.name[:LONGEST])
    if place.key.isdigit():
        words = tuple(map(singular, words))
    if not words or not _SIZES.isdisjoint(words):
        return False
    if not _POINTS.isdisjoint(words):
        return True
    if words[-1] in _WHICH:
        return _PAGES.isdisjoint(words)
    most = _least(place.schemas, "maximum")
    return most in _ROUNDS and singular(words[-1]) in _CLOCK | {"second"}


def _within_bounds(place: Place) -> JSON | GiveUp:
    value: Any = place.value
    if is_number(value):
        schemas = [s for s in place.schemas if types_of(s) & {"integer", "number"}]
        if len(schemas) != 1:
            return GiveUp("the schema does not give one range of numbers")
        return _clamped(value, schemas[0])
    if not isinstance(value, str | list | tuple):
        return GiveUp("there is no range for such a value")
    most = _least(place.schemas, "maxLength" if isinstance(value, str) else "maxItems")
    if most is None:
        return GiveUp("no greatest length is given")
    return _cut(value, most) if isinstance(value, str) else list(value[:most])


def _least(schemas: Iterable[JsonObject], keyword: str) -> int | None:
    found = [value for s in schemas if is_number(value := s.get(keyword)) and value >= 0]
    return int(min(found)) if found else None


def _cut(text: str, size: int) -> str:
    """The first characters, without half a letter at the end."""
    while 0 < size < len(text) and unicodedata.combining(text[size]):
        size -= 1
    return text[:size]


def _clamped(value: float, schema: JsonObject) -> JSON | GiveUp:
    """The nearest number within the bounds; exact arithmetic, so that 0.3 is a multiple of 0.1."""
    whole = types_of(schema) & {"integer", "number"} == {"integer"}
    wanted: Any = _exactly(value)
    lows: list[Any] = _bounds(schema, "minimum")
    highs: list[Any] = _bounds(schema, "maximum")
    above, below = _bounds(schema, "exclusiveMinimum"), _bounds(schema, "exclusiveMaximum")
    if whole:
        lows = [*map(math.ceil, lows), *(math.floor(bound) + 1 for bound in above)]
        highs = [*map(math.floor, highs), *(math.ceil(bound) - 1 for bound in below)]
    elif any(wanted <= bound for bound in above) or any(wanted >= bound for bound in below):
        return GiveUp("there is no nearest number beside an exclusive bound")
    wanted = min([max([wanted, *lows]), *highs])
    for step in _bounds(schema, "multipleOf"):
        wanted = wanted // step * step if step > 0 else wanted
    if wanted.denominator == 1 and (whole or isinstance(value, int)):
        return wanted.numerator
    try:
        return float(wanted)
    except OverflowError:
        return GiveUp("it is beyond the range of numbers")


def _bounds(schema: JsonObject, keyword: str) -> list[Fraction]:
    """The bound that a schema names, if it does."""
    value = schema.get(keyword)
    return [_exactly(value)] if is_number(value) else []


def _exactly(number: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))
