"""parse-nested: an object or list that was written into a string becomes one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from selfcorrect.model import JSON, Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.reading import Fault, Oddity, has, read_json
from selfcorrect.schema.places import present, without
from selfcorrect.schema.subschema import type_of

_DEEPEST: Final = 8
_LONGEST: Final = 1_000_000
_OPENING: Final = ("{", "[", '"', "'", "(")


@dataclass(frozen=True, slots=True)
class ParseNested:
    """Reads a string as the object or list that the schema asks for, if its shape fits.

    Exact, also where it was encoded several times over or written as a Python literal. A string
    that may stay a string is never touched; what is cut, holds a key twice, or JSON in JSON more
    than eight times over, is refused.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    >>> change = try_strategy(ParseNested(), schema, {"tags": "['a', 'b']"}).changes[0]
    >>> change.after, change.safety.value
    (['a', 'b'], 'exact')
    """

    name: ClassVar[str] = "parse-nested"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Parse the string at the first finding."""
        place = present(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if (nothing := without(place)) is not None:
            return nothing
        if not isinstance(place.value, str) or not place.kinds & {"object", "array"}:
            return GiveUp("there is no string where an object or a list is asked for")
        found = _parsed(place.value)
        if isinstance(found, GiveUp):
            return found
        value, safety = found
        reason = "an object or list that was written into a string"
        if type_of(value) == "object" and place.kinds == {"array"}:
            return place.mend([value], safety, reason)
        if type_of(value) in place.kinds and place.shapes(value):
            return place.put(value, safety, reason)
        return GiveUp("what the string holds has not the shape that is asked for")


def _parsed(text: str) -> tuple[JSON, Safety] | GiveUp:
    """What a string holds, after taking off as many encodings as there are."""
    for level in range(1, _DEEPEST + 1):
        bare = text.strip()
        if len(bare) > _LONGEST or bare[:1] not in _OPENING:
            break
        if (inner := _text_in(bare)) is not None:
            text = inner
            continue
        read = read_json(bare, closers=False)
        if isinstance(read, Fault):
            return GiveUp(f"the string is no JSON: {read.what}")
        if has(read.deviations, Oddity.COMMENT):
            return GiveUp("the string holds a comment, which may take something back")
        if read.rivals:
            return GiveUp("the string could hold several things")
        if not isinstance(read.value, dict | list):
            break
        if _is_deeper(read.value, _DEEPEST - level):
            return GiveUp(f"it holds JSON in JSON, more than {_DEEPEST} times over")
        exact = all(each.safety is Safety.EXACT for each in read.deviations)
        return read.value, Safety.EXACT if exact else Safety.INFERRED
    return GiveUp("the string holds neither an object nor a list")


def _text_in(text: str) -> str | None:
    """The text that a JSON string holds."""
    try:
        value = json.loads(text) if text[0] == '"' else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _is_deeper(value: JSON, levels: int) -> bool:
    """Whether the strings in a value hold JSON in JSON more than so many times over."""
    found: list[JSON] = [value]
    for _ in range(levels + 1):
        found = [inner for text in _texts(found) if (inner := _json_in(text)) is not None]
    return bool(found)


def _texts(values: list[JSON]) -> Iterator[str]:
    left = list(values)
    while left:
        match left.pop():
            case str() as text:
                yield text
            case dict() as inner:
                left += inner.values()
            case list() as items:
                left += items


def _json_in(text: str) -> JSON:
    """What a text holds, if it is JSON of more than one value."""
    bare = text.strip()
    if len(bare) > _LONGEST or bare[:1] not in _OPENING:
        return None
    try:
        value: JSON = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return value
