"""The same nodes and the same table as the graph, walked in a plain loop without LangGraph.

For drop-ins, batch commands and tests: microseconds instead of milliseconds, nothing of its own.
"""

from dataclasses import replace
from typing import Any

from selfcorrect.context import run_sync
from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.routing import END
from selfcorrect.state import ONE_STEP_KEYS
from selfcorrect.step import Loop, run_step

OUTPUT = ("result", "failure", "trail")


def walk(loop: Loop, start: JsonObject) -> JsonDict:
    """Run the loop on one input; return `result` or `failure`, and the `trail`.

    Raises:
        GraphSetupError: If something in the loop is async.
    """
    return run_sync(walk_hosted(loop, start))


async def awalk(loop: Loop, start: JsonObject) -> JsonDict:
    """Like `walk`, for tools, strategies, models and nodes that are async."""
    context = replace(loop.context, is_async=True)
    return await walk_hosted(replace(loop, context=context), start)


async def walk_hosted(loop: Loop, start: JsonObject) -> JsonDict:
    """Like `walk`, in async code or not, as the context of the loop says."""
    state: Any = dict(start)
    node = loop.table.first
    while node != END:
        update = await run_step(loop, node, state, loop.context)
        node = loop.table.next_node(node, update["outcome"])
        _merge(loop, state, update)
    return {key: state[key] for key in (*OUTPUT, *loop.own_keys) if key in state}


def _merge(loop: Loop, state: JsonDict, update: JsonDict) -> None:
    """Take an update into the state, as LangGraph's channels do."""
    for key, reducer in loop.reducers.items():
        if key in update and key in state:
            update[key] = reducer(state[key], update[key])
    # LangGraph clears ephemeral channels after one step.
    for key in ONE_STEP_KEYS:
        state.pop(key, None)
    state.update(update)
