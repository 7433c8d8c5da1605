"""What stands one level too deep: arguments under a key that wraps them, or groups them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from selfcorrect.mending.cost import OFF
from selfcorrect.mending.place import Level
from selfcorrect.model import ABSENT, JSON, Call, Change, JsonObject, edit
from selfcorrect.pointer import join, put, split
from selfcorrect.protocols import Tool
from selfcorrect.reading import Fault, read_json
from selfcorrect.schema.keys import is_spelled, resembles
from selfcorrect.schema.places import faults_now
from selfcorrect.schema.subschema import at, same, types_of
from selfcorrect.text import Unclear, normal, spelling, tokens
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
_LONGEST: Final = 1_000_000


class _Opened(NamedTuple):
    """An object without what was around some of its keys.

    Attributes:
        after: The object.
        wraps: Whether the key around them was one that only wraps.
    """

    after: JsonObject
    wraps: bool


def opened(
    _: Call, tool: Tool, levels: Sequence[Level], prices: Mapping[str, float]
) -> list[Change] | Unclear:
    """The changes that take away what is around keys, if an object then fits better."""
    for level in levels:
        found, now = None, level.given
        for _step in range(_DEEPEST):
            one = _without_one(now, level, prices)
            if one is None:
                break
            found, now = one, one.after
            if not one.wraps:
                break
        if found is not None and _is_better(level, found, tool):
            return [*_changes(level, found)]
    return Unclear("nothing fits better at another level")


def _changes(level: Level, found: _Opened) -> Iterator[Change]:
    given, after = dict(level.given), found.after
    if found.wraps:
        yield edit(level.path, given, after, "arguments inside a wrapper")
        return
    for key in [*given, *(key for key in after if key not in given)]:
        before, value = given.get(key, ABSENT), after.get(key, ABSENT)
        if before is not value:
            reason = "an argument at another level"
            yield edit(level.path + join(key), before, value, reason)


def _without_one(given: JsonObject, level: Level, prices: Mapping[str, float]) -> _Opened | None:
    """The object with the content of the one key that is none of its names."""
    unknown = [key for key in islice(given, _MOST) if key not in level.names]
    wrapping = [key for key in unknown if _wraps(key, level) and _object(given[key]) is not None]
    if len(wrapping) == 1 and prices["wrapper"] < OFF:
        whole = _unwrapped(wrapping[0], given, level)
        if whole is not None:
            return whole
    if prices["higher"] >= OFF or given is not level.given or _is_of_another(given, level):
        return None
    found = [one for key in unknown if (one := _spread(key, given, level)) is not None]
    return found[0] if len(found) == 1 else None


def _unwrapped(key: str, given: JsonObject, level: Level) -> _Opened | None:
    content = _object(given[key]) or {}
    own = _TEXTS & level.names.keys() if "type" not in given else frozenset[str]()
    beside = {
        k: v
        for k, v in given.items()
        if k != key and (k in own or not _says_nothing(k, v, level.tool))
    }
    if any(k not in level.names or k in content for k in beside) or _is_argument(
        key, content, given, level
    ):
        return None
    return _Opened({**content, **beside}, wraps=True)


def _wraps(key: str, level: Level) -> bool:
    """Whether a key around all arguments says no more than that, or names the tool."""
    own = spelling(level.tool.name)
    known = spelling(key) in _WRAPPERS or not normal(key) or own == spelling(key) != ""
    return known and level.path == "/args"


def _spread(key: str, given: JsonObject, level: Level) -> _Opened | None:
    """The object with the content of one of its keys, if each of that has one free name."""
    content = given[key]
    if not isinstance(content, Mapping) or not 0 < len(content) <= _MOST:
        return None
    if not (NEGATIONS | _NOT_MEANT).isdisjoint(tokens(key)):
        return None
    wraps = spelling(key) in _WRAPPERS
    kept = (k for k in given if not (wraps and _says_nothing(k, given[k], level.tool)))
    after = {k: given[k] for k in kept if k != key}
    for inner, value in content.items():
        joined = spelling(f"{key}_{inner}")
        found = [n for n in level.absent if is_spelled(inner, n) or "" != spelling(n) == joined]
        if len(found) != 1 or found[0] in after:
            return None
        after[found[0]] = value
    return None if _is_argument(key, content, given, level) else _Opened(after, wraps=False)


def _is_argument(key: str, content: JsonObject, given: JsonObject, level: Level) -> bool:
    """Whether an object is rather an argument of its own, whose name is not quite right."""
    where = split(level.path)[1:]
    objects = [
        name
        for name in level.names
        if name not in given
        and name not in content
        and any("object" in types_of(one) for one in at(level.tool.schema, [*where, name]) or ())
    ]
    return resembles(key, objects) is not None


def _object(value: JSON) -> JsonObject | None:
    if isinstance(value, str) and value.lstrip()[:1] == "{" and len(value) <= _LONGEST:
        read = read_json(value, closers=False)
        if isinstance(read, Fault) or read.rivals or read.deviations:
            return None
        value = read.value
    return value if isinstance(value, Mapping) else None


def _is_of_another(given: JsonObject, level: Level) -> bool:
    """Whether another tool is named beside the arguments."""
    named = [given[key] for key in _NAMES if key in given and key not in level.names]
    said = (one for one in named if isinstance(one, str))
    return any(spelling(one) != spelling(level.tool.name) for one in said)


def _says_nothing(key: str, value: JSON, tool: Tool) -> bool:
    """Whether a key beside a wrapper belongs to the wrapping: the tool's name, its own schema."""
    if key in _NAMES or key == "title":
        return isinstance(value, str) and spelling(value) == spelling(tool.name)
    if key == "type" and isinstance(value, str) and value in _KINDS:
        return True
    told = tool.description if key == "description" else tool.schema.get(key, ABSENT)
    return same(value, told) or same(value, tool.schema.get(key, ABSENT))


def _is_better(level: Level, found: _Opened, tool: Tool) -> bool:
    whole: JSON = put(level.call.args, level.path.removeprefix("/args"), found.after)
    if tool.is_valid(whole):
        return True
    keys = islice(found.after, _MOST)
    if found.wraps and not all(any(is_spelled(k, n) for n in level.names) for k in keys):
        return False
    after, before = len(tool.violations(whole)), faults_now(tool, level.call).total()
    return bool(found.after) and (after <= before if found.wraps else after < before)
