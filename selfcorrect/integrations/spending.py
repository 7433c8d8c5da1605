"""What an agent's run spends of its budget, and what is decided where that is used up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import interrupt

from selfcorrect.integrations.chat import note_of
from selfcorrect.integrations.mending import Mended
from selfcorrect.integrations.turn import Turn
from selfcorrect.loop.failures import Live
from selfcorrect.loop.watching import call_hook
from selfcorrect.models.usage import estimated, usage_of
from selfcorrect.plain import plain
from selfcorrect.policies import AgentBudget, Checkpoint, Extend, Hooks, LimitReached, OnLimit
from selfcorrect.policies.agent_budget import (
    WATCHED,
    Spent,
    extended,
    full,
    in_force,
    paid,
    take,
    take_call,
)
from selfcorrect.policies.hooks import nearly_spent

_MOST_RUNS: Final = 10_000
_OVER: Final = "over"
"""The counter that holds why the run is over its budget, while a person is about to be asked."""

Taking: TypeAlias = Callable[[AgentBudget, Spent], tuple[dict[str, Any], str | None]]


@dataclass(frozen=True, slots=True)
class Over:
    """The budget leaves no room.

    Attributes:
        why: Which bound.
        is_asked: A person is asked, as soon as what this turn has come to is kept.
    """

    why: str
    is_asked: bool = False


class _Clock:
    """How long runs have been going, but for the pauses between two invocations of the graph.

    What a run took in earlier invocations is in its counters; what it takes in this one is here.
    """

    def __init__(self) -> None:
        self._begun = Live[tuple[Any, float, float] | None](None, _MOST_RUNS)

    def seconds(self, turn: Turn) -> float:
        now, before = turn.context.time.monotonic(), float(turn.counters.spent.get("seconds", 0.0))
        # LangGraph makes one of these for each invocation.
        invocation = getattr(getattr(turn.request, "runtime", None), "control", None)
        if invocation is None:
            return before
        begun = self._begun.of(turn.run)
        if begun is None or begun[0] is not invocation:
            begun = invocation, now, before
            self._begun.keep(turn.run, begun)
        _, start, earlier = begun
        return round(earlier + max(0.0, now - start), 3)


@dataclass(frozen=True, slots=True)
class Spending:
    """Counts what a run spends, in its turns' counters.

    Attributes:
        budget: The bounds; None: nothing is counted.
        on_limit: Decides about a bound that would end the run.
        hooks: Who is told that a bound is near.
    """

    budget: AgentBudget | None
    on_limit: OnLimit | None
    hooks: Hooks | None
    _clock: _Clock = field(default_factory=_Clock)

    def begin(self, turn: Turn) -> None:
        """Count what the answers of the tools cost since the last turn."""
        self._pay(turn, sum(_tokens_of(message) for message in turn.answers))

    async def ask(self, turn: Turn) -> Over | None:
        """Take what one more call of the model costs, before it is made."""

        def taking(budget: AgentBudget, spent: Spent) -> tuple[dict[str, Any], str | None]:
            why = full(budget, spent, seconds=0, tokens=max(1, estimated(turn.messages)))
            return take(budget, spent, turns=1) if why is None else (dict(spent), why)

        return await self._take(turn, taking)

    async def answer(self, turn: Turn, messages: Sequence[Any]) -> None:
        """Count the tokens of the model's answer."""
        if self.budget is None:
            return
        said = sum(usage_of(each).total for each in messages if isinstance(each, AIMessage))
        self._pay(turn, said or estimated(turn.messages) + estimated(messages))

    def mended(self, turn: Turn, calls: Sequence[Mended]) -> None:
        """Count the tokens of the models that mended these calls."""
        self._pay(turn, sum(call.tokens for call in calls))

    def _pay(self, turn: Turn, tokens: int) -> None:
        if self.budget is not None:
            turn.count(spent=paid(turn.counters.spent, tokens=tokens))

    async def make(self, turn: Turn, calls: Sequence[Mended]) -> Over | None:
        """Take what these calls cost before any of them is made: all of them, or none."""

        def taking(budget: AgentBudget, spent: Spent) -> tuple[dict[str, Any], str | None]:
            after, why = dict(spent), full(budget, spent, seconds=0)
            for call in calls:
                if why is None:
                    after, why = take_call(budget, after, call.call["name"], call.call["args"])
            return after, why

        return await self._take(turn, taking) if calls else None

    async def _take(self, turn: Turn, taking: Taking) -> Over | None:
        if self.budget is None:
            return None
        turn.count(spent={**turn.counters.spent, "seconds": self._clock.seconds(turn)})
        while True:
            budget, spent = in_force(self.budget, turn.counters.spent), turn.counters.spent
            after, why = taking(budget, spent)
            why = spent.get(_OVER) or why
            if why is None:
                turn.count(spent=after)
                await self._warn(turn, budget)
                return None
            decision = await self._decided(turn, budget, why)
            if isinstance(decision, Over):
                return decision
            more = extended(budget, spent, decision)
            if more is None:
                return Over(why)
            turn.count(spent={key: value for key, value in more.items() if key != _OVER})

    async def _decided(self, turn: Turn, budget: AgentBudget, why: str) -> Over | Mapping[str, Any]:
        """The larger bounds that are wished, or that the run ends here or asks a person."""
        if self.on_limit is None:
            return Over(why)
        counts = plain(dict(turn.counters.spent))
        reached = LimitReached(why, counts, budget)
        decision = await turn.context.host.call(self.on_limit, reached)
        if isinstance(decision, Extend):
            return decision.limits
        if not isinstance(decision, Checkpoint) or not turn.has_checkpointer:
            return Over(why)
        if not turn.is_new:
            # An interrupt runs the turn from its top, and would have what was asked paid again.
            return Over(why, is_asked=True)
        answer = interrupt(
            {
                "question": f"The run has reached its budget: {why}. Go on with a larger one?",
                "options": [],
                "limit": why,
                "counts": counts,
            }
        )
        is_more = isinstance(answer, Mapping) and answer.get("action") == "extend"
        wanted = answer.get("limits") if is_more else None
        return wanted if isinstance(wanted, Mapping) else Over(why)

    async def _warn(self, turn: Turn, budget: AgentBudget) -> None:
        """Tell the listener of every bound that is near, once."""
        hooks = self.hooks
        if hooks is None or hooks.on_threshold is None:
            return
        near = nearly_spent(turn.counters.spent, budget, hooks.threshold, WATCHED)
        if near:
            told = [*turn.counters.spent.get("warned", ()), *(name for name, _, _ in near)]
            turn.count(spent={**turn.counters.spent, "warned": told})
        for each in near:
            await call_hook(turn.context, hooks.on_threshold, *each)


def over(turn: Turn, why: str) -> None:
    """Note that a person is asked before anything else is paid."""
    turn.count(spent={**turn.counters.spent, _OVER: why})


def not_made(call: Mended, why: str) -> Mended:
    """A call that could have been made, and for which there is no room."""
    text = (
        f"The call was not done: the run has reached its budget ({why}). "
        "Make it again only where you are asked to go on."
    )
    note = {**(call.note or {}), "reason": "limit_reached", "detail": why, "executed": False}
    return replace(call, is_ready=False, text=text, note=note)


def _tokens_of(message: ToolMessage) -> int:
    said = note_of(message).get("tokens")
    return said if type(said) is int and said > 0 else 0
