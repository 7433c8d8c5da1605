"""One execution of a tool that acts: its intent and its outcome in the ledger."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

from selfcorrect.context import RunContext
from selfcorrect.effects.again import Record, Request, Run, Verdict, Vouch, may_run
from selfcorrect.effects.outcome import Outcome
from selfcorrect.errors import NotDone
from selfcorrect.model import JSON, Call
from selfcorrect.state import CorrectionState

_ANSWER: Final = "selfcorrect answer"
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

    def change(self, args: Mapping[str, Any]) -> bool:
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
        tool, unwritten = context.tools[intent.tool], context.unwritten.get(intent.doubt)
        vouches = [Vouch(**each) for each in self.state["vouch"]]
        request = Request(intent.key, intent.doubt, vouches, context.limits.equal)

        def decide(history: Sequence[Record]) -> Verdict:
            known = [*history, unwritten] if unwritten else history
            return may_run(known, tool.effect, context.own_records(self.state), request)

        return context.ledger.begin(intent, decide)

    def _write(self, intent: Record, outcome: str, value: JSON) -> None:
        try:
            self.context.ledger.settle(intent.key, outcome, value)
        except Exception:
            self.context.unwritten[intent.doubt] = replace(intent, status=Outcome.LOST)


EXECUTION: Final[ContextVar[Execution | None]] = ContextVar("selfcorrect_execution", default=None)
"""The execution in whose course the code runs."""


def unpack(kept: JSON) -> tuple[JSON, JSON]:
    """Return the value that a ledger keeps of a call, and what its host wants beside it."""
    if isinstance(kept, Mapping) and kept.keys() == {_ANSWER, "value"}:
        return kept["value"], kept[_ANSWER]
    return kept, None
