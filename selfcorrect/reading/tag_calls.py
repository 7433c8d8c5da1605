"""Reads calls with a tag for each parameter: `<invoke name="find"><parameter name="q">…`.

Also with elements: `<find><q>x</q></find>`, `<invoke><tool_name>find</tool_name><parameters>…`.
Values in tags are text; a parameter's schema says whether it is meant as something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from selfcorrect.model import JSON
from selfcorrect.plain import two_values
from selfcorrect.protocols import Tool
from selfcorrect.reading.contract import (
    MOST_CALLS,
    Candidate,
    Deviation,
    Fault,
    Offered,
    parameters,
)
from selfcorrect.reading.strict import strict_json
from selfcorrect.schema.subschema import types_of

_NAME: Final = r"[\w.\-:/]{1,200}"
_ELEMENT: Final = r"[\w.\-]{1,200}"
_SPACE: Final = r"(?:\w+:|[|\uff5c]\w+[|\uff5c])?"
_HALF: Final = re.compile(r"\s*+(?:<arg_key>[^<>]{0,200}(?:</arg_key>\s*)?)?(?:</?[^<>]{0,200})?\Z")
"""What stands behind the last parameter of a call that was cut off."""
_ARGUMENTS: Final = "parameters|arguments|args|input"
_CLOSED: Final = (
    rf"\s*(?:</(?:{_ARGUMENTS})>\s*)?"
    rf"</{_SPACE}(?:invoke|function(?:_call)?|tool(?:_call|_use)?|{{}})>"
)
"""What ends a call, with a place for its name."""


class TagCalls(NamedTuple):
    """Calls with one tag or element per parameter.

    Attributes:
        note: What is told of them.
        opening: What begins a call; without a `tag`, its `name` is an element of its own.
        parameter: What begins a parameter; without a `tag`, its `name` is an element of its own.
    """

    note: str
    opening: re.Pattern[str]
    parameter: re.Pattern[str]

    def __call__(self, text: str, tools: Offered, /) -> tuple[Candidate, ...]:
        """The calls in a text."""
        found: list[Candidate] = []
        pos = 0
        while (opening := self.opening.search(text, pos)) and len(found) <= MOST_CALLS:
            is_named, name = opening["tag"] is not None, opening["name"]
            tool = tools.meant(name) if is_named else tools.get(name)
            call = self._read(text, opening, tool) if is_named or tool is not None else None
            pos = opening.start() + 1
            if call is not None:
                pos = max(call.end, pos)
                found += [call] if tool is not None or call.args else []
        return tuple(found)

    def _read(self, text: str, opening: re.Match[str], tool: Tool | None) -> Candidate | None:
        """The call that opens here; None where it is another element, named like a tool."""
        start, pos, name = opening.start(), opening.end(), opening["name"]
        args: dict[str, JSON] = {}
        while (mark := self.parameter.match(text, pos)) is not None:
            if tool is not None and mark["tag"] is None and mark["name"] not in parameters(tool):
                if not args:
                    return None
                break
            read = self._put(args, text, mark, tool)
            if isinstance(read, Fault):
                return Candidate(name, None, start, read.reach, fault=read, tagged=True)
            pos = read
        closed = re.compile(_CLOSED.format(re.escape(name))).match(text, pos)
        is_empty = closed is not None and tool is not None and tool.is_valid({})
        # A tool without parameters may be named like any element.
        if not args and opening["tag"] is None and not is_empty:
            return None
        if closed is None:
            fault = Fault(
                pos, "the end of the call was expected here", _HALF.match(text, pos) is not None
            )
            return Candidate(name, None, start, max(pos, start + 1), fault=fault, tagged=True)
        note = Deviation(start, self.note)
        return Candidate(name, args, start, closed.end(), (note,), tagged=True)

    def _put(
        self, args: dict[str, JSON], text: str, mark: re.Match[str], tool: Tool | None
    ) -> int | Fault:
        """Put the parameter of a mark among the arguments: where it ends, or why it is not read.

        The `reach` of a fault is where that was seen.
        """
        key, known = mark["name"], parameters(tool)
        close = f"</{mark['tag'] or key}>".replace("arg_key", "arg_value")
        end = text.find(close, mark.end())
        if end < 0:
            return Fault(mark.end(), "cut off inside a parameter", cut=True, reach=len(text))
        raw = text[mark.end() : end]
        inner = self.parameter.finditer(raw)
        if any(each["tag"] or each["name"] in known for each in inner):
            unclear = "a parameter inside another one: its end is not clear"
            return Fault(mark.end(), unclear, reach=end)
        value = _value(raw, known.get(key))
        if key in args and (why := two_values("argument", key, args[key], value)) is not None:
            return Fault(mark.start(), why, reach=end)
        args[key] = value
        return end + len(close)


def _value(raw: str, schema: object) -> JSON:
    """The value of a tag's text: text where the schema allows it, else JSON if it is JSON."""
    if len(raw) > 1 and raw[0] == raw[-1] == "\n":
        raw = raw[1:-1]
    kinds = types_of(schema) if isinstance(schema, Mapping) else ()
    if not kinds or "string" in kinds:
        return raw
    read = strict_json(raw.strip())
    if read is not None:
        return read.value
    words: Mapping[str, JSON] = {"True": True, "False": False, "None": None}
    return words.get(raw.strip(), raw)


TAGS: Final = TagCalls(
    "parameters as tags",
    re.compile(
        rf"<(?P<tag>{_SPACE}invoke|function|tool_call|tool)(?:\s+name\s*=\s*|\s*=\s*|>\s*)"
        rf"[\"']?(?P<name>{_NAME})[\"']?\s*>?\s*"
        rf"(?=<{_SPACE}(?:parameter|param|arg|arg_key|argument)\b|</)"
    ),
    re.compile(
        rf"\s*<(?P<tag>arg_key|{_SPACE}(?:parameter|param|argument|arg))(?:>\s*|(?:\s+name)?\s*=\s*)"
        rf"[\"']?(?P<name>{_NAME})(?:\s*</arg_key>\s*<arg_value>"
        r"|[\"']?(?:\s+(?:string|type)=[\"']\w{0,40}[\"'])*\s*>)"
    ),
)
ELEMENTS: Final = TagCalls(
    "parameters as elements",
    re.compile(
        r"<(?:(?P<tag>invoke|tool_call|function_call|tool_use)>\s*<(?:tool_)?name>\s*)?"
        rf"(?P<name>{_ELEMENT})(?(tag)\s*</(?:tool_)?name>\s*(?:<(?:{_ARGUMENTS})>)?|>(?=\s*<))"
    ),
    re.compile(rf"\s*<(?P<tag>(?!))?(?P<name>{_ELEMENT})>"),
)
