"""`resume`: take a run up again, without doing anything twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selfcorrect.loop.context import AGAIN


def resume(
    graph: Any, given: Any, config: Mapping[str, Any] | None = None, *, again: bool = False
) -> Any:
    """The answer of a run that is done, the rest of one that was begun, else a run from the start.

    The one way to say that a call which may have been done is to be done again, in a graph of
    `build_graph`, in an agent with `SelfCorrection`, and in a graph around either.

    Args:
        graph: A compiled LangGraph graph.
        given: Its input. A checkpointed thread that ended is not run again for it.
        config: Its config; `configurable.thread_id` names the thread.
        again: A person says that what may have been done in this thread is to be done once more,
            should it be called. The thread is then run with `given`, also if it has ended.

    Returns:
        What `graph.invoke` returns, or the values of the thread that has ended.
    """
    config = _with_word(config, again=again)
    if _is_kept(graph, config):
        known = graph.get_state(config)
        if known.tasks:  # a step that was written and not yet taken up is no longer in `next`
            given = None
        elif known.values and not again:
            return known.values
    return graph.invoke(given, config)


async def aresume(
    graph: Any, given: Any, config: Mapping[str, Any] | None = None, *, again: bool = False
) -> Any:
    """Like `resume`, for graphs whose tools or checkpointer are async."""
    config = _with_word(config, again=again)
    if _is_kept(graph, config):
        known = await graph.aget_state(config)
        if known.tasks:  # a step that was written and not yet taken up is no longer in `next`
            given = None
        elif known.values and not again:
            return known.values
    return await graph.ainvoke(given, config)


def _with_word(config: Mapping[str, Any] | None, *, again: bool) -> dict[str, Any]:
    known = dict(config or {})
    if again:
        known["configurable"] = {**(known.get("configurable") or {}), AGAIN: True}
    return known


def _is_kept(graph: Any, config: Mapping[str, Any]) -> bool:
    """Whether the thread of this config is checkpointed."""
    configurable = config.get("configurable") or {}
    return bool(getattr(graph, "checkpointer", None)) and "thread_id" in configurable
