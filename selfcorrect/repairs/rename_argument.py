"""rename-argument: an unknown key gets the name of the argument that was meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from selfcorrect.model import (
    ABSENT,
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    Repair,
    Safety,
)
from selfcorrect.pointer import apply, join, look
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.redaction import quoted
from selfcorrect.schema.keys import Surroundings, is_open, meant_by
from selfcorrect.schema.places import faults, is_within, object_at, parent, place_of
from selfcorrect.schema.subschema import alternatives, required


@dataclass(frozen=True, slots=True)
class RenameArgument:
    """Gives an unknown key the name of the one absent argument that it stands for.

    Works from either side: for an unknown key and for a missing argument. Exact where only case,
    separators or a prefix such as `param_` differ; inferred for a synonym, a slip, an
    abbreviation, or a name that says less (`date` where only `departure_date` is missing). A key
    that could stand for two arguments is refused, and an argument that is there is never
    overwritten. A misspelt optional key is renamed, too.

    Attributes:
        synonyms: What else arguments are called here: `{class = "cabin"}`.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"cabin": {"type": "string"}, "passengers": {"type": "integer"}}}
    >>> gone, new = try_strategy(RenameArgument(), schema, {"passangers": 2}).changes
    >>> gone.path, new.path, new.after, new.safety.value
    ('/args/passangers', '/args/passengers', 2, 'inferred')
    """

    name: ClassVar[str] = "rename-argument"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    synonyms: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Rename the key at the first finding, or the key that its missing argument is under."""
        place = place_of(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        above = parent(place.path)
        around = object_at(call, place.tool, above)
        if around is None:
            return GiveUp("the error does not speak of an argument")
        given, schemas, names = around
        if (place.key in given) == (place.key in names):
            return GiveUp("the argument is neither unknown nor missing")
        root = place.tool.schema
        absent = {n: alternatives(said, root) for n, said in names.items() if n not in given}
        surroundings = Surroundings(
            tool=place.tool,
            names=absent,
            required=frozenset(name for name in absent if required(schemas, name)),
            synonyms=self.synonyms,
            is_open=is_open(schemas),
        )
        unknown = {key: given[key] for key in given if key not in names}
        chosen = _pair(place.key, unknown, surroundings)
        if isinstance(chosen, GiveUp):
            return chosen
        key, name, safety = chosen
        return _renamed(call, place.tool, (above + join(key), above + join(name)), safety)


def _pair(
    wanted: str, unknown: Mapping[str, JSON], around: Surroundings
) -> tuple[str, str, Safety] | GiveUp:
    """The one key and the one argument that belong together, of which one is `wanted`."""
    claims = {key: meant_by(key, unknown[key], around) for key in list(unknown)[:_MOST]}
    if wanted in unknown:
        names, safety = claims.get(wanted, ([], Safety.INFERRED))
        if len(names) != 1:
            return _unclear(f"{quoted(wanted, 60)} could stand for", names)
        name = names[0]
    else:
        name = wanted
    suitors = [(key, safety) for key, (names, safety) in claims.items() if name in names]
    exact = [item for item in suitors if item[1] is Safety.EXACT]
    suitors = exact or suitors
    if len(suitors) != 1:
        return _unclear(f"{quoted(name, 60)} could be meant by", [key for key, _ in suitors])
    key, safety = suitors[0]
    if len(claims[key][0]) != 1 or (wanted in unknown and key != wanted):
        return _unclear(f"{quoted(key, 60)} could stand for", claims[key][0])
    return key, name, safety


_MOST = 50


def _unclear(what: str, names: list[str]) -> GiveUp:
    listed = ", ".join(quoted(name, 60) for name in names[:5])
    return GiveUp(f"{what} {f'any of {listed}' if names else 'nothing that is known'}")


def _renamed(call: Call, tool: Tool, paths: tuple[str, str], safety: Safety) -> Repair:
    """The change, if it mends something and breaks nothing but, at worst, the value's own form."""
    old, new = paths
    value = look(call, old)
    reason = "an argument under another name"
    changes = (
        Change(old, value, ABSENT, safety, reason),
        Change(new, ABSENT, value, safety, reason),
    )
    after = apply(call, changes).args
    if not tool.is_valid(after):
        left = [f for f in tool.violations(after) if not is_within(f.path, new)]
        if faults(left) - faults(tool.violations(call.args)):
            return GiveUp("the renamed argument would make something else invalid")
    return Changed(changes)
