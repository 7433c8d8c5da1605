"""A world in which tools act: every effect is counted, and nothing real happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from selfcorrect.model import JSON
from selfcorrect.protocols import Effect
from selfcorrect.testing.clock import VirtualTime
from selfcorrect.testing.crashes import Crashes
from selfcorrect.testing.faults import ACTS, HINT, Fault, error_of
from selfcorrect.tools import ToolSpec

_LATENCY = 3.0


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution: of which tool, with what, when, and how it went."""

    tool: str
    args: JSON
    at: float
    fault: Fault


class World:
    """Counts what tools do, and lets them fail as it is told to.

    >>> world = World()
    >>> world.tool("book", faults=iter([Fault.TIMEOUT_AFTER])).run({"item": "a"})
    Traceback (most recent call last):
    ...
    TimeoutError: read timed out
    >>> world.effects["book", "a"], len(world.executions)
    (1, 1)

    Args:
        time: Passes while tools are slow.
        crashes: Where the process dies.
    """

    def __init__(self, time: VirtualTime | None = None, crashes: Crashes | None = None) -> None:
        self.time = time or VirtualTime()
        self.crashes = crashes or Crashes()
        self.effects: Counter[tuple[str, str]] = Counter()
        self.executions: list[Execution] = []

    def tool(
        self,
        name: str,
        *,
        effect: Effect | None = "mutating",
        faults: Iterator[Fault] | None = None,
        **options: Any,
    ) -> ToolSpec:
        """A tool `name(item: str, count: int = 1)` of this world.

        Args:
            name: Its name.
            effect: What it is declared as.
            faults: How one execution after the other goes; well, once there are no more.
            **options: Further options of `ToolSpec.from_function`.
        """

        def act(item: str, count: int = 1) -> JSON:
            """Do something to an item."""
            return self._act(name, item, count, next(faults or iter(()), Fault.NONE))

        return ToolSpec.from_function(act, effect=effect, name=name, **options)

    def done(self, tool: str, item: str) -> int:
        """How often something really happened."""
        return self.effects[tool, item]

    def _act(self, tool: str, item: str, count: int, fault: Fault) -> JSON:
        self.crashes.reach("tool.before")
        args = {"item": item, "count": count}
        self.executions.append(Execution(tool, args, self.time.monotonic(), fault))
        if fault is Fault.LATENCY:
            self.time.sleep(_LATENCY)
        if fault in ACTS:
            self.effects[tool, item] += 1
        self.crashes.reach("tool.during")
        error = error_of(fault)
        if error is not None:
            raise error
        self.crashes.reach("tool.after")
        return _value(fault, item, count)


def _value(fault: Fault, item: str, count: int) -> JSON:
    match fault:
        case Fault.IMPLICIT_TRANSIENT:
            return {"status": "error", "message": f"busy, try again in {HINT:g} seconds"}
        case Fault.IMPLICIT_PERMANENT:
            return {"status": "error", "message": "not supported"}
        case Fault.PARTIAL:
            return {"item": item, "truncated": True}
        case Fault.SCHEMA_DRIFT:
            return {"itemName": item, "qty": str(count), "v": 2}
        case _:
            return {"item": item, "count": count}
