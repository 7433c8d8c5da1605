"""Reads the calls that models write, in whatever form they come.

`read_calls` reads a text, `read_call_object` an object, `read_arguments` the text of one known
tool's arguments. Each says what differed from a strictly valid call, and refuses what has no one
reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from selfcorrect.effects import destroys
from selfcorrect.model import Call, Finding, JsonObject, Safety
from selfcorrect.protocols import Form, TextPolicy, Tool

# The files of this folder share through this one; each block needs the ones above it.
from selfcorrect.reading.contract import (
    ATTEMPT,
    GUESSES,
    MOST_CALLS,
    Candidate,
    Deviation,
    Ending,
    Fault,
    JsonRead,
    Oddity,
    Offered,
    Reader,
    ToolCallKeys,
    has,
    parameters,
    place,
    reads,
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
from selfcorrect.reading.nesting import CLOSER, CLOSERS, Frame, Nesting, Twice

# isort: split
from selfcorrect.reading.tolerant_json import MOST_LEVELS, read_json

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
from selfcorrect.reading.metadata import (
    ARGUMENTS_TOO,
    CALL_ID,
    IDS_TOO,
    NAMES_TOO,
    belongs,
    beside,
    is_said,
    left_out,
    own_ids,
    two_names,
)
from selfcorrect.reading.standing import FORM, Standing, commented, end_of_turn

# isort: split
from selfcorrect.reading.envelopes import (
    WRAPPERS,
    calls_in,
    is_definition,
    read_call_object,
)
from selfcorrect.reading.expressions import unevaluated
from selfcorrect.reading.named_arguments import by_name, ends_in
from selfcorrect.reading.openings import CALL_TAG, named_before
from selfcorrect.reading.tag_values import put_parameter
from selfcorrect.reading.thinking import thought, without_thinking
from selfcorrect.reading.variables import assigned_names

# isort: split
from selfcorrect.reading.unreadable import MARKUP_NEXT, unread_call, unread_calls

# isort: split
from selfcorrect.reading.begun_calls import BegunCalls
from selfcorrect.reading.choosing import choose, once
from selfcorrect.reading.element_calls import ElementCalls
from selfcorrect.reading.json_calls import JsonCalls
from selfcorrect.reading.python_calls import PythonCalls
from selfcorrect.reading.react_calls import ReactCalls
from selfcorrect.reading.tagged_calls import TaggedCalls

__all__ = [
    "ARGUMENTS_TOO",
    "ATTEMPT",
    "CALL_ID",
    "CALL_OPENING",
    "CALL_TAG",
    "CLOSER",
    "CLOSERS",
    "COMMA_MISSING",
    "CUT_REASONS",
    "DONE_REASONS",
    "FORM",
    "GUESSES",
    "IDS_TOO",
    "JSON_NAMES",
    "LITERALS",
    "MARKUP_NEXT",
    "MOST_CALLS",
    "MOST_LEVELS",
    "MOST_MISSING",
    "NAMES_TOO",
    "NO_ARGUMENTS",
    "QUOTES",
    "RIVAL_LEVELS",
    "STRICT_WORDS",
    "SURROGATE",
    "WORD",
    "WRAPPERS",
    "Arguments",
    "Asked",
    "Candidate",
    "Deviation",
    "Ending",
    "Fault",
    "Frame",
    "JsonRead",
    "Nesting",
    "NotLiteral",
    "Oddity",
    "Offered",
    "Reader",
    "Reading",
    "Scalars",
    "Standing",
    "Strings",
    "ToolCallKeys",
    "Twice",
    "Unreadable",
    "as_arguments",
    "assigned_names",
    "belongs",
    "beside",
    "by_name",
    "by_position",
    "calls_in",
    "commented",
    "end_of_turn",
    "ending_in",
    "ending_of",
    "ends_in",
    "extent",
    "from_text",
    "has",
    "is_definition",
    "is_said",
    "left_out",
    "literals",
    "lost",
    "named_before",
    "once",
    "other_readings",
    "own_ids",
    "parameters",
    "put_parameter",
    "read_arguments",
    "read_call_object",
    "read_calls",
    "read_json",
    "reads",
    "reasons_in",
    "refusal_of",
    "strict_json",
    "surest",
    "thought",
    "two_names",
    "unevaluated",
    "unread_call",
    "unread_calls",
    "without_residue",
]

_KEYWORDS: Final = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")
_HOLDS_MORE: Final = re.compile(r"[\s\[]*[{\"]")
_GOES_ON: Final = "the text may go on where it ends"
_NOT_MADE: Final = "the text holds a call; it was not made"


@dataclass(frozen=True, slots=True)
class Asked:
    """How a text was read: equal where reading it again would give the same."""

    text: str
    finish_reason: str | None
    keys: ToolCallKeys
    request: str | None
    policy: TextPolicy
    in_context: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text holds.

    Attributes:
        calls: The calls, in order; empty where the text was refused.
        refusal: Why the text was refused, or None.
        strict: The text is exactly one strictly valid call object.
        wordy: Words stand around the calls.
        doubted: The calls of a text that was refused because it holds more than them.
        text: The text in which the calls stand.
        asked: How it was read, of a text that is not strictly one call.
    """

    calls: tuple[Candidate, ...]
    refusal: Finding | None = None
    strict: bool = False
    wordy: bool = False
    doubted: tuple[Candidate, ...] = ()
    text: str = ""
    asked: Asked | None = None

    @property
    def finding(self) -> Finding | None:
        """What is wrong with the text, whether it could be read or not; None if it is strict."""
        if self.refusal is not None or self.strict:
            return self.refusal
        if len(self.calls) > 1:
            return _finding("several_calls", f"the text holds {len(self.calls)} calls")
        found = (each.code for call in self.calls for each in call.deviations)
        if any(code is not Oddity.WRAPPING for code in found):
            return _finding("malformed_json", "the call is not strictly valid JSON")
        return _finding("wrapped_text", "the text holds more than a call")


def read_calls(
    text: str,
    tools: Mapping[str, Tool],
    *,
    finish_reason: str | None = None,
    keys: ToolCallKeys | None = None,
    request: str | None = None,
    policy: TextPolicy | None = None,
    in_context: bool = False,
) -> Reading:
    """Read the calls that a text makes: those that are the text, but for thinking and markup.

    Of tools that only read, calls in lines of their own among words are made, too. Not the right
    tool for arguments of a tool that is already known; see `read_arguments`.

    Args:
        text: What the model wrote.
        tools: The offered tools by name; their schemas decide between readings.
        finish_reason: Why the model stopped; `"length"` means that nothing cut off is completed.
        keys: Where the parts of a call are found.
        request: What the user asked for, if known.
        policy: Which calls are made; by default those of texts that are nothing but calls.
        in_context: It is known what was said before, so that a call that repeats it is told.

    >>> reading = read_calls('{"name": "find", "arguments": {"q": "x"}}', {})
    >>> reading.strict, reading.calls[0].call
    (True, Call(name='find', args={'q': 'x'}, id=None, raw=None))
    >>> reading = read_calls("<tool_call>{'tool': 'find', 'args': {'q': 'x'}}", {})
    >>> [(d.what, d.safety.value) for d in reading.calls[0].deviations][-1]
    ('markup around the call', 'exact')
    >>> read_calls("Sure! find(q='x')", {}).refusal.code
    'no_call'
    """
    policy, keys = policy or TextPolicy(), keys or ToolCallKeys()
    asked = Asked(text, finish_reason, keys, request, policy, in_context)
    return replace(_read_calls(text, tools, asked), asked=asked)


def _read_calls(text: str, tools: Mapping[str, Tool], asked: Asked) -> Reading:
    policy, keys, finish_reason = asked.policy, asked.keys, asked.finish_reason
    if policy.text == "off":
        return Reading((), _finding("no_call", "calls in texts are not read here"))
    forms = policy.forms
    strict = _strict(text, tools, keys, ending_of(finish_reason))
    if strict is not None and (forms is None or "json" in forms):
        return Reading((strict,), strict=True, text=text)
    levels = 0
    while (inner := _inside(text)) is not None and levels <= MOST_LEVELS:
        text, levels = inner, levels + 1
    if levels > MOST_LEVELS:
        deep = f"JSON in JSON, deeper than {MOST_LEVELS} levels"
        return Reading((), _finding("malformed_json", deep))
    offered = Offered(tools)
    ending = ending_of(finish_reason)
    code = PythonCalls(ending, asked.request or "")
    readers: Mapping[Form, Reader] = {
        "json": JsonCalls(keys, ending, code),
        "tags": TaggedCalls(ending),
        "elements": ElementCalls(ending),
        "react": ReactCalls(),
        "code": code,
    }
    used = [reader for form, reader in readers.items() if forms is None or form in forms]
    spoken = without_thinking(text)
    seen = (call for reader in (*used, BegunCalls()) for call in reader(spoken, offered))
    found = Found(*choose(spoken, seen, offered))
    told = asked.in_context or asked.request is not None
    reading = _made(found, offered, ending, policy, in_context=told)
    reading = replace(reading, text=text)
    if not levels:
        return reading
    note = Deviation(0, "a call inside a string", Safety.EXACT)
    calls = (replace(call, deviations=(note, *call.deviations)) for call in reading.calls)
    return replace(reading, calls=tuple(calls))


class Found(NamedTuple):
    """What was found in a text: see `choose`."""

    calls: tuple[Candidate, ...]
    written: tuple[Candidate, ...]
    text: str


def _made(
    found: Found, tools: Offered, ending: Ending, policy: TextPolicy, *, in_context: bool
) -> Reading:
    """The calls that are made, of those that were found, or why none is."""
    calls, text = found.calls, found.text
    if not calls:
        return Reading((), _no_call(text))
    if len(calls) > MOST_CALLS:
        many = f"the text holds more than {MOST_CALLS} calls"
        return Reading((), _finding("several_calls", many))
    standing = Standing(text, found.written)
    broken = next((call for call in calls if call.fault is not None), None)
    if broken is not None and broken.fault is not None:
        talk = not broken.fault.cut and standing.before(calls[0].start)
        if talk and not tools.only_reads(broken.name):
            return Reading((), _finding("no_call", _NOT_MADE), wordy=True)
        return Reading((), _refusal(text, broken.fault), wordy=not standing.alone())
    if not ending.complete and _may_go_on(text, calls, tools):
        return Reading((), _refusal(text, Fault(len(text), _GOES_ON, cut=True)))
    return _standing(found, standing, tools, policy, in_context=in_context)


def _standing(
    found: Found, standing: Standing, tools: Offered, policy: TextPolicy, *, in_context: bool
) -> Reading:
    """The calls that stand where they have to, for what their tools do."""
    calls, text = found.calls, found.text
    reads_only = all(tools.only_reads(call.name) for call in calls)
    remarked = any(has(call.deviations, Oddity.COMMENT) for call in calls) and not reads_only
    if standing.alone() and not remarked:
        return _noted(calls, Deviation(0, "markup around the call", Safety.EXACT, Oddity.WRAPPING))
    around = Deviation(0, "words around the call", Safety.INFERRED, Oddity.WRAPPING)
    if reads_only:
        hidden = commented(text, found.written)
        own = [call for call in calls if standing.own_lines(call) and call not in hidden]
        if own:
            return replace(_noted(own, around), wordy=True)
    elif policy.text == "edge" and not remarked and (in_context or not _destroy(calls, tools)):
        end = end_of_turn(text, found.written)
        before = [call for call in found.written if call.start < end]
        if block := standing.at_edge(before, end):
            return replace(_noted(once(block), around), wordy=True)
    return Reading((), _finding("no_call", _NOT_MADE), wordy=True, doubted=calls)


def _noted(calls: Iterable[Candidate], note: Deviation) -> Reading:
    return Reading(tuple(replace(each, deviations=(*each.deviations, note)) for each in calls))


def _destroy(calls: Iterable[Candidate], tools: Offered) -> bool:
    found = (tools.meant(call.name) for call in calls)
    return any(tool is not None and destroys(tool) for tool in found)


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
    added = has(calls[-1].deviations, Oddity.CLOSER_MISSING)
    return not behind and added and tool is not None and destroys(tool)


def _finding(code: str, text: str) -> Finding:
    return Finding(text=text, types=("MalformedCall",), code=code, paths=("/raw",))


def _no_call(text: str) -> Finding:
    return _finding("no_call", "the text holds no call" if text.strip() else "the text is empty")


def _refusal(text: str, fault: Fault) -> Finding:
    return _finding("cut" if fault.cut else "malformed_json", refusal_of(text, fault))
