"""drop-extra: an argument that the tool does not know is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.model import ABSENT, JSON, Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.redaction import quoted
from selfcorrect.schema.keys import is_spelled, resembles
from selfcorrect.schema.nested import names_below
from selfcorrect.schema.places import Place, object_at, parent, place_of
from selfcorrect.schema.subschema import same


@dataclass(frozen=True, slots=True)
class DropExtra:
    """Leaves out an argument that the tool does not know and that resembles none it knows.

    Lossy wherever something is said, on tools that only read as well: what was asked for may stand
    there. Exact only where nothing is: null, an empty value, or the same value once more under
    another spelling. An argument that may be a misspelt one, or belong into an object, is never
    dropped.

    Attributes:
        keep: Names that are never dropped, so that a later rung deals with them.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"city": {}, "return_date": {}}}
    >>> change = try_strategy(DropExtra(), schema, {"verbose": 1}, effect="read_only").changes[0]
    >>> change.path, change.safety.value
    ('/args/verbose', 'lossy')
    >>> try_strategy(DropExtra(), schema, {"retrun_date": "x"})
    GiveUp(reason='it may stand for "return_date"')
    """

    name: ClassVar[str] = "drop-extra"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.LOSSY)
    needs: ClassVar[str] = "nothing"

    keep: tuple[str, ...] = ()

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Drop the argument at the first finding."""
        place = place_of(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        around = object_at(call, place.tool, parent(place.path))
        if place.value is ABSENT or around is None:
            return GiveUp("there is nothing to drop")
        given, _, names = around
        if place.key in names:
            return GiveUp("the schema knows this argument")
        if place.key in self.keep:
            return GiveUp("the map keeps this argument")
        return _dropped(place, given, names)


def _dropped(place: Place, given: Mapping[str, JSON], names: Mapping[str, JSON]) -> Repair:
    twin = next((name for name in names if name in given and is_spelled(place.key, name)), None)
    if twin is not None:
        if same(given[twin], place.value):
            return place.mend(ABSENT, Safety.EXACT, "the same value under another spelling")
        return GiveUp(f"it contradicts {quoted(twin, 60)}")
    if (near := resembles(place.key, [name for name in names if name not in given])) is not None:
        return GiveUp(f"it may stand for {quoted(near, 60)}")
    if _says_nothing(place.value):
        return place.mend(ABSENT, Safety.EXACT, "nothing is said under this key")
    if (deeper := resembles(place.key, names_below(place.tool.schema))) is not None:
        return GiveUp(f"it may stand for {quoted(deeper, 60)}, deeper inside")
    return place.mend(ABSENT, Safety.LOSSY, "an argument that the tool does not know")


def _says_nothing(value: JSON) -> bool:
    return value is None or value in ({}, []) or (isinstance(value, str) and not value.strip())
