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
from selfcorrect.schema.subschema import at, has_type, members, same, strings, type_of, types_of
from selfcorrect.text import LONGEST, Unclear, is_spelling_of, spelling, tokens
from selfcorrect.values.dates import read_date
from selfcorrect.values.excluded import excludes, is_item
from selfcorrect.values.normal_forms import normal_forms
from selfcorrect.values.quantities import Quantity, read_quantity
from selfcorrect.values.spelled import as_spelled
from selfcorrect.values.wanted import Wanted, check
from selfcorrect.words import NEGATIONS, WORDS


class _Candidate(NamedTuple):
    value: JSON
    safety: Safety
    reason: str
    opens: bool = False
    """Whether what lies in the value may need a repair of its own."""


@dataclass(frozen=True, slots=True)
class ConvertType:
    """Writes a value in the type that the schema asks for: `"5"` as `5`, `12345` as `"12345"`.

    Exact where it is another spelling of the same value (`"1,234"`, `"true"`, one value where only
    a list fits, `"$1,250.00"` where the schema names that very currency); inferred where there is
    one best reading (`"five"`, `"yes"`, `"5 km"` where the schema names that very unit, a list of
    one for a single value). Names are what name and description say, or the keywords `unit`,
    `x-unit` and `x-currency`. What could mean two things (`"50.000"`, `"+1"`), would lose something
    (2.5 as an integer) or is no number (`"1/2"`) is refused. Where a text may stand as well, the
    text in its normal form comes first.
    `on` and `off` need a name that says what is on (`enabled`, not `disable_cache`).

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
            if (kept := _kept_as_text(place)) is not None:
                return place.mend(*kept[:3])
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


def _kept_as_text(place: Place) -> _Candidate | None:
    """The text as one that may stand here, where something else may stand here as well.

    Raises:
        Unclear: If it may be meant as a text, but is none that may stand here.
    """
    text = place.value
    if not isinstance(text, str) or "string" not in place.kinds or place.kinds == {"string"}:
        return None
    listed = strings(members(s for s in place.schemas if types_of(s) & {"string"}))
    if meant := [one for one in listed if is_spelling_of(text, one)]:
        if len(meant) > 1:
            raise Unclear("the value could become several things")
        return _Candidate(meant[0], Safety.EXACT, "another spelling of a listed value")
    patterns = strings([schema.get("pattern") for schema in place.schemas])
    forms = normal_forms(text, place.formats, patterns)
    fitting = [_Candidate(form, forms[form], _NORMAL) for form in forms if place.fits(form)]
    if len(fitting) > 1 or (fitting and _is_answer(place, text)):
        raise Unclear("it could be several things")
    if not fitting:
        _check_no_text(place, text.strip(), bool(listed or patterns))
    return fitting[0] if fitting else None


_NORMAL: Final = "the same in its normal form"
_DIGITS: Final = re.compile(r"\d{1,30}", re.ASCII)
_DIALLED: Final = re.compile(r"\+|0\d", re.ASCII)


def _check_no_text(place: Place, text: str, told: bool) -> None:
    """Refuse a text that may be meant as one; `told` is whether the schema says what texts are."""
    if _DIALLED.match(text) or (_DIGITS.fullmatch(text) and place.fits(f"+{text}")):
        raise Unclear("it could be a text such as a telephone number")
    if told and _is_answer(place, text) and text.lower() not in _BOOLEANS:
        raise Unclear("it could be a text, or true or false")
    if place.formats & {"date", "date-time"} and _is_date(text):
        raise Unclear("it could be a date or a number")


def _is_answer(place: Place, text: str) -> bool:
    word = text[:50].strip().lower()
    return "boolean" in place.kinds and (word in _ANSWERS or word in _BOOLEANS)


def _is_date(text: str) -> bool:
    try:
        read_date(text)
    except Unclear:
        return False
    return True


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
    most = [schema.get("maximum") for schema in place.schemas]
    around, above = _arguments(place, "/args"), parent(place.path)
    beside = around if above == "/args" else _arguments(place, above)
    meets = place.meets if place.kinds & {"integer", "number"} else _any
    told = [one[key] for one in place.schemas for key in _TELL_UNITS if key in one]
    description = f"{place.description} {' '.join(f'({unit})' for unit in told)}".strip()
    check(found, Wanted(place.name, description, most, meets, beside, around))
    safety = Safety.EXACT if found.exact else Safety.INFERRED
    return _Candidate(found.value, safety, "a number written as text")


_TELL_UNITS: Final = ("unit", "x-unit", "x-currency")


def _any(_: JSON) -> bool:
    return True


def _arguments(place: Place, path: str) -> dict[str, JSON]:
    """The arguments that the object at a pointer may have, `None` for those that it has not."""
    around = object_at(place.call, place.tool, path)
    return {} if around is None else {name: around[0].get(name) for name in around[2]}


_BOOLEANS: Final = {"true": True, "false": False}
_ANSWERS: Final = {"yes": True, "no": False, "on": True, "off": False, "y": True, "n": False}


_SWITCH: Final = frozenset({"on", "off"})
_STATES: Final = frozenset({"active", "enabled", "mode", "on", "power", "powered", "switch"})
_SWITCHES: Final = frozenset({"activate", "enable", "turn", "use", "with"})


def _is_switched(name: str) -> bool:
    """Whether a name says that something is on where it is true: `enabled`, not `disable_cache`."""
    words = tokens(name[:LONGEST])
    if not words or not (words[-1] in _STATES or words[0] in _SWITCHES):
        return False
    return (NEGATIONS | WORDS).isdisjoint(set(words) - _STATES - _SWITCHES)


def _to_boolean(place: Place, value: JSON) -> _Candidate | None:
    match value:
        case str():
            word = value[:50].strip().lower()
            if word in _BOOLEANS:
                return _Candidate(_BOOLEANS[word], Safety.EXACT, "a boolean written as text")
            if word in _SWITCH and not _is_switched(place.name):
                raise Unclear("nothing in the name says what would be on or off")
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


_FOR_NOTHING: Final = frozenset(
    {"-", "--", "n/a", "nil", "no one", "nobody", "none", "nothing", "null", "undefined"}
)
_NUMBERED: Final = re.compile(r"1[.)] .*\s2[.)] ", re.DOTALL)
_SEVERAL: Final = (",", ";", "|", "\n", " and ", " & ", " or ")


def _to_array(place: Place, value: JSON) -> _Candidate | None:
    """The value as the one item of a list, where only a list fits."""
    if place.kinds != {"array"} or isinstance(value, list | tuple):
        return None
    if isinstance(value, str):
        _check_one_item(place, value)
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


def _check_one_item(place: Place, text: str) -> None:
    if _looks_like_several(text):
        raise Unclear("it could be one item or several")
    if text.strip().lower() in _FOR_NOTHING:
        raise Unclear("it is a word for nothing")
    if _is_member(place, text):
        return
    if excludes(text):
        raise Unclear("it says what is not meant")
    if not is_item(text):
        raise Unclear("it stands for an item, or for several, and is none")


def _is_member(place: Place, item: str) -> bool:
    """Whether the items of the list are listed, and this is one of them."""
    schemas = at(place.tool.schema, [*split(place.path)[1:], "0"]) or ()
    return item in strings(members(schemas))


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
