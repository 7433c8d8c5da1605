"""The whole transition table: what a node came to decides which node is next.

Everything that runs the loop reads this one table: the LangGraph graph and the walker. A
deployment's own nodes and edges go over it (`loop/own_nodes.py`), outcome by outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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

REPORT: Final = "report_failure"
STOPPED: Final = "stopped"
"""The outcome with which any node ends the run in the report."""

PASSED: Final = "passed"
"""The outcome of a node that stands on an edge, or before a node."""

EXECUTE: Final = "execute"
FAILED: Final = "failed"
"""The outcome of a call that cannot be made as it stands, wherever that is found."""

MOST_STEPS: Final = 2_000
"""Steps of one run, whatever nodes of the caller's own come to."""


@dataclass(frozen=True)
class Table:
    """Which node follows which outcome of which node.

    Attributes:
        routes: Targets by outcome, by node.
        guards: The node that every way into a node passes, by that node.
    """

    routes: Mapping[str, Mapping[str, str]]
    guards: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def reserve(self) -> int:
        """Supersteps to keep for entering a node: its own, those of the report and what follows."""
        return 2 + (REPORT in self.guards) + len(self.reachable((REPORT,)) - {REPORT, END})

    def into(self, node: str) -> str:
        """Where a way into a node leads: to its guard, if it has one."""
        return self.guards.get(node, node)

    def enter(self, phase: object) -> str:
        """The first node of a run, or of one that another runner hands over.

        Raises:
            GraphSetupError: If no run enters there.
        """
        if (phase or ENTRY) not in ENTRIES:
            raise GraphSetupError(f"a run enters at {', '.join(ENTRIES)}, not at {phase!r}")
        return self.into(str(phase or ENTRY))

    def missed(self, node: str, state: Mapping[str, Any]) -> str | None:
        """The guard of a node that a run comes to without having passed it just now, or None."""
        guard = self.guards.get(node)
        last: Mapping[str, Any] = (state.get("trail") or ({},))[-1]
        return None if (last.get("node"), last.get("next")) == (guard, node) else guard

    def next_node(self, node: str, outcome: object) -> str:
        """The node that follows; a node that knows one outcome need not name it.

        Raises:
            GraphSetupError: If a node of the caller's own came to something that the table lacks.
        """
        routes = self.routes[node]
        target = routes.get(outcome) if isinstance(outcome, str) else None
        if target is None:
            words = ", ".join(repr(word) for word in routes)
            raise GraphSetupError(f"{node} must return an outcome of {words}, not {outcome!r}")
        return target

    def only_outcome(self, node: str) -> str | None:
        """The outcome of a node that knows one beside `stopped`, and beside what we find first."""
        ours = (STOPPED, FAILED) if node == self.guards.get(EXECUTE) else (STOPPED,)
        known = [outcome for outcome in self.routes[node] if outcome not in ours]
        return known[0] if len(known) == 1 else None

    def advance(
        self, node: str, state: Mapping[str, Any], update: Mapping[str, Any]
    ) -> tuple[dict[str, Any], str]:
        """Complete a node's update and name the next node.

        Where the host would run out of supersteps before a report could be written, the next node
        is the report, and after the report the end.

        Args:
            node: The node that returned the update.
            state: The state that it saw.
            update: What it returned.
        """
        outcome = update.get("outcome")
        target = self.next_node(node, outcome)
        out = dict(update)
        step = 0 if node == self.into(ENTRY) else len(state.get("trail") or ())
        report = self.end_of(node)
        if target not in (END, report) and (why := self._no_more(node, state, step)) is not None:
            target = END if "failure" in {**state, **update} else report
            if target == report:
                out["outcome"] = STOPPED
                out["stop"] = {"reason": "limit_reached", "detail": why}
        # What stands on the way to the report does not say why the run came that way.
        known = state.get("stop") if outcome in (PASSED, STOPPED) else None
        if target == report and out.get("stop") is None and known is None:
            out["stop"] = {"reason": "rejected", "detail": f"{node}: {outcome}"}
        said: Sequence[Mapping[str, Any]] = update.get("trail") or ({},)
        out["trail"] = [
            {"step": step + index, "node": node, "next": target, **event}
            for index, event in enumerate(said)
        ]
        return out, target

    def end_of(self, node: str) -> str:
        """Where a node leads whose run ends: its guard must not hold the report up for ever."""
        guard = self.into(REPORT)
        return REPORT if node == guard else guard

    def _no_more(self, node: str, state: Mapping[str, Any], step: int) -> str | None:
        left = state.get("remaining_steps")
        if left is not None and left - 1 < self.reserve:
            return f"no supersteps of the host graph are left to go on after {node}"
        return f"{step} steps of at most {MOST_STEPS}" if step >= MOST_STEPS else None

    def reachable(self, start: Iterable[str], without: str | None = None) -> set[str]:
        """The nodes that a run can come to from these, these included, and the end."""
        seen: set[str] = set()
        todo = list(start)
        while todo:
            node = todo.pop()
            if node not in seen and node != without:
                seen.add(node)
                todo += self.routes.get(node, {}).values()
        return seen
