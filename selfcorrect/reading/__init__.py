"""Reads the calls that models write, in whatever form they come.

`read_calls` reads a text, `read_call_object` an object, `read_arguments` the text of one known
tool's arguments. Each says what differed from a strictly valid call, and refuses what has no one
reading.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.effects import acts, destroys
from selfcorrect.model import Call, Finding, JsonObject, Safety
from selfcorrect.protocols import Tool

# The files of this folder share through this one; each block needs the ones above it.
from selfcorrect.reading.contract import (
    ATTEMPT,
    MOST_CALLS,
    Candidate,
    Deviation,
    Ending,
    Fault,
    JsonRead,
    Offered,
    Reader,
    ToolCallKeys,
    parameters,
    place,
    without_residue,
)

# isort: split
from selfcorrect.reading.brackets import RIVAL_LEVELS, other_readings
from selfcorrect.reading.code_extents import CALL_OPENING, MOST_MISSING, extent
from selfcorrect.reading.python_literals import JSON_NAMES, NotLiteral, literals
from selfcorrect.reading.strict import strict_json
from selfcorrect.reading.strings import COMMA_MISSING, QUOTES, SURROGATE, Strings, Unreadable

# isort: split
from selfcorrect.reading.endings import (
    CUT_REASONS,
    DONE_REASONS,
    ending_in,
    ending_of,
    lost,
    reasons_in,
)
from selfcorrect.reading.scalars import LITERALS, STRICT_WORDS, WORD, Scalars

# isort: split
from selfcorrect.reading.nesting import CLOSER, CLOSERS, REOPENED, Frame, Nesting, Twice

# isort: split
from selfcorrect.reading.tolerant_json import read_json

# isort: split
from selfcorrect.reading.arguments import (
    NO_ARGUMENTS,
    Arguments,
    as_arguments,
    by_position,
    from_text,
    surest,
)

# isort: split
from selfcorrect.reading.announcing import FORBIDDEN, MARKUP, TAG_BEFORE, denied_before_tag, put_off
from selfcorrect.reading.metadata import (
    ARGUMENTS_TOO,
    BESIDE,
    CALL_ID,
    IDS_TOO,
    MEANS_NOTHING,
    NAMES_TOO,
    belongs,
    beside,
    limited,
)

# isort: split
from selfcorrect.reading.envelopes import calls_in, is_definition, read_call_object
from selfcorrect.reading.expressions import unevaluated
from selfcorrect.reading.named_arguments import BARE, by_name, ends_in
from selfcorrect.reading.openings import CALL_TAG, named_before
from selfcorrect.reading.tag_values import put_parameter
from selfcorrect.reading.taking_back import asked_about, goes_on, taken_back, told
from selfcorrect.reading.thinking import thought, without_thinking
from selfcorrect.reading.variables import assigned_names

# isort: split
from selfcorrect.reading.unreadable import MARKUP_NEXT, unread_call, unread_calls

# isort: split
from selfcorrect.reading.announced import is_announced
from selfcorrect.reading.mentions import made

# isort: split
from selfcorrect.reading.begun_calls import BegunCalls
from selfcorrect.reading.choosing import choose
from selfcorrect.reading.element_calls import ElementCalls
from selfcorrect.reading.json_calls import JsonCalls
from selfcorrect.reading.python_calls import PythonCalls
from selfcorrect.reading.react_calls import ReactCalls
from selfcorrect.reading.tagged_calls import TaggedCalls

__all__ = [
    "ARGUMENTS_TOO",
    "ATTEMPT",
    "BARE",
    "BESIDE",
    "CALL_ID",
    "CALL_OPENING",
    "CALL_TAG",
    "CLOSER",
    "CLOSERS",
    "COMMA_MISSING",
    "CUT_REASONS",
    "DONE_REASONS",
    "FORBIDDEN",
    "IDS_TOO",
    "JSON_NAMES",
    "LITERALS",
    "MARKUP",
    "MARKUP_NEXT",
    "MEANS_NOTHING",
    "MOST_CALLS",
    "MOST_MISSING",
    "NAMES_TOO",
    "NO_ARGUMENTS",
    "QUOTES",
    "REOPENED",
    "RIVAL_LEVELS",
    "STRICT_WORDS",
    "SURROGATE",
    "TAG_BEFORE",
    "WORD",
    "Arguments",
    "Candidate",
    "Deviation",
    "Ending",
    "Fault",
    "Frame",
    "JsonRead",
    "Nesting",
    "NotLiteral",
    "Offered",
    "Reader",
    "Reading",
    "Scalars",
    "Strings",
    "ToolCallKeys",
    "Twice",
    "Unreadable",
    "as_arguments",
    "asked_about",
    "assigned_names",
    "belongs",
    "beside",
    "by_name",
    "by_position",
    "calls_in",
    "denied_before_tag",
    "ending_in",
    "ending_of",
    "ends_in",
    "extent",
    "from_text",
    "goes_on",
    "is_announced",
    "is_definition",
    "limited",
    "literals",
    "lost",
    "made",
    "named_before",
    "other_readings",
    "parameters",
    "put_off",
    "put_parameter",
    "read_arguments",
    "read_call_object",
    "read_calls",
    "read_json",
    "reasons_in",
    "refusal_of",
    "strict_json",
    "surest",
    "taken_back",
    "thought",
    "told",
    "unevaluated",
    "unread_call",
    "unread_calls",
    "without_residue",
]

_KEYWORDS: Final = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")
_HOLDS_MORE: Final = re.compile(r"[\s\[]*[{\"]")
_TALK: Final = frozenset({"wrapped in the tool's name", "the name stands before the arguments"})
_GOES_ON: Final = "the text may go on where it ends"
_RISKY: Final = "words around what may be no call, of a tool that changes something"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text holds.

    Attributes:
        calls: The calls, in order; empty where the text was refused.
        refusal: Why the text was refused, or None.
        strict: The text is exactly one strictly valid call object.
        wordy: Words stand around the calls.
        doubted: The calls of a text that was refused because it may only talk about them.
    """

    calls: tuple[Candidate, ...]
    refusal: Finding | None = None
    strict: bool = False
    wordy: bool = False
    doubted: tuple[Candidate, ...] = ()

    @property
    def finding(self) -> Finding | None:
        """What is wrong with the text, whether it could be read or not; None if it is strict."""
        if self.refusal is not None or self.strict:
            return self.refusal
        if len(self.calls) > 1:
            return _finding("several_calls", f"the text holds {len(self.calls)} calls")
        found = (each.what for call in self.calls for each in call.deviations)
        if any(what not in _WRAPPING for what in found):
            return _finding("malformed_json", "the call is not strictly valid JSON")
        return _finding("wrapped_text", "the text holds more than a call")


_WRAPPING: Final = frozenset({"markup around the call", "words around the call", "a call in code"})


def read_calls(
    text: str,
    tools: Mapping[str, Tool],
    *,
    finish_reason: str | None = None,
    keys: ToolCallKeys | None = None,
    request: str | None = None,
) -> Reading:
    """Read every call in a text that a model wrote.

    Not the right tool for arguments of a tool that is already known; see `read_arguments`.

    Args:
        text: What the model wrote.
        tools: The offered tools by name; their schemas decide between readings.
        finish_reason: Why the model stopped; `"length"` means that nothing cut off is completed.
        keys: Where the parts of a call are found.
        request: What the user asked for, if known.

    >>> reading = read_calls('{"name": "find", "arguments": {"q": "x"}}', {})
    >>> reading.strict, reading.calls[0].call
    (True, Call(name='find', args={'q': 'x'}, id=None, raw=None))
    >>> reading = read_calls("Sure! <tool_call>{'tool': 'find', 'args': {'q': 'x'}}", {})
    >>> [(d.what, d.safety.value) for d in reading.calls[0].deviations][-1]
    ('words around the call', 'inferred')
    >>> read_calls("I cannot help with that.", {}).refusal.code
    'no_call'
    """
    keys = keys or ToolCallKeys()
    strict = _strict(text, tools, keys, ending_of(finish_reason))
    if strict is not None:
        return Reading((strict,), strict=True)
    inner = _inside(text)
    if inner is not None:
        return _read_inside(inner, tools, finish_reason, keys, request)
    offered = Offered(tools)
    ending = ending_of(finish_reason)
    code = PythonCalls(ending, request or "")
    readers: tuple[Reader, ...] = (
        JsonCalls(keys, ending, code),
        TaggedCalls(ending),
        ElementCalls(ending),
        ReactCalls(),
        code,
        BegunCalls(),
    )
    spoken = without_thinking(text)
    seen = (call for reader in readers for call in reader(spoken, offered))
    calls, wordy = choose(spoken, seen, offered)
    if not calls:
        return Reading((), _no_call(text))
    if len(calls) > MOST_CALLS:
        refusal = _finding("several_calls", f"the text holds more than {MOST_CALLS} calls")
        return Reading((), refusal, wordy=wordy)
    broken = next((call for call in calls if call.fault is not None), None)
    if broken is not None and broken.fault is not None:
        return Reading((), _refusal(text, broken.fault), wordy=wordy)
    if not ending.complete and _may_go_on(spoken, calls, offered):
        return Reading((), _refusal(text, Fault(len(text), _GOES_ON, cut=True)), wordy=wordy)
    if wordy and any(_too_risky(spoken, calls, index, offered) for index in range(len(calls))):
        refusal = _finding("wrapped_text", _RISKY)
        return Reading((), refusal, wordy=wordy, doubted=tuple(calls))
    around = (
        Deviation(0, "words around the call", Safety.INFERRED)
        if wordy
        else Deviation(0, "markup around the call", Safety.EXACT)
    )
    noted = (replace(call, deviations=(*call.deviations, around)) for call in calls)
    return Reading(tuple(noted), wordy=wordy)


def read_arguments(text: str, tool: Tool | None, *, finish_reason: str | None = None) -> Arguments:
    """Read the text of the arguments of one call.

    >>> read_arguments('{"q": "x",}', None).value
    {'q': 'x'}
    >>> read_arguments('{"q": "x', None).fault.what
    'cut off inside a string'
    """
    ending = ending_of(finish_reason)
    read = from_text(text, tool, ending)
    if read.fault is None or tool is None:
        return read
    code = f"{tool.name}({text})" if _KEYWORDS.match(text) else text.strip()
    offered = Offered({tool.name: tool})
    calls = PythonCalls(ending)(code, offered)
    if len(calls) != 1 or (calls[0].start, calls[0].end) != (0, len(code)):
        return read
    call = calls[0]
    if call.args is None or offered.meant(call.name) is None:
        return read
    return Arguments(call.args, call.deviations)


def refusal_of(text: str, fault: Fault) -> str:
    """A fault in words, with its place."""
    return f"{fault.what} ({place(text, fault.offset)})"


def _strict(
    text: str, tools: Mapping[str, Tool], keys: ToolCallKeys, ending: Ending
) -> Candidate | None:
    read = strict_json(text)
    if read is None or not isinstance(read.value, dict):
        return None
    call = read_call_object(read.value, keys, tools)
    if call is None or call.raw is not None or call.name != without_residue(call.name):
        return None
    if not call.args and not ending.closers and _of_a_provider(read.value, call, keys):
        return None
    if beside(read.value, keys) and is_definition(read.value, call.args):
        return None
    if not call.args and call.name not in tools and not _has_arguments(read.value, keys):
        return None
    return Candidate(call.name, call.args, 0, len(text), (), call.id)


def _inside(text: str) -> str | None:
    """The text that a text stands for which is a JSON string, or was escaped once too often."""
    body = text.strip()
    if body.startswith(("{\\", "[\\", "[{\\")):
        body = f'"{body}"'
    if not body.startswith('"'):
        return None
    read = strict_json(body)
    return read.value if read is not None and _HOLDS_MORE.match(read.value) else None


def _read_inside(
    inner: str,
    tools: Mapping[str, Tool],
    finish_reason: str | None,
    keys: ToolCallKeys,
    request: str | None,
) -> Reading:
    reading = read_calls(inner, tools, finish_reason=finish_reason, keys=keys, request=request)
    note = Deviation(0, "a call inside a string", Safety.EXACT)
    calls = (replace(call, deviations=(note, *call.deviations)) for call in reading.calls)
    return replace(reading, calls=tuple(calls), strict=False)


def _has_arguments(value: JsonObject, keys: ToolCallKeys) -> bool:
    return any(key in value for key in (*keys.arguments, "input", "function", "functionCall"))


def _of_a_provider(value: JsonObject, call: Call, keys: ToolCallKeys) -> bool:
    """Whether a provider made this object, out of what the model wrote."""
    return call.id is not None or "type" in value or value.keys().isdisjoint(keys.name)


def _may_go_on(text: str, calls: Sequence[Candidate], tools: Offered) -> bool:
    """Whether a text may be cut off behind its last call, or in a call that destroys something."""
    behind = text[calls[-1].end :].strip()
    if behind == "," and text.lstrip().startswith("["):
        return True
    tool = tools.meant(calls[-1].name)
    added = any(each.what.startswith("missing ") for each in calls[-1].deviations)
    return not behind and added and tool is not None and destroys(tool)


def _too_risky(text: str, calls: Sequence[Candidate], index: int, tools: Offered) -> bool:
    """Whether a tool that changes something may only be talked about here, not called."""
    call = calls[index]
    tool = tools.meant(call.name)
    if tool is None or not acts(tool):
        return False
    if destroys(tool) and (call.code or any(each.what in _TALK for each in call.deviations)):
        return True
    return not call.tagged and not is_announced(text, calls, index)


def _finding(code: str, text: str) -> Finding:
    return Finding(text=text, types=("MalformedCall",), code=code, paths=("/raw",))


def _no_call(text: str) -> Finding:
    return _finding("no_call", "the text holds no call" if text.strip() else "the text is empty")


def _refusal(text: str, fault: Fault) -> Finding:
    return _finding("cut" if fault.cut else "malformed_json", refusal_of(text, fault))
