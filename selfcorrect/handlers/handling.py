"""Consults a handler about an error, and carries out what it decides."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

from selfcorrect.errors import (
    BudgetSpent,
    Escalation,
    HardFailure,
    ModelFailed,
    RemoteError,
    ToolExecutionError,
    is_control_flow,
)
from selfcorrect.handlers.by_tool import DESERIALIZATION, Exhausted
from selfcorrect.handlers.fixers import (
    Ask,
    Calls,
    FixRequest,
    Meter,
    as_object,
    ask_fixer,
    is_code,
    is_fixer,
    name_of,
)
from selfcorrect.handlers.handler import OnError
from selfcorrect.model import (
    ABSENT,
    Call,
    Change,
    Changed,
    DeserializationError,
    Escalate,
    ExecutionError,
    Finding,
    Fix,
    GiveUp,
    InvalidArgs,
    JsonObject,
    Repair,
    Result,
    Retry,
    Safety,
    Severity,
    Terminal,
    ToolError,
)
from selfcorrect.plain import as_text, copied, problem
from selfcorrect.pointer import join
from selfcorrect.protocols import Tool
from selfcorrect.schema.subschema import same

REDACTED: Final = "[secret]"
_MOST_ASKS: Final = 8
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Handled:
    """What a handler came to, and what its fixer was asked for.

    Attributes:
        raised: What was raised to end the run; it is the cause of what the caller sees.
    """

    answer: Repair | Exhausted
    note: str = ""
    raised: Exception | None = None


def error_of(
    call: Call,
    findings: Sequence[Finding],
    tool: Tool,
    cause: BaseException | None,
    type_name: str | None,
) -> ToolError:
    """The error as a handler sees it.

    Args:
        call: The call as it stands.
        findings: What is wrong.
        tool: The tool that the call names.
        cause: The exception, if the tool ran; None where it was raised in another process.
        type_name: The name of the exception's class, if the tool ran.
    """
    text = "; ".join(dict.fromkeys(finding.text for finding in findings))
    args = copied(dict(call.args))
    if type_name is None:
        raw = call.raw if call.raw is not None else args
        return InvalidArgs(raw, text, tool.schema)
    if type_name == DESERIALIZATION:
        return DeserializationError(args, tool.name, cause)
    return ExecutionError(args, cause or RemoteError(type_name, text))


@dataclass(frozen=True, slots=True)
class Consultation:
    """One question to a handler, and what it may use.

    Attributes:
        fixes: How often a fixer was asked in this run already, for this kind of error.
        executed: Executions so far.
        allowed: Executions that the handler allowed before, or None.
        seconds: What the run has left, or None.
        meter: Counts and bounds the models inside a fixer that is an agent.
        most: How often a fixer may be asked; fewer where another's answer could not be read.
    """

    call: Call
    error: ToolError
    tool: Tool
    request: str | None
    host: Calls
    ask_model: Ask
    fixes: int = 0
    executed: int = 0
    allowed: int | None = None
    seconds: float | None = None
    meter: Meter = nullcontext
    most: int = _MOST_ASKS


async def consult(handler: OnError, asked: Consultation) -> tuple[Handled, int]:
    """What the handler came to, and how often a fixer was asked on the way."""
    decide = handler.of(asked.error)
    if decide is None:
        return Handled(GiveUp("no handler for this kind of error")), 0
    try:
        decision = decide if isinstance(decide, Repair) else await _decided(decide, asked)
    except Exception as error:
        if is_control_flow(error):
            raise
        if (ending := _ending(error)) is not None:
            return Handled(ending, raised=error), 0
        return Handled(GiveUp(f"the handler raised {_short(error)}")), 0
    match decision:
        case None:
            return Handled(GiveUp("the handler declined")), 0
        case Fix():
            return await _fixed(decision, asked, handler)
        case Retry(times):
            return Handled(_retried(decision, times, asked)), 0
        case _ if isinstance(decision, Repair):
            return Handled(decision), 0
    kind = type(decision).__name__
    return Handled(GiveUp(f"the handler answered {kind}, which is not a Repair")), 0


async def _decided(decide: Any, asked: Consultation) -> Any:
    decision = await asked.host.call(decide, asked.error)
    return await decision if inspect.isawaitable(decision) else decision


def _retried(decision: Retry, times: Any, asked: Consultation) -> Repair | Exhausted:
    if isinstance(asked.error, InvalidArgs) or asked.most < _MOST_ASKS:
        return GiveUp("the same arguments would be refused again")
    if type(times) is int and times >= 1 and asked.allowed is not None:
        if asked.executed >= asked.allowed:
            return Exhausted(f"{asked.executed} of at most {asked.allowed} executions by on_error")
        return Retry(asked.allowed - asked.executed, decision.even_if_lost)
    return decision


async def _fixed(fix: Fix, asked: Consultation, handler: OnError) -> tuple[Handled, int]:
    retries = fix.retries
    if type(retries) is not int or retries < 0 or not is_fixer(fix.fixer):
        return Handled(GiveUp("Fix needs a fixer that can be called, and retries from 0 up")), 0
    wants_result = isinstance(asked.error, ExecutionError)
    budget = min(1 + retries, asked.most)
    asks, why = 0, "it was asked before"
    unread: _Unread | None = None
    while asked.fixes + asks < budget:
        asks += 1
        try:
            answer = await ask_fixer(
                fix.fixer, _request(asked), asked.host, asked.ask_model, asked.meter, asked.seconds
            )
            repair = _as_result(answer) if wants_result else _as_changes(answer, fix, asked)
        except BudgetSpent as error:
            return Handled(Exhausted(str(error))), asks
        except Exception as error:
            if is_control_flow(error):
                raise
            if (ending := _ending(error)) is not None:
                return Handled(ending, name_of(fix.fixer), error), asks
            why = _short(error)
            unread = error if isinstance(error, _Unread) else None
            continue
        return Handled(repair, f"fixer {name_of(fix.fixer)}, asked {asked.fixes + asks}×"), asks
    if unread is not None and isinstance(asked.error, InvalidArgs):
        as_read = DeserializationError(unread.answer, asked.tool.name, unread.__cause__)
        left = replace(asked, error=as_read, fixes=0, most=asked.most - asked.fixes - asks)
        handled, more = await consult(handler, left)
        if not isinstance(handled.answer, GiveUp):
            return handled, asks + more
    told = f"fixer {name_of(fix.fixer)} failed, asked {asked.fixes + asks}×: {why}"
    # Arguments may still be mended by the map; a tool that failed has nobody left.
    return Handled(Exhausted(told) if wants_result else GiveUp(told)), asks


class _Unread(ModelFailed):
    """A fixer's arguments are no object."""

    def __init__(self, why: str, answer: Any) -> None:
        self.answer = answer if isinstance(answer, str) else as_text(answer)
        super().__init__(why)


def _ending(error: Exception) -> Repair | None:
    """What an exception says about the whole run, if it says that."""
    if isinstance(error, Escalation):
        return Escalate(error.reason, Severity(error.severity))
    if isinstance(error, HardFailure | ToolExecutionError):
        return Terminal(as_text(error)[:_LONGEST])
    return None


def _request(asked: Consultation) -> FixRequest:
    error, raw = asked.error, None
    match error:
        case InvalidArgs():
            raw, text = asked.call.raw, error.parse_error
        case DeserializationError() | ExecutionError():
            raw = error.raw if isinstance(error, DeserializationError) else None
            raw = raw if isinstance(raw, str) else None
            cause = error.cause
            text = as_text(cause) if cause is not None else "the arguments could not be read"
            text = f"{type(cause).__name__}: {text}"
        case _:
            text = "the call failed"
    wants = "result" if isinstance(error, ExecutionError) else "arguments"
    args: JsonObject = copied(dict(asked.call.args))
    return FixRequest(asked.tool.name, args, text, asked.tool.schema, raw, asked.request, wants)


def _as_result(answer: Any) -> Repair:
    if isinstance(answer, Repair):
        return answer
    if answer is None:
        raise ModelFailed("the fixer answered nothing")
    return Result(answer)


def _as_changes(answer: Any, fix: Fix, asked: Consultation) -> Repair:
    """The fixer's arguments as changes, key by key; policy judges them like any other."""
    if isinstance(answer, Repair):
        return answer
    try:
        new = as_object(answer)
    except ModelFailed as error:
        raise _Unread(str(error), answer) from error
    if (wrong := problem(new)) is not None:
        raise ModelFailed(f"the fixer answered what is not JSON: {wrong[1]}")
    if _has_redacted(new):
        raise ModelFailed("the fixer answered with a value that it was not shown")
    safety = Safety.INFERRED if is_code(fix.fixer) else Safety.MODEL
    reason, call = f"fixer {name_of(fix.fixer)}", asked.call
    changes = [] if call.raw is None else [Change("/raw", call.raw, ABSENT, safety, reason)]
    for key in (*call.args, *(key for key in new if key not in call.args)):
        before, after = call.args.get(key, ABSENT), new.get(key, ABSENT)
        if type(before) is not type(after) or not same(before, after):
            changes.append(Change(join("args", key), before, after, safety, reason))
    if not changes:
        raise ModelFailed("the fixer changed nothing")
    return Changed(changes)


def _has_redacted(value: Any) -> bool:
    stack, seen = [value], 0
    while stack and seen < 100_000:
        item = stack.pop()
        seen += 1
        if isinstance(item, str) and REDACTED in item:
            return True
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return bool(stack)


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {as_text(error)[:_LONGEST]}"
