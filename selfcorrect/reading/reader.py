"""The reader of the loop: one call out of what came in, and what is wrong about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from selfcorrect.errors import UnusableInput
from selfcorrect.kernel.calls import is_just
from selfcorrect.kernel.metadata import ended
from selfcorrect.kernel.requests import NOT_ALLOWED, Request, is_refusal, why_no_call
from selfcorrect.model import Call, Finding
from selfcorrect.plain import clean
from selfcorrect.ports import Beside, ReadCall
from selfcorrect.protocols import TextPolicy, Tool
from selfcorrect.reading.allowing import why_not_allowed
from selfcorrect.reading.contract import ToolCallKeys
from selfcorrect.reading.envelopes import as_text, read_call_object
from selfcorrect.reading.known_tool import read_arguments
from selfcorrect.reading.outcome import Reading, malformed, refusal_of
from selfcorrect.reading.quoting import why_not_made
from selfcorrect.reading.texts import read_calls

_NOT_AN_OBJECT: Final = "the arguments are text that is not one JSON object"


def read_given(given: Any, tools: Mapping[str, Tool], beside: Beside) -> ReadCall:
    """The call in an object or a text, as it stands there; see `Reader`.

    Raises:
        UnusableInput: If there is neither a call nor a text in it.
    """
    if isinstance(given, str):
        return _from_text(given, tools, beside)
    if not isinstance(given, Mapping):
        raise UnusableInput(f"call must be an object or a text, not {type(given).__name__}")
    reason = beside.finish_reason
    cut = ended(reason) is False
    if cut and beside.whole and not is_refusal(reason):
        wrong = f"the answer in which the model planned the call was cut off ({reason})"
        raise UnusableInput(wrong)
    call = read_call_object(given)
    if call is None:
        raise UnusableInput("call needs a name (name, tool or tool_name) that is text")
    if call.raw is None and not is_just(given, call):
        call = Call("", {}, call.id, as_text(given))
    if not call.name.strip() and call.raw is None:
        raise UnusableInput("the name of the call is empty")
    # Whoever parsed a text that was cut off may have made no arguments of unreadable ones.
    raw = "" if cut and not call.args and call.raw is None else call.raw
    call_id = None if call.id is None else clean(str(call.id))
    call = Call(clean(call.name), call.args, call_id, raw)
    why = why_no_call(_request(beside), names=[call.name], offered=tools)
    if why is not None:
        return ReadCall(call, malformed(NOT_ALLOWED, why), is_made=False)
    return ReadCall(call, None if call.raw is None else _unread(call, tools, beside))


def _unread(call: Call, tools: Mapping[str, Tool], beside: Beside) -> Finding | None:
    """What is wrong with arguments, or a whole call, that came as text."""
    raw = call.raw or ""
    if not call.name:
        return _reading(raw, tools, replace(beside, policy=TextPolicy()), keyed=True).finding
    read = read_arguments(raw, tools.get(call.name), finish_reason=beside.finish_reason)
    if read.fault is None:
        return malformed("malformed_json", _NOT_AN_OBJECT)
    return malformed("cut" if read.fault.cut else "malformed_json", refusal_of(raw, read.fault))


def _from_text(raw: str, tools: Mapping[str, Tool], beside: Beside) -> ReadCall:
    reading = _reading(raw, tools, beside)
    why = why_not_allowed(reading, _request(beside), tools)
    if why is None and _is_no_call(reading) and not reading.doubted:
        reading = replace(_reading(raw, tools, beside, keyed=True), strict=False)
        why = why_not_allowed(reading, _request(beside), tools)
    if why is not None:
        return _handed_on(raw, malformed(NOT_ALLOWED, why))
    why = why_not_made(reading, tools, beside.messages, beside.request)
    if why is not None:
        return _handed_on(raw, malformed("no_call", why))
    if _is_no_call(reading) and reading.refusal is not None:
        return _handed_on(raw, reading.refusal)
    if reading.strict:
        return ReadCall(reading.calls[0].call)
    return ReadCall(Call("", {}, None, clean(raw)), reading.finding, reading=reading)


def _request(beside: Beside) -> Request:
    return Request(beside.tool_choice, beside.finish_reason, beside.answer)


def _handed_on(raw: str, finding: Finding) -> ReadCall:
    return ReadCall(Call("", {}, None, clean(raw)), finding, is_made=False)


def _is_no_call(reading: Reading) -> bool:
    return reading.refusal is not None and reading.refusal.code == "no_call"


def _reading(
    raw: str, tools: Mapping[str, Tool], beside: Beside, *, keyed: bool = False
) -> Reading:
    """The reading of a text, with the deployment's own keys only where nothing else reads it."""
    keys = beside.keys() if keyed else None
    return read_calls(
        raw,
        tools,
        finish_reason=beside.finish_reason,
        keys=keys if isinstance(keys, ToolCallKeys) else None,
        request=beside.request,
        policy=beside.policy,
        in_context=bool(beside.messages),
    )
