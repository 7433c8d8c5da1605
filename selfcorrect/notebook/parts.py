"""What a compiled graph is made of, as far as the stepper uses it, and a copy that it can drive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from selfcorrect.drawing import Shape
from selfcorrect.errors import GraphSetupError
from selfcorrect.ledger import MemoryLedger
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.nodes import NODES
from selfcorrect.loop.wrapping import innermost
from selfcorrect.notebook.replaying import Executions, ForkLedger, guarded


@dataclass(frozen=True, slots=True)
class Steppable:
    """A graph that is ready to be stepped.

    Attributes:
        graph: A copy of the caller's graph that has a checkpointer.
        shape: What is drawn of it.
        loop: The loop that `build_graph` built, or None for any other graph.
        asynchronous: Whether it can only be awaited.
    """

    graph: Any
    shape: Shape
    loop: Loop | None
    asynchronous: bool

    def is_watched(self, node: str) -> bool:
        """Whether everything that a node does to the world goes through a guarded tool."""
        ours = NODES.get(node)
        if self.loop is None or ours is None:
            return False
        return innermost(self.loop.nodes[node]) is ours

    def is_harmless(self, node: str) -> bool:
        """Whether running a node once more changes nothing, as far as anybody said so."""
        if self.is_watched(node):
            return True
        spec = getattr(self.graph.builder.nodes.get(node), "metadata", None) or {}
        return spec.get("effect") == "read_only"

    @property
    def editable(self) -> list[str]:
        """The keys of the state that can be edited."""
        return [
            key for key in self.graph.channels if not key.startswith(("__", "branch:", "join:"))
        ]


def steppable(graph: Any, executions: Executions, *, asynchronous: bool | None) -> Steppable:
    """A copy of a compiled graph that can be driven; the caller's own graph stays as it is.

    Raises:
        GraphSetupError: If it is not a compiled LangGraph graph.
    """
    if not callable(getattr(graph, "get_graph", None)) or not hasattr(graph, "builder"):
        raise GraphSetupError(f"a compiled LangGraph graph is needed, not {graph!r:.80}")
    saver = graph.checkpointer
    if not saver or saver is True:
        from langgraph.checkpoint.memory import InMemorySaver

        saver = InMemorySaver()
    shape = Shape.of_graph(graph)
    loop = loop_of(graph)
    if loop is None:
        made = graph.copy({"checkpointer": saver})
        waits = any(_is_async(node) for node in graph.nodes.values())
    else:
        from selfcorrect.loop.graph import compile_loop

        waits = any(tool.is_async for tool in loop.context.tools.values())
        watched = replace(
            loop.context,
            tools=guarded(loop.context.tools, executions),
            ledger=ForkLedger(loop.context.ledger or MemoryLedger(), executions),
        )
        made = compile_loop(replace(loop, context=watched), saver)
        made.config = graph.config
    return Steppable(made, shape, loop, waits if asynchronous is None else asynchronous)


def loop_of(graph: Any) -> Loop | None:
    """The loop inside a graph of `build_graph`, or None."""
    plan = getattr(graph, "builder", None) and graph.builder.nodes.get("plan")
    loop = getattr(getattr(plan, "runnable", None), "_loop", None)
    return loop if isinstance(loop, Loop) else None


def _is_async(node: Any) -> bool:
    bound = node.bound
    return hasattr(bound, "func") and bound.func is None and bound.afunc is not None
