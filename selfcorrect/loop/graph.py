"""`build_graph`: the loop as a compiled LangGraph graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast, get_type_hints

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.managed import RemainingSteps
from langgraph.types import Command, interrupt

from selfcorrect.errors import GraphSetupError
from selfcorrect.loop.context import AGAIN, AsyncHost, Host, Node, RunContext, SyncHost, run_sync
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.run import held_on, run_node
from selfcorrect.model import JSON
from selfcorrect.routing import ENTRIES, Table
from selfcorrect.state import LASTS_ONE_STEP, CorrectionOutput, CorrectionState

if TYPE_CHECKING:
    from selfcorrect.limits import Limits
    from selfcorrect.loop.options import ErrorHandlers, OnFailure, Strategies
    from selfcorrect.policies import Hooks, OnLimit, OnModelError, PolicySource, ToolErrorPolicy
    from selfcorrect.protocols import Ledger, ToolWords

_CHECKPOINTER = "__pregel_checkpointer"
"""LangGraph's configurable key that holds the checkpointer in force, a parent's included."""
_SUPERSTEPS = "checkpoint_map"
"""And the one that holds the checkpoint which each graph around this one goes on from."""


def _schemas(loop: Loop) -> tuple[Any, Any]:
    """The state of LangGraph's, and the output, with the keys that the caller added."""
    own = {key: each.hint for key, each in loop.own.items()}
    state = {**_hints(CorrectionState), **own, "remaining_steps": RemainingSteps}
    made: Any = TypedDict
    output = made("Output", {**_hints(CorrectionOutput), **own}, total=False)
    return made("State", state, total=False), output


def _hints(schema: Any) -> dict[str, Any]:
    """Keys and their types; those that last one step only are said as LangGraph wants them said."""
    return {
        key: Annotated[hint, EphemeralValue] if key in LASTS_ONE_STEP else hint
        for key, hint in get_type_hints(schema, include_extras=True).items()
    }


class CorrectionGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """LangGraph's compiled graph; its picture is drawn without a network, and None answers, too."""

    if not TYPE_CHECKING:  # for whom LangGraph's own signatures hold

        def stream(self, input, *args, **more):  # noqa: A002, ANN001, ANN002, ANN003, ANN201
            """As LangGraph does; `Command(resume=None)`, which it cannot resume with, rejects."""
            return super().stream(_answered(input), *args, **more)

        def astream(self, input, *args, **more):  # noqa: A002, ANN001, ANN002, ANN003, ANN201
            """As LangGraph does; `Command(resume=None)`, which it cannot resume with, rejects."""
            return super().astream(_answered(input), *args, **more)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from selfcorrect.drawing import Shape
        from selfcorrect.drawing.mermaid import mermaid
        from selfcorrect.drawing.svg import image, picture

        shape = Shape.of_graph(self)
        drawn = picture(shape)
        return {
            "text/html": image(drawn, "The self-correcting loop"),
            "image/svg+xml": drawn,
            "text/vnd.mermaid": mermaid(shape),
            "text/plain": repr(self),
        }


def _answered(given: Any) -> Any:
    """The input; a command that says nothing at all is a person's no."""
    return Command(resume={"action": "reject"}) if given == Command() else given


def build_graph(
    tools: Any,
    *,
    strategies: Strategies = None,
    model: Any = None,
    limits: Limits | Mapping[str, Any] | None = None,
    policy: ToolErrorPolicy | PolicySource | None = None,
    ledger: Ledger | None = None,
    checkpointer: BaseCheckpointSaver[Any] | bool | None = None,
    on_error: ErrorHandlers = None,
    on_failure: OnFailure = "report",
    on_model_error: OnModelError | None = None,
    on_limit: OnLimit | None = None,
    hooks: Hooks | None = None,
    tool_words: ToolWords | None = None,
    on_edge: Mapping[tuple[str, str], Node] | None = None,
    before: Mapping[str, Node] | None = None,
    nodes: Mapping[str, Node] | None = None,
    routes: Mapping[str, Mapping[str, str]] | None = None,
    state: type[CorrectionState] | None = None,
    planner: Node | None = None,
    executor: Node | None = None,
    diagnoser: Node | None = None,
    selector: Node | None = None,
    repairer: Node | None = None,
    validator: Node | None = None,
    retrier: Node | None = None,
    reporter: Node | None = None,
) -> CorrectionGraph:
    """Build the self-correcting loop around tools, as a compiled LangGraph graph.

    Not the right tool for mending calls without executing them: use `repair_call`.

    Args:
        tools: Functions, LangChain tools or `ToolSpec`s.
        strategies: An error-strategy map: a `StrategyMap`, the name of one (`"strict"`), or the
            path of a TOML file. Default: `SELFCORRECT_STRATEGIES`, else the map `default`.
        model: A LangChain chat model, asked only where rules end; None: no model is ever asked.
        limits: Bounds of one run.
        policy: Kinds of error that end a run, beside those that the map names; a `PolicySource`
            holds one per tenant, and the tenant is `config["configurable"]["tenant"]`.
        ledger: Remembers intents and outcomes, so that nothing is done twice.
        checkpointer: LangGraph's; with one, a person can be asked.
        on_error: Handlers of errors, before the map's rules: `on_error(…)` for every tool that has
            none of its own, or a mapping of tool names to handlers.
        on_failure: `"report"` ends a failed run with `failure`; `"raise"` raises.
        on_model_error: Decides about a model call that failed: `Rethrow`, `RespondWith` or
            `RetryModel`, of `selfcorrect.policies`.
        on_limit: Decides about a limit that would end the run: `Stop`, `Extend` or `Checkpoint`.
        hooks: Listeners: `Hooks(on_tool_use=…, on_error=…, on_threshold=…)`.
        tool_words: Whether the model reads what a failed tool said, redacted, bounded and quoted
            as data: `"show"` or `"hide"`. The diagnosis it reads in any case. Default: what the
            map says, else `"show"`.
        on_edge: Nodes of your own by the edge that they stand on, such as
            `{("validate", "retry"): approve}`; each takes (state, context), returns an update.
        before: Guards by the node that they stand before: `{"execute": gate}` is passed by every
            way into `execute`, healthy calls and mended ones, each attempt anew, and sees only
            arguments that fit the tool. It takes (state, context); `{}` lets the call pass, a
            `stop` ends the run in the report. The node is called `before_execute`: in `routes`
            that name has outcomes of its own.
        nodes: Nodes of your own by name, each `(state, context) -> update` with an `outcome`; a
            node with one outcome need not name it. A built-in name replaces that node.
        routes: Edges over the default table, by node and outcome: `{"validate": {"valid":
            "price"}, "price": {"fair": "retry", "dear": "report_failure"}}`. An outcome that a
            built-in node never has is refused; nodes of your own have what outcomes you like.
        state: A subclass of `CorrectionState` with keys of your own, reducers included; they come
            in with the input, stay in checkpoints and go out with the output.
        planner: Takes the place of the node plan; likewise for the other seven slots.
        executor: See planner.
        diagnoser: See planner.
        selector: See planner.
        repairer: See planner.
        validator: See planner.
        retrier: See planner.
        reporter: See planner.

    Returns:
        A graph from `call`, `raw` or `request` to `result` or `failure`, with the `trail`.

    Raises:
        GraphSetupError: If a part is unusable.
        MapError: If the error-strategy map is unusable.
    """
    from selfcorrect.loop.setup import assemble

    options = Options(
        strategies=strategies,
        model=model,
        limits=limits,
        policy=policy,
        ledger=ledger,
        on_error=on_error,
        on_failure=on_failure,
        on_model_error=on_model_error,
        on_limit=on_limit,
        hooks=hooks,
        tool_words=tool_words,
        on_edge=on_edge,
        before=before,
        nodes=nodes,
        routes=routes,
        state=state,
        planner=planner,
        executor=executor,
        diagnoser=diagnoser,
        selector=selector,
        repairer=repairer,
        validator=validator,
        retrier=retrier,
        reporter=reporter,
    )
    return compile_loop(assemble(tools, options), checkpointer)


def compile_loop(
    loop: Loop, checkpointer: BaseCheckpointSaver[Any] | bool | None = None
) -> CorrectionGraph:
    """The LangGraph graph of a loop: one node per node of the table, and those on edges."""
    if checkpointer is False:
        loop = replace(loop, forgets=True)
    state, output = _schemas(loop)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(state, output_schema=output)
    builder.add_conditional_edges(START, _entry(loop.table), [*map(loop.table.into, ENTRIES)])
    for node, routes in loop.table.routes.items():
        destinations: dict[str, str] = {}
        for outcome, target in routes.items():
            label = destinations.get(target)
            destinations[target] = f"{label}, {outcome}" if label else outcome
        builder.add_node(node, _Step(loop, node), destinations=destinations)
    compiled = builder.compile(checkpointer=checkpointer, name="selfcorrect")
    compiled.__class__ = CorrectionGraph
    return cast("CorrectionGraph", compiled)


class _Entry(TypedDict, total=False):
    """All that the entry reads: LangGraph need not make it the whole state."""

    phase: Annotated[str | None, EphemeralValue]


def _entry(table: Table) -> Callable[[_Entry], str]:
    """A run starts at plan, or where another runner hands it over."""

    def entry(state: _Entry) -> str:
        return table.enter(state.get("phase"))

    return entry


class _Step(Runnable[Any, Any]):
    """A node of the loop as LangGraph runs it, sync and async."""

    def __init__(self, loop: Loop, node: str) -> None:
        self.name = node
        self._loop = loop
        self._node = node

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002
        return run_sync(self._run(input, _context(self._loop, SyncHost(), config)))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Any:  # noqa: A002
        return await self._run(input, _context(self._loop, AsyncHost(), config))

    async def _run(self, state: Any, context: RunContext) -> Command[str]:
        if (guard := self._loop.table.missed(self._node, state)) is not None:
            # A checkpoint from before the guard was there, or a state that somebody wrote.
            return Command(update=held_on(state), goto=guard)
        update, target = await run_node(self._loop, self._node, state, context)
        return Command(update=update, goto=target)


def _context(loop: Loop, host: Host, config: RunnableConfig | None) -> RunContext:
    configurable = (config or {}).get("configurable") or {}
    tenant, thread = configurable.get("tenant"), configurable.get("thread_id")
    if not isinstance(tenant, str | None):
        raise GraphSetupError(f"the tenant of a run is text, not {tenant!r:.80}")
    asks = configurable.get(_CHECKPOINTER) is not None and not loop.forgets
    namespace = str(configurable.get("checkpoint_ns") or "")
    step, bar, _ = namespace.partition("|")
    around: tuple[tuple[str, str], ...] = ()
    if bar:
        from selfcorrect.kernel.memory import tasks_around

        around = tasks_around(namespace, configurable.get(_SUPERSTEPS) or {})
    return loop.start(
        host=host,
        ask_person=_ask if asks else None,
        tenant=tenant,
        thread=None if thread is None else str(thread),
        step=step if bar else None,
        place=namespace,
        around=around,
        again=configurable.get(AGAIN) is True,
    )


def _ask(question: JSON) -> JSON:
    from selfcorrect.loop.asking import asked

    return asked(interrupt, question)


__all__ = ["CorrectionGraph", "build_graph", "compile_loop"]
