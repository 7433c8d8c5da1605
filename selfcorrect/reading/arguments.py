"""The arguments of one call: from an object, a text, a list or nothing to an object."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.kernel.covering import GOES_ON
from selfcorrect.model import JSON, JsonObject
from selfcorrect.plain import canonical
from selfcorrect.protocols import Tool
from selfcorrect.reading.contract import (
    Deviation,
    Fault,
    JsonRead,
    Oddity,
    has,
    parameters,
)
from selfcorrect.reading.strict import strict_json
from selfcorrect.reading.tolerant_json import read_json
from selfcorrect.schema.subschema import type_of, types_of

_BEFORE: Final = re.compile(
    r"[\s\ufeff]*+(```[\w-]*+\s|`|<\w++>)?[\s\ufeff]*+(\w++\s*+[:=(]?\s*+(?=\{))?"
)
"""What may stand before the JSON: a fence, a tag, a word."""
_FENCE: Final = re.compile(r"```\s*+\Z")
_FIRST_KEY: Final = re.compile(r"\s*+\"[^\"\\\n]{1,200}\"\s*+:")
UNCLEAR: Final = "a bracket is missing that could stand in several places"
NO_ARGUMENTS: Final = "there are no arguments"


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments that were read, or the fault because of which they were not."""

    value: JsonObject | None
    deviations: tuple[Deviation, ...] = ()
    fault: Fault | None = None


def as_arguments(value: JSON, tool: Tool | None, end: bool | None) -> Arguments:
    """The arguments object that the value beside a tool's name stands for."""
    if isinstance(value, Mapping):
        return Arguments(value)
    if isinstance(value, str):
        read = from_text(value, tool, end)
        note = Deviation(0, "arguments as a JSON string")
        return Arguments(read.value, (note, *read.deviations), read.fault)
    if value is None:
        return Arguments({}, (Deviation(0, NO_ARGUMENTS, Oddity.NO_ARGUMENTS),))
    if isinstance(value, list):
        return by_position(value, {}, tool)
    return _broken(0, f"the arguments are of type {type(value).__name__}, not an object")


def from_text(text: str, tool: Tool | None, end: bool | None) -> Arguments:
    """Read the text of a call's arguments."""
    strict = strict_json(text)
    if strict is not None and isinstance(strict.value, dict):
        return Arguments(strict.value)
    if not text.strip():
        return _from_nothing(tool, end)
    if (half := _said_twice(text)) is not None:
        once = from_text(half, tool, end)
        note = Deviation(len(half), "the same arguments are written again")
        return replace(once, deviations=(*once.deviations, note))
    inner, start, notes = _body(text)
    if not inner:
        return _broken(0, "the arguments are not an object")
    read = read_json(inner)
    if isinstance(read, Fault):
        return Arguments(None, (), Fault(start + read.offset, read.what, read.cut))
    # The kernel refuses it as well; here the report says that it was cut off, and where.
    if read.unclosed and end is False:
        return Arguments(None, (), Fault(start + read.end, GOES_ON, cut=True))
    return _in_body(read, start, notes, tool)


def _in_body(
    read: JsonRead, start: int, notes: Sequence[Deviation], tool: Tool | None
) -> Arguments:
    """The arguments that the JSON in a text stands for."""
    found = [each._replace(offset=start + each.offset) for each in read.deviations]
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


def _from_nothing(tool: Tool | None, end: bool | None) -> Arguments:
    if end is False:
        return Arguments(None, (), Fault(0, "cut off before the arguments", cut=True))
    if tool is not None and tool.is_valid({}):
        return Arguments({}, (Deviation(0, NO_ARGUMENTS, Oddity.NO_ARGUMENTS),))
    return _broken(0, "the arguments are empty")


def _said_twice(text: str) -> str | None:
    """The first half of a text that says an object, and then the very same again."""
    body = text.strip()
    half = body[: len(body) // 2].strip()
    again = half.startswith("{") and half.endswith("}") and body[len(body) // 2 :].strip() == half
    return half if again and strict_json(half) is not None else None


def _too_many_closed(read: JsonRead, value: JsonObject, tool: Tool | None, *, worded: bool) -> bool:
    """Whether a superfluous closing bracket may have stood further inside, moving arguments out."""
    if not has(read.deviations, Oddity.CLOSER_TOO_MANY):
        return False
    return worded or tool is None or not value.keys() <= parameters(tool).keys()


def surest(read: JsonRead, tool: Tool | None) -> JSON | Fault:
    """The one value that was read, or could have been meant, that the tool's schema allows.

    Where none is valid as it stands, the value that was read, if all others are further from it.
    """
    if not read.rivals:
        return read.value
    place = next((d.offset for d in read.deviations if d.code is Oddity.CLOSER_MISSING), read.end)
    unclear = Fault(place, UNCLEAR, read.unclosed)
    if tool is None or not isinstance(read.value, dict):
        return unclear
    forms = [form for form in (read.value, *read.rivals) if isinstance(form, dict)]
    valid = {canonical(form): form for form in forms if tool.is_valid(form)}
    if valid:
        return unclear if len(valid) > 1 else next(iter(valid.values()))
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
        return Arguments(one, (Deviation(0, "arguments as one object"),))
    if len(values) > len(names):
        return _broken(0, "more arguments than the tool has parameters")
    bound = dict(zip(names, values, strict=False))
    if twice := bound.keys() & named.keys():
        return _broken(0, f"the argument {min(twice)!r} is given twice")
    known, alone = parameters(tool), len(values) == 1
    if any(_misfits(value, known[name], alone=alone) for name, value in bound.items()):
        return _broken(0, "arguments without names that do not fit in this order")
    note = Deviation(0, "arguments bound by position")
    return Arguments({**bound, **named}, (note,))


def _body(text: str) -> tuple[str, int, list[Deviation]]:
    """The JSON in a text (empty: none for sure), where it starts, and what was odd about that."""
    before = _BEFORE.match(text)
    fence, word = before.groups() if before else (None, None)
    start = before.end() if before else 0
    notes = [Deviation(0, "a tag" if fence[0] == "<" else "a code fence")] if fence else []
    notes += [Deviation(0, "words before the arguments")] if word else []
    body = _FENCE.sub("", text[start:])
    if not body.startswith(("{", "[", '"', "'")):
        return "", 0, []
    if _FIRST_KEY.match(body):
        notes.append(Deviation(start, "the opening bracket is missing"))
        return "{" + body, start - 1, notes
    return body, start, notes


def _misfits(value: JSON, schema: object, *, alone: bool) -> bool:
    """Whether a container stands where none of its kind does, or one item of a list among others.

    A single value where only a list fits may be one of several items.
    """
    kinds = types_of(schema) if isinstance(schema, Mapping) else frozenset()
    if isinstance(value, dict | list):
        return bool(kinds) and type_of(value) not in kinds
    return kinds == {"array"} and not alone


def _broken(offset: int, what: str) -> Arguments:
    return Arguments(None, (), Fault(offset, what))
