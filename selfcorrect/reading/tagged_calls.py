"""Reads calls with a tag for each parameter: `<invoke name="find"><parameter name="q">…`."""

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

_NAME: Final = r"[\w.\-:/]{1,200}"
_SPACE: Final = r"(?:\w+:|[|\uff5c]\w+[|\uff5c])?"
_CALL: Final = re.compile(
    rf"<(?P<tag>{_SPACE}invoke|function|tool_call|tool)(?:\s+name\s*=\s*|\s*=\s*|>\s*)"
    rf"[\"']?(?P<name>{_NAME})[\"']?\s*>?\s*"
    rf"(?=<{_SPACE}(?:parameter|param|arg|arg_key|argument)\b|</)"
)
_PARAMETER: Final = re.compile(
    rf"\s*<(?P<tag>{_SPACE}(?:parameter|param|argument|arg))(?:\s+name)?\s*=\s*"
    rf"[\"']?(?P<name>{_NAME})[\"']?(?:\s+(?:string|type)=[\"']\w{{0,40}}[\"'])*\s*>"
)
_PAIR: Final = re.compile(rf"\s*<arg_key>\s*(?P<name>{_NAME})\s*</arg_key>\s*<(?P<tag>arg_value)>")
_HALF: Final = re.compile(r"\s*+(?:<arg_key>[^<>]{0,200}(?:</arg_key>\s*)?)?(?:</?[^<>]{0,200})?\Z")
"""A parameter's tag that was cut off, at the end of a text."""
_CLOSED: Final = re.compile(rf"\s*</{_SPACE}(?:invoke|function|tool_call|tool)>")


@dataclass(frozen=True, slots=True)
class TaggedCalls:
    """Calls with one tag per parameter; `ending` is what is known of the end of the text."""

    ending: Ending

    def __call__(self, text: str, tools: Offered, /) -> tuple[Candidate, ...]:
        found: list[Candidate] = []
        pos = 0
        while (opening := _CALL.search(text, pos)) and len(found) <= MOST_CALLS:
            tool = tools.meant(opening["name"])
            call = _read(text, opening, tool)
            if tool is not None or call.args:
                found.append(replace(call, tagged=True))
            pos = max(call.end, opening.end())
        return tuple(found)


def _read(text: str, opening: re.Match[str], tool: Tool | None) -> Candidate:
    start, pos, name = opening.start(), opening.end(), opening["name"]
    known = parameters(tool)
    args: dict[str, JSON] = {}
    notes = [Deviation(start, "parameters as tags")]
    while (mark := _PARAMETER.match(text, pos) or _PAIR.match(text, pos)) is not None:
        read = put_parameter(args, text, mark, f"</{mark['tag']}>", known, _holds_another)
        if isinstance(read, Fault):
            return Candidate(name, None, start, read.reach, fault=read)
        pos = read
    closed = _CLOSED.match(text, pos)
    if closed is None:
        if _HALF.match(text, pos):
            fault = Fault(pos, "the text ends before the call does", cut=True)
        else:
            fault = Fault(pos, "a parameter or the end of the call was expected here")
        return Candidate(name, None, start, max(pos, start + 1), fault=fault)
    return Candidate(name, args, start, closed.end(), tuple(notes))


def _holds_another(raw: str) -> bool:
    return (_PARAMETER.search(raw) or _PAIR.search(raw)) is not None
