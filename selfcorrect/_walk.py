"""The same nodes and the same table as the graph, walked without LangGraph.

For drop-ins and batch commands: microseconds instead of milliseconds, and nothing of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selfcorrect.context import AsyncHost, RunContext, run_sync
from selfcorrect.routing import END, ENTRY
from selfcorrect.state import CorrectionState, extend_trail
from selfcorrect.step import apply_edge, run_node
from selfcorrect.wiring import Loop

_OUTPUT = ("result", "failure", "trail")


def walk(loop: Loop, given: Mapping[str, Any], *, tenant: str | None = None) -> dict[str, Any]:
    """Run the loop on one input and return `result` or `failure`, and the `trail`.

    Raises:
        GraphSetupError: If something in the loop is async.
    """
    return run_sync(_walk(loop, given, _start(loop, tenant)))


async def awalk(
    loop: Loop, given: Mapping[str, Any], *, tenant: str | None = None
) -> dict[str, Any]:
    """Like `walk`, for tools, strategies, models and nodes that are async."""
    return await _walk(loop, given, _start(loop, tenant, host=AsyncHost()))


def _start(loop: Loop, tenant: str | None, **changes: Any) -> RunContext:
    return loop.start(**changes, **({} if tenant is None else {"tenant": tenant}))


async def _walk(loop: Loop, given: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    state: CorrectionState = {**given}  # type: ignore[typeddict-item]
    node = given.get("phase") or ENTRY
    while node != END:
        update, target = await run_node(loop, node, state, context)
        _merge(state, update)
        edge = (node, target)
        if edge in loop.edges:
            update, target = await apply_edge(loop, edge, state, context)
            _merge(state, update)
        node = target
    return {key: state[key] for key in _OUTPUT if key in state}  # type: ignore[literal-required]


def _merge(state: CorrectionState, update: Mapping[str, Any]) -> None:
    trail = extend_trail(state.get("trail"), update.get("trail"))
    state.update(update)  # type: ignore[typeddict-item]
    state["trail"] = trail
