"""The place in a call that a finding speaks of: its value, its schema, and what would fit there.

Every strategy that mends a value goes through here, so that the common promises hold once for
all: a valid value is never touched, a new value fits the schema, null is only taken out where
nothing is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from selfcorrect import pointer
from selfcorrect.model import (
    ABSENT,
    JSON,
    Call,
    Changed,
    Finding,
    GiveUp,
    JsonObject,
    Safety,
    edit,
)
from selfcorrect.protocols import Clock, RepairContext, Tool, utc_now
from selfcorrect.schema.local import local_check
from selfcorrect.schema.subschema import (
    Alternatives,
    Root,
    at,
    declared,
    formats_of,
    is_number,
    kinds_of,
    listed,
    meets,
    merged,
    required,
    same,
    types_of,
)

_SHAPE: Final = frozenset({"required", "additionalProperties", "minProperties", "maxProperties"})


@dataclass(frozen=True, slots=True)
class Place:
    """One place in the arguments of a call.

    Attributes:
        call: The call.
        tool: The tool that it names.
        path: JSON Pointer into the call.
        value: What stands there, or `ABSENT`.
        schemas: What the schema says of it, and what the error said beside that.
        kinds: The JSON types that may stand here, without null; empty if the schema does not say.
        required: Whether there must be a value.
        declared: Whether the schema knows the place.
        own: Whether our own schema check found it wrong.
        finding: What is wrong.
        written: The text that the call was read from, if it was text.
        now: The current time.
    """

    call: Call
    tool: Tool
    path: str
    value: JSON
    schemas: Alternatives
    kinds: frozenset[str]
    required: bool
    declared: bool
    own: bool
    finding: Finding
    written: str | None = None
    now: Clock = utc_now

    @property
    def key(self) -> str:
        """The last token of the path: the parameter's name, or an index."""
        return pointer.split(self.path)[-1]

    @property
    def name(self) -> str:
        """The nearest name on the path, past list indices."""
        tokens = pointer.split(self.path)[1:]
        return next((t for t in reversed(tokens) if not t.isdigit()), self.key)

    @property
    def nullable(self) -> bool:
        """Whether null may stand here."""
        return any("null" in types_of(schema) for schema in self.schemas)

    @property
    def members(self) -> list[JSON]:
        """The values that are listed as allowed, or nothing where others are allowed too."""
        return listed(self.schemas)

    @property
    def formats(self) -> frozenset[str]:
        """The formats that a string here may have."""
        return formats_of(self.schemas)

    @property
    def description(self) -> str:
        """What the schema tells people of this place, bounded."""
        told = [s[k] for s in self.schemas for k in ("description", "title") if k in s]
        return " ".join(text[:1_000] for text in told if isinstance(text, str))[:2_000]

    def meets(self, value: JSON) -> bool:
        """Whether this value keeps the simple bounds of the schema and of the error."""
        return any(meets(value, schema) for schema in self.schemas)

    def fits(self, value: JSON) -> bool:
        """Whether this value, put here, is valid and makes nothing else invalid."""
        if value is not ABSENT and not self.meets(value):
            return False
        if (alone := self.alone) is not None:
            return alone(value)
        return fits(self.tool, self.call, {self.path: value})

    @property
    def alone(self) -> Callable[[JSON], bool] | None:
        """Whether a value fits here, where no other place has a say; None where one has."""
        return local_check(self.tool.schema, pointer.split(self.path)[1:])

    def shapes(self, value: JSON) -> bool:
        """Whether this value has the shape that is asked for; what is in it may need a repair."""
        if self.fits(value):
            return True
        args = pointer.put(self.call.args, self.path.removeprefix("/args"), value)
        left = [f for f in self.tool.violations(args) if is_within(f.path, self.path)]
        if any(finding.path == self.path for finding in left):
            return False
        deep = len(pointer.split(self.path)) + 1
        keys = [f.path for f in left if f.code in _SHAPE]
        return all(path is not None and len(pointer.split(path)) > deep for path in keys)

    def mend(self, after: JSON, reason: str, claim: Safety | None = None) -> Changed | GiveUp:
        """Put a value here, if it fits and is another; the kernel says of which class that is."""
        is_json = self.value is not ABSENT and after is not ABSENT
        if is_json and type(after) is type(self.value) and same(self.value, after):
            return GiveUp("the value is already what it would become")
        if not self.fits(after):
            return GiveUp(f"{reason}, but the result would not fit the schema")
        made = edit(self.path, self.value, after, reason)
        return Changed(made if claim is None else replace(made, safety=claim))


def place_of(call: Call, finding: Finding, context: RepairContext) -> Place | GiveUp:
    """The place of a finding, or why there is none that can be mended."""
    tool = context.tool
    if tool is None or call.raw is not None:
        return GiveUp("the call cannot be read against the schema of a tool")
    path = finding.path
    if path is None or not path.startswith("/args/"):
        return GiveUp("the error does not say which argument is at fault")
    tokens = pointer.split(path)[1:]
    own = finding.types[:1] == ("InvalidArgs",)
    known = _known(Root(tool.schema), tokens)
    schemas, kinds = known.schemas, known.kinds
    if not own:
        schemas = tuple(_with(schema, finding.constraint) for schema in schemas)
        kinds = kinds_of(schemas)
    is_property = known.is_property and isinstance(pointer.look(call, parent(path)), Mapping)
    return Place(
        call=call,
        tool=tool,
        path=path,
        value=pointer.look(call, path),
        schemas=schemas,
        kinds=kinds,
        required=not is_property or known.required,
        declared=known.declared,
        own=own,
        finding=finding,
        written=context.written,
        now=context.now,
    )


class _Known(NamedTuple):
    """What the schema says of a place, whatever the call.

    Attributes:
        schemas: The schemas of the place itself; one that says nothing where there is none.
        kinds: The JSON types that may stand there, without null.
        declared: Whether the schema knows the place.
        is_property: Whether an object there declares it.
        required: Whether such an object needs it.
    """

    schemas: Alternatives
    kinds: frozenset[str]
    declared: bool
    is_property: bool
    required: bool


@lru_cache(maxsize=2_048)
def _known(root: Root, tokens: tuple[str, ...]) -> _Known:
    schemas = at(root.schema, tokens)
    above = at(root.schema, tokens[:-1]) or ()
    return _Known(
        schemas=schemas if schemas is not None else ({},),
        kinds=kinds_of(schemas or ()),
        declared=schemas is not None,
        is_property=tokens[-1] in declared(above),
        required=required(above, tokens[-1]),
    )


def present(call: Call, finding: Finding, context: RepairContext) -> Place | GiveUp:
    """The place of a finding where a wrong value stands."""
    place = place_of(call, finding, context)
    if isinstance(place, GiveUp):
        return place
    if place.value is ABSENT:
        return GiveUp("there is no value to mend")
    if not place.declared and place.own:
        return GiveUp("the schema does not know this argument")
    if is_settled(place):
        return GiveUp("the value is valid already")
    return place


def around(place: Place) -> Iterator[Place]:
    """A place, and the lists that it stands in, from the innermost out."""
    yield place
    path = place.path
    while pointer.split(path)[-1].isdigit() and path.count("/") > 2:
        path = parent(path)
        value = pointer.look(place.call, path)
        if not isinstance(value, list):
            return
        known = _known(Root(place.tool.schema), pointer.split(path)[1:])
        yield replace(place, path=path, value=value, schemas=known.schemas, kinds=known.kinds)


def is_settled(place: Place) -> bool:
    """Whether our own check no longer finds anything wrong here."""
    if not place.own:
        return False
    if not place.meets(place.value):
        return False
    if (alone := place.alone) is not None:
        return alone(place.value)
    if place.tool.is_valid(place.call.args):
        return True
    return not any(is_within(f.path, place.path) for f in place.tool.violations(place.call.args))


def fits(tool: Tool, call: Call, values: Mapping[str, JSON]) -> bool:
    """Whether these values, put at these pointers in order, are valid and break nothing else."""
    try:
        after: JSON = call.args
        for path, value in values.items():
            after = pointer.put(after, pointer.join(*pointer.split(path)[1:]), value)
    except LookupError:
        return False
    if not isinstance(after, Mapping):
        return False
    left = tool.violations(after)
    if any(is_within(finding.path, path) for finding in left for path in values):
        return False
    return not faults(left) - faults_now(tool, call)


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """A call and its tool, compared by identity, so that what is wrong is looked for once."""

    tool: Tool
    call: Call

    def __hash__(self) -> int:
        return id(self.call)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checked) and other.call is self.call and other.tool is self.tool


def faults_now(tool: Tool, call: Call) -> Counter[tuple[str | None, str | None]]:
    """What is wrong with a call as it is, by place and keyword; empty where it fits."""
    return _faults_of(Checked(tool, call))


@lru_cache(maxsize=4)
def _faults_of(checked: Checked) -> Counter[tuple[str | None, str | None]]:
    return faults(checked.tool.violations(checked.call.args))


def faults(findings: Sequence[Finding]) -> Counter[tuple[str | None, str | None]]:
    """What is wrong, by place and keyword, to compare two checks."""
    return Counter((finding.path, finding.code) for finding in findings)


def object_at(
    call: Call, tool: Tool, path: str
) -> tuple[Mapping[str, JSON], Alternatives, dict[str, JSON]] | None:
    """The object at a pointer into a call, its schemas and its declared properties."""
    value = pointer.look(call, path)
    schemas = at(tool.schema, pointer.split(path)[1:])
    if not isinstance(value, Mapping) or schemas is None:
        return None
    return value, schemas, declared(schemas)


def parent(path: str) -> str:
    """The pointer of the container that a pointer leads into."""
    return path.rpartition("/")[0]


def is_within(path: str | None, place: str) -> bool:
    """Whether a pointer leads to a place or below it."""
    return path is not None and (path == place or path.startswith(place + "/"))


_NUMBERS: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)


def _with(schema: JsonObject, constraint: JsonObject) -> JsonObject:
    """The schema with what a tool's error said; where they disagree the error is right."""
    told = {key: constraint[key] for key in _NUMBERS if is_number(constraint.get(key))}
    told |= {key: constraint[key] for key in ("format", "pattern") if _is_text(constraint, key)}
    for key in ("type", "enum"):
        value = constraint.get(key)
        if (isinstance(value, list | tuple) and value) or (
            key == "type" and _is_text(constraint, key)
        ):
            told[key] = value
    both = merged(told, schema)
    return both if both is not None else {**schema, **told}


def _is_text(constraint: JsonObject, key: str) -> bool:
    return isinstance(constraint.get(key), str)
