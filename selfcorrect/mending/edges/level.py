"""Arguments that stand under a key that only wraps them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from selfcorrect.kernel.likeness import is_spelled
from selfcorrect.kernel.verdicts import Step
from selfcorrect.kernel.wrappers import unwrapped, without_schema
from selfcorrect.mending.cost import OFF
from selfcorrect.mending.place import Level
from selfcorrect.model import JSON, Call, Change, JsonObject, edit
from selfcorrect.pointer import put, split
from selfcorrect.schema.keys import resembles
from selfcorrect.schema.places import faults_now
from selfcorrect.schema.slots import slots_of
from selfcorrect.schema.subschema import at, types_of
from selfcorrect.text import Unclear

_MOST: Final = 200


def opened(levels: Sequence[Level], prices: Mapping[str, float]) -> list[Change] | Unclear:
    """The change that takes away what is around all arguments, if they then fit better."""
    for level in levels if prices["wrapper"] < OFF else ():
        given, found = dict(level.given), _unwrapped(level)
        if found not in (None, given) and _is_better(level, found):
            return [edit(level.path, given, found, "arguments inside a wrapper")]
    return Unclear("nothing fits better at another level")


def _unwrapped(level: Level) -> Any:
    """The object without what the kernel knows to be around it; None where two values are told."""
    tool, written = level.tool, Call(level.tool.name, level.given)
    step = Step(written, Call(tool.name), slots_of(tool.schema), offered=(tool.name,))
    if level.path != "/args":
        return without_schema(step, dict(level.given), {}, tuple(split(level.path)[1:]))
    found, reasons = unwrapped(step)
    return None if any(one.words for one in reasons) else found


def _is_better(level: Level, found: JsonObject) -> bool:
    unknown = [key for key in islice(found, _MOST) if key not in level.names]
    if _is_argument(level, found):
        return False
    whole: JSON = put(level.call.args, level.path.removeprefix("/args"), found)
    if level.tool.is_valid(whole):
        return True
    after, before = len(level.tool.violations(whole)), faults_now(level.tool, level.call).total()
    spelled = all(any(is_spelled(key, name) for name in level.names) for key in unknown)
    return bool(found) and (after < before or (spelled and after == before))


def _is_argument(level: Level, found: JsonObject) -> bool:
    """Whether the key around them is rather an argument of its own, whose name is not right."""
    where = split(level.path)[1:]
    objects = [
        name
        for name in level.names
        if name not in level.given
        and name not in found
        and any("object" in types_of(one) for one in at(level.tool.schema, [*where, name]) or ())
    ]
    gone = (key for key in islice(level.given, _MOST) if key not in found)
    return any(resembles(key, objects) is not None for key in gone)
