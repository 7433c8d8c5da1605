"""All ways in which one written value can be read as what a place wants."""

from collections.abc import Mapping
from dataclasses import field

from selfcorrect.model import JSON, JsonObject, Safety, frozen
from selfcorrect.schema.place import Place
from selfcorrect.values.booleans import read_boolean
from selfcorrect.values.choices import read_choice, read_synonym
from selfcorrect.values.dates import DATES, read_date, read_relative
from selfcorrect.values.lists import read_list
from selfcorrect.values.nothing import read_nothing
from selfcorrect.values.numbers import read_number
from selfcorrect.values.primitives import EVERY, PRIMITIVES, Reader, Reading
from selfcorrect.values.structures import OPENED, read_nested, read_wrapped
from selfcorrect.values.texts import read_words


@frozen
class Permission:
    """What may be done to the arguments of one call.

    Attributes:
        strategies: Those that the ladders list, in their order, each with the words that its
            option holds.
        classes: Classes of changes that the policy lets run.
        acts: Whether the tool changes something.
        description: What the tool's author says of it; none of its words is a slip.
    """

    strategies: Mapping[str, JsonObject] = field(default_factory=lambda: EVERY)
    classes: frozenset[Safety] = frozenset(Safety)
    acts: bool = True
    description: str = ""

    def words(self, name: str) -> JsonObject:
        """Return what a strategy looks words up in."""
        return self.strategies.get(name, {})

    def lets(self, name: str, safety: Safety) -> bool:
        """Say whether a strategy may make a change of a class."""
        return safety in self.classes and name in self.strategies

    def takes(self, reading: Reading) -> bool:
        """Say whether a value may be read so."""
        return reading.safety in self.classes and not (reading.is_guess and self.acts)


def readings(value: JSON, place: Place, allow: Permission) -> list[Reading]:
    """Return the readings of a value in the order of the strategies; two may give the same one.

    >>> place = Place.of({"properties": {"n": {"type": "integer"}}}).properties["n"]
    >>> allow = Permission({"convert-type": {}})
    >>> [(each.value, each.safety.value) for each in readings(" 5", place, allow)]
    [(5, 'exact')]
    >>> readings("2.5", place, allow)
    []
    """
    every = [each for read in _readers(value, place) for each in read(value, place)]
    if place.choices:
        every += read_synonym(value, place, allow.words("correct-enum"))
    if days := allow.words("format-date"):
        every += read_relative(value, days)
    return [
        each
        for name in allow.strategies
        for each in every
        if each.strategy == name
        and allow.takes(each)
        and (PRIMITIVES[name].is_shape or place.accepts(each.value))
    ]


def _readers(value: JSON, place: Place) -> list[Reader]:
    """Return what may read a value of this type in this place."""
    is_text, is_list, is_object = (isinstance(value, each) for each in (str, list, dict))
    types = frozenset[str]() if is_object else place.types
    is_free = not (is_object or place.choices) and place.takes("string")
    has_form = place.format in DATES or bool(place.pattern)
    table: list[tuple[object, Reader]] = [
        (is_object, read_wrapped),
        ("boolean" in types, read_boolean),
        (types & {"integer", "number"}, read_number),
        (is_free, read_words),
        (is_free and has_form, read_date),
        (is_text and place.is_nullable, read_nothing),
        (place.choices and not is_object, read_choice),
        (is_text and str(value).lstrip()[:1] in OPENED, read_nested),
        (is_list, read_list),
        ("array" in place.types and not is_list, read_list),
    ]
    return [read for may_read, read in table if may_read]
