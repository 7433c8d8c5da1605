"""Takes a run up again where it was cut off, without doing anything twice."""

from collections.abc import Mapping
from typing import Any

from selfcorrect.graph import AGAIN


def resume(
    graph: Any, given: Any, config: Mapping[str, Any] | None = None, *, again: bool = False
) -> Any:
    """Return the output of a run that has ended, the rest of one that was begun, or a new run's.

    Args:
        graph: A compiled LangGraph graph: of `build_graph`, an agent, or one around either.
        given: Its input, for a thread that has not begun.
        config: Its config; `configurable.thread_id` names the thread.
        again: Whether a person says that a call of this thread which may have been done is to be
            done once more, should it come to it. The thread is then run with `given`, even if it
            has ended.
    """
    config = _config(config, again=again)
    known = graph.get_state(config) if _is_kept(graph, config) else None
    if known is not None and known.tasks:
        given = None
    elif known is not None and known.values and not again:
        return known.values
    return graph.invoke(given, config)


async def aresume(
    graph: Any, given: Any, config: Mapping[str, Any] | None = None, *, again: bool = False
) -> Any:
    """Like `resume`, for graphs whose tools or checkpointer are async."""
    config = _config(config, again=again)
    known = await graph.aget_state(config) if _is_kept(graph, config) else None
    if known is not None and known.tasks:
        given = None
    elif known is not None and known.values and not again:
        return known.values
    return await graph.ainvoke(given, config)


def _config(config: Mapping[str, Any] | None, *, again: bool) -> dict[str, Any]:
    made = dict(config or {})
    if again:
        made["configurable"] = {**made.get("configurable", {}), AGAIN: True}
    return made


def _is_kept(graph: Any, config: Mapping[str, Any]) -> bool:
    """Say whether the thread of a config has a checkpointer."""
    has_thread = "thread_id" in (config.get("configurable") or {})
    return has_thread and getattr(graph, "checkpointer", None) is not None
