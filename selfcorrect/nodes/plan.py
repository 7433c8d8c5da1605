"""plan: take a strictly readable call of an offered tool, or ask the model for one.

Everything else becomes a finding, so that every deviation is mended as a change with a rule and
a safety class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from selfcorrect.context import RunContext, Update
from selfcorrect.errors import ModelFailed, is_control_flow
from selfcorrect.json_forms import call_to_json, finding_to_json
from selfcorrect.model import Call, Finding
from selfcorrect.models.held import held_call
from selfcorrect.models.port import text_of
from selfcorrect.plain import as_text, clean, own_copy, plain, problem, storable
from selfcorrect.protocols import TextPolicy
from selfcorrect.quoting import why_not_made
from selfcorrect.reading import (
    Reading,
    ToolCallKeys,
    ending_of,
    read_arguments,
    read_call_object,
    read_calls,
    refusal_of,
)
from selfcorrect.sizes import too_large
from selfcorrect.state import CorrectionState

_MOST_NAMES = 50
_LONGEST_NAME = 200


async def plan(state: CorrectionState, context: RunContext) -> Update:
    """Read the call of a run, and check that its tool is offered."""
    counts = dict(state["counts"])
    state = {**state}  # the finish reason of a planning model's answer is added to it
    started = context.time.monotonic()
    if (wrong := _too_long(state, context)) is not None:
        return _too_large(state, wrong)
    try:
        call, broken = await _read(state, context, counts)
    except _NoCall as error:
        return _handed_on(error)
    except _Unusable as error:
        if context.on_failure == "raise" and (raised := _of_the_model(error)) is not None:
            context.errors.add(state["run"], raised)
        return {**_stopped(str(error)), "counts": counts, **_as_given(state)}
    if state.get("request") and counts.get("model_calls"):
        counts["seconds"] = max(0.0, context.time.monotonic() - started)
    if (place := problem(call.args)) is not None:
        return _stopped(f"/args{place[0]}: {place[1]}") | _as_given(state)
    if (wrong := too_large(call.args, context.limits.argument_bytes)) is not None:
        return _too_large(state, wrong)
    if not storable(call.args):
        detail = "/args: a whole number of more than 64 bits, which no checkpoint can hold"
        return _stopped(detail) | _as_given(state)
    return _planned(state, context, call, counts, broken)


def _too_large(state: CorrectionState, why: str) -> Update:
    """The end of a run whose input is too large to be kept."""
    beside = {key: value for key, value in state["given"].items() if key != "written"}
    return _stopped(why) | {"given": beside}


def _as_given(state: CorrectionState) -> dict[str, Any]:
    """An input that is no call, as it came, for the report."""
    return {"current": plain(state.get("call"))}


def _planned(
    state: CorrectionState,
    context: RunContext,
    call: Call,
    counts: dict[str, Any],
    broken: Finding | None,
) -> Update:
    """The call that was read, with what is wrong about it before its arguments are looked at."""
    # Whoever holds the caller's object must not be able to change a call that was checked.
    update: dict[str, Any] = {"current": call_to_json(own_copy(call)), "counts": counts}
    reason = state.get("finish_reason")
    if reason is not None and reason != state["given"].get("finish_reason"):
        update["given"] = {**state["given"], "finish_reason": reason}
    findings = [broken] if broken is not None else []
    if call.name and call.name not in context.tools:
        findings.insert(0, unknown_tool(context))
    if findings:
        shown = [finding_to_json(finding) for finding in findings]
        update["outcome"] = "found"
        update["error"] = {"source": "plan", "findings": shown}
        update["trail"] = [{"call": update["current"], "findings": shown}]
    else:
        update["outcome"] = "planned"
        update["trail"] = [{"call": update["current"]}]
    return update


def _too_long(state: CorrectionState, context: RunContext) -> str | None:
    """Why a text is not read: it is longer than the arguments in it may be."""
    given = state.get("call")
    texts = given.items() if isinstance(given, Mapping) else [("call", given)]
    for name, text in (*texts, ("raw", state.get("raw"))):
        if isinstance(text, str):
            wrong = too_large(text, context.limits.argument_bytes, f"/{name}")
            if wrong is not None:
                return wrong
    return None


def unknown_tool(context: RunContext) -> Finding:
    """The finding for a call of a tool that is not offered."""
    names = [name[:_LONGEST_NAME] for name in list(context.tools)[:_MOST_NAMES]]
    return Finding(
        text="there is no such tool",
        types=("UnknownTool",),
        code="unknown_tool",
        paths=("/name",),
        constraint={"enum": names},
    )


class _NoCall(Exception):
    """The text is not the call, or not one that may be made; the finding says which."""

    def __init__(self, raw: str, finding: Finding) -> None:
        super().__init__(finding.text)
        self.raw = raw
        self.finding = finding


def _handed_on(error: _NoCall) -> Update:
    """The run ends: the model makes the call properly, or a person says so."""
    text = call_to_json(Call("", {}, None, clean(error.raw)))
    shown = [finding_to_json(error.finding)]
    return {
        **_stopped(error.finding.text, "no_call"),
        "current": text,
        "error": {"source": "plan", "findings": shown},
        "trail": [{"call": text, "findings": shown}],
    }


class _Unusable(Exception):
    """The input cannot be turned into a call or a finding."""


def _of_the_model(error: Exception) -> BaseException | None:
    """What the model itself raised, where that is why no call could be planned."""
    failed = error.__cause__
    return failed.__cause__ if isinstance(failed, ModelFailed) else None


async def _read(
    state: CorrectionState, context: RunContext, counts: dict[str, Any]
) -> tuple[Call, Finding | None]:
    given, raw = state.get("call"), state.get("raw")
    if not isinstance(state.get("messages") or [], list | tuple):
        raise _Unusable("messages must be a list")
    if not isinstance(state.get("finish_reason") or "", str):
        raise _Unusable("finish_reason must be text")
    if given is not None:
        return _from_object(given, context, state)
    if raw is not None:
        if not isinstance(raw, str):
            raise _Unusable(f"raw must be text, not {type(raw).__name__}")
        return _from_text(raw, context, state)
    if state.get("request"):
        return await _from_request(state, context, counts)
    raise _Unusable(
        "the input has none of call, raw and request: give {'call': {'name': …, 'args': …}}, or "
        "{'raw': the text that a model wrote}"
    )


def _from_object(
    given: Any, context: RunContext, state: CorrectionState
) -> tuple[Call, Finding | None]:
    if isinstance(given, str):
        return _from_text(given, context, state)
    cut = _says_cut(state.get("finish_reason"))
    if type(given) is dict and given.keys() <= _OWN_KEYS and not cut:
        name, args = given.get("name"), given.get("args")
        if type(name) is str and type(args) is dict and name in context.tools:
            return Call(name, args, _id(given.get("id"))), None
    if not isinstance(given, Mapping):
        raise _Unusable(f"call must be an object or a text, not {type(given).__name__}")
    call = read_call_object(given, tools=context.tools)
    if call is None:
        raise _Unusable("call needs a name (name, tool or tool_name) that is text")
    if not call.name.strip() and call.raw is None:
        raise _Unusable("the name of the call is empty")
    # Whoever parsed a text that was cut off may have made no arguments of unreadable ones.
    raw = "" if cut and not call.args and call.raw is None else call.raw
    call = Call(clean(call.name), call.args, _id(call.id), raw)
    return call, None if call.raw is None else _unread(call, context, state)


def _says_cut(reason: Any) -> bool:
    return bool(reason) and not ending_of(reason).closers


def _unread(call: Call, context: RunContext, state: CorrectionState) -> Finding | None:
    """What is wrong with arguments, or a whole call, that came as text."""
    raw = call.raw or ""
    if not call.name:
        return _reading(raw, context, state, _reader_keys(context), TextPolicy()).finding
    tool = context.tools.get(call.name)
    read = read_arguments(raw, tool, finish_reason=state.get("finish_reason"))
    if read.fault is None:
        return _malformed("malformed_json", _NOT_AN_OBJECT)
    return _malformed("cut" if read.fault.cut else "malformed_json", refusal_of(raw, read.fault))


def _id(given: Any) -> str | None:
    return None if given is None else clean(str(given))


_OWN_KEYS = {"name", "args", "id"}
"""The keys of our own form of a call, which needs no reading."""

_NOT_AN_OBJECT = "the arguments are text that is not one JSON object"


def _from_text(
    raw: str, context: RunContext, state: CorrectionState
) -> tuple[Call, Finding | None]:
    policy = context.strategies.reading
    reading = _reading(raw, context, state, None, policy)
    if _is_no_call(reading) and not reading.doubted:
        reading = replace(
            _reading(raw, context, state, _reader_keys(context), policy), strict=False
        )
    why = why_not_made(reading, context.tools, state.get("messages") or (), _request(state))
    if why is not None:
        raise _NoCall(raw, _malformed("no_call", why))
    if _is_no_call(reading) and reading.refusal is not None:
        raise _NoCall(raw, reading.refusal)
    if reading.strict:
        return reading.calls[0].call, None
    return Call("", {}, None, clean(raw)), reading.finding


def _is_no_call(reading: Reading) -> bool:
    return reading.refusal is not None and reading.refusal.code == "no_call"


def _request(state: CorrectionState) -> str | None:
    request = state.get("request")
    return request if isinstance(request, str) else None


def _reader_keys(context: RunContext) -> ToolCallKeys | None:
    """The keys with which the map's own strategy reads calls, if it has any."""
    finding = context.strategies.decide(_malformed("malformed_json", ""))
    rungs = (context.strategies.strategy(finding.rule, name) for name in finding.ladder)
    keys = (getattr(rung, "keys", None) for rung in rungs)
    return next((each for each in keys if isinstance(each, ToolCallKeys)), None)


def _reading(
    raw: str,
    context: RunContext,
    state: CorrectionState,
    keys: ToolCallKeys | None,
    policy: TextPolicy,
) -> Reading:
    return read_calls(
        raw,
        context.tools,
        finish_reason=state.get("finish_reason"),
        keys=keys,
        request=_request(state),
        policy=policy,
        in_context=bool(state.get("messages")),
    )


def _malformed(code: str, text: str) -> Finding:
    return Finding(text=text, types=("MalformedCall",), code=code, paths=("/raw",))


async def _from_request(
    state: CorrectionState, context: RunContext, counts: dict[str, Any]
) -> tuple[Call, Finding | None]:
    if context.model is None:
        raise _Unusable("a request without a call needs a model to plan one: pass model=")
    port = context.port(counts)
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
            },
        }
        for tool in context.tools.values()
    ]
    messages = [*(state.get("messages") or []), ("human", str(state.get("request")))]
    try:
        bound = context.model.bind_tools(tools)
        answer = await port.messages(messages, bound)
    except Exception as error:
        if is_control_flow(error):
            raise
        if (text := held_call(error)) is not None:
            return _from_text(text, context, state)
        raise _Unusable(f"the model could not plan a call: {as_text(error)[:200]}") from error
    reason = _why_it_stopped(getattr(answer, "response_metadata", None))
    calls = getattr(answer, "tool_calls", None) or []
    invalid = getattr(answer, "invalid_tool_calls", None) or []
    if len(calls) + len(invalid) > 1:
        raise _Unusable("the model planned several calls; a run carries one")
    # What follows, and every repair, has to know how the model's own answer ended.
    state["finish_reason"] = reason
    if calls and _says_cut(reason):
        raise _Unusable(f"the answer in which the model planned the call was cut off ({reason})")
    if calls or invalid:
        return _from_object((invalid or calls)[0], context, state)
    try:
        text = text_of(answer)
    except ModelFailed as error:
        raise _Unusable(str(error)) from error
    return _from_text(text, context, state)


def _why_it_stopped(metadata: Any) -> str | None:
    """The finish reason of a model's answer, under any provider's name for it."""
    if not isinstance(metadata, Mapping):
        return None
    found = (metadata.get(key) for key in _STOP_KEYS)
    return next((item for item in found if isinstance(item, str)), None)


_STOP_KEYS = ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason")


def _stopped(detail: str, reason: str = "invalid_input") -> dict[str, Any]:
    return {
        "outcome": "stopped",
        "stop": {"reason": reason, "detail": detail},
        "trail": [{"problem": detail}],
    }
