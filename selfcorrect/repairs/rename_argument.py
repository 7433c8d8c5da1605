"""rename-argument: an unknown key gets the name of the argument that was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

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
from selfcorrect.pointer import apply, join
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.redaction import quoted
from selfcorrect.schema.assigning import Assignment, assign
from selfcorrect.schema.keys import Surroundings, is_open
from selfcorrect.schema.places import (
    Place,
    faults,
    is_within,
    object_at,
    parent,
    place_of,
)
from selfcorrect.schema.subschema import alternatives, required


@dataclass(frozen=True, slots=True)
class RenameArgument:
    """Gives an unknown key the name of the one absent argument that it stands for.

    Works from either side: for an unknown key and for a missing argument. Exact where only case,
    separators or a prefix such as `param_` differ; inferred for a synonym, a slip, an
    abbreviation, a name that says less (`date` where only `departure_date` is missing), or one
    that only the argument's description speaks of. All keys of an object are placed together: one
    that could stand for two arguments is refused, unless the other keys leave one of them, and an
    argument that is there is never overwritten. A misspelt optional key is renamed, too.

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
    batch: ClassVar[bool] = True

    synonyms: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Rename every key that the findings speak of, directly or by a missing argument."""
        first = place_of(call, diagnosis.finding, context)
        if isinstance(first, GiveUp):
            return first
        wanted: dict[str, set[str]] = {}
        for finding in diagnosis.findings:
            place = place_of(call, finding, context)
            if isinstance(place, Place):
                wanted.setdefault(parent(place.path), set()).add(place.key)
        renames: list[_Rename] = []
        why = GiveUp("the error does not speak of an argument")
        for above, keys in wanted.items():
            found = self._in_object(call, first.tool, above, keys)
            if isinstance(found, GiveUp):
                why = found if above == parent(first.path) else why
            else:
                renames += found
        return _together(call, first.tool, renames) if renames else why

    def _in_object(
        self, call: Call, tool: Tool, above: str, keys: set[str]
    ) -> list[_Rename] | GiveUp:
        """The renames in one object, if one of them concerns a key or an argument in question."""
        around = object_at(call, tool, above)
        if around is None:
            return GiveUp("the error does not speak of an argument")
        given, schemas, names = around
        unknown = {key: given[key] for key in given if key not in names}
        if not any(key in unknown or (key in names and key not in given) for key in keys):
            return GiveUp("the argument is neither unknown nor missing")
        said = {name: alternatives(told, tool.schema) for name, told in names.items()}
        absent = {name: told for name, told in said.items() if name not in given}
        surroundings = Surroundings(
            tool=tool,
            names=absent,
            required=frozenset(name for name in absent if required(schemas, name)),
            synonyms=self.synonyms,
            is_open=is_open(schemas),
            present={name: told for name, told in said.items() if name in given},
        )
        found = assign(unknown, surroundings)
        placed = {key: name for key, (name, _) in found.names.items()}
        if keys.isdisjoint(placed) and keys.isdisjoint(placed.values()):
            return _unclear(next(iter(sorted(keys))), found)
        return [
            _Rename(above + join(key), above + join(name), given[key], safety)
            for key, (name, safety) in found.names.items()
        ]


class _Rename(NamedTuple):
    old: str
    new: str
    value: JSON
    safety: Safety


def _unclear(wanted: str, found: Assignment) -> GiveUp:
    """For what a key could stand, or what could stand for an argument."""
    if wanted in found.open:
        names, what = found.open[wanted], f"{quoted(wanted, 60)} could stand for"
    else:
        names = [key for key, claimed in found.open.items() if wanted in claimed]
        what = f"{quoted(wanted, 60)} could be meant by"
    listed = ", ".join(quoted(name, 60) for name in list(names)[:5])
    return GiveUp(f"{what} {f'any of {listed}' if names else 'nothing that is known'}")


def _together(call: Call, tool: Tool, renames: list[_Rename]) -> Changed | GiveUp:
    """The renames that break nothing but, at worst, the form of a value."""
    before = faults(tool.violations(call.args)) if not tool.is_valid(call.args) else None
    for _ in range(2):
        changes = [change for rename in renames for change in _changes(rename)]
        after = apply(call, changes).args
        if tool.is_valid(after):
            return Changed(changes)
        moved = tuple(rename.new for rename in renames)
        left = [f for f in tool.violations(after) if not any(is_within(f.path, n) for n in moved)]
        broken = faults(left) - before if before is not None else faults(left)
        if not broken:
            return Changed(changes)
        places = {parent(path) for path, _ in broken if path}
        renames = [rename for rename in renames if parent(rename.new) not in places]
        if not renames:
            break
    return GiveUp("the renamed argument would make something else invalid")


def _changes(rename: _Rename) -> Iterator[Change]:
    reason = "an argument under another name"
    yield Change(rename.old, rename.value, ABSENT, rename.safety, reason)
    yield Change(rename.new, ABSENT, rename.value, rename.safety, reason)
