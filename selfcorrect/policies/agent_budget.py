"""How much a whole agent run may cost: turns, tool calls, time, tokens. Counters are plain JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from selfcorrect.model import JSON
from selfcorrect.policies.budgets import MOST_EXTENSIONS, Extend, LimitReached, OnLimit

Spent: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AgentBudget:
    """Bounds of one run of an agent; None means no bound. `Limits` bounds the mending of one call.

    Attributes:
        turns: Calls of the agent's model.
        tool_calls: Calls of tools.
        seconds: Wall time.
        tokens: Tokens of all turns.
        same_tool: Calls of the same tool in a row.
        argument_bytes: Size of one call's arguments as JSON.

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


def take(budget: AgentBudget, spent: Spent, **amounts: float) -> tuple[dict[str, Any], str | None]:
    """The counters with these amounts added, or the old ones and the bound that leaves no room.

    Args:
        budget: The bounds.
        spent: The counters so far, as this function returned them.
        amounts: What is about to be spent: `turns=1`, `tokens=500`, `seconds=2.5`.
    """
    after = dict(spent)
    for what, amount in amounts.items():
        bound = getattr(budget, what)
        used = spent.get(what, 0)
        if bound is not None and used + amount > bound:
            return dict(spent), f"{used:g} of at most {bound:g} {what.replace('_', ' ')}"
        after[what] = used + amount
    return after, None


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


def extended(
    budget: AgentBudget, spent: Spent, why: str, on_limit: OnLimit | None
) -> tuple[AgentBudget, dict[str, Any]] | None:
    """The larger budget that a handler grants, and the counters that remember it; None: stop.

    A handler that always grants more is asked at most eight times in a run.
    """
    granted = spent.get("extensions", 0)
    if on_limit is None or granted >= MOST_EXTENSIONS:
        return None
    decision = on_limit(LimitReached(why, dict(spent), budget))
    if not isinstance(decision, Extend):
        return None
    more = {}
    for name in (field.name for field in fields(budget)):
        wanted, now = decision.limits.get(name), getattr(budget, name)
        is_number = isinstance(wanted, int | float) and not isinstance(wanted, bool)
        if is_number and now is not None and wanted > now:
            more[name] = wanted
    if not more:
        return None
    return replace(budget, **more), {**spent, "extensions": granted + 1}
