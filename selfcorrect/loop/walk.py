"""The same nodes and the same table as the graph, walked without LangGraph.

For drop-ins and batch commands: microseconds instead of milliseconds, and nothing of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selfcorrect.loop.context import AsyncHost, RunContext, run_sync
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.run import run_node
from selfcorrect.routing import END
from selfcorrect.state import LASTS_ONE_STEP, CorrectionState, extend_trail

_OUTPUT = ("result", "failure", "trail")
_LASTS_ONE_STEP = tuple(LASTS_ONE_STEP)


def walk(loop: Loop, given: Mapping[str, Any]) -> dict[str, Any]:
    """Run the loop on one input and return `result` or `failure`, and the `trail`.

    Raises:
        GraphSetupError: If something in the loop is async.
    """
    return run_sync(walk_in(loop, given, loop.start()))


async def awalk(loop: Loop, given: Mapping[str, Any]) -> dict[str, Any]:
    """Like `walk`, for tools, strategies, models and nodes that are async."""
    return await walk_in(loop, given, loop.start(host=AsyncHost()))


async def walk_in(loop: Loop, given: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """The walk itself, in a context of the caller's own: another host, a way to ask a person."""
    return await Walk(loop, given).run(context)


async def walk_inside(
    loop: Loop, given: Mapping[str, Any], context: RunContext
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """A run inside another one: what it came to, and its counters."""
    walk = Walk(loop, given)
    output = await walk.run(context)
    return output, walk.state["counts"]


class Walk:
    """A walk that can be left where something was raised, and gone on with from there.

    Attributes:
        state: The state after the last step.
        node: The node that comes next, or that raised.
    """

    __slots__ = ("_loop", "node", "state")

    def __init__(self, loop: Loop, given: Mapping[str, Any], node: str | None = None) -> None:
        self._loop = loop
        empty = {key: own.empty() for key, own in loop.own.items() if own.empty is not None}
        self.state: CorrectionState = empty  # type: ignore[assignment]
        _merge(loop, self.state, {**given})
        start = node or loop.table.enter(given.get("phase"))
        self.node = loop.table.missed(start, self.state) or start

    async def run(self, context: RunContext) -> dict[str, Any]:
        """Walk to the end and return `result` or `failure`, and the `trail`."""
        loop, state = self._loop, self.state
        while self.node != END:
            update, target = await run_node(loop, self.node, state, context)
            _merge(loop, state, update)
            self.node = target
        return {key: state[key] for key in (*_OUTPUT, *loop.own) if key in state}  # type: ignore[literal-required]


def _merge(loop: Loop, state: CorrectionState, update: dict[str, Any]) -> None:
    """Take an update into the state, as LangGraph's channels do."""
    trail = extend_trail(state.get("trail"), update.get("trail"))
    for key, own in loop.own.items():
        if key in update:
            update[key] = own.joined(state.get(key), update[key])
    for key in _LASTS_ONE_STEP:
        state.pop(key, None)  # type: ignore[misc]
    state.update(update)  # type: ignore[typeddict-item]
    state["trail"] = trail
