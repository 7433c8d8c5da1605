"""Reads calls whose parameters are tags: `<invoke name="find"><parameter name="q">x</parameter>…`.

Values in tags are text; a parameter's schema says whether it is meant as something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from selfcorrect.model import JSON, Safety
from selfcorrect.plain import canonical
from selfcorrect.protocols import Tool
from selfcorrect.reading import (
    MOST_CALLS,
    Candidate,
    Deviation,
    Ending,
    Fault,
    Offered,
    parameters,
    strict_json,
)

_NAME: Final = r"[\w.\-:/]{1,200}"
_SPACE: Final = r"(?:\w+:|[|\uff5c]\w+[|\uff5c])?"
_CALL: Final = re.compile(
    rf"<(?P<tag>{_SPACE}invoke|function|tool_call|tool)(?:\s+name\s*=\s*|\s*=\s*|>\s*)"
    rf"[\"']?(?P<name>{_NAME})[\"']?\s*>?\s*"
    rf"(?=<{_SPACE}(?:parameter|param|arg|arg_key|argument)\b|</)"
)
_PARAMETER: Final = re.compile(
    rf"\s*<(?P<tag>{_SPACE}(?:parameter|param|argument|arg))(?:\s+name)?\s*=\s*"
    rf"[\"']?(?P<name>{_NAME})[\"']?(?:\s+\w+=[\"'][^\"'>]{{0,40}}[\"'])*\s*>"
)
_PAIR: Final = re.compile(rf"\s*<arg_key>\s*(?P<name>{_NAME})\s*</arg_key>\s*<(?P<tag>arg_value)>")
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
    notes = [Deviation(start, "parameters as tags", Safety.EXACT)]
    while (mark := _PARAMETER.match(text, pos) or _PAIR.match(text, pos)) is not None:
        key, close = mark["name"], f"</{mark['tag']}>"
        end = text.find(close, mark.end())
        if end < 0:
            fault = Fault(mark.end(), "cut off inside a parameter", cut=True)
            return Candidate(name, None, start, len(text), fault=fault)
        raw = text[mark.end() : end]
        if _PARAMETER.search(raw) or _PAIR.search(raw):
            fault = Fault(mark.end(), "a parameter inside another one: its end is not clear")
            return Candidate(name, None, start, end, fault=fault)
        value = tag_value(raw, known.get(key))
        if key in args and canonical(args[key]) != canonical(value):
            fault = Fault(mark.start(), f"the argument {key[:40]!r} has two different values")
            return Candidate(name, None, start, end, fault=fault)
        args[key] = value
        pos = end + len(close)
    closed = _CLOSED.match(text, pos)
    if closed is None:
        if text[pos:].strip():
            fault = Fault(pos, "a parameter or the end of the call was expected here")
        else:
            fault = Fault(pos, "the text ends before the call does", cut=True)
        return Candidate(name, None, start, max(pos, start + 1), fault=fault)
    return Candidate(name, args, start, closed.end(), tuple(notes))


def tag_value(raw: str, schema: object) -> JSON:
    """The value of a tag's text: text where the schema allows it, else JSON if it is JSON."""
    if len(raw) > 1 and raw[0] == raw[-1] == "\n":
        raw = raw[1:-1]
    kinds = _types(schema)
    if "string" in kinds or not kinds:
        return raw
    read = strict_json(raw.strip())
    if read is not None:
        return read.value
    words: Mapping[str, JSON] = {"True": True, "False": False, "None": None}
    return words.get(raw.strip(), raw)


def _types(schema: object) -> set[Any]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return set(kind) if isinstance(kind, list) else {kind} if kind else set()
