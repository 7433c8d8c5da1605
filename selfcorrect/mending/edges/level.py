"""What stands at another level than is asked for: too deep, too flat, or all in a wrapper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from selfcorrect.mending.cost import OFF, PRICES
from selfcorrect.mending.place import (
    Claims,
    KeyEdge,
    Level,
    Move,
    Tokens,
    assign,
    changes_of,
    faults_after,
    faults_now,
    is_free,
    level_at,
)
from selfcorrect.model import ABSENT, JSON, Call, Change, JsonObject, Safety
from selfcorrect.pointer import join
from selfcorrect.protocols import Tool
from selfcorrect.reading import Fault, read_json
from selfcorrect.schema.keys import is_spelled, loosely_fits, resembles
from selfcorrect.schema.nested import homes
from selfcorrect.schema.places import Checked
from selfcorrect.schema.subschema import at, declared, inside, same, types_of
from selfcorrect.text import LONGEST, normal, spelling, tokens
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
_DEEPEST: Final = 4
_MOST: Final = 200
_MOST_COMPARED: Final = 2_000
_LONGEST: Final = 1_000_000
_REASON: Final = "an argument at another level"


# --- all arguments in a wrapper -------------------------------------------------------------------


def unwrapped(call: Call, tool: Tool) -> Change | None:
    """The arguments without the wrapper around all of them."""
    return _unwrapped(Checked(tool, call))


@lru_cache(maxsize=4)
def _unwrapped(checked: Checked) -> Change | None:
    call, tool = checked.call, checked.tool
    names = declared(at(tool.schema, ()) or ())
    inner: Any = call.args
    safety = Safety.EXACT
    for _ in range(_DEEPEST):
        key = _wrapper(inner, names, tool)
        if key is None:
            break
        content = _object(inner[key])
        if content is None or _is_argument(key, (), inner, tool):
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
    return Change("/args", before, inner, safety, "arguments inside a wrapper")


def _wrapper(args: JsonObject, names: Mapping[str, JSON], tool: Tool) -> str | None:
    """The one key that wraps the arguments and is none of them."""
    own = spelling(tool.name)
    found = [
        key
        for key in islice(args, _MOST)
        if key not in names
        and isinstance(args[key], Mapping | str)
        and (spelling(key) in _WRAPPERS or not normal(key) or (own and spelling(key) == own))
        and _object(args[key]) is not None
    ]
    return found[0] if len(found) == 1 else None


def _is_argument(key: str, where: Tokens, given: JsonObject, tool: Tool) -> bool:
    """Whether an object is rather an argument of its own, whose name is not quite right."""
    content = _object(given[key]) or {}
    objects = [
        name
        for name in declared(at(tool.schema, where) or ())
        if name not in given and name not in content and _is_object(tool, (*where, name))
    ]
    return resembles(key, objects) is not None


def _is_object(tool: Tool, where: Tokens) -> bool:
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
    known = bool(inner) and all(any(is_spelled(k, n) for n in names) for k in islice(inner, _MOST))
    return known and len(tool.violations(inner)) <= len(tool.violations(call.args))


# --- too flat: keys that belong into an object ----------------------------------------------------


def deeper(level: Level, about: str, prices: Mapping[str, float]) -> list[Change] | None:
    """Put keys such as `address.city`, or `lat` and `lng`, into the one object that knows them.

    A key that does not name the object moves only where that is asked for, and then has all it
    needs: what could be said of the whole is not taken for a part.
    """
    if prices["deeper"] >= OFF or not inside(level.tool.schema, level.where):
        return None
    checked = Checked(level.tool, level.call)
    for edge in (_JOINED, _HOME):
        moves = _moves(checked, level.path, edge)
        wanted = moves[about].to[0] if about in moves else about
        asked = [move for move in moves.values() if move.to[0] == wanted]
        objects = dict.fromkeys([move.to[:-1] for move in asked])
        for unit in [(wanted,), *objects] if len(objects) > 1 else [(wanted,)]:
            is_asked = about in moves and moves[about].to[: len(unit)] == unit
            if (is_asked or about == wanted) and (found := _put(checked, level.path, edge, unit)):
                return list(found)
    return None


@lru_cache(maxsize=4)
def _moves(checked: Checked, path: str, edge: KeyEdge) -> Mapping[str, Move]:
    """Where the keys of an object belong, deeper inside."""
    level = level_at(checked.call, checked.tool, path)
    found = assign(level, level.unknown, (edge,), PRICES).moves if level is not None else ()
    return {move.key: move for move in found}


@lru_cache(maxsize=8)
def _put(checked: Checked, path: str, edge: KeyEdge, unit: Tokens) -> tuple[Change, ...]:
    """The changes that put all keys of one object, or of those inside it, there; if that is right.

    Nothing new is wrong then, something is right, and a gap tells where keys belong.
    """
    level = level_at(checked.call, checked.tool, path)
    moves = [move for move in _moves(checked, path, edge).values() if move.to[: len(unit)] == unit]
    if level is None or not moves:
        return ()
    changes = (*changes_of(level, moves, _REASON),)
    before = faults_now(level)
    wrong = faults_after(level, changes, [level.path + join(*move.to) for move in moves])
    if wrong - before or not before - wrong:
        return ()
    if edge is _JOINED:
        return changes
    sizes = Counter(move.to[:-1] for move in moves)
    is_missed = any(code == "required" for _, code in before - wrong)
    whole = is_missed and any(_is_whole(level, one, size) for one, size in sizes.items())
    return changes if whole else ()


def _is_whole(level: Level, place: Tokens, moved: int) -> bool:
    """Whether an object is more than what one key of several could mean by chance."""
    if not NEGATIONS.isdisjoint(word for one in place for word in tokens(one[:LONGEST])):
        return False
    known = declared(at(level.tool.schema, (*level.where, *place)) or ())
    return moved > 1 or len(known) == 1 or not is_free(level, place)


def _joined_claims(keys: Sequence[str], _: frozenset[Tokens], level: Level) -> Claims:
    """The places inside objects that keys name as one: `address.city`."""
    by_form: dict[str, list[str]] = {}
    for key in keys[:_MOST]:
        for form in {key, spelling(key)} - {""}:
            by_form.setdefault(form, []).append(key)
    found: dict[str, list[Tokens]] = {}
    objects = inside(level.tool.schema, level.where) if by_form else {}
    for name, inner in objects.items():
        for each in inner:
            named = {key for form in _joined(name, each) for key in by_form.get(form, ())}
            for key in named if is_free(level, (name, each)) else ():
                found.setdefault(key, []).append((name, each))
    return found


@lru_cache(maxsize=4_096)
def _joined(name: str, each: str) -> frozenset[str]:
    """How a place inside an object may be written as one key, as it is or in its spelling."""
    marked = {f"{name}{mark}{each}" for mark in (".", "_", "/", "-", "__", ":")}
    return frozenset(marked | {f"{name}[{each}]", spelling(f"{name}_{each}")} - {""})


def _home_claims(keys: Sequence[str], _: frozenset[Tokens], level: Level) -> Claims:
    """The one object inside that knows a key which means nothing beside it."""
    known = homes(level.tool.schema, level.where)
    places = {key: known.get(spelling(key), ()) for key in keys[:_MOST] if 0 < len(key) <= LONGEST}
    lone = {key: found[0] for key, found in places.items() if len(found) == 1}
    if not lone or len(lone) * len(level.names) > _MOST_COMPARED:
        return {}
    return {
        key: [(*home.place.tokens, home.name)]
        for key, home in lone.items()
        if not home.place.listed and _may_move(level, key, (*home.place.tokens, home.name))
    }


def _may_move(level: Level, key: str, to: Tokens) -> bool:
    """Whether a place is free, takes the value, and no argument beside the key may be meant."""
    if any(name in level.given and is_spelled(key, name) for name in level.names):
        return False
    absent = [name for name in level.names if name not in level.given and name != to[0]]
    schemas = at(level.tool.schema, [*level.where, *to]) or ()
    fits = is_free(level, to) and loosely_fits(level.given[key], schemas)
    return fits and resembles(key, absent) is None


_JOINED: Final = KeyEdge("deeper", Safety.INFERRED, _joined_claims)
_HOME: Final = KeyEdge("deeper", Safety.INFERRED, _home_claims)


# --- too deep: the content of an unknown object ---------------------------------------------------


def higher(level: Level, about: str) -> list[Change] | None:
    """Move the content of an unknown object up to the flat arguments that it speaks of."""
    tool, given = level.tool, level.given
    unknown = level.unknown[:_MOST]
    if not [key for key in unknown if isinstance(given[key], Mapping)]:
        return None
    named = _NAMES - level.names.keys()
    if any(isinstance(given.get(n), str) and not _says_nothing(n, given[n], tool) for n in named):
        return None
    idle = [key for key in unknown if _says_nothing(key, given[key], tool)]
    sources = [about] if about in given and about not in idle else unknown
    moved = {key: changes for key in sources if (changes := [*_spread(level, key)])}
    if len(moved) != 1:
        return None
    ((source, changes),) = moved.items()
    if _is_argument(source, level.where, given, tool):
        return None
    if spelling(source) in _WRAPPERS:
        changes += [_change(level.path + join(key), given[key], ABSENT) for key in idle]
    before, after = faults_now(level), faults_after(level, changes)
    return changes if not after or after.total() < before.total() else None


def _spread(level: Level, source: str) -> Iterator[Change]:
    """The changes that move everything in one object up; none if any of it has no place there."""
    content = level.given[source]
    if not isinstance(content, Mapping) or not 0 < len(content) <= _MOST:
        return
    if not (NEGATIONS | _NOT_MEANT).isdisjoint(tokens(source)):
        return
    places: dict[str, JSON] = {}
    absent = [name for name in level.names if name not in level.given]
    for key, value in content.items():
        found = [n for n in absent if is_spelled(key, n) or {n, spelling(n)} & _joined(source, key)]
        if len(found) != 1 or found[0] in places:
            return
        places[found[0]] = value
    yield _change(level.path + join(source), content, ABSENT)
    for name, value in places.items():
        yield _change(level.path + join(name), ABSENT, value)


def _change(path: str, before: JSON, after: JSON) -> Change:
    return Change(path, before, after, Safety.INFERRED, _REASON)
