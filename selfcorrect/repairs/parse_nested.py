"""parse-nested: an object or list that was written into a string becomes one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from selfcorrect.model import JSON, Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.reading import Fault, Oddity, has, read_json
from selfcorrect.schema.places import present, without
from selfcorrect.schema.subschema import type_of

_DEEPEST: Final = 8
_LONGEST: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ParseNested:
    """Reads a string as the object or list that the schema asks for, if its shape fits.

    Exact, also where it was encoded several times over or written as a Python literal. A string
    that may stay a string is never touched; what is cut, or holds a key twice, is refused.

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
    safety = Safety.EXACT
    for _ in range(_DEEPEST):
        bare = text.strip()
        if len(bare) > _LONGEST or bare[:1] not in ("{", "[", '"', "'", "("):
            break
        read = read_json(bare, closers=False)
        if isinstance(read, Fault):
            return GiveUp(f"the string is no JSON: {read.what}")
        if has(read.deviations, Oddity.COMMENT):
            return GiveUp("the string holds a comment, which may take something back")
        if read.rivals:
            return GiveUp("the string could hold several things")
        if any(each.safety is not Safety.EXACT for each in read.deviations):
            safety = Safety.INFERRED
        if isinstance(read.value, dict | list):
            return read.value, safety
        if not isinstance(read.value, str):
            break
        text = read.value
    return GiveUp("the string holds neither an object nor a list")
