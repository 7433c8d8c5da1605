"""execute: call the tool once, between its intent and its outcome in the ledger."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.effects import Outcome, with_doubt
from selfcorrect.effects.again import Record
from selfcorrect.errors import GraphSetupError, NotDone, ResultError
from selfcorrect.limits import check_bound, count
from selfcorrect.model import (
    JSON,
    Call,
    Finding,
    JsonObject,
    Result,
    call_json,
    call_of,
    own_finding,
)
from selfcorrect.models.port import value_of
from selfcorrect.policies.run import notify
from selfcorrect.state import (
    Attempt,
    CorrectionState,
    Update,
    stop_by,
    stop_run,
)
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
    execution = Execution(state, context, call, tool)
    if not tool.acts:
        # What only reads is asked again: an answer from memory would be an old one.
        update = await execution.run()
    else:
        from selfcorrect.nodes.call_once import call_once

        update = await call_once(execution)
    if state["tried"] and update["outcome"] == "done" and "attempts" in update:
        from selfcorrect.nodes.repair import teach

        teach(state, call_of(update["current"]), context)
    return update


def unfit(state: CorrectionState, context: RunContext) -> Update | None:
    """Return what becomes of a call that cannot be made as it stands, or None.

    Pays nothing and asks nobody, so that it can come before a person is asked.
    """
    if (wrong := context.check_call(call_of(state["current"]))) is not None:
        return wrong | {"outcome": "failed"}
    # `retry` has checked this, but a deployment may have replaced that node.
    if len(state["attempts"]) >= context.limits.ceiling:
        return stop_run("attempts_exhausted", f"at most {context.limits.ceiling} executions")
    # A model may have used the time up, and a tool that is begun and cut off leaves a doubt.
    if why := check_bound(state["counts"], context.limits, "seconds"):
        return stop_run("limit_reached", f"{why}.")
    return None


@dataclass(eq=False)
class Execution:
    """One execution of a tool.

    Attributes:
        state: The state of the run.
        context: The context of the run.
        call: The call as it is made.
        tool: Its tool.
        has_begun: Whether its intent is written.
    """

    state: CorrectionState
    context: RunContext
    call: Call
    tool: ToolSpec
    has_begun: bool = False

    @cached_property
    def intent(self) -> Record:
        """The record for the ledger; making it costs as much as a repair."""
        return self.context.intent_of(self.state, self.call)

    async def run(self) -> Update:
        """Call the tool; return the update with the attempt."""
        state, context, call, tool = self.state, self.context, self.call, self.tool
        started, ending = context.clock.monotonic(), None
        try:
            args = tool.fill(call.args, self.intent.key if tool.takes_key else "")
            bound_ = context.limits.seconds
            left = bound_ and bound_ - state["counts"].get("seconds", 0)
            is_async = context.is_async
            returned = await arun_tool(tool, args, left) if is_async else run_tool(tool, args)
            value, has_receipt = _read(tool, returned, args)
        except GraphSetupError:
            raise
        except Exception as error:
            # A call that succeeds loads nothing of this.
            from selfcorrect.diagnosis.facts import BUG, finding_of, is_bug
            from selfcorrect.effects.failure import ending_of, is_interrupt

            if is_interrupt(error):
                raise

            context.live_part(state["run"]).errors.append(error)
            finding = finding_of(error)
            if is_bug(error, tool.home, call.args, tool.parameters):
                words = dict.fromkeys((type(error).__name__, finding["text"]))
                finding |= {"code": BUG, "text": ": ".join(words)}
            outcome = _outcome_of(error, finding, call, tool, context)
            ending = ending_of(error)
        else:
            if has_receipt:
                return self._finish(started, value)
            why = f"the result of {tool.name!r} has no receipt, so nobody knows whether it was done"
            outcome, finding = Outcome.LOST, own_finding("NoReceipt", "no_receipt", why, "")
        verified = await _verify(tool, call) if outcome is Outcome.LOST else None
        if isinstance(verified, Result):
            return self._finish(started, verified.value)
        outcome = Outcome.NOT_DONE if verified == Outcome.NOT_DONE else outcome
        attempt = self._attempt(started, outcome, bound(finding["text"], 1_000))
        if ending is not None:
            # Its reason says it all, and nothing is diagnosed.
            return {"source": "tool", "findings": [], **attempt, **stop_by(ending)}
        return {"outcome": "failed", "source": "tool", "findings": [finding], **attempt}

    def _finish(self, started: float, value: JSON) -> Update:
        if self.context.hooks is not None:
            notify(self.context.hooks.on_tool_use, self.tool.name, self.call.args, value)
        attempt = self._attempt(started, Outcome.DONE)
        return {"outcome": "done", "result": value, "findings": [], **attempt}

    def _attempt(self, started: float, outcome: Outcome, text: str | None = None) -> Update:
        """Return the attempts and counters after one execution."""
        counts, effect = self.state["counts"], self.tool.effect
        seconds = max(0.0, self.context.clock.monotonic() - started)
        number = len(self.state["attempts"]) + 1
        attempt: Attempt = {
            "number": number,
            "call": call_json(self.call),
            "effect": effect,
            "outcome": outcome.value,
            "seconds": round(seconds, 6),
            "text": text,
        }
        if text is not None or self.has_begun:
            attempt |= {"key": self.intent.key, "doubt": self.intent.doubt}
        if self.has_begun:
            attempt["attempt"] = self.intent.attempt
        counts = count(count(counts, "attempts"), "seconds", seconds)
        return {
            "current": attempt["call"],
            "attempts": [*self.state["attempts"], attempt],
            "counts": {**counts, "rounds": 0},
            "vouch": [],
            "note": {"attempt": number, "effect": effect, "did": outcome.value},
        }


def _outcome_of(
    error: Exception, finding: Finding, call: Call, tool: ToolSpec, context: RunContext
) -> Outcome:
    """Say what an execution did that raised; of a declared tool, what its error means may doubt it.

    The words of an error never make a doubt smaller.
    """
    from selfcorrect.effects.failure import outcome_of
    from selfcorrect.nodes.diagnose import diagnose_faults

    is_declared = tool.declared and tool.acts
    outcome = outcome_of(error, atomic=tool.atomic, declared=is_declared, home=tool.home)
    if not is_declared or outcome is Outcome.LOST or isinstance(error, NotDone):
        return outcome
    faults = diagnose_faults(
        context.map, finding, tool.name, args=call.args, schema=tool.parameters, acts=True
    )
    return with_doubt(outcome, (fault["kind"] for fault in faults))


async def _verify(tool: ToolSpec, call: Call) -> Any:
    """Ask the tool's author whether a lost call was done; only this and a person can tell."""
    if tool.verify is None:
        return None
    try:
        ruling = await value_of(tool.verify(dict(call.args)))
        return Result(plain(ruling.value)) if isinstance(ruling, Result) else ruling
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
        why = f"{type(error).__name__}: {text_of(error)}"
        raise ResultError(f"the result of {tool.name!r} cannot be read: {why}") from error
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
