"""Keys that stand beside the object into which they belong: `lat` and `lng` for a location."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from selfcorrect.model import JSON, Call, JsonObject
from selfcorrect.pointer import join, look, put, split
from selfcorrect.protocols import Tool
from selfcorrect.schema.keys import is_open, is_spelled, loosely_fits, resembles
from selfcorrect.schema.nested import Nested, homes
from selfcorrect.schema.places import faults, is_within, object_at
from selfcorrect.schema.subschema import at
from selfcorrect.text import LONGEST, spelling, tokens
from selfcorrect.words import NEGATIONS, singular

_MOST: Final = 200
_MOST_COMPARED: Final = 2_000
_COMMON: Final = frozenset(
    {"account", "address", "age", "amount", "category", "city", "code", "comment", "comments"}
    | {"count", "country", "currency", "date", "description", "email", "end", "format", "gender"}
    | {"id", "key", "kind", "label", "message", "mobile", "name", "firstname", "lastname", "note"}
    | {"notes", "number", "order", "phone", "phonenumber", "price", "quantity", "region", "role"}
    | {"start", "state", "status", "text", "time", "timezone", "title", "type", "unit", "url"}
    | {"username", "value"}
)
"""Names that could be said of the whole as well as of any part."""
_CONTAINERS: Final = frozenset(
    {"attribute", "bound", "condition", "config", "configuration", "constraint", "criteria"}
    | {"criterion", "detail", "extra", "field", "filter", "info", "interval", "option", "page"}
    | {"pagination", "paging", "parameter", "param", "period", "preference", "property", "query"}
    | {"range", "setting", "window"}
)
"""Names of objects that only hold things together."""
_ROLES: Final = frozenset(
    {"after", "alternate", "alternative", "backup", "before", "default", "emergency", "fallback"}
    | {"former", "from", "maximum", "max", "minimum", "min", "new", "old", "original", "parent"}
    | {"previous", "prior", "secondary", "source", "target", "to"}
)
"""Words for one of several, of which the others may go without an object of their own."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """An object whose stray keys were put where they belong.

    Attributes:
        before: The object as it is.
        after: The object as it should be.
        moved: The keys that are no longer in it.
    """

    before: JsonObject
    after: JsonObject
    moved: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Keys that belong into one object.

    Attributes:
        tokens: Where the object is, from the one that the keys stand in.
        names: By key, what it is called there.
        is_plain: Whether the names alone tell where they belong, though nothing asks for them.
        is_whole: Whether they would do if the object is asked for.
    """

    tokens: tuple[str, ...]
    names: Mapping[str, str]
    is_plain: bool
    is_whole: bool


def gathered(call: Call, tool: Tool, above: str, about: str) -> Gathered | None:
    """Put keys that an object does not declare into the one object inside that does.

    What is moved may still need a repair of its own; nothing else may become wrong. Names that
    could be said of anything (`name`, `status`) move only where the object is asked for, or is a
    mere container.

    Args:
        call: The call.
        tool: The tool that it names.
        above: JSON Pointer of the object.
        about: The key or the argument in question.
    """
    around = object_at(call, tool, above)
    if around is None:
        return None
    given, schemas, names = around
    found = list(_groups(tool.schema, split(above)[1:], given, names, about))
    for unit in [found, *([group] for group in found)] if len(found) > 1 else [found]:
        keys = tuple(key for group in unit for key in group.names)
        if about not in keys and about not in {group.tokens[0] for group in unit}:
            continue
        if _is_right(call, tool, above, unit, takes_any=is_open(schemas)):
            return Gathered(given, _put_in(given, unit), keys)
    return None


def _is_right(
    call: Call, tool: Tool, above: str, unit: Sequence[_Group], *, takes_any: bool
) -> bool:
    """Whether these keys belong there: nothing new is wrong, and their names or a gap tell it."""
    given: Any = look(call, above)
    args: Any = put(call.args, above.removeprefix("/args"), _put_in(given, unit))
    left = tool.violations(args) if not tool.is_valid(args) else ()
    places = [above + join(*group.tokens, name) for group in unit for name in group.names.values()]
    wrong = faults([f for f in left if not any(is_within(f.path, each) for each in places)])
    before = faults(tool.violations(call.args))
    if wrong - before:
        return False
    if not takes_any and all(group.is_plain for group in unit):
        return True
    is_missed = any(code == "required" for _, code in before - wrong)
    return is_missed and any(group.is_whole for group in unit)


def _put_in(given: JsonObject, unit: Sequence[_Group]) -> JsonObject:
    """An object with the keys of these groups inside."""
    moved = {key for group in unit for key in group.names}
    after: dict[str, Any] = {key: value for key, value in given.items() if key not in moved}
    for group in unit:
        here = after
        for token in group.tokens:
            here[token] = dict(here.get(token) or {})
            here = here[token]
        here.update({name: given[key] for key, name in group.names.items()})
    return after


def _groups(
    root: JsonObject,
    where: tuple[str, ...],
    given: JsonObject,
    names: Mapping[str, JSON],
    about: str,
) -> Iterator[_Group]:
    """The keys that belong into the argument in question, by the one object that knows them.

    A key that two objects know, or that may stand for an argument beside them, is in no group.
    """
    known = homes(root, where)
    if not known:
        return
    unknown = [k for k in islice(given, _MOST) if k not in names and 0 < len(k) <= LONGEST]
    found = {key: known.get(spelling(key), ()) for key in unknown}
    lone = {key: places[0] for key, places in found.items() if len(places) == 1}
    outer = {key: home.place.tokens[0] for key, home in lone.items() if not home.place.listed}
    wanted = outer.get(about, about)
    asked = [key for key, name in outer.items() if name == wanted]
    if len(asked) * len(names) > _MOST_COMPARED:
        return
    by_place: dict[Nested, dict[str, str]] = {}
    for key in asked:
        home = lone[key]
        if not _has_rival(key, home.place, given, names):
            by_place.setdefault(home.place, {})[key] = home.name
    for place, moved in by_place.items():
        is_clear = len(set(moved.values())) == len(moved)
        if is_clear and _may_move(root, where, place.tokens, moved, given):
            yield _group(place, moved)


def _has_rival(key: str, home: Nested, given: JsonObject, names: Mapping[str, JSON]) -> bool:
    """Whether a key has something to do with another argument of the object that it stands in."""
    if any(name in given and is_spelled(key, name) for name in names):
        return True
    absent = [name for name in names if name not in given and name != home.tokens[0]]
    return resembles(key, absent) is not None


def _may_move(
    root: JsonObject,
    where: tuple[str, ...],
    place: tuple[str, ...],
    found: Mapping[str, str],
    given: JsonObject,
) -> bool:
    """Whether the places are free, and the values of the right shape."""
    here: JSON = given
    for token in place:
        here = here.get(token) if isinstance(here, Mapping) else None
        if here is None:
            break
        if not isinstance(here, Mapping):
            return False
    taken = here if isinstance(here, Mapping) else {}
    return all(
        not any(is_spelled(name, old) for old in islice(taken, _MOST))
        and loosely_fits(given[key], at(root, [*where, *place, name]) or ())
        for key, name in found.items()
    )


def _group(home: Nested, found: Mapping[str, str]) -> _Group:
    words = {word for token in home.tokens for word in tokens(token[:LONGEST])}
    if words & NEGATIONS:
        return _Group(home.tokens, found, is_plain=False, is_whole=False)
    is_special = any(spelling(name) not in _COMMON for name in found.values())
    holds = singular(tokens(home.tokens[-1][:LONGEST])[-1]) in _CONTAINERS if words else False
    return _Group(
        home.tokens,
        found,
        is_plain=(is_special or holds) and not words & _ROLES,
        is_whole=is_special or holds or len(found) > 1 or len(home.names) == 1,
    )
