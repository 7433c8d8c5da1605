"""convert-type: the same value in the type that the schema asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

from selfcorrect.model import JSON, Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.pointer import look, split
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.descriptions import named_order
from selfcorrect.schema.places import Place, object_at, parent, present, without
from selfcorrect.schema.subschema import at, has_type, same, type_of, types_of
from selfcorrect.text import Unclear, spelling, tokens
from selfcorrect.values.quantities import (
    OTHER_SCALES,
    Quantity,
    currencies_in,
    read_quantity,
    unit_agrees,
    units_in,
)
from selfcorrect.values.spelled import as_spelled


class _Candidate(NamedTuple):
    value: JSON
    safety: Safety
    reason: str
    opens: bool = False
    """Whether what lies in the value may need a repair of its own."""


@dataclass(frozen=True, slots=True)
class ConvertType:
    """Writes a value in the type that the schema asks for: `"5"` as `5`, `12345` as `"12345"`.

    Exact where it is another spelling of the same value (`"1,234"`, `"$1,250.00"`, `"true"`, one
    value where only a list fits); inferred where there is one best reading (`"five"`, `"yes"`,
    `"5 km"` for a distance in km, a list of one for a single value). What could mean two things
    (`"1.234,56"`), would lose something (2.5 as an integer) or is no number (`"1/2"`) is refused.

    Attributes:
        number_words: What else names a number here, beside English: `{deux = 2, dutzend = 12}`.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"count": {"type": "integer"}}}
    >>> change = try_strategy(ConvertType(), schema, {"count": "1,234"}).changes[0]
    >>> change.after, change.safety.value
    (1234, 'exact')
    >>> try_strategy(ConvertType(), schema, {"count": 2.5})
    GiveUp(reason='2.5 is not a whole number')
    """

    name: ClassVar[str] = "convert-type"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    number_words: Mapping[str, float] = field(default_factory=dict)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Convert the value at the first finding."""
        place = present(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if (nothing := without(place)) is not None:
            return nothing
        if (told := self._told(place)) is not None:
            return place.mend(told, Safety.INFERRED, "a number word that the map gives")
        try:
            found = list(_candidates(place, place.value))
            found = [_spelled(one, place.value, context.written) for one in found]
        except Unclear as why:
            return GiveUp(str(why))
        fitting = [one for one in found if place.fits(one.value)]
        exact = [one for one in fitting if one.safety is Safety.EXACT]
        best = exact or fitting
        if not best and len(found) == 1 and found[0].opens and place.shapes(found[0].value):
            return place.put(*found[0][:3])
        if not best:
            wanted = " or ".join(sorted(place.kinds)) or "a type that the schema does not name"
            return GiveUp(f"{type_of(place.value)} cannot become {wanted} without a loss")
        if len(best) > 1:
            return GiveUp("the value could become several things")
        return place.mend(*best[0][:3])

    def _told(self, place: Place) -> float | None:
        """The number that the map gives for a word, where a number is asked for."""
        if not isinstance(place.value, str) or not place.kinds & {"integer", "number"}:
            return None
        known = {spelling(word): number for word, number in self.number_words.items()}
        return known.get(spelling(place.value))


def _spelled(one: _Candidate, value: JSON, written: str | None) -> _Candidate:
    """The candidate, with the spelling that a number had which becomes text."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    listed = isinstance(one.value, list)
    text = one.value[0] if listed and len(one.value) == 1 else one.value
    if not written or not number or not isinstance(text, str):
        return one
    spelling = as_spelled(value, written)
    if spelling is None:
        return one
    return one._replace(value=[spelling] if listed else spelling)


def _candidates(place: Place, value: JSON) -> Iterator[_Candidate]:
    """Every form of the value in a wanted type that it does not have; none twice."""
    seen: list[JSON] = []
    unclear: Unclear | None = None
    for kind in _ORDER:
        if kind not in place.kinds:
            continue
        try:
            candidate = _CONVERT[kind](place, value)
        except Unclear as why:
            unclear = why
            continue
        if candidate is not None and not any(same(candidate.value, old) for old in seen):
            seen.append(candidate.value)
            yield candidate
    if not seen and unclear is not None:
        raise unclear


def _to_integer(place: Place, value: JSON) -> _Candidate | None:
    return _to_number(place, value, whole=True)


def _to_number(place: Place, value: JSON, *, whole: bool = False) -> _Candidate | None:
    match value:
        case float() if whole:
            if not value.is_integer() or abs(value) >= 2**53:
                raise Unclear(f"{value!r} is not a whole number")
            return _Candidate(int(value), Safety.EXACT, "a whole number without a fraction")
        case str():
            return _from_text(place, read_quantity(value, whole=whole))
        case list() | tuple():
            return _only_item(place, value, "integer" if whole else "number")
    return None


def _from_text(place: Place, found: Quantity) -> _Candidate:
    """The number in a text, if what stands beside it agrees with the parameter."""
    if found.currencies:
        _check_currency(place, found.currencies)
    if found.percent and not _asks_for_percent(place):
        raise Unclear("the schema does not say that a percentage is meant")
    if found.unit is not None and not _asks_for_unit(place, found.unit):
        raise Unclear("the schema does not name exactly this unit")
    safety = Safety.EXACT if found.exact else Safety.INFERRED
    return _Candidate(found.value, safety, "a number written as text")


def _asks_for_unit(place: Place, unit: str) -> bool:
    """Whether the schema names this unit, or leaves it to an argument that says the same."""
    if unit_agrees(unit, place.name, place.description):
        return True
    around = object_at(place.call, place.tool, parent(place.path))
    if around is None or len(units_in(f"{place.name} {place.description}")) > 0:
        return False
    given, _, names = around
    beside = [name for name in names if tokens(name)[-1:] in (("unit",), ("units",))]
    own = [name for name in beside if tokens(name)[:-1] == tokens(place.name)] or beside
    told = given.get(own[0]) if len(own) == 1 else None
    return isinstance(told, str) and unit_agrees(unit, told, "")


def _check_currency(place: Place, codes: frozenset[str]) -> None:
    words = {*tokens(place.name), *tokens(place.description)}
    if words & OTHER_SCALES:
        raise Unclear("the amount is counted in another unit than the currency's own")
    wanted = f"{place.name} {place.description}"
    named = currencies_in(wanted)
    if not named and (units_in(wanted) or _asks_for_percent(place)):
        raise Unclear("the schema asks for something else than money")
    if named and not named & codes:
        raise Unclear("the currency is not the one that the schema names")
    for path in dict.fromkeys((parent(place.path), "/args")):
        around = object_at(place.call, place.tool, path)
        if around is None:
            continue
        given, _, names = around
        for name in (n for n in names if {"currency", "ccy"} & set(tokens(n))):
            told = given.get(name)
            if not isinstance(told, str) or told.strip().upper() not in codes:
                raise Unclear("the currency is a parameter of its own and does not agree")


_FRACTION: Final = frozenset({"fraction", "decimal", "ratio", "proportion"})
_PARTS_OF_ONE: Final = re.compile(
    r"(?<![\d.])0?\.\d+(?![\d\s]*%)|/ ?100\b|\bdivided\b"
    r"|\b0(?:\.0+)? ?(?:and|to|-|\u2013|,|\.\.) ?1(?:\.0+)?(?![\d.])"
)
"""How a description says that 5 % is written 0.05."""


def _asks_for_percent(place: Place) -> bool:
    text = f"{' '.join(tokens(place.name))} {place.description.lower()}"
    bounds = [s.get("maximum") for s in place.schemas]
    if any(isinstance(bound, int | float) and bound <= 1 for bound in bounds):
        return False
    if any(word in text for word in _FRACTION) or _PARTS_OF_ONE.search(text):
        return False
    return "percent" in text or "%" in text or "pct" in text.split()


_BOOLEANS: Final = {"true": True, "false": False}
_ANSWERS: Final = {"yes": True, "no": False, "on": True, "off": False, "y": True, "n": False}


def _to_boolean(place: Place, value: JSON) -> _Candidate | None:
    match value:
        case str():
            word = value[:50].strip().lower()
            if word in _BOOLEANS:
                return _Candidate(_BOOLEANS[word], Safety.EXACT, "a boolean written as text")
            answer = {**_ANSWERS, "1": True, "0": False}.get(word)
            if answer is not None:
                return _Candidate(answer, Safety.INFERRED, "a word for true or false")
            raise Unclear("it is not a word for true or false")
        case bool():
            return None
        case int() if value in (0, 1):
            return _Candidate(value == 1, Safety.INFERRED, "0 or 1 for false or true")
        case list() | tuple():
            return _only_item(place, value, "boolean")
    return None


def _to_string(place: Place, value: JSON) -> _Candidate | None:
    match value:
        case bool():
            return _Candidate(str(value).lower(), Safety.EXACT, "a text was asked for")
        case int() if value.bit_length() < 3_000:
            return _Candidate(str(value), Safety.EXACT, "a text was asked for")
        case float() if "e" not in (text := repr(value)) and text[-1].isdigit():
            return _Candidate(text, Safety.EXACT, "a text was asked for")
        case list() | tuple():
            return _only_item(place, value, "string")
    return None


def _only_item(place: Place, value: Any, kind: str) -> _Candidate | None:
    """The one item of a list, where a single value is asked for."""
    if len(value) != 1 or isinstance(value[0], list | tuple | Mapping):
        return None
    item = value[0]
    if kind in (type_of(item), {"integer": "number"}.get(type_of(item))):
        return _Candidate(item, Safety.INFERRED, "a list of one where one value is asked for")
    inner = _CONVERT[kind](place, item)
    if inner is None:
        return None
    return inner._replace(safety=Safety.INFERRED)


def _to_object(_: Place, value: JSON) -> _Candidate | None:
    """The one object in a list, where a single object is asked for; its inside may need repair."""
    if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], Mapping):
        return None
    reason = "a list of one where one value is asked for"
    return _Candidate(value[0], Safety.INFERRED, reason, opens=True)


_FOR_NOTHING: Final = frozenset({"n/a", "nil", "none", "nothing", "null", "undefined"})
_NUMBERED: Final = re.compile(r"1[.)] .*\s2[.)] ", re.DOTALL)
_SEVERAL: Final = (",", ";", "|", "\n", " and ", " & ", " or ")


def _to_array(place: Place, value: JSON) -> _Candidate | None:
    """The value as the one item of a list, where only a list fits."""
    if place.kinds != {"array"} or isinstance(value, list | tuple):
        return None
    if isinstance(value, str) and _looks_like_several(value):
        raise Unclear("it could be one item or several")
    if isinstance(value, str) and value.strip().lower() in _FOR_NOTHING:
        raise Unclear("it is a word for nothing")
    wrapped = _Candidate([value], Safety.EXACT, "one value where only a list fits")
    numbered = _numbered(value) if isinstance(value, Mapping) else None
    if place.fits(wrapped.value):
        if (numbered is not None and place.fits(numbered.value)) or _is_in_row(place):
            raise Unclear("it could be one item or several")
        return wrapped
    for item in _item_forms(place, value):
        if place.fits([item.value]):
            return item._replace(value=[item.value])
    if isinstance(value, Mapping):
        listed = numbered or _in_named_order(place, value)
        if listed is not None:
            return listed
    items = at(place.tool.schema, [*split(place.path)[1:], "0"]) or ()
    return wrapped._replace(opens=any(has_type(value, types_of(item)) for item in items))


def _numbered(value: Mapping[str, JSON]) -> _Candidate | None:
    """The values of an object whose keys are the places in a list."""
    if len(value) < _FEWEST_NUMBERED or any(key != str(place) for place, key in enumerate(value)):
        return None
    reason = "an object whose keys are the places in a list"
    return _Candidate(list(value.values()), Safety.INFERRED, reason, opens=True)


def _is_in_row(place: Place) -> bool:
    """Whether several values stand side by side where lists are asked for: `[1, 2]` for points."""
    above = look(place.call, parent(place.path))
    return isinstance(above, list) and sum(not isinstance(item, list) for item in above) > 1


_FEWEST_NUMBERED: Final = 2
_MOST_NAMED: Final = 6


def _in_named_order(place: Place, value: Mapping[str, JSON]) -> _Candidate | None:
    """The values of an object as a list, in the order in which the description names its keys."""
    if not 2 <= len(value) <= _MOST_NAMED or any(
        isinstance(v, Mapping | list) for v in value.values()
    ):
        return None
    order = named_order(place.description, value.keys())
    if order is None:
        return None
    listed = [value[key] for key in order]
    return _Candidate(listed, Safety.INFERRED, "in the order that the description gives")


def _looks_like_several(text: str) -> bool:
    if len(text) > 10_000:
        return True
    lowered = text.strip().lower()
    listed = lowered.startswith(("[", "{", "(", "- ", "* ", "\u2022")) or _NUMBERED.match(lowered)
    return not lowered or bool(listed) or any(mark in lowered for mark in _SEVERAL)


def _item_forms(place: Place, value: JSON) -> Iterator[_Candidate]:
    """The value in the types that the items of the list may have."""
    for schema in at(place.tool.schema, [*split(place.path)[1:], "0"]) or ():
        for kind in (k for k in _ORDER if k in types_of(schema) and k != "array"):
            try:
                found = _CONVERT[kind](place, value)
            except Unclear:
                continue
            if found is not None:
                yield found


_Conversion = Callable[[Place, JSON], _Candidate | None]
_CONVERT: Final[Mapping[str, _Conversion]] = {
    "integer": _to_integer,
    "number": _to_number,
    "boolean": _to_boolean,
    "array": _to_array,
    "object": _to_object,
    "string": _to_string,
}
_ORDER: Final = ("integer", "number", "boolean", "array", "object", "string")
