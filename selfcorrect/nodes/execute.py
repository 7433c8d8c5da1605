"""execute: call the tool once, between its intent and its outcome in the ledger."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.effects.again import (
    Hold,
    Record,
    Refuse,
    Replay,
    Request,
    Reworded,
    Run,
    Verdict,
    Vouch,
    doubt_of,
    in_doubt,
    may_run,
)
from selfcorrect.effects.outcome import Outcome, with_doubt
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
from selfcorrect.state import (
    Attempt,
    CorrectionState,
    Update,
    records_of,
    state_findings,
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
            self.context.hooks.tool_used(self.tool.name, self.call.args, value)
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


async def call_once(execution: Execution) -> Update:
    """Call a tool that acts, between its intent and its outcome in the ledger."""
    use_ledger = execution.context.use_ledger
    try:
        verdict = await use_ledger(_begin, execution)
    except Exception as error:
        detail = (
            f"The tool was not called, because its intent could not be written: {text_of(error)}"
        )
        return stop_run("unavailable", bound(detail, 500))
    except BaseException:
        # Cancelled behind its intent, the tool would seem to be running for ever.
        if execution.has_begun:
            _settle(execution, Outcome.NOT_DONE)
        raise
    if not isinstance(verdict, Run):
        return _answer_for(verdict)
    token = EXECUTION.set(execution)
    try:
        update = await execution.run()
    except BaseException as error:
        from selfcorrect.effects.failure import outcome_of_exit

        _settle(execution, outcome_of_exit(error))
        raise
    finally:
        EXECUTION.reset(token)
    outcome, value = update["attempts"][-1]["outcome"], update.get("result")
    await use_ledger(_settle, execution, outcome, value)
    return update


_ANSWER = "selfcorrect answer"
"""The key of what a host wants beside the value of a call that it replays."""


def change(execution: Execution, args: Mapping[str, Any]) -> bool:
    """Let the call run as somebody behind the runtime has edited it; say whether he has.

    Raises:
        NotDone: If the edited call may not run.
    """
    if repr(args) == repr(execution.call.args):
        return False
    before, call = execution.intent, replace(execution.call, args={**args})
    intent = execution.context.intent_of(execution.state, call)
    if intent.key == before.key:
        return False
    if not isinstance(_ask(execution, intent), Run):
        raise NotDone("the call was edited, and an equal call was made before or is in doubt")
    execution.call, execution.intent = call, intent
    _write(execution.context, before, Outcome.NOT_DONE, None)
    return True


def _begin(execution: Execution) -> Verdict:
    """Write the intent if the call may run."""
    verdict = _ask(execution, execution.intent)
    execution.has_begun = isinstance(verdict, Run)
    return verdict


def _settle(execution: Execution, outcome: str, value: JSON = None) -> None:
    """Write the outcome; where that fails, the run goes on, and an equal call is in doubt."""
    context = execution.context
    answer = context.answer() if context.answer and outcome == "done" else None
    memory = {_ANSWER: answer, "value": value} if answer else value
    _write(context, execution.intent, outcome, memory)


def _ask(execution: Execution, intent: Record) -> Verdict:
    context, state = execution.context, execution.state
    vouches = [Vouch(**vouch) for vouch in state["vouch"]]
    own = records_of(state)
    attempts = {record.attempt for record in own}

    def decide(history: Sequence[Record]) -> Verdict:
        # A call whose outcome could not be written is not being made any more.
        records = [
            replace(record, alive=False) if record.attempt in context.unwritten else record
            for record in history
        ]
        # What this run has lost itself is a doubt of its own.
        others = [
            record.key for record in records if in_doubt(record) and record.attempt not in attempts
        ]
        vouch = [*vouches, *(Vouch(key, Outcome.LOST) for key in others if context.again)]
        request = Request(intent.key, intent.doubt, vouch, context.limits.equal)
        return may_run(records, execution.tool.effect, own, request)

    return context.ledger.begin(intent, decide)


def _write(context: RunContext, intent: Record, outcome: str, value: JSON) -> None:
    try:
        context.ledger.settle(intent.key, outcome, value)
    except BaseException as error:
        # Cut off here, it would seem to be running for ever.
        context.unwritten.add(intent.attempt)
        if not isinstance(error, Exception):
            raise


EXECUTION: ContextVar["Execution | None"] = ContextVar("selfcorrect_execution", default=None)
"""The execution in whose course the code runs."""


def unpack(memory: JSON) -> tuple[JSON, JSON]:
    """Return the value that a ledger keeps of a call, and what its host wants beside it."""
    if isinstance(memory, Mapping) and memory.keys() == {_ANSWER, "value"}:
        return memory["value"], memory[_ANSWER]
    return memory, None


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
        case Refuse("refused", key):
            return stop_run("refused", "The tool refused this very call before.", record=key)
        case Refuse(_, key):
            detail = "An equal call was made before, and nobody knows whether it was done."
            stop = stop_run("unknown_outcome", detail, record=key)
            return stop | {"note": {"replayed": True, "record": key}}
        case _:
            detail = "This very call is being made elsewhere, and its outcome is not known yet."
    return stop_run("unknown_outcome", detail) | {"note": {"replayed": True}}


def _hold(records: Sequence[Record]) -> Update:
    """Have somebody asked about one more equal call; the answer vouches for those before it."""
    text = f"{len(records)} equal calls of this tool have succeeded already. Run it once more?"
    if any(record.status != Outcome.DONE for record in records):
        text = f"{len(records)} equal calls of this tool are made or being made. Run it once more?"
    finding = own_finding("HeldCall", "equal_calls", text, "")
    finding["doubts"] = [doubt_of(record, Outcome.DONE) for record in records]
    return state_findings("ledger", [finding]) | {"outcome": "failed"}
