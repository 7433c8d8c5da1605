"""Logs of any known form as recorded calls; the form is told from the lines themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from selfcorrect.learning.calls import RecordedCall, Unreadable, from_line, is_line
from selfcorrect.learning.chats import is_chat, of_chat
from selfcorrect.learning.spans import is_spans, of_spans
from selfcorrect.learning.trails import is_trail, of_trail
from selfcorrect.protocols import Effect
from selfcorrect.tools.declarations import schema_parts

_UNKNOWN: Final = "neither a recorded call, nor a trail, a conversation or spans"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line of a log that holds no calls, and why."""

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Declared:
    """What is known of a tool beside the log: its schema, and what it does to the world."""

    schema: Mapping[str, Any]
    effect: Effect | None = None


def declared(tools: Any) -> dict[str, Declared]:
    """What a list of tools says of them, in the form of any provider, with `effect` beside.

    Raises:
        ToolDefinitionError: If one of them is no tool.
    """
    found = {}
    for each in tools:
        name, _, parameters = schema_parts(each)
        found[str(name)] = Declared(parameters, each.get("effect"))
    return found


def recorded(
    lines: Iterable[tuple[str, Any]], tools: Mapping[str, Declared] | None = None
) -> Iterator[RecordedCall | Skipped]:
    """The calls in the lines of a log, each line with where it stands.

    Args:
        lines: The lines as JSON values, of any of the known forms, in any order.
        tools: What is known of the tools beside; what the log itself says comes first.
    """
    known: set[str] = set()
    place = 0
    for where, value in lines:
        try:
            found = list(_of_line(where, value, place, known))
        except Unreadable as error:
            yield Skipped(where, str(error))
            continue
        place += len(found)
        yield from (_completed(call, tools) if tools else call for call in found)


def _of_line(where: str, value: Any, place: int, known: set[str]) -> Iterator[RecordedCall]:
    if is_line(value):
        yield from_line(value)
    elif is_trail(value):
        yield from of_trail(value, where, place)
    elif is_spans(value):
        yield from of_spans(value)
    elif is_chat(value):
        yield from of_chat(value, place, known)
    else:
        raise Unreadable(_UNKNOWN)


def _completed(call: RecordedCall, tools: Mapping[str, Declared]) -> RecordedCall:
    told = tools.get(call.tool)
    if told is None:
        return call
    schema = call.schema if isinstance(call.schema, Mapping) else told.schema
    return replace(call, schema=schema, effect=call.effect or told.effect)
