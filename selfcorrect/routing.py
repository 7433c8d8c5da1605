"""The whole transition table: what a node came to decides which node is next.

Everything that runs the loop reads this one table: the LangGraph graph and the walker. A
deployment's own nodes and edges go over it, outcome by outcome, and are checked before anything
runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from selfcorrect.errors import GraphSetupError
from selfcorrect.hints import near

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
"""The outcome of a node that stands on an edge."""

MOST_STEPS: Final = 2_000
"""Steps of one run, whatever nodes of the caller's own come to."""


@dataclass(frozen=True)
class Table:
    """Which node follows which outcome of which node.

    Attributes:
        routes: Targets by outcome, by node.
    """

    routes: Mapping[str, Mapping[str, str]]

    @cached_property
    def reserve(self) -> int:
        """Supersteps that must be left to enter a node: its own, the report's, what follows it."""
        return 2 + len(self.reachable((REPORT,)) - {REPORT, END})

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
        """The outcome of a node that knows one beside `stopped`."""
        known = [outcome for outcome in self.routes[node] if outcome != STOPPED]
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
        step = 0 if node == ENTRY else len(state.get("trail") or ())
        if target not in (END, REPORT) and (why := self._no_more(node, state, step)) is not None:
            target = END if "failure" in {**state, **update} else REPORT
            if target == REPORT:
                out["outcome"] = STOPPED
                out["stop"] = {"reason": "limit_reached", "detail": why}
        if target == REPORT and out.get("stop") is None:
            out["stop"] = {"reason": "rejected", "detail": f"{node}: {outcome}"}
        said: Sequence[Mapping[str, Any]] = update.get("trail") or ({},)
        out["trail"] = [
            {"step": step + index, "node": node, "next": target, **event}
            for index, event in enumerate(said)
        ]
        return out, target

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

    def with_routes(
        self, own: Iterable[str], routes: Mapping[str, Mapping[str, str]] | None = None
    ) -> Table:
        """This table with nodes of the caller's own, and edges over it, outcome by outcome.

        Raises:
            GraphSetupError: If an edge leads nowhere, a node is on no way, the report could be
                missed, or a call could be executed again past `retry`.
        """
        made = {node: dict(known) for node, known in self.routes.items()}
        made |= {node: {} for node in own}
        for node, more in (routes or {}).items():
            if node not in made:
                raise GraphSetupError(
                    f"routes name {node!r}, which is no node; {_hint(node, made)}"
                )
            for outcome, target in more.items():
                if target not in made and target != END:
                    raise GraphSetupError(
                        f"routes lead from {node!r}, outcome {outcome!r}, to {target!r}, which is "
                        f"no node; {_hint(target, made)}"
                    )
                made[node][outcome] = target
        after = Table(made).reachable((REPORT,))
        for node in made.keys() - after:
            made[node].setdefault(STOPPED, REPORT)
        table = Table(MappingProxyType({n: MappingProxyType(known) for n, known in made.items()}))
        table.check()
        return table

    def on_edge(self, edge: tuple[str, str], name: str) -> Table:
        """This table with a node of the caller's own on every way from one node to another."""
        source, target = edge
        ways = {o: name for o, leads in self.routes.get(source, {}).items() if leads == target}
        if not ways:
            known = ", ".join(
                sorted(f"{s!r}→{t!r}" for s, each in self.routes.items() for t in each.values())
            )
            raise GraphSetupError(f"there is no edge {edge!r}; the edges are {known}")
        return self.with_routes([name], {source: ways, name: {PASSED: target}})

    def check(self) -> None:
        """Refuse a table with which a run could miss its report, its bounds or a node.

        Raises:
            GraphSetupError: See `with_routes`.
        """
        if lost := [node for node in self.routes if node not in self.reachable(ENTRIES)]:
            raise GraphSetupError(
                f"no run can come to {lost[0]!r}: name it as a target in routes, such as "
                f"routes={{'validate': {{'valid': {lost[0]!r}}}}}"
            )
        if any(ENTRY in ways.values() for ways in self.routes.values()):
            raise GraphSetupError(f"a run begins once: no edge leads back to {ENTRY!r}")
        after = self.reachable((REPORT,))
        if END not in after:
            raise GraphSetupError("report_failure never ends: after the report comes the end")
        if back := after & (ROUTES.keys() - {REPORT}):
            wrong = f"report_failure leads back to {min(back)!r}: after the report comes the end"
            raise GraphSetupError(wrong)
        for node in self.routes:
            if node not in after and REPORT not in self.reachable((node,)):
                raise GraphSetupError(f"from {node!r} no run can come to report_failure")
        again = self.reachable(self.routes["execute"].values(), without="retry")
        if "execute" in again:
            raise GraphSetupError(
                "a call could be executed again without retry, which checks the bounds: lead "
                "every way back to 'execute' through 'retry'"
            )


def _hint(name: object, known: Iterable[str]) -> str:
    return near(str(name), known) or f"the nodes are {', '.join(known)}"


DEFAULT: Final = Table(ROUTES)
