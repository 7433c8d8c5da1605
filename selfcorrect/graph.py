"""`build_graph` compiles the loop as a LangGraph graph; `resume` takes up a run that was cut."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, TypedDict, Unpack, get_type_hints

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.managed import RemainingSteps
from langgraph.types import interrupt

from selfcorrect.context import RunContext, run_sync
from selfcorrect.errors import GraphSetupError
from selfcorrect.model import JSON, JsonDict, JsonObject
from selfcorrect.models.port import value_of
from selfcorrect.routing import END, Table
from selfcorrect.setup import Options, build_loop, show_options
from selfcorrect.state import ONE_STEP_KEYS, CorrectionOutput
from selfcorrect.step import Loop, run_step

SCOPE = "selfcorrect_scope"
"""The key of what stands in for a thread, where several graphs run for one purpose."""
CHECKPOINTER = "__pregel_checkpointer"
"""LangGraph's key for the checkpointer in force, a parent graph's included."""


@show_options(Options)
def build_graph(
    tools: Iterable[Any], *, checkpointer: Any = None, **options: Unpack[Options]
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build the self-correcting loop around tools, as a compiled LangGraph graph.

    Args:
        tools: Functions, LangChain tools, schemas or `ToolSpec`s; or one of them.
        checkpointer: LangGraph's; with one, a person can be asked.
        **options: See `Options`.

    Returns:
        A graph from `call`, `raw` or `request` to `result` or `failure`, with the `trail`.

    Raises:
        GraphSetupError: If a part is unusable.
        MapError: If the error-strategy map is unusable.
    """
    return compile_loop(build_loop(tools, options), checkpointer)


def compile_loop(loop: Loop, checkpointer: Any = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a loop as a compiled graph."""
    state, output = _schemas(loop)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(state, output_schema=output)
    builder.add_edge(START, loop.table.first)
    for node, routes in loop.table.routes.items():
        builder.add_node(node, GraphNode(loop, node), destinations=_labels(routes))
        builder.add_conditional_edges(node, Router(loop.table, node))
    graph = builder.compile(checkpointer=checkpointer, name="selfcorrect")
    graph.__class__ = DrawnGraph
    return graph


def resume(graph: Any, given: Any, config: JsonObject | None = None) -> Any:
    """Return the output of a run that has ended, the rest of one that was begun, or a new run's.

    Args:
        graph: A compiled LangGraph graph: of `build_graph`, an agent, or one around either.
        given: Its input, for a thread that has not begun.
        config: Its config; `configurable.thread_id` names the thread.
    """
    return run_sync(_resume("", graph, given, config))


async def aresume(graph: Any, given: Any, config: JsonObject | None = None) -> Any:
    """Like `resume`, for graphs whose tools or checkpointer are async."""
    return await _resume("a", graph, given, config)


async def _resume(way: str, graph: Any, given: Any, config: JsonObject | None) -> Any:
    """Resume a graph by methods of its sync or its async way: `invoke` or `ainvoke`."""
    has_thread = "thread_id" in ((config or {}).get("configurable") or {})
    is_kept = has_thread and getattr(graph, "checkpointer", None) is not None
    snapshot = await value_of(getattr(graph, f"{way}get_state")(config)) if is_kept else None
    if snapshot is not None and snapshot.tasks:
        given = None
    elif snapshot is not None and snapshot.values:
        return snapshot.values
    return await value_of(getattr(graph, f"{way}invoke")(given, config))


class DrawnGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """Draws itself in notebooks; LangGraph's own picture needs a service on the network."""

    def _repr_mimebundle_(self, **_: Any) -> JsonDict:
        from selfcorrect.notebook.outputs import show

        return show(self).bundle


class GraphNode(Runnable[Any, Any]):
    """Runs one node; a bare Runnable, because LangGraph's own wrappers cost more than the node."""

    def __init__(self, loop: Loop, node: str) -> None:
        self.name = self._node = node
        self.loop = loop

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002
        return run_sync(self.ainvoke(input, config, is_async=False))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:  # noqa: A002
        context = _host(self.loop.context, config, is_async=more.get("is_async", True))
        return await run_step(self.loop, self._node, input, context)


class _Routed(TypedDict, total=False):
    """What a router reads; without it LangGraph would read the whole state for each edge."""

    outcome: str
    trail: list[Any]
    result: Annotated[JSON, EphemeralValue]
    failure: Annotated[JsonDict, EphemeralValue]


class Router(RunnableLambda[Any, str]):
    """Chooses an edge by the outcome in the state, be it a node's or an edit's; bare as a node."""

    def __init__(self, table: Table, node: str) -> None:
        super().__init__(self.invoke)
        self._table, self._node = table, node

    async def ainvoke(self, input: Any, *_: Any, **__: Any) -> str:  # noqa: A002
        return self.invoke(input)

    def invoke(self, input: _Routed, *_: Any, **__: Any) -> str:  # noqa: A002
        outcome = input.get("outcome")
        last = (input.get("trail") or [{}])[-1]
        if outcome == last.get("outcome") and outcome not in self._table.routes[self._node]:
            # An edit in the name of another node than the last one names no outcome of its own.
            outcome = self._table.only_outcome(self._node) or outcome
        target = self._table.next_node(self._node, outcome)
        # What is edited behind the end stays there.
        if target == END != last.get("next") and not input.keys() & {"result", "failure"}:
            raise GraphSetupError(f"outcome {outcome!r} ends the run: give a `result` with it")
        return target


def _host(context: RunContext, config: RunnableConfig | None, *, is_async: bool) -> RunContext:
    configurable = (config or {}).get("configurable") or {}
    thread = configurable.get("thread_id")
    return replace(
        context,
        is_async=is_async,
        # An interrupt without a checkpointer could never be answered.
        ask=(context.ask or interrupt) if configurable.get(CHECKPOINTER) is not None else None,
        thread=None if thread is None else str(thread),
        task=configurable.get("checkpoint_ns") or None,
        scope=configurable.get(SCOPE),
    )


def _labels(routes: Mapping[str, str]) -> dict[str, str]:
    """Return the outcomes that lead to each node, for the picture."""
    return {
        target: ", ".join(outcome for outcome in routes if routes[outcome] == target)
        for target in routes.values()
    }


def _schemas(loop: Loop) -> tuple[Any, Any]:
    """Return the state's and the output's type with LangGraph's own channels."""
    state = {**_channels(loop.state), "remaining_steps": RemainingSteps}
    output = {**_channels(CorrectionOutput), **loop.own_keys}
    make: Any = TypedDict
    return make("State", state, total=False), make("Output", output, total=False)


def _channels(schema: type) -> JsonDict:
    """Return keys and types; those that last one step get the channel that LangGraph clears."""
    return {
        key: Annotated[hint, EphemeralValue] if key in ONE_STEP_KEYS else hint
        for key, hint in get_type_hints(schema, include_extras=True).items()
    }
