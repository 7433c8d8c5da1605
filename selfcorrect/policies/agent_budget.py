"""How much a whole agent run may cost: turns, tool calls, time, tokens. Counters are plain JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, TypeAlias

from selfcorrect.errors import GraphSetupError
from selfcorrect.hints import whole
from selfcorrect.model import JSON
from selfcorrect.policies.budgets import MOST_EXTENSIONS

Spent: TypeAlias = Mapping[str, Any]

_LEAST: Final = {"turns": 1, "tool_calls": 0, "tokens": 1, "same_tool": 1, "argument_bytes": 1}
WATCHED: Final = ("turns", "tool_calls", "seconds", "tokens")
"""The bounds that are approached, so that one can be warned of them."""


@dataclass(frozen=True, slots=True)
class AgentBudget:
    """Bounds of one run of an agent; None means no bound. `Limits` bounds the mending of one call.

    Attributes:
        turns: Calls of the agent's model.
        tool_calls: Calls of tools that the model makes.
        seconds: Wall time, but for pauses in which the agent waits for a person.
        tokens: Tokens of all turns (where the provider tells none, four characters count as one),
            and those that models which mend calls tell of.
        same_tool: Calls of the same tool in a row.
        argument_bytes: Size of one call's arguments as JSON.

    Raises:
        GraphSetupError: If a bound can never be meant.

    >>> budget = AgentBudget(turns=1)
    >>> spent, why = take(budget, {}, turns=1)
    >>> take(budget, spent, turns=1)[1]
    '1 of at most 1 turns'
    """

    turns: int | None = 8
    tool_calls: int | None = 32
    seconds: float | None = 300.0
    tokens: int | None = None
    same_tool: int | None = None
    argument_bytes: int | None = None

    def __post_init__(self) -> None:
        """Refuse what can never be meant."""
        for name, least in _LEAST.items():
            if getattr(self, name) is not None:
                whole("AgentBudget", name, getattr(self, name), least=least)
        if self.seconds is not None and not _is_time(self.seconds):
            raise GraphSetupError(
                f"AgentBudget: seconds is a number above 0, not {self.seconds!r:.80}"
            )


def take(budget: AgentBudget, spent: Spent, **amounts: float) -> tuple[dict[str, Any], str | None]:
    """The counters with these amounts added, or the old ones and the bound that leaves no room.

    Args:
        budget: The bounds.
        spent: The counters so far, as this function returned them.
        amounts: What is about to be spent: `turns=1`, `tokens=500`, `seconds=2.5`.
    """
    why = full(budget, spent, **amounts)
    return (dict(spent), why) if why is not None else (paid(spent, **amounts), None)


def full(budget: AgentBudget, spent: Spent, **amounts: float) -> str | None:
    """The bound that leaves no room for these amounts, or None."""
    for what, amount in amounts.items():
        bound = getattr(budget, what)
        used = spent.get(what, 0)
        if bound is not None and used + amount > bound:
            return f"{used:g} of at most {bound:g} {what.replace('_', ' ')}"
    return None


def paid(spent: Spent, **amounts: float) -> dict[str, Any]:
    """The counters with what was spent already, whatever the bounds."""
    return {**spent, **{what: spent.get(what, 0) + amount for what, amount in amounts.items()}}


def take_call(
    budget: AgentBudget, spent: Spent, name: str, args: JSON
) -> tuple[dict[str, Any], str | None]:
    """The same for a call of a tool: counted, and held against `same_tool` and `argument_bytes`.

    >>> budget = AgentBudget(same_tool=1)
    >>> spent, why = take_call(budget, {}, "search", {})
    >>> take_call(budget, spent, "search", {})[1]
    "1 calls of 'search' in a row, and at most 1"
    """
    if budget.argument_bytes is not None:
        size = len(json.dumps(args, ensure_ascii=False, default=str).encode(errors="replace"))
        if size > budget.argument_bytes:
            return dict(spent), f"arguments of {size} bytes, and at most {budget.argument_bytes}"
    in_a_row = spent.get("in_a_row", 0) if spent.get("last_tool") == name else 0
    if budget.same_tool is not None and in_a_row >= budget.same_tool:
        told = f"{in_a_row} calls of {name!r} in a row, and at most {budget.same_tool}"
        return dict(spent), told
    after, why = take(budget, spent, tool_calls=1)
    if why is None:
        after |= {"last_tool": name, "in_a_row": in_a_row + 1}
    return after, why


def in_force(budget: AgentBudget, spent: Spent) -> AgentBudget:
    """The budget with what was granted on the way."""
    return replace(budget, **spent.get("granted", {}))


def extended(budget: AgentBudget, spent: Spent, wanted: Any) -> dict[str, Any] | None:
    """The counters that grant these larger bounds; None: none is larger, or all was granted.

    Who always grants more is heard eight times in a run.

    Args:
        budget: The bounds in force.
        spent: The counters so far.
        wanted: Bounds by name; what is no larger than before counts for nothing.
    """
    granted = spent.get("extensions", 0)
    if granted >= MOST_EXTENSIONS or not isinstance(wanted, Mapping):
        return None
    names = [field.name for field in fields(budget)]
    more = {name: wanted[name] for name in names if _is_larger(name, wanted.get(name), budget)}
    if not more:
        return None
    return {
        **spent,
        "granted": {**spent.get("granted", {}), **more},
        "extensions": granted + 1,
    }


def _is_larger(name: str, value: Any, budget: AgentBudget) -> bool:
    now = getattr(budget, name)
    usable = _is_time(value) if name == "seconds" else type(value) is int
    return usable and now is not None and value > now


def _is_time(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value < math.inf
