"""plan: take a strictly readable call of an offered tool, or ask the model for one.

Everything else becomes a finding, so that every deviation is mended as a change with a rule and
a safety class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from selfcorrect.errors import ModelFailed, UnusableInput
from selfcorrect.json_forms import call_to_json, finding_to_json
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.own_findings import still_raw, unknown_tool
from selfcorrect.loop.progress import stopped
from selfcorrect.model import JSON, Call, Finding
from selfcorrect.plain import as_written, clean, own_copy, plain, problem, storable
from selfcorrect.ports import Beside, ReadCall
from selfcorrect.sizes import too_large
from selfcorrect.state import CorrectionState

_OWN_KEYS: Final = {"name", "args", "id"}


async def plan(state: CorrectionState, context: RunContext) -> Update:
    """Read the call of a run, and check that its tool is offered."""
    counts = dict(state["counts"])
    started = context.time.monotonic()
    if (wrong := _too_long(state, context)) is not None:
        return _too_large(state, wrong)
    try:
        read, given = await _read(state, context, counts)
    except UnusableInput as error:
        if context.on_failure == "raise" and (raised := _of_the_model(error)) is not None:
            context.errors.add(state["run"], raised)
        return {**_unusable(state, str(error)), "counts": counts}
    come = {"given": given, "counts": counts}
    if read.reading is not None:
        context.readings.keep(state["run"], read.reading)
    if state.get("request") and counts.get("model_calls"):
        counts["seconds"] = max(0.0, context.time.monotonic() - started)
    call = read.call
    if not read.is_made and read.finding is not None:
        # The run ends: the model makes the call properly, or a person says so.
        end = stopped("no_call", read.finding.text)
        return {**come, **_found(call_to_json(call), [read.finding]), **end}
    return {**come, **_taken(state, context, read)}


def _taken(state: CorrectionState, context: RunContext, read: ReadCall) -> dict[str, Any]:
    """The call that was read, if its arguments can be kept."""
    call = read.call
    place, wrong = problem(call.args), too_large(call.args, context.limits.argument_bytes)
    if place is not None and wrong is None and isinstance(text := as_written(call.args), str):
        written = {**call_to_json(call), "args": text}
        read = context.senses.read(written, context.tools, _beside(state, context))
        call, place = read.call, None
    if place is not None:
        return _unusable(state, f"/args{place[0]}: {place[1]}")
    if wrong is not None:
        return _too_large(state, wrong)
    if not storable(call.args):
        detail = "/args: a whole number of more than 64 bits, which no checkpoint can hold"
        return _unusable(state, detail)
    return _planned(context, call, read.finding)


def _planned(context: RunContext, call: Call, broken: Finding | None) -> dict[str, Any]:
    """The call that was read, with what is wrong about it before its arguments are looked at."""
    # Whoever holds the caller's object must not be able to change a call that was checked.
    current = call_to_json(own_copy(call))
    findings = [broken] if broken is not None else []
    if call.name and call.name not in context.tools:
        findings.insert(0, unknown_tool(context.tools))
    if not findings:
        return {"current": current, "outcome": "planned", "trail": [{"call": current}]}
    return _found(current, findings)


def _found(current: dict[str, JSON], findings: list[Finding]) -> dict[str, Any]:
    shown = [finding_to_json(finding) for finding in findings]
    return {
        "current": current,
        "outcome": "found",
        "error": {"source": "plan", "findings": shown},
        "trail": [{"call": current, "findings": shown}],
    }


async def _read(
    state: CorrectionState, context: RunContext, counts: dict[str, Any]
) -> tuple[ReadCall, dict[str, JSON]]:
    """What came in, read, and what goes with it.

    Raises:
        UnusableInput: If it is neither a call, nor a text, nor a request that a model can plan.
    """
    call, raw, given = state.get("call"), state.get("raw"), state["given"]
    if not isinstance(state.get("messages") or [], list | tuple):
        raise UnusableInput("messages must be a list")
    reason = state.get("finish_reason")
    if not isinstance(reason or "", str):
        raise UnusableInput("finish_reason must be text")
    if call is not None:
        plainly = not reason and not state.get("tool_choice")
        if plainly and (own := _in_our_form(call, context)) is not None:
            return ReadCall(own), given
        return context.senses.read(call, context.tools, _beside(state, context)), given
    if raw is not None:
        if not isinstance(raw, str):
            raise UnusableInput(f"raw must be text, not {type(raw).__name__}")
        return context.senses.read(raw, context.tools, _beside(state, context)), given
    if state.get("request"):
        return await _from_request(state, context, counts)
    raise UnusableInput(
        "the input has none of call, raw and request: give {'call': {'name': …, 'args': …}}, or "
        "{'raw': the text that a model wrote}"
    )


def _in_our_form(given: Any, context: RunContext) -> Call | None:
    """The call, if it stands there in our own form, which needs no reading."""
    if type(given) is not dict or not given.keys() <= _OWN_KEYS:
        return None
    name, args, call_id = given.get("name"), given.get("args"), given.get("id")
    if type(name) is not str or type(args) is not dict or name not in context.tools:
        return None
    return Call(name, args, None if call_id is None else clean(str(call_id)))


def _beside(state: CorrectionState, context: RunContext) -> Beside:
    request = state.get("request")
    return Beside(
        request if isinstance(request, str) else None,
        state.get("messages") or (),
        state.get("finish_reason"),
        context.strategies.reading,
        partial(_own_keys, context),
        tool_choice=state.get("tool_choice"),
        answer=state.get("answer"),
    )


def _own_keys(context: RunContext) -> object:
    """The keys with which the map's own strategy reads calls, if it has any."""
    finding = context.strategies.decide(still_raw())
    rungs = (context.strategies.strategy(finding.rule, name) for name in finding.ladder)
    return next((keys for each in rungs if (keys := getattr(each, "keys", None))), None)


async def _from_request(
    state: CorrectionState, context: RunContext, counts: dict[str, Any]
) -> tuple[ReadCall, dict[str, JSON]]:
    """The call that the model plans; what follows has to know how its answer ended."""
    from selfcorrect.models.planned import planned_call

    request, messages = str(state.get("request")), state.get("messages") or ()
    port, tools = context.port(counts), context.tools
    planned = await planned_call(port, context.model, tools.values(), messages, request)
    reason = planned.finish_reason
    beside = replace(_beside(state, context), finish_reason=reason, whole=planned.is_native)
    given = state["given"] if reason is None else {**state["given"], "finish_reason": reason}
    own = None if reason else _in_our_form(planned.given, context)
    return ReadCall(own) if own else context.senses.read(planned.given, tools, beside), given


def _too_large(state: CorrectionState, why: str) -> dict[str, Any]:
    """The end of a run whose input is too large to be kept."""
    beside = {key: value for key, value in state["given"].items() if key != "written"}
    return _stopped(why) | {"given": beside}


def _unusable(state: CorrectionState, why: str) -> dict[str, Any]:
    """The end of a run whose input is no call; it stands in the report as it came."""
    return _stopped(why) | {"current": plain(state.get("call"))}


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


def _of_the_model(error: Exception) -> BaseException | None:
    """What the model itself raised, where that is why no call could be planned."""
    failed = error.__cause__
    return failed.__cause__ if isinstance(failed, ModelFailed) else None


def _stopped(detail: str) -> dict[str, Any]:
    return stopped("invalid_input", detail) | {"trail": [{"problem": detail}]}
