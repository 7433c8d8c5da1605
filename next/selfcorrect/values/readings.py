"""All ways in which one written value can be read as what a place wants."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from selfcorrect.model import JSON, JsonObject, Safety
from selfcorrect.schema.slot import Slot
from selfcorrect.values.booleans import read_boolean
from selfcorrect.values.choices import read_choice, read_synonym
from selfcorrect.values.dates import read_date
from selfcorrect.values.lists import read_list
from selfcorrect.values.nothing import read_nothing
from selfcorrect.values.numbers import read_number
from selfcorrect.values.reading import Primitive, Reader, Reading
from selfcorrect.values.structures import read_nested, read_wrapped
from selfcorrect.values.texts import read_text


@dataclass(frozen=True, slots=True)
class Allow:
    """What may be done to the arguments of one call.

    Attributes:
        strategies: Those that the ladders list, in their order.
        classes: Classes of changes that the policy lets run.
        acts: Whether the tool changes something.
        description: What the tool's author says of it; none of its words is a slip.
    """

    strategies: tuple[Primitive, ...]
    classes: frozenset[Safety] = frozenset({Safety.EXACT, Safety.INFERRED, Safety.LOSSY})
    acts: bool = True
    description: str = ""

    def find(self, name: str) -> Primitive | None:
        """Return a strategy, if it is listed."""
        return next((each for each in self.strategies if each.name == name), None)

    def words(self, name: str) -> JsonObject:
        """Return what a strategy looks words up in."""
        found = self.find(name)
        return found.words if found else {}

    def lets(self, name: str, safety: Safety) -> bool:
        """Say whether a strategy may make a change of a class."""
        return safety in self.classes and self.find(name) is not None

    def takes(self, reading: Reading) -> bool:
        """Say whether a value may be read so."""
        return reading.safety in self.classes and not (reading.is_guess and self.acts)


def readings(value: JSON, slot: Slot, allow: Allow) -> list[Reading]:
    """Return the readings of a value in the order of the strategies; two may give the same one.

    >>> slot = Slot.of({"properties": {"n": {"type": "integer"}}}).properties["n"]
    >>> allow = Allow((Primitive("convert-type", "", readers=(read_number,)),))
    >>> [(each.value, each.safety.value) for each in readings(" 5", slot, allow)]
    [(5, 'exact')]
    >>> readings("2.5", slot, allow)
    []
    """
    made = {read: [*read(value, slot)] for read in _readers(value, slot)}
    found: list[Reading] = []
    for strategy in allow.strategies:
        ways = [each for read in strategy.readers for each in made.get(read, ())]
        if read_choice in strategy.readers and slot.choices:
            ways += read_synonym(value, slot, strategy.words)
        found += [
            each
            for each in ways
            if each.strategy == strategy.name
            and allow.takes(each)
            and (strategy.is_shape or slot.accepts(each.value))
        ]
    return found


def applicable(value: JSON, slot: Slot, allow: Allow) -> tuple[str, ...]:
    """Return the names of the strategies that can look at a value of this type in this place."""
    readers = {*_readers(value, slot)}
    return tuple(each.name for each in allow.strategies if not readers.isdisjoint(each.readers))


def _readers(value: JSON, slot: Slot) -> Iterator[Reader]:
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
            if slot.format in _DATES or slot.pattern:
                yield read_date
        if isinstance(value, str) and slot.is_nullable:
            yield read_nothing
    if isinstance(value, str) and value.lstrip()[:1] in _OPENERS:
        yield read_nested
    if "array" in kinds or isinstance(value, list):
        yield read_list


_NUMBERS: Final = frozenset({"integer", "number"})
_DATES: Final = frozenset({"date", "date-time", "time"})
_OPENERS: Final = ("[", "{", "(")
