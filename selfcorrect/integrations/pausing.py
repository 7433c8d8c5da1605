"""A graph that pauses to ask a person, for a caller that is a plain loop; and what runs here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.model import JSON

QUESTIONS: Final = "__interrupt__"
"""LangGraph's own name for what a paused run asks."""


def pausable(graph: Any) -> Any:
    """The compiled graph as one that can ask: with a checkpointer, in memory if it has none."""
    if getattr(graph, "checkpointer", None):
        return graph
    from langgraph.checkpoint.memory import InMemorySaver

    return graph.copy({"checkpointer": InMemorySaver()})


def plain_questions(output: Mapping[str, Any]) -> dict[str, Any]:
    """The output of a graph, with the questions of a paused run as plain JSON."""
    out = dict(output)
    if QUESTIONS in out:
        out[QUESTIONS] = [getattr(item, "value", item) for item in out[QUESTIONS]]
    return out


def resume(answer: JSON) -> Any:
    """What a paused graph is invoked with, on the same thread, to go on with an answer."""
    from langgraph.types import Command

    return Command(resume=answer)


def running_config() -> Mapping[str, Any]:
    """The configuration of the graph that runs here; empty outside of one."""
    from langgraph.config import get_config

    try:
        return get_config()
    except RuntimeError:
        return {}
