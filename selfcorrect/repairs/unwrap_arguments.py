"""unwrap-arguments: what stands one level too deep, or too flat, moves to its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from selfcorrect.model import (
    ABSENT,
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    JsonObject,
    Repair,
    Safety,
)
from selfcorrect.pointer import apply, join, look, split
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.reading import Fault, read_json
from selfcorrect.schema.gathering import gathered
from selfcorrect.schema.keys import is_spelled, loosely_fits, resembles
from selfcorrect.schema.places import Place, faults_now, fits, object_at, parent, place_of, present
from selfcorrect.schema.subschema import at, declared, inside, same, types_of
from selfcorrect.schema.wording import is_item_key
from selfcorrect.text import normal, spelling, tokens
from selfcorrect.words import NEGATIONS

_WRAPPERS: Final = frozenset(
    {"args", "arguments", "body", "data", "input", "inputs", "kwargs", "parameters", "params"}
    | {"payload", "properties", "request", "toolargs", "toolinput"}
)
_NAMES: Final = frozenset({"name", "tool", "tool_name", "function", "action"})
_KINDS: Final = frozenset({"object", "dict", "function"})
_TEXTS: Final = frozenset({"description", "title"})
_NOT_MEANT: Final = frozenset(
    {"before", "current", "default", "defaults", "error", "errors", "example", "examples", "failed"}
    | {"former", "old", "original", "output", "previous", "response", "result", "results", "sample"}
)
"""Words of a key under which stand no arguments for this call."""
_ARGS: Final = "/args"
_DEEPEST: Final = 4
_MOST: Final = 200
_LONGEST: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class UnwrapArguments:
    """Takes arguments out of a wrapper that the schema does not know, or puts them into one.

    Exact for all arguments under one key (`{"arguments": {…}}`, the tool's own name, an echo of
    the schema's `properties`), if they fit better without it. Inferred for a single value in a
    wrapper of its own (`{"city": {"value": "Oslo"}}`), for the items of a list that are
    (`[{"tag": "new"}]`), for nested arguments that were written flat (`address.city`, or `street`
    where only `address` knows one), and for flat ones that were nested.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"city": {"type": "string"}}, "required": ["city"]}
    >>> change = try_strategy(UnwrapArguments(), schema, {"arguments": {"city": "Oslo"}}).changes[0]
    >>> change.path, change.after, change.safety.value
    ('/args', {'city': 'Oslo'}, 'exact')
    """

    name: ClassVar[str] = "unwrap-arguments"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Move what is at the wrong level, as far as the first finding speaks of it."""
        tool = context.tool
        if tool is None or call.raw is not None or not faults_now(tool, call):
            return GiveUp("there is nothing to unwrap")
        if (whole := _unwrapped(call, tool)) is not None:
            return whole
        place = place_of(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if place.value is not ABSENT and place.declared:
            value = present(call, diagnosis.finding, context)
            if isinstance(value, GiveUp):
                return value
            return _listed(value) or _bare_items(value) or _value(value)
        for move in (_nested, _flattened, _gathered):
            if (moved := move(call, tool, place)) is not None:
                return moved
        return GiveUp("nothing fits better at another level")


def _unwrapped(call: Call, tool: Tool) -> Changed | None:
    """The arguments without the wrapper around all of them."""
    names = declared(at(tool.schema, ()) or ())
    inner: Any = call.args
    safety = Safety.EXACT
    for _ in range(_DEEPEST):
        key = _wrapper(inner, names, tool)
        if key is None:
            break
        content = _object(inner[key])
        if content is None or _is_argument(key, _ARGS, inner, tool):
            break
        own = _TEXTS & names.keys() if "type" not in inner else frozenset[str]()
        beside = {
            k: v
            for k, v in inner.items()
            if k != key and (k in own or not _says_nothing(k, v, tool))
        }
        if any(k not in names or k in content for k in beside):
            break
        if beside:
            safety = Safety.INFERRED
        inner = {**content, **beside}
    if inner is call.args or not _is_better(call, tool, inner, names):
        return None
    before = call.args if isinstance(call.args, dict) else dict(call.args)
    return Changed(Change("/args", before, inner, safety, "arguments inside a wrapper"))


def _wrapper(args: JsonObject, names: Mapping[str, JSON], tool: Tool) -> str | None:
    """The one key that wraps the arguments and is none of them."""
    own = spelling(tool.name)
    found = [
        key
        for key in list(args)[:_MOST]
        if key not in names
        and _object(args[key]) is not None
        and (spelling(key) in _WRAPPERS or not normal(key) or (own and spelling(key) == own))
    ]
    return found[0] if len(found) == 1 else None


def _is_argument(key: str, above: str, given: JsonObject, tool: Tool) -> bool:
    """Whether an object is rather an argument of its own, whose name is not quite right."""
    content = _object(given[key]) or {}
    where = split(above)[1:]
    objects = [
        name
        for name in declared(at(tool.schema, where) or ())
        if name not in given and name not in content and _is_object(tool, [*where, name])
    ]
    return resembles(key, objects) is not None


def _is_object(tool: Tool, where: list[str]) -> bool:
    return any("object" in types_of(schema) for schema in at(tool.schema, where) or ())


def _object(value: JSON) -> JsonObject | None:
    if isinstance(value, str) and value.lstrip()[:1] == "{" and len(value) <= _LONGEST:
        read = read_json(value, closers=False)
        if isinstance(read, Fault) or read.rivals or read.deviations:
            return None
        value = read.value
    return value if isinstance(value, Mapping) else None


def _says_nothing(key: str, value: JSON, tool: Tool) -> bool:
    """Whether a key beside a wrapper belongs to the wrapping: the tool's name, its own schema."""
    if key in _NAMES or key == "title":
        return isinstance(value, str) and spelling(value) == spelling(tool.name)
    if key == "type" and isinstance(value, str) and value in _KINDS:
        return True
    told = tool.description if key == "description" else tool.schema.get(key, ABSENT)
    return same(value, told) or same(value, tool.schema.get(key, ABSENT))


def _is_better(call: Call, tool: Tool, inner: JsonObject, names: Mapping[str, JSON]) -> bool:
    if tool.is_valid(inner):
        return True
    known = bool(inner) and all(any(is_spelled(k, n) for n in names) for k in list(inner)[:_MOST])
    return known and len(tool.violations(inner)) <= len(tool.violations(call.args))


_VALUE_KEYS: Final = frozenset({"value", "item", "items"})
_TYPES: Final = frozenset(
    {"array", "bool", "boolean", "dict", "double", "float", "int", "integer", "list", "number"}
    | {"object", "str", "string"}
)


def _value(place: Place) -> Repair:
    """The value without the wrapper around it alone."""
    value: Any = place.value
    for _ in range(_DEEPEST):
        if not isinstance(value, Mapping):
            break
        inner = [key for key in value if not _is_of_schema(key, value[key], place)]
        named = len(inner) == 1 and (inner[0] in _VALUE_KEYS or is_spelled(inner[0], place.name))
        if not named:
            break
        value = value[inner[0]]
        if place.fits(value) or _may_be_converted(value, place):
            return place.put(value, Safety.INFERRED, "a value inside a wrapper")
    return GiveUp("the value is in no wrapper that could be taken off")


def _is_of_schema(key: str, value: JSON, place: Place) -> bool:
    """Whether a key beside a value only repeats what the schema says of it, or names its type."""
    if key == "type" and isinstance(value, str):
        return value.lower() in _TYPES
    return any(same(value, schema.get(key, ABSENT)) for schema in place.schemas)


def _may_be_converted(value: JSON, place: Place) -> bool:
    """Whether a text is of the wrong type no more, though it may still need another repair."""
    typed = all("type" in schema for schema in place.schemas)
    return isinstance(value, str) and typed and loosely_fits(value, place.schemas)


def _bare_items(place: Place) -> Changed | None:
    """The items of a list without the object around each: `[{"tag": "new"}, {"tag": "old"}]`."""
    if place.key.isdigit() and place.key != "0":
        return None
    path = parent(place.path) if place.key == "0" else place.path
    items = look(place.call, path)
    if not isinstance(items, list) or not all(_is_lone(item) for item in items):
        return None
    keys = {key for item in items for key in item}
    if len(keys) != 1 or not is_item_key(keys.pop(), place.name, _told(place, path)):
        return None
    bare = [value for item in items for value in item.values()]
    could_fit = path != place.path and all(
        place.meets(value) or (isinstance(value, str) and loosely_fits(value, place.schemas))
        for value in bare
    )
    if not could_fit and not fits(place.tool, place.call, {path: bare}):
        return None
    reason = "items inside an object of one key each"
    return Changed(Change(path, items, bare, Safety.INFERRED, reason))


def _told(place: Place, path: str) -> str:
    """What the schema says of the items of a list, and of the list."""
    around = at(place.tool.schema, split(path)[1:]) or ()
    told = [text for one in around if isinstance(text := one.get("description"), str)]
    return " ".join([place.description, *told])


def _is_lone(item: JSON) -> bool:
    """Whether this is an object that holds one value, and no other structure."""
    if not isinstance(item, Mapping) or len(item) != 1:
        return False
    return not any(value is None or isinstance(value, Mapping | list) for value in item.values())


def _listed(place: Place) -> Changed | None:
    """A list without the list of one around it: `[[[1, 2], [3, 4]]]` where points are asked for."""
    path = place.path
    while (path := parent(path)) != _ARGS:
        value = look(place.call, path)
        if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], list):
            continue
        if fits(place.tool, place.call, {path: value[0]}):
            reason = "a list in a list of its own"
            return Changed(Change(path, value, value[0], Safety.INFERRED, reason))
    return None


def _nested(call: Call, tool: Tool, place: Place) -> Changed | None:
    """Flat keys such as `address.city` moved into the object that the schema asks for."""
    above = parent(place.path)
    around = object_at(call, tool, above)
    if around is None:
        return None
    given, _, names = around
    moves = _moves(tool, above, given, names)
    if len(set(moves.values())) < len(moves) or (
        place.value is not ABSENT and place.key not in moves
    ):
        return None
    changes: list[Change] = []
    built = {name: dict(given.get(name) or {}) for name, _ in moves.values()}
    for key, (name, each) in moves.items():
        if each in built[name]:
            return None
        built[name][each] = given[key]
        changes.append(_change(above + join(key), given[key], ABSENT))
    changes += [_change(above + join(n), given.get(n, ABSENT), v) for n, v in built.items()]
    return _if_better(call, tool, changes)


def _moves(
    tool: Tool, above: str, given: JsonObject, names: Mapping[str, JSON]
) -> dict[str, tuple[str, str]]:
    """The unknown keys that each name one place inside one object: which object, which key."""
    objects = inside(tool.schema, split(above)[1:])
    if not objects:
        return {}
    unknown: dict[str, list[str]] = {}
    for key in list(given)[:_MOST]:
        if key not in names and (spelled := spelling(key)):
            for form in {key, spelled}:
                unknown.setdefault(form, []).append(key)
    found: dict[str, list[tuple[str, str]]] = {}
    if not unknown:
        return {}
    for name, inner in objects.items():
        if not isinstance(given.get(name), Mapping | None):
            continue
        for each in inner:
            keys = {key for form in _joined(name, each) for key in unknown.get(form, ())}
            for key in keys:
                found.setdefault(key, []).append((name, each))
    return {key: places[0] for key, places in found.items() if len(places) == 1}


def _is_joined(key: str, name: str, each: str) -> bool:
    return not {key, spelling(key)}.isdisjoint(_joined(name, each))


@lru_cache(maxsize=4_096)
def _joined(name: str, each: str) -> frozenset[str]:
    """How a place inside an object may be written as one key, as it is or in its spelling."""
    marked = {f"{name}{mark}{each}" for mark in (".", "_", "/", "-", "__", ":")}
    return frozenset(marked | {f"{name}[{each}]", spelling(f"{name}_{each}")} - {""})


def _gathered(call: Call, tool: Tool, place: Place) -> Changed | None:
    """Keys of an object that was left out, such as `lat` and `lng`, put into it."""
    above = parent(place.path)
    found = gathered(call, tool, above, place.key)
    if found is None or (place.value is not ABSENT and place.key not in found.moved):
        return None
    given, after = found.before, found.after
    changes = [_change(above + join(key), given[key], ABSENT) for key in found.moved]
    changes += [
        _change(above + join(name), given.get(name, ABSENT), value)
        for name, value in after.items()
        if name not in given or value is not given[name]
    ]
    return Changed(changes)


def _flattened(call: Call, tool: Tool, place: Place) -> Changed | None:
    """The content of an unknown object moved up to the flat arguments that it speaks of."""
    above = parent(place.path)
    around = object_at(call, tool, above)
    if around is None:
        return None
    given, _, names = around
    if any(
        isinstance(given.get(n), str) and not _says_nothing(n, given[n], tool)
        for n in _NAMES - names.keys()
    ):
        return None
    sources = [key for key in list(given)[:_MOST] if key not in names]
    idle = [key for key in sources if _says_nothing(key, given[key], tool)]
    if place.value is not ABSENT and place.key not in idle:
        sources = [place.key]
    found = {key: _spread(above, key, given, names) for key in sources}
    moved = {key: changes for key, changes in found.items() if changes}
    if len(moved) != 1:
        return None
    ((source, changes),) = moved.items()
    if _is_argument(source, above, given, tool):
        return None
    if spelling(source) in _WRAPPERS:
        changes += [_change(above + join(key), given[key], ABSENT) for key in idle]
    return _if_better(call, tool, changes)


def _spread(
    above: str, source: str, given: JsonObject, names: Mapping[str, JSON]
) -> list[Change] | None:
    """The changes that move everything in one object up, each to the argument of its name."""
    content = given[source]
    if not isinstance(content, Mapping) or not content or len(content) > _MOST:
        return None
    if not (NEGATIONS | _NOT_MEANT).isdisjoint(tokens(source)):
        return None
    changes = [_change(above + join(source), content, ABSENT)]
    taken: set[str] = set()
    for key, value in content.items():
        found = [
            name
            for name in names
            if name not in given and (is_spelled(key, name) or _is_joined(name, source, key))
        ]
        if len(found) != 1 or found[0] in taken:
            return None
        taken.add(found[0])
        changes.append(_change(above + join(found[0]), ABSENT, value))
    return changes


def _change(path: str, before: JSON, after: JSON) -> Change:
    return Change(path, before, after, Safety.INFERRED, "an argument at another level")


def _if_better(call: Call, tool: Tool, changes: list[Change]) -> Changed | None:
    if len(changes) < 2:
        return None
    after = apply(call, changes).args
    if tool.is_valid(after) or len(tool.violations(after)) < len(tool.violations(call.args)):
        return Changed(changes)
    return None
