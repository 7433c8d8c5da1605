"""Asks the handler that stands beside a tool about everything that is wrong with a call."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from selfcorrect.echoes import TOO_MANY, parts
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
    FIXER_PROMPT,
    FixRequest,
    as_object,
    has_invoke,
    is_chat_model,
    is_code,
    is_fixer,
    name_of,
    said,
)
from selfcorrect.handlers.handler import OnError
from selfcorrect.limits import remaining
from selfcorrect.loop.answers import usable_answer
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.progress import add_to
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
from selfcorrect.models.metering import metered
from selfcorrect.models.port import CountingModel
from selfcorrect.plain import as_text, copied, own_copy, problem
from selfcorrect.pointer import join
from selfcorrect.protocols import Tool
from selfcorrect.schema.subschema import same
from selfcorrect.state import CorrectionState

REDACTED: Final = "[secret]"
_MOST_ASKS: Final = 8
_MOST_VALUES: Final = 100_000
_LONGEST: Final = 300


async def consulted(
    call: Call,
    group: Sequence[Finding],
    state: CorrectionState,
    context: RunContext,
    counts: dict[str, Any],
) -> tuple[Repair | Exhausted, str]:
    """What the tool's handler decides about these findings, and what its fixer was asked for.

    What is paid for it is counted in `counts`.
    """
    handler, tool = context.on_error.of(call.name), context.tools.get(call.name)
    if handler is None or tool is None:
        return GiveUp("there is no handler any more"), ""
    attempts = state["attempts"]
    ours = group[0].types[:1] in (("InvalidArgs",), ("MalformedCall",))
    raised = context.errors.of(state["run"])
    told = group[0].types[0].rpartition(".")[2] if group[0].types else "Exception"
    type_name = None if ours else (attempts[-1].get("type") if attempts else None) or told
    cause = raised[-1] if raised and type_name is not None else None
    error = error_of(call, group, tool, cause, type_name)
    kind, port = type(error).__name__, context.port(counts)
    fixes = counts.get("fixes", {}).get(kind, 0)
    this = _Consultation(
        own_copy(call), error, tool, handler, state, context, counts, port, kind, fixes
    )
    answer, note = await this.answer()
    return (answer if isinstance(answer, Exhausted) else usable_answer(answer)), note


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
class _Consultation:
    """One question to a handler, and what it may use.

    Attributes:
        counts: The counters of the run; what a fixer is asked for is counted in them.
        kind: The kind of error that a fixer's work is counted under.
        fixes: How often a fixer was asked in this run already, for this kind of error.
        most: How often a fixer may be asked; fewer where another's answer could not be read.
    """

    call: Call
    error: ToolError
    tool: Tool
    handler: OnError
    state: CorrectionState
    context: RunContext
    counts: dict[str, Any]
    port: CountingModel
    kind: str
    fixes: int
    most: int = _MOST_ASKS

    async def answer(self) -> tuple[Repair | Exhausted, str]:
        """What the handler came to, and what its fixer was asked for."""
        decide = self.handler.of(self.error)
        if decide is None:
            return GiveUp("no handler for this kind of error"), ""
        try:
            decision = decide if isinstance(decide, Repair) else await self._decided(decide)
        except Exception as error:
            if is_control_flow(error):
                raise
            return self._ending(error) or GiveUp(f"the handler raised {_short(error)}"), ""
        match decision:
            case None:
                return GiveUp("the handler declined"), ""
            case Fix():
                return await self._fixed(decision)
            case Retry(times):
                return self._retried(decision, times), ""
            case _ if isinstance(decision, Repair):
                return decision, ""
        kind = type(decision).__name__
        return GiveUp(f"the handler answered {kind}, which is not a Repair"), ""

    async def _decided(self, decide: Any) -> Any:
        decision = await self.context.host.call(decide, self.error)
        return await decision if inspect.isawaitable(decision) else decision

    def _retried(self, decision: Retry, times: Any) -> Repair | Exhausted:
        if isinstance(self.error, InvalidArgs) or self.most < _MOST_ASKS:
            return GiveUp("the same arguments would be refused again")
        allowed, executed = self.counts.get("allowed_attempts"), self.counts.get("attempts", 0)
        if type(times) is int and times >= 1 and allowed is not None:
            if executed >= allowed:
                return Exhausted(f"{executed} of at most {allowed} executions by on_error")
            return Retry(allowed - executed, decision.even_if_lost)
        return decision

    async def _fixed(self, fix: Fix) -> tuple[Repair | Exhausted, str]:
        retries, fixer = fix.retries, fix.fixer
        if type(retries) is not int or retries < 0 or not is_fixer(fixer):
            return GiveUp("Fix needs a fixer that can be called, and retries from 0 up"), ""
        wants_result = isinstance(self.error, ExecutionError)
        asks, why, name = self.fixes, "it was asked before", name_of(fixer)
        unread: _Unread | None = None
        while asks < min(1 + retries, self.most):
            asks += 1
            self.counts.update(add_to(self.counts, "fixes", self.kind))
            try:
                answer = await self._ask(fixer)
                if not isinstance(answer, Repair):
                    answer = _result(answer) if wants_result else _changes(answer, fix, self.call)
            except BudgetSpent as error:
                return Exhausted(str(error)), ""
            except Exception as error:
                if is_control_flow(error):
                    raise
                if (ending := self._ending(error)) is not None:
                    return ending, name
                why = _short(error)
                unread = error if isinstance(error, _Unread) else None
                continue
            return answer, f"fixer {name}, asked {asks}×"
        if unread is not None and isinstance(self.error, InvalidArgs):
            as_read = DeserializationError(unread.answer, self.tool.name, unread.__cause__)
            handled = await replace(self, error=as_read, fixes=0, most=self.most - asks).answer()
            if not isinstance(handled[0], GiveUp):
                return handled
        told = f"fixer {name} failed, asked {asks}×: {why}"
        # Arguments may still be mended by the map; a tool that failed has nobody left.
        return (Exhausted(told) if wants_result else GiveUp(told)), ""

    async def _ask(self, fixer: Any) -> Any:
        """What a fixer answers, in the run's own way of waiting, and within its budget.

        Raises:
            Escalation: If the fixer asks for help from above.
            HardFailure: If the fixer says that nothing can help.
            ModelFailed: If a model did not answer.
            Exception: Whatever else the fixer raises.
        """
        request, host, limits = self._request(), self.context.host, self.context.limits
        seconds = remaining(self.counts, limits)
        if is_chat_model(fixer):
            messages = [("system", FIXER_PROMPT), ("human", request.prompt())]
            return said(await self.port.messages(messages, fixer))
        if has_invoke(fixer):
            with metered(self.counts, limits):
                return said(await host.invoke(fixer, request.as_input(), seconds))
        # A sync function is not bounded in time.
        return said(await host.call(fixer, request, seconds=seconds))

    def _request(self) -> FixRequest:
        error, raw = self.error, None
        match error:
            case InvalidArgs():
                raw, text = self.call.raw, error.parse_error
            case DeserializationError() | ExecutionError():
                known = getattr(error, "raw", None)
                raw = known if isinstance(known, str) else None
                cause = error.cause
                text = as_text(cause) if cause is not None else "the arguments could not be read"
                text = f"{type(cause).__name__}: {text}"
            case _:
                text = "the call failed"
        wants = "result" if isinstance(error, ExecutionError) else "arguments"
        args: JsonObject = copied(dict(self.call.args))
        request = self.state["given"].get("request")
        return FixRequest(self.tool.name, args, text, self.tool.schema, raw, request, wants)

    def _ending(self, error: Exception) -> Repair | None:
        """What an exception says about the whole run; it is the cause of what the caller sees."""
        if isinstance(error, Escalation):
            ending: Repair = Escalate(error.reason, Severity(error.severity))
        elif isinstance(error, HardFailure | ToolExecutionError):
            ending = Terminal(as_text(error)[:_LONGEST])
        else:
            return None
        self.context.errors.add(self.state["run"], error)
        return ending


class _Unread(ModelFailed):
    """A fixer's arguments are no object."""

    def __init__(self, why: str, answer: Any) -> None:
        self.answer = answer if isinstance(answer, str) else as_text(answer)
        super().__init__(why)


def _result(answer: Any) -> Repair:
    if answer is None:
        raise ModelFailed("the fixer answered nothing")
    return Result(answer)


def _changes(answer: Any, fix: Fix, call: Call) -> Repair:
    """The fixer's arguments as changes, key by key; policy judges them like any other."""
    try:
        new = as_object(answer)
    except ModelFailed as error:
        raise _Unread(str(error), answer) from error
    if (wrong := problem(new)) is not None:
        raise ModelFailed(f"the fixer answered what is not JSON: {wrong[1]}")
    values = parts(new, most=_MOST_VALUES)
    if any(item is TOO_MANY or (isinstance(item, str) and REDACTED in item) for item in values):
        raise ModelFailed("the fixer answered with a value that it was not shown")
    safety = Safety.INFERRED if is_code(fix.fixer) else Safety.MODEL
    reason = f"fixer {name_of(fix.fixer)}"
    changes = [] if call.raw is None else [Change("/raw", call.raw, ABSENT, safety, reason)]
    for key in (*call.args, *(key for key in new if key not in call.args)):
        before, after = call.args.get(key, ABSENT), new.get(key, ABSENT)
        if type(before) is not type(after) or not same(before, after):
            changes.append(Change(join("args", key), before, after, safety, reason))
    if not changes:
        raise ModelFailed("the fixer changed nothing")
    return Changed(changes)


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {as_text(error)[:_LONGEST]}"
