"""All ways in which one written value can be read as what a place wants."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from selfcorrect.model import JSON, JsonObject, Safety
from selfcorrect.schema.slot import Slot
from selfcorrect.values.booleans import read_boolean
from selfcorrect.values.choices import read_choice, read_synonym
from selfcorrect.values.dates import DATES, read_date
from selfcorrect.values.lists import read_list
from selfcorrect.values.nothing import read_nothing
from selfcorrect.values.numbers import read_number
from selfcorrect.values.reading import Reader, Reading
from selfcorrect.values.structures import read_nested, read_wrapped
from selfcorrect.values.texts import read_text

SHAPES: Final = frozenset(
    {"split-list", "wrap-list", "unwrap-list", "unwrap-value", "parse-nested"}
)
"""Strategies that read the shape of a value; what is inside may need repair itself."""


@dataclass(frozen=True, slots=True)
class Allow:
    """What may be done to the arguments of one call.

    Attributes:
        strategies: Names of the strategies that the ladders list.
        classes: Classes of changes that the policy lets run.
        acts: Whether the tool changes something.
        description: What the tool's author says of it; none of its words is a slip.
        tables: What a map gives a strategy to look words up in, by strategy.
    """

    strategies: frozenset[str]
    classes: frozenset[Safety] = frozenset({Safety.EXACT, Safety.INFERRED, Safety.LOSSY})
    acts: bool = True
    description: str = ""
    tables: Mapping[str, JsonObject] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        strategies: Iterable[Any],
        classes: Iterable[Safety],
        *,
        acts: bool,
        description: str = "",
    ) -> "Allow":
        """Return what strategy objects allow together; the words of the first count."""
        tables: dict[str, JsonObject] = {}
        for each in strategies:
            tables[each.NAME] = {**getattr(each, each.TABLE, {}), **tables.get(each.NAME, {})}
        return cls(frozenset(tables), frozenset(classes), acts, description, tables)

    def table(self, strategy: str) -> JsonObject:
        """Return what a strategy looks words up in."""
        return self.tables.get(strategy, {})

    def takes(self, reading: Reading) -> bool:
        """Say whether a value may be read so."""
        is_safe = not (reading.is_guess and self.acts)
        return is_safe and self.lets(reading.strategy, reading.safety)

    def lets(self, strategy: str, safety: Safety) -> bool:
        """Say whether a strategy may make a change of a class."""
        return strategy in self.strategies and safety in self.classes


def readings(value: JSON, slot: Slot, allow: Allow) -> list[Reading]:
    """Return the readings of a value; two ways may give the same one.

    >>> slot = Slot.of({"properties": {"n": {"type": "integer"}}}).properties["n"]
    >>> allow = Allow(frozenset({"convert-type"}))
    >>> [(each.value, each.safety.value) for each in readings(" 5", slot, allow)]
    [(5, 'exact')]
    >>> readings("2.5", slot, allow)
    []
    """
    found = [each for read in _readers(value, slot, allow) for each in read(value, slot)]
    if slot.choices:
        found += read_synonym(value, slot, allow.table("correct-enum"))
    allowed = (each for each in found if allow.takes(each))
    return [each for each in allowed if each.strategy in SHAPES or slot.accepts(each.value)]


def _readers(value: JSON, slot: Slot, allow: Allow) -> Iterator[Reader]:
    """Yield the primitives that may read a value of this type in this place."""
    kinds = slot.kinds
    if isinstance(value, dict):
        yield read_wrapped
    else:
        if "boolean" in kinds:
            yield read_boolean
        if kinds & _NUMBERS:
            yield read_number
        if slot.choices:
            yield read_choice
        elif slot.takes("string"):
            yield read_text
            if slot.format in DATES or slot.pattern:
                yield read_date
        # For a tool that acts, what is empty is missing, and not null.
        if isinstance(value, str) and slot.is_nullable and (value.strip() or not allow.acts):
            yield read_nothing
    if isinstance(value, str) and value.lstrip()[:1] in _OPENERS:
        yield read_nested
    if "array" in kinds or isinstance(value, list):
        yield read_list


_NUMBERS: Final = frozenset({"integer", "number"})
_OPENERS: Final = ("[", "{", "(")
