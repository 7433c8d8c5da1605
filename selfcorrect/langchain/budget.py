"""What one run of an agent costs, and its bounds."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from time import monotonic
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.types import interrupt

from selfcorrect.errors import GraphSetupError, LimitReachedError
from selfcorrect.langchain.ending import Thread, list_turns
from selfcorrect.model import JsonDict
from selfcorrect.policies.agent import Checkpoint, Extend, LimitDecision, Stop
from selfcorrect.policies.run import Hooks, notify
from selfcorrect.text import quote

SPENT = "selfcorrect_spent"
"""The key of the agent's state under which its costs last."""
_MOST_DECISIONS = 10
"""Decisions about one bound, after which the run ends."""
_COUNTED = ("turns", "tool_calls", "tokens", "seconds")
_UNITS: Mapping[str, str] = {"same_tool": "calls in a row", "argument_bytes": "bytes"}


class BudgetReachedError(LimitReachedError):
    """A bound is reached and was not raised; the text names it."""


@dataclass(slots=True)
class Account:
    """The costs of one run, and its bounds.

    Attributes:
        bounds: The bounds by name; None means that there is none.
        on_limit: Decides what happens at a bound; without it the run ends.
        hooks: They are called once for each bound of which much is used.
        spent: What was spent, by bound.
        near: The bounds for which the hooks were called.
        mark: When the seconds were counted last.
    """

    bounds: Mapping[str, float | None] = field(default_factory=dict)
    on_limit: Callable[[JsonDict], LimitDecision] | None = None
    hooks: Hooks | None = None
    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))
    near: list[str] = field(default_factory=list)
    mark: float = field(default_factory=monotonic)

    def state(self) -> JsonDict:
        """Return what lasts until the next turn, in whatever process."""
        self._count_seconds()
        return {"bounds": self.bounds, "spent": {**self.spent}, "near": [*self.near]}

    def begin_turn(self) -> None:
        """Count one request to the model, whether or not it is answered.

        Raises:
            BudgetReachedError: If a bound is reached.
        """
        for name, more in (("turns", 1), ("tokens", 1), ("seconds", 0)):
            self.check_more(name, more)
        self.spent["turns"] += 1
        self._call_hooks()

    def check_more(self, name: str, more: float) -> None:
        """Let the run spend more of a bound.

        Raises:
            BudgetReachedError: If the bound is reached.
        """
        self._count_seconds()
        self._check(name, self.spent[name], self.spent[name] + more)

    def add_tokens(self, asked: Sequence[BaseMessage], answer: Sequence[BaseMessage]) -> None:
        """Count an answer's tokens; where the model does not say them, they are estimated."""
        if self.bounds.get("tokens") is None:
            return
        usages = [turn.usage_metadata for turn in answer if isinstance(turn, AIMessage)]
        tokens = sum(usage["total_tokens"] for usage in usages if usage)
        self.spent["tokens"] += tokens or count_tokens_approximately([*asked, *answer])

    def check_calls(self, calls: Sequence[ToolCall], messages: Thread) -> None:
        """Let the calls of a turn run.

        Args:
            calls: The calls as they would run.
            messages: The thread before them.

        Raises:
            BudgetReachedError: If a bound is reached.
        """
        if not self.bounds:
            return
        for call in calls:
            size = len(json.dumps(call["args"], ensure_ascii=False, default=str).encode())
            self._check("argument_bytes", size, size, f"arguments of {quote(call['name'])}: ")
        turns = reversed([*list_turns(messages)])
        names = [name for turn_calls, *_ in turns for name, _ in turn_calls]
        for call in calls:
            names.append(call["name"])
            row = sum(1 for _ in takewhile(lambda name: name == names[-1], reversed(names)))
            self._check("same_tool", row - 1, row, f"{quote(call['name'])}: ")
        self.check_more("tool_calls", len(calls))
        self.spent["tool_calls"] += len(calls)
        self._call_hooks()

    def _check(self, name: str, used: float, amount: float, of: str = "") -> None:
        """Ask what happens where an amount is beyond its bound; end the run unless it is raised."""
        detail = ""
        for _ in range(_MOST_DECISIONS):
            bound = self.bounds.get(name)
            if bound is None or amount <= bound:
                return
            detail = f"{of}{used:g} {_UNITS.get(name) or name.replace('_', ' ')}, at most {bound:g}"
            report = {"limit": name, "used": used, "bound": bound, "detail": detail}
            decision = self.on_limit(report) if self.on_limit else Stop()
            if isinstance(decision, Checkpoint):
                decision = _decision_of(interrupt(report))
            if not isinstance(decision, Extend):
                break
            self.bounds = {**self.bounds, **decision.bounds}
        raise BudgetReachedError(detail)

    def _call_hooks(self) -> None:
        """Call the hooks once for each bound of which much is used."""
        if self.hooks is None:
            return
        for name in _COUNTED:
            bound, used = self.bounds.get(name), self.spent[name]
            if bound and name not in self.near and self.hooks.threshold * bound <= used < bound:
                self.near.append(name)
                notify(self.hooks.on_threshold, name, used, bound)

    def _count_seconds(self) -> None:
        now = monotonic()
        self.spent["seconds"] += now - self.mark
        self.mark = now


def _decision_of(answer: Any) -> LimitDecision:
    """Return what a person decides: `{"action": "extend", "limits": {...}}`; all else ends the run.

    Unusable limits extend nothing, so that the question is asked again.
    """
    extends = isinstance(answer, Mapping) and answer.get("action") == "extend"
    limits = answer.get("limits") if extends else None
    try:
        return Extend(**limits) if isinstance(limits, Mapping) else Stop()
    except (GraphSetupError, TypeError):
        return Extend()
