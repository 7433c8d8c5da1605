"""The whole transition table: what a node came to decides which node is next.

Everything that runs the loop reads this one table: the LangGraph graph and the walker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from selfcorrect.errors import GraphSetupError

END: Final = "__end__"
"""LangGraph's own name for the end of a graph."""

ENTRY: Final = "plan"

ENTRIES: Final = (ENTRY, "diagnose", "select_strategy")
"""Where a run may enter: the start, or where another runner hands it over."""

ROUTES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "plan": {
            "planned": "execute",
            "found": "diagnose",
            "stopped": "report_failure",
        },
        "execute": {
            "done": END,
            "failed": "diagnose",
            "stopped": "report_failure",
        },
        "diagnose": {
            "diagnosed": "select_strategy",
            "stopped": "report_failure",
        },
        "select_strategy": {
            "selected": "repair",
            "stopped": "report_failure",
        },
        "repair": {
            "changed": "validate",
            "wait": "retry",
            "gave_up": "select_strategy",
            "answered": END,
            "stopped": "report_failure",
        },
        "validate": {
            "valid": "retry",
            "invalid": "diagnose",
            "stopped": "report_failure",
        },
        "retry": {
            "retry": "execute",
            "stopped": "report_failure",
        },
        "report_failure": {
            "reported": END,
        },
    }
)

RESERVE: Final = 2
"""Supersteps that must be left to enter a node: its own, and the report's if it fails."""


MOST_STEPS: Final = 2_000
"""Steps of one run, whatever nodes of the caller's own come to."""


def next_node(node: str, outcome: object) -> str:
    """The node that follows.

    Raises:
        GraphSetupError: If a node of the caller's own came to something that the table lacks.
    """
    routes = ROUTES[node]
    target = routes.get(outcome) if isinstance(outcome, str) else None
    if target is None:
        words = ", ".join(repr(word) for word in routes)
        raise GraphSetupError(f"{node} must return an outcome of {words}, not {outcome!r}")
    return target


def advance(
    node: str, state: Mapping[str, Any], update: Mapping[str, Any], reserve: int = RESERVE
) -> tuple[dict[str, Any], str]:
    """Complete a node's update and name the next node.

    Where the host would run out of supersteps before a report could be written, the next node is
    the report.

    Args:
        node: The node that returned the update.
        state: The state that it saw.
        update: What it returned.
        reserve: Supersteps to keep for the report.
    """
    target = next_node(node, update.get("outcome"))
    out = dict(update)
    left = state.get("remaining_steps")
    step = 0 if node == ENTRY else len(state.get("trail") or ())
    if target not in (END, "report_failure"):
        detail = None
        if left is not None and left - 1 < reserve:
            detail = f"no supersteps of the host graph are left to go on after {node}"
        elif step >= MOST_STEPS:
            detail = f"{step} steps of at most {MOST_STEPS}"
        if detail is not None:
            target = "report_failure"
            out["outcome"] = "stopped"
            out["stop"] = {"reason": "limit_reached", "detail": detail}
    said: Sequence[Mapping[str, Any]] = update.get("trail") or ({},)
    out["trail"] = [
        {"step": step + index, "node": node, "next": target, **event}
        for index, event in enumerate(said)
    ]
    return out, target
