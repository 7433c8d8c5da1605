"""A tool that acts is called between its intent and its outcome in the ledger, at most once."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from selfcorrect.context import RunContext
from selfcorrect.effects import Outcome
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
    may_run,
)
from selfcorrect.errors import NotDone
from selfcorrect.model import JSON, own_finding
from selfcorrect.state import Update, records_of, state_findings, stop_run
from selfcorrect.text import bound, text_of

if TYPE_CHECKING:
    from selfcorrect.nodes.execute import Execution


async def call_once(execution: "Execution") -> Update:
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


def change(execution: "Execution", args: Mapping[str, Any]) -> bool:
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


def _begin(execution: "Execution") -> Verdict:
    """Write the intent if the call may run."""
    verdict = _ask(execution, execution.intent)
    execution.has_begun = isinstance(verdict, Run)
    return verdict


def _settle(execution: "Execution", outcome: str, value: JSON = None) -> None:
    """Write the outcome; where that fails, the run goes on, and an equal call is in doubt."""
    context = execution.context
    kept = context.keep(value) if context.keep and outcome == Outcome.DONE else value
    _write(context, execution.intent, outcome, kept)


def _ask(execution: "Execution", intent: Record) -> Verdict:
    context, state = execution.context, execution.state
    vouches = [Vouch(**vouch) for vouch in state["vouch"]]
    own = records_of(state)

    def decide(history: Sequence[Record]) -> Verdict:
        # A call whose outcome could not be written is not being made any more.
        records = [
            replace(record, alive=False) if record.attempt in context.unwritten else record
            for record in history
        ]
        request = Request(intent.key, intent.doubt, vouches, context.limits.equal)
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


def _answer_for(verdict: Verdict) -> Update:
    """Return what becomes of a call that the history forbids."""
    match verdict:
        case Replay(value):
            note = {"replayed": True}
            return {"outcome": "done", "result": value, "findings": [], "note": note}
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


def words_of(verdict: Verdict) -> str:
    """Return what the model reads of a call that the history forbids."""
    update = _answer_for(verdict)
    detail = update["stop"]["detail"] if "stop" in update else update["findings"][0]["text"]
    return f"This call was not made. {detail}"


def _hold(records: Sequence[Record]) -> Update:
    """Have somebody asked about one more equal call; the answer vouches for those before it."""
    text = f"{len(records)} equal calls of this tool have succeeded or are running. Run one more?"
    finding = own_finding("HeldCall", "equal_calls", text, "")
    finding["doubts"] = [doubt_of(record, Outcome.DONE) for record in records]
    return state_findings("ledger", [finding]) | {"outcome": "failed"}
