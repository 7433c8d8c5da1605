"""One execution of a tool that acts: its intent and its outcome in the ledger."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace

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
from selfcorrect.effects.failure import outcome_of_exit
from selfcorrect.effects.outcome import Outcome
from selfcorrect.errors import NotDone
from selfcorrect.model import JSON, Call, JsonObject, own_finding
from selfcorrect.nodes.plan import found
from selfcorrect.state import CorrectionState, Update, stop_run
from selfcorrect.text import bound, text_of
from selfcorrect.tools.spec import ToolSpec


async def call_once(
    state: CorrectionState,
    context: RunContext,
    call: Call,
    tool: ToolSpec,
    call_tool: Callable[..., Awaitable[Update]],
) -> Update:
    """Call a tool that acts, between its intent and its outcome in the ledger.

    Args:
        state: The state.
        context: The context.
        call: The call.
        tool: Its tool.
        call_tool: Calls the tool, and returns the update with the attempt.
    """
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
        update = await call_tool(state, context, call, tool, execution)
    except BaseException as error:
        execution.settle(outcome_of_exit(error))
        raise
    finally:
        EXECUTION.reset(token)
    outcome, value = update["attempts"][-1]["outcome"], update.get("result")
    await context.use_ledger(execution.settle, outcome, value)
    return update


_ANSWER = "selfcorrect answer"
"""The key of what a host wants beside the value of a call that it replays."""


@dataclass(eq=False, slots=True)
class Execution:
    """One execution, between its intent and its outcome.

    Attributes:
        state: The state of the run.
        context: The context of the run.
        call: The call as it is made.
        intent: Its record.
        has_begun: Whether the intent is written.
    """

    state: CorrectionState
    context: RunContext
    call: Call
    intent: Record
    has_begun: bool = False

    def begin(self) -> Verdict:
        """Write the intent if the call may run."""
        verdict = self._begin(self.intent)
        self.has_begun = isinstance(verdict, Run)
        return verdict

    def change(self, args: JsonObject) -> bool:
        """Let the call run as somebody behind the runtime has edited it; say whether he has.

        Raises:
            NotDone: If the edited call may not run.
        """
        if repr(args) == repr(self.call.args):
            return False
        call = replace(self.call, args={**args})
        intent = self.context.intent_of(self.state, call)
        if intent.key == self.intent.key:
            return False
        if not isinstance(self._begin(intent), Run):
            raise NotDone("the call was edited, and an equal call was made before or is in doubt")
        before, self.call, self.intent = self.intent, call, intent
        self._write(before, Outcome.NOT_DONE, None)
        return True

    def settle(self, outcome: str, value: JSON = None) -> None:
        """Write the outcome; where that fails, the run goes on, and an equal call is in doubt."""
        answer = self.context.answer() if self.context.answer and outcome == "done" else None
        self._write(self.intent, outcome, {_ANSWER: answer, "value": value} if answer else value)

    def _begin(self, intent: Record) -> Verdict:
        context = self.context
        tool = context.tools[intent.tool]
        vouches = [Vouch(**each) for each in self.state["vouch"]]
        own = context.own_records(self.state)
        made = {each.attempt for each in own}

        def decide(history: Sequence[Record]) -> Verdict:
            # What nobody could settle is not being made any more, until a person settles it.
            known = [
                replace(each, alive=each.alive and each.attempt not in context.unwritten)
                for each in history
            ]
            # What this run has lost itself is a doubt of its own.
            others = [each.key for each in known if in_doubt(each) and each.attempt not in made]
            vouch = [*vouches, *(Vouch(key, Outcome.LOST) for key in others if context.again)]
            request = Request(intent.key, intent.doubt, vouch, context.limits.equal)
            return may_run(known, tool.effect, own, request)

        return context.ledger.begin(intent, decide)

    def _write(self, intent: Record, outcome: str, value: JSON) -> None:
        try:
            self.context.ledger.settle(intent.key, outcome, value)
        except BaseException as error:
            # Cut off here, it would seem to be running for ever.
            self.context.unwritten.add(intent.attempt)
            if not isinstance(error, Exception):
                raise


EXECUTION: ContextVar[Execution | None] = ContextVar("selfcorrect_execution", default=None)
"""The execution in whose course the code runs."""


def unpack(kept: JSON) -> tuple[JSON, JSON]:
    """Return the value that a ledger keeps of a call, and what its host wants beside it."""
    if isinstance(kept, Mapping) and kept.keys() == {_ANSWER, "value"}:
        return kept["value"], kept[_ANSWER]
    return kept, None


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
    if any(each.status != Outcome.DONE for each in records):
        text = f"{len(records)} equal calls of this tool are made or being made. Run it once more?"
    finding = own_finding("HeldCall", "equal_calls", text, "")
    finding["doubts"] = [doubt_of(each, Outcome.DONE) for each in records]
    return found("ledger", [finding]) | {"outcome": "failed"}
