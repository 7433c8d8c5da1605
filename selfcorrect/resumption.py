"""Takes a run up again where it was cut off, without doing anything twice."""

from typing import Any

from selfcorrect.context import run_sync
from selfcorrect.graph import AGAIN
from selfcorrect.model import JsonObject
from selfcorrect.models.port import value_of


def resume(graph: Any, given: Any, config: JsonObject | None = None, *, again: bool = False) -> Any:
    """Return the output of a run that has ended, the rest of one that was begun, or a new run's.

    Args:
        graph: A compiled LangGraph graph: of `build_graph`, an agent, or one around either.
        given: Its input, for a thread that has not begun.
        config: Its config; `configurable.thread_id` names the thread.
        again: Whether a person says that a call of this thread which may have been done is to be
            done once more, should it come to it. The thread is then run with `given`, even if it
            has ended.
    """
    return run_sync(_resume("", graph, given, config, again=again))


async def aresume(
    graph: Any, given: Any, config: JsonObject | None = None, *, again: bool = False
) -> Any:
    """Like `resume`, for graphs whose tools or checkpointer are async."""
    return await _resume("a", graph, given, config, again=again)


async def _resume(
    way: str, graph: Any, given: Any, config: JsonObject | None, *, again: bool
) -> Any:
    """Resume a graph by methods of its sync or its async way: `invoke` or `ainvoke`."""
    own = dict(config or {})
    inner = own.get("configurable") or {}
    if again:
        own["configurable"] = {**inner, AGAIN: True}
    is_kept = "thread_id" in inner and getattr(graph, "checkpointer", None) is not None
    snapshot = await value_of(getattr(graph, f"{way}get_state")(own)) if is_kept else None
    if snapshot is not None and snapshot.tasks:
        given = None
    elif snapshot is not None and snapshot.values and not again:
        return snapshot.values
    return await value_of(getattr(graph, f"{way}invoke")(given, own))
