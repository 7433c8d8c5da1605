"""Reads calls whose parameters are elements of their own: `<find><q>x</q></find>`.

Also with the name as an element: `<invoke><tool_name>find</tool_name><parameters>…`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.protocols import Tool
from selfcorrect.reading.contract import (
    MOST_CALLS,
    Candidate,
    Deviation,
    Ending,
    Fault,
    Offered,
    parameters,
)
from selfcorrect.reading.tag_values import put_parameter

_NAME: Final = r"[\w.\-]{1,200}"
_OPENING: Final = re.compile(
    r"<(?P<tag>invoke|tool_call|function_call|tool_use)>\s*"
    rf"<(?:tool_)?name>\s*(?P<name>{_NAME})\s*</(?:tool_)?name>"
    r"\s*(?P<inner><(?:parameters|arguments|args|input)>)?"
    rf"|<(?P<tool>{_NAME})>(?=\s*<)"
)
_HALF_TAG: Final = re.compile(r"\s*+(?:</?[^<>]{0,200})?\Z")
"""What stands behind the last parameter of a call that was cut off."""
_ELEMENT: Final = re.compile(rf"\s*<(?P<name>{_NAME})>")


@dataclass(frozen=True, slots=True)
class ElementCalls:
    """Calls with one element per parameter; `ending` is what is known of the end of the text."""

    ending: Ending

    def __call__(self, text: str, tools: Offered, /) -> tuple[Candidate, ...]:
        found: list[Candidate] = []
        pos = 0
        while (opening := _OPENING.search(text, pos)) and len(found) <= MOST_CALLS:
            pos = opening.start() + 1
            name = opening["name"] or opening["tool"]
            tool = tools.meant(name) if opening["name"] else tools.get(name)
            if opening["tool"] and tool is None:
                continue
            call = _read(text, opening, name, tool)
            if call is not None:
                found.append(replace(call, tagged=True))
                pos = max(call.end, pos)
        return tuple(found)


def _read(text: str, opening: re.Match[str], name: str, tool: Tool | None) -> Candidate | None:
    """The call that opens here, or None where it is another element that is named like a tool."""
    start, pos = opening.start(), opening.end()
    known = parameters(tool)
    closed = f"</{opening['tag'] or name}>"
    inner = opening["inner"]
    ending = f"</{inner[1:]}" if inner else ""
    args: dict[str, JSON] = {}

    def holds_another(raw: str) -> bool:
        return any(found["name"] in known for found in _ELEMENT.finditer(raw))

    while (element := _ELEMENT.match(text, pos)) is not None:
        key = element["name"]
        if key not in known and tool is not None:
            fault = Fault(pos, f"{key[:40]!r} is no parameter of this tool")
            return Candidate(name, None, start, pos, fault=fault) if args else None
        read = put_parameter(args, text, element, f"</{key}>", known, holds_another)
        if isinstance(read, Fault):
            return Candidate(name, None, start, read.reach, fault=read)
        pos = read
    rest = text[pos : pos + 1_000].lstrip()
    for closer in filter(None, (ending, closed)):
        if not rest.startswith(closer):
            if not args and not opening["name"]:
                return None
            cut = _HALF_TAG.match(text, pos) is not None
            fault = Fault(pos, "the end of the call was expected here", cut=cut)
            return Candidate(name, None, start, max(pos, start + 1), fault=fault)
        rest = rest[len(closer) :].lstrip()
    if not args and not opening["name"] and not (tool is not None and tool.is_valid({})):
        return None
    end = text.index(closed, pos) + len(closed)
    notes = (Deviation(start, "parameters as elements"),)
    return Candidate(name, args, start, end, notes)
