"""execute: call the tool once, between its intent and its outcome in the ledger."""

from collections.abc import Mapping, Sequence
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.effects.again import (
    Hold,
    InProgress,
    Record,
    Refuse,
    Replay,
    Reworded,
    Run,
    Verdict,
)
from selfcorrect.effects.outcome import Outcome, with_doubt
from selfcorrect.errors import GraphSetupError, NotDone, ResultError
from selfcorrect.limits import count
from selfcorrect.model import (
    JSON,
    Call,
    Finding,
    JsonDict,
    JsonObject,
    Result,
    call_json,
    call_of,
    own_finding,
)
from selfcorrect.models.port import value_of
from selfcorrect.nodes.execution import EXECUTION, Execution, unpack
from selfcorrect.nodes.plan import check_call, found
from selfcorrect.state import CorrectionState, Update, stop_run
from selfcorrect.text import bound, text_of
from selfcorrect.tools.run import arun_tool, check_sync, plain, run_tool
from selfcorrect.tools.spec import ToolSpec


async def execute(state: CorrectionState, context: RunContext) -> Update:
    """Call the tool once; a call that does not fit the tool never reaches it."""
    if (wrong := unfit(state, context)) is not None:
        return wrong
    call = call_of(state["current"])
    tool = context.tools[call.name]
    if not context.is_async:
        check_sync(tool)
    if tool.call is None:
        return {"outcome": "done", "result": call_json(call), "findings": []}
    if not tool.acts:
        # What only reads is asked again: an answer from memory would be an old one.
        return await _call_tool(state, context, call, tool)
    return await _call_once(state, context, call, tool)


def unfit(state: CorrectionState, context: RunContext) -> Update | None:
    """Return what becomes of a call that cannot be made as it stands, or None.

    Pays nothing and asks nobody, so that it can come before a person is asked.
    """
    if (wrong := check_call(call_of(state["current"]), context)) is not None:
        return wrong | {"outcome": "failed"}
    # `retry` has checked this, but a deployment may have replaced that node.
    if len(state["attempts"]) >= context.limits.ceiling:
        return stop_run("attempts_exhausted", f"at most {context.limits.ceiling} executions")
    return None


async def _call_once(
    state: CorrectionState, context: RunContext, call: Call, tool: ToolSpec
) -> Update:
    """Call a tool that acts, between its intent and its outcome in the ledger."""
    execution = Execution(state, context, call, context.intent_of(state, call))
    try:
        verdict = await context.use_ledger(execution.begin)
    except Exception as error:
        detail = (
            f"The tool was not called, because its intent could not be written: {text_of(error)}"
        )
        return stop_run("unavailable", bound(detail, 500))
    except BaseException:
        # Cancelled behind its intent, the tool would seem to be running for ever.
        if execution.has_begun:
            execution.settle(Outcome.NOT_DONE)
        raise
    if not isinstance(verdict, Run):
        return _answer_for(verdict)
    token = EXECUTION.set(execution)
    try:
        update = await _call_tool(state, context, call, tool, execution)
    except BaseException as error:
        execution.settle(_outcome_of_exit(error))
        raise
    finally:
        EXECUTION.reset(token)
    outcome, value = update["attempts"][-1]["outcome"], update.get("result")
    await context.use_ledger(execution.settle, outcome, value)
    return update


async def _call_tool(
    state: CorrectionState,
    context: RunContext,
    call: Call,
    tool: ToolSpec,
    execution: Execution | None = None,
) -> Update:
    started = context.clock.monotonic()
    try:
        is_async, args = context.is_async, context.arguments_for(state, call)
        returned = await arun_tool(tool, args) if is_async else run_tool(tool, args)
        value, has_receipt = _read(tool, returned, args)
    except GraphSetupError:
        raise
    except Exception as error:
        if is_interrupt(error):
            raise
        # A call that succeeds loads nothing of this.
        from selfcorrect.diagnosis.facts import finding_of

        context.live_part(state["run"]).errors.append(error)
        finding = finding_of(error)
        outcome = _outcome_of(error, finding, call, tool, context)
    else:
        if has_receipt:
            return _finish(state, context, tool, started, value, execution)
        outcome, finding = Outcome.LOST, _no_receipt(tool)
    verified = await _verify(tool, call) if outcome is Outcome.LOST else None
    if isinstance(verified, Result):
        return _finish(state, context, tool, started, verified.value, execution)
    outcome = Outcome.NOT_DONE if verified == Outcome.NOT_DONE else outcome
    made = execution or Execution(state, context, call, context.intent_of(state, call))
    text = bound(finding["text"], 1_000)
    attempt = _attempt(state, context, tool, started, outcome, made, text)
    return {"outcome": "failed", "source": "tool", "findings": [finding], **attempt}


def _outcome_of(
    error: Exception, finding: Finding, call: Call, tool: ToolSpec, context: RunContext
) -> Outcome:
    """Say what an execution did that raised; of a declared tool, what its error means may doubt it.

    The words of an error never make a doubt smaller.
    """
    from selfcorrect.effects.failure import outcome_of

    is_declared = tool.declared and tool.acts
    outcome = outcome_of(error, atomic=tool.atomic, declared=is_declared, home=tool.home)
    if not is_declared or outcome is Outcome.LOST or isinstance(error, NotDone):
        return outcome
    found = context.map.diagnose_faults(
        finding, tool.name, args=call.args, schema=tool.parameters, acts=True
    )
    return with_doubt(outcome, (each["kind"] for each in found))


async def _verify(tool: ToolSpec, call: Call) -> Any:
    """Ask the tool's author whether a lost call was done; only this and a person can tell."""
    if tool.verify is None:
        return None
    try:
        said = await value_of(tool.verify(dict(call.args)))
        return Result(plain(said.value)) if isinstance(said, Result) else said
    except Exception:
        return None


def _read(tool: ToolSpec, returned: object, args: JsonObject) -> tuple[JSON, bool]:
    """Return a tool's value, and whether it has the receipt that the tool declares.

    Raises:
        ToolReportedError: If the value is an error.
        ResultError: If it cannot be read: the tool has run, and refused nothing.
    """
    try:
        value = plain(returned)
        text = None
        if isinstance(value, Mapping):
            from selfcorrect.tools.error_value import error_in

            text = error_in(value, args)
        if tool.fails is not None:
            text = (text or str(value)) if tool.fails(value) else None
        has_receipt = text is not None or _has_receipt(tool, value)
    except NotDone:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {text_of(error)}"
        raise ResultError(f"the result of {tool.name!r} cannot be read: {said}") from error
    if text is not None:
        from selfcorrect.diagnosis.facts import reported_error

        raise reported_error(value, text)
    return value, has_receipt


def _has_receipt(tool: ToolSpec, value: JSON) -> bool:
    """Say whether a value proves that the call was done, as far as the tool declares a proof."""
    if tool.receipt is None:
        return True
    if callable(tool.receipt):
        return bool(tool.receipt(value))
    return isinstance(value, dict) and bool(value.get(tool.receipt))


def _finish(
    state: CorrectionState,
    context: RunContext,
    tool: ToolSpec,
    started: float,
    value: JSON,
    execution: Execution | None,
) -> Update:
    if context.hooks is not None:
        args = execution.call.args if execution else state["current"]["args"]
        context.hooks.tool_used(tool.name, args, value)
    attempt = _attempt(state, context, tool, started, Outcome.DONE, execution)
    return {"outcome": "done", "result": value, "findings": [], **attempt}


def _attempt(
    state: CorrectionState,
    context: RunContext,
    tool: ToolSpec,
    started: float,
    outcome: Outcome,
    execution: Execution | None,
    text: str | None = None,
) -> Update:
    """Return the attempts and counters after one execution."""
    seconds = max(0.0, context.clock.monotonic() - started)
    number = len(state["attempts"]) + 1
    attempt: JsonDict = {
        "number": number,
        "call": call_json(execution.call) if execution else state["current"],
        "effect": tool.effect,
        "outcome": outcome.value,
        "seconds": round(seconds, 6),
        "text": text,
    }
    if execution is not None:
        attempt |= {"key": execution.intent.key, "doubt": execution.intent.doubt}
    counts = count(count(state["counts"], "attempts"), "seconds", seconds)
    return {
        "current": attempt["call"],
        "attempts": [*state["attempts"], attempt],
        "counts": {**counts, "rounds": 0},
        "vouch": [],
        "note": {"attempt": number, "effect": tool.effect, "did": outcome.value},
    }


def _no_receipt(tool: ToolSpec) -> Finding:
    text = f"the result of {tool.name!r} has no receipt, so nobody knows whether it was done"
    return own_finding("NoReceipt", "no_receipt", text, "")


def _answer_for(verdict: Verdict) -> Update:
    """Return what becomes of a call that the history forbids."""
    match verdict:
        case Replay(value):
            result, answer = unpack(value)
            note = {"replayed": True} | ({"answer": answer} if answer else {})
            return {"outcome": "done", "result": result, "findings": [], "note": note}
        case Hold(records):
            return _hold(records)
        case Reworded():
            detail = (
                "A call that differs only in its words was made before, and nobody knows whether it"
                " was done. This one was not made. The same call made again will run."
            )
        case InProgress():
            detail = "This very call is being made elsewhere, and its outcome is not known yet."
        case Refuse("refused", key):
            return stop_run("refused", "The tool refused this very call before.", record=key)
        case Refuse(_, key):
            detail = "An equal call was made before, and nobody knows whether it was done."
            stop = stop_run("unknown_outcome", detail, record=key)
            return stop | {"note": {"replayed": True, "record": key}}
    return stop_run("unknown_outcome", detail) | {"note": {"replayed": True}}


def _hold(records: Sequence[Record]) -> Update:
    """Have somebody asked about one more equal call; the answer vouches for those before it."""
    text = f"{len(records)} equal calls of this tool have succeeded already. Run it once more?"
    if any(each.status != Outcome.DONE for each in records):
        text = f"{len(records)} equal calls of this tool are made or being made. Run it once more?"
    finding = own_finding("HeldCall", "equal_calls", text, "")
    finding["doubts"] = [
        {"key": each.key, "outcome": Outcome.DONE.value, "about": each.about} for each in records
    ]
    return found("ledger", [finding]) | {"outcome": "failed"}


def is_interrupt(error: BaseException) -> bool:
    """Say whether LangGraph's control flow passes through: it is no error of the tool."""
    return "GraphBubbleUp" in _class_names(error)


def _outcome_of_exit(error: BaseException) -> Outcome:
    """Say what a call did that something else than an error ended."""
    if not is_interrupt(error):
        return Outcome.LOST
    # LangGraph runs what was interrupted again from its top, but a command is a tool's answer.
    return Outcome.DONE if "ParentCommand" in _class_names(error) else Outcome.NOT_DONE


def _class_names(error: BaseException) -> list[str]:
    return [base.__name__ for base in type(error).__mro__]
