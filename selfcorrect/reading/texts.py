"""The calls that a text makes, by every form in which one may stand in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from selfcorrect.kernel.calls import is_just
from selfcorrect.kernel.metadata import ended
from selfcorrect.kernel.standing import unquoted
from selfcorrect.kernel.thinking import without_thinking
from selfcorrect.protocols import Form, TextPolicy, Tool
from selfcorrect.reading.begun_calls import begun_calls
from selfcorrect.reading.choosing import choose
from selfcorrect.reading.contract import (
    Candidate,
    Deviation,
    Offered,
    Reader,
    ToolCallKeys,
    without_residue,
)
from selfcorrect.reading.envelopes import read_call_object
from selfcorrect.reading.json_calls import JsonCalls
from selfcorrect.reading.making import made
from selfcorrect.reading.outcome import Asked, Reading, malformed
from selfcorrect.reading.python_calls import PythonCalls
from selfcorrect.reading.react_calls import react_calls
from selfcorrect.reading.strict import strict_json
from selfcorrect.reading.tag_calls import ELEMENTS, TAGS
from selfcorrect.reading.tolerant_json import MOST_LEVELS


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
    >>> reading.calls[0].deviations[-1].what
    'markup around the call'
    >>> read_calls("Sure! find(q='x')", {}).refusal.code
    'no_call'
    """
    policy, keys = policy or TextPolicy(), keys or ToolCallKeys()
    asked = Asked(text, finish_reason, keys, request, policy, in_context)
    return replace(_read(text, tools, asked), asked=asked)


def _read(text: str, tools: Mapping[str, Tool], asked: Asked) -> Reading:
    policy, keys, finish_reason = asked.policy, asked.keys, asked.finish_reason
    if policy.text == "off":
        return Reading((), malformed("no_call", "calls in texts are not read here"))
    forms = policy.forms
    strict = _strict(text, tools, keys, ended(finish_reason))
    if strict is not None and (forms is None or "json" in forms):
        return Reading((strict,), strict=True, written=(strict,), text=text)
    levels = 0
    while (inner := unquoted(text)) is not None and levels <= MOST_LEVELS:
        text, levels = inner, levels + 1
    if levels > MOST_LEVELS:
        deep = f"JSON in JSON, deeper than {MOST_LEVELS} levels"
        return Reading((), malformed("malformed_json", deep))
    offered = Offered(tools)
    code = PythonCalls(asked.request or "")
    readers: Mapping[Form, Reader] = {
        "json": JsonCalls(keys, ended(finish_reason), code),
        "tags": TAGS,
        "elements": ELEMENTS,
        "react": react_calls,
        "code": code,
    }
    used = [reader for form, reader in readers.items() if forms is None or form in forms]
    aloud = without_thinking(text)
    seen = (call for reader in (*used, begun_calls) for call in reader(aloud, offered))
    found = choose(aloud, seen, offered)
    told = asked.in_context or asked.request is not None
    reading = made(found, offered, asked, in_context=told)
    reading = replace(reading, text=text, written=found.written)
    if not levels:
        return reading
    note = Deviation(0, "a call inside a string")
    calls = (replace(call, deviations=(note, *call.deviations)) for call in reading.calls)
    return replace(reading, calls=tuple(calls))


def _strict(
    text: str, tools: Mapping[str, Tool], keys: ToolCallKeys, end: bool | None
) -> Candidate | None:
    """The call that a strictly valid text is, if the kernel sees nothing else in it."""
    read = strict_json(text)
    call = read_call_object(read.value, keys) if read is not None else None
    if read is None or call is None or call.raw is not None:
        return None
    # Without arguments only the name of a tool tells a call from data.
    is_call = call.args or (call.name in tools and end is not False)
    is_named = call.name == without_residue(call.name)
    if not (is_call and is_named and is_just(text, call, keys.own)):
        return None
    return Candidate(call.name, call.args, 0, len(text), (), call.id, value=read.value)
