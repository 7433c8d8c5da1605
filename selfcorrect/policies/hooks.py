"""Listeners of a run: told what happened, never asked what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.limits import Limits
from selfcorrect.policies.agent_budget import AgentBudget

_WATCHED: Final = ("attempts", "model_calls", "tokens", "seconds", "cost")


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions that a run calls; what they raise is logged and changes nothing.

    Attributes:
        on_tool_use: Called as (name, args, result) when a run ends: the tool's value, or the text
            of the report that a model may read.
        on_error: Called as (name, report) once, when a run ends in a report.
        on_threshold: Called as (limit, used, bound) once for each limit, before it is reached; in
            an agent also for the bounds of its budget.
        threshold: The share of a limit from which `on_threshold` is called.
    """

    on_tool_use: Callable[[str, Mapping[str, Any], Any], Any] | None = None
    on_error: Callable[[str, Mapping[str, Any]], Any] | None = None
    on_threshold: Callable[[str, float, float], Any] | None = None
    threshold: float = 0.8


def nearly_spent(
    counts: Mapping[str, Any],
    limits: Limits | AgentBudget,
    share: float,
    watched: Sequence[str] = _WATCHED,
) -> list[tuple[str, float, float]]:
    """The limits of which this share is used up, and that nobody was told of yet.

    Args:
        counts: The counters, with the names that were told in `warned`.
        limits: The bounds, as attributes: `Limits`, or an `AgentBudget`.
        share: From which share of a bound one is told.
        watched: The bounds that are looked at.

    >>> nearly_spent({"attempts": 2}, Limits(attempts=3), 0.8)
    [('attempts', 2, 3)]
    """
    told = counts.get("warned") or ()
    found = []
    for name in watched:
        bound, used = getattr(limits, name), counts.get(name, 0)
        if not bound or name in told:
            continue
        last = bound - 1 if isinstance(bound, int) and bound > 1 else bound
        if used >= min(share * bound, last):
            found.append((name, used, bound))
    return found
