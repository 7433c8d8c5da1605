"""The arguments of one call: from an object, a text, a list or nothing to an object."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from selfcorrect.model import JSON, JsonObject, Safety
from selfcorrect.protocols import Tool
from selfcorrect.reading import (
    Deviation,
    Ending,
    Fault,
    JsonRead,
    parameters,
    read_json,
    strict_json,
)

_FENCE: Final = re.compile(r"\A\s*+```[\w-]*+\s|```\s*+\Z")
_NO_WORDS: Final = re.compile(r"[\"}\])=]|(?<!\w)'|'(?!\w)")
_LABEL: Final = re.compile(r"(\w+)\s*:\s*\Z")
_NOTHING: Final = "there are no arguments"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments that were read, or the fault because of which they were not."""

    value: JsonObject | None
    deviations: tuple[Deviation, ...] = ()
    fault: Fault | None = None


def as_arguments(value: JSON, tool: Tool | None, ending: Ending) -> Arguments:
    """The arguments object that the value beside a tool's name stands for."""
    if isinstance(value, Mapping):
        return Arguments(value)
    if isinstance(value, str):
        read = from_text(value, tool, ending)
        note = Deviation(0, "arguments as a JSON string", Safety.EXACT)
        return Arguments(read.value, (note, *read.deviations), read.fault)
    if value is None:
        return Arguments({}, (Deviation(0, _NOTHING, Safety.EXACT),))
    if isinstance(value, list):
        return by_position(value, {}, tool)
    return _broken(0, f"the arguments are of type {type(value).__name__}, not an object")


def from_text(text: str, tool: Tool | None, ending: Ending) -> Arguments:
    """Read the text of a call's arguments."""
    strict = strict_json(text)
    if strict is not None and isinstance(strict.value, dict):
        return Arguments(strict.value)
    if not text.strip():
        if tool is not None and ending.closers and tool.is_valid({}):
            return Arguments({}, (Deviation(0, _NOTHING, Safety.INFERRED),))
        return _broken(0, "the arguments are empty")
    start, notes = _start(text, tool)
    if start < 0:
        return _broken(0, "the arguments are not an object")
    inner = _FENCE.sub("", text[start:])
    read = read_json(
        inner, closers=ending.closers, final_number=ending.complete or _only_reads(tool)
    )
    if isinstance(read, Fault):
        return Arguments(None, (), Fault(start + read.offset, read.what, read.cut))
    found = [Deviation(start + each.offset, *each[1:]) for each in read.deviations]
    value = surest(read, tool)
    if isinstance(value, dict) and _too_many_closed(read, value, tool, worded=bool(notes)):
        value = Fault(start + read.end, "brackets that do not match")
    if isinstance(value, Fault):
        return Arguments(None, (), value)
    if isinstance(value, dict):
        return Arguments(value, (*notes, *found))
    if isinstance(value, list):
        bound = by_position(value, {}, tool)
        return Arguments(bound.value, (*notes, *found, *bound.deviations), bound.fault)
    return _broken(start, "the arguments are not an object")


def _too_many_closed(read: JsonRead, value: JsonObject, tool: Tool | None, *, worded: bool) -> bool:
    """Whether a superfluous closing bracket may have stood further inside, moving arguments out."""
    if all(each.what != "a closing bracket too many" for each in read.deviations):
        return False
    return worded or tool is None or not value.keys() <= parameters(tool).keys()


def surest(read: JsonRead, tool: Tool | None) -> JSON | Fault:
    """The value that was read, if the tool's schema rules out what else it could be."""
    if not read.rivals:
        return read.value
    place = next((d.offset for d in read.deviations if d.what.startswith("missing")), read.end)
    unclear = Fault(place, "a bracket is missing that could stand in several places")
    if tool is None or not isinstance(read.value, dict):
        return unclear
    wrong = len(tool.violations(read.value))
    for rival in read.rivals:
        if isinstance(rival, dict) and len(tool.violations(rival)) <= wrong:
            return unclear
    return read.value


def by_position(values: Sequence[JSON], named: Mapping[str, JSON], tool: Tool | None) -> Arguments:
    """Bind values without names to a tool's parameters in the order of its schema."""
    if not values:
        return Arguments(dict(named))
    if tool is None:
        return _broken(0, "arguments without names, of an unknown tool")
    names = list(parameters(tool))
    one = values[0] if len(values) == 1 and not named else None
    if isinstance(one, dict) and one and set(one) <= set(names):
        return Arguments(one, (Deviation(0, "arguments as one object", Safety.EXACT),))
    if len(values) > len(names):
        return _broken(0, "more arguments than the tool has parameters")
    bound = dict(zip(names, values, strict=False))
    if twice := bound.keys() & named.keys():
        return _broken(0, f"the argument {min(twice)!r} is given twice")
    if any(_misfits(value, parameters(tool)[name]) for name, value in bound.items()):
        return _broken(0, "arguments without names that do not fit in this order")
    note = Deviation(0, "arguments bound by position", Safety.INFERRED)
    return Arguments({**bound, **named}, (note,))


def _start(text: str, tool: Tool | None) -> tuple[int, list[Deviation]]:
    """Where the JSON starts in a text (-1: nowhere for sure), and what stands before it."""
    fence = _FENCE.match(text)
    start = fence.end() if fence else 0
    notes = [Deviation(0, "a code fence", Safety.EXACT)] if fence else []
    head = text[start:].lstrip("\ufeff \t\r\n")
    if not head.startswith(("{", "[", '"', "'")):
        brace = text.find("{", start)
        before = text[start:brace]
        label = _LABEL.search(before)
        if brace < 0 or _NO_WORDS.search(before) or (label and label[1] in parameters(tool)):
            return -1, []
        notes.append(Deviation(start, "words before the arguments", Safety.INFERRED))
        start = brace
    return start, notes


def _misfits(value: JSON, schema: object) -> bool:
    """Whether a container stands where the schema wants none of its kind."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    kinds = kind if isinstance(kind, list) else [kind] if kind else []
    wanted = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else None
    return wanted is not None and bool(kinds) and wanted not in kinds


def _only_reads(tool: Tool | None) -> bool:
    return tool is not None and tool.effect == "read_only"


def _broken(offset: int, what: str) -> Arguments:
    return Arguments(None, (), Fault(offset, what))
