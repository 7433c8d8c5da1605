"""What hosts of LangChain calls are built with: options, and a loop for each set of tools."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypedDict, cast
from uuid import uuid4

from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import interrupt

from selfcorrect.context import RunContext
from selfcorrect.graph import compile_loop
from selfcorrect.langchain.agent_run import AgentRun
from selfcorrect.langchain.listening_tool import LISTENER, spec_of
from selfcorrect.langchain.thread import dump_answer
from selfcorrect.model import JSON, JsonDict, JsonObject, call_of
from selfcorrect.setup import Options, build_loop, check_options
from selfcorrect.state import CorrectionState, Update, stop_run
from selfcorrect.step import Loop
from selfcorrect.strategy_map.strategy_map import StrategyMap
from selfcorrect.text import quote
from selfcorrect.tools.spec import collect_tools, is_usable

_MAX_TOOL_SETS = 64


class HostOptions(TypedDict, total=False):
    """What hosts of LangChain calls take beside the options of the loop.

    Attributes:
        on_trail: Called after each call with `{"tool_call_id", "call", "executed", "trail"}`,
            and the `failure` where there is one.
        ask_person: Whether a question interrupts the agent; this needs a checkpointer.
        effects: Effects of tools that declare none, by name or glob, as in a map.
        scope: Stands in for a thread: what a call of a tool that acts is remembered for. A text,
            or a function of the runtime.
    """

    on_trail: Callable[[JsonDict], object] | None
    ask_person: bool
    effects: Mapping[str, Any] | None
    scope: str | Callable[[Any], object] | None


HostedLoop: TypeAlias = tuple[Loop, Any]
"""The loop with the tools of an agent; and the graph of it that asks persons, or None."""


class Host:
    """Gives one loop the tools of whatever agent asks; built once for each set of tools.

    Args:
        options: The options of the host.
        kinds: What they may be: `Options`, `HostOptions`, and what the host adds.
        shows: Whether calls are shown to others before they run.
    """

    def __init__(self, options: Mapping[str, Any], kinds: Any, *, shows: bool) -> None:
        self.options = check_options(options, kinds)
        own = self.options.keys() & Options.__annotations__
        loop = build_loop((), {name: self.options[name] for name in own})
        self._loop = _run_as_shown(loop) if shows else loop
        self.raises = loop.context.raises
        self._effects = StrategyMap(effects=self.options.get("effects")).effects
        # What is kept holds its tools, so that no other tool can get one of their ids.
        self._kept: dict[tuple[int, ...], tuple[Sequence[BaseTool], HostedLoop]] = {}

    def lasting_scope(self, runtime: Any, config: JsonObject) -> str | None:
        """Return the scope that outlives the run: the host's own, or the thread; else None."""
        scope = self.options.get("scope")
        if callable(scope):
            scope = scope(runtime)
        lasting = scope or config.get("thread_id")
        return str(lasting) if lasting else None

    def scope_of(self, request: ToolCallRequest, run: AgentRun | None) -> str:
        """Return what the ledger's memory of a call belongs to: a scope, the thread, or the run."""
        config = configurable_of(request)
        if (lasting := self.lasting_scope(request.runtime, config)) is not None:
            return lasting
        return run.id if run else str(config.get("checkpoint_ns") or uuid4().hex).partition("|")[0]

    def loop_with(self, tools: Sequence[BaseTool], *, is_async: bool = False) -> HostedLoop:
        """Return the loop with these tools, and the same as a graph where it asks persons.

        A graph keeps its state while a person thinks: its tool is not run again for the answer.
        """
        key = (is_async, *map(id, tools))
        if (kept := self._kept.get(key)) is None:
            if len(self._kept) >= _MAX_TOOL_SETS:
                self._kept.clear()
            context = self._loop.context
            specs = filter(is_usable, (spec_of(tool, is_async=is_async) for tool in tools))
            usable = collect_tools(specs, {**self._effects, **context.map.effects})
            context = replace(context, tools=usable, keep=_keep, is_async=is_async)
            loop = replace(self._loop, context=context)
            asking = replace(loop, context=replace(context, ask=_ask))
            hosted = loop, compile_loop(asking) if self.options.get("ask_person") else None
            kept = self._kept[key] = tools, hosted
        return kept[1]


def configurable_of(request: ToolCallRequest) -> JsonObject:
    """Return the keys that LangGraph hands to the run of a call."""
    return request.runtime.config.get("configurable") or {}


def _keep(value: JSON) -> JSON:
    run = LISTENER.get()
    return dump_answer(run.last_answer, value) if run else value


def _ask(question: JSON) -> Any:
    """Ask a person about the present call; the answer stands for the call as it is then."""
    answer = interrupt(question)
    cast("Any", LISTENER.get()).is_approved = True
    return answer


def _run_as_shown(loop: Loop) -> Loop:
    """Return the loop that makes a call of a tool that acts only as others have seen it."""
    name = loop.table.guards.get("execute", "execute")
    node = loop.nodes[name]

    def run(state: CorrectionState, context: RunContext) -> Any:
        stop = _refuse_unseen(state, context)
        return node(state, context) if stop is None else stop

    return replace(loop, nodes={**loop.nodes, name: run})


def _refuse_unseen(state: CorrectionState, context: RunContext) -> Update | None:
    run: Any = LISTENER.get()
    call = state["current"]
    tool = context.tools.get(call["name"])
    if tool is None or not tool.acts:
        return None
    # Two calls are the same where they are so for their tool's own validation.
    if context.key_of(call_of(call)) == context.key_of(call_of(run.shown)):
        return None
    if context.check_call(call_of(call)) is not None:
        # What does not fit is not made either, and says why.
        return None
    if run.is_approved:
        # A person answers for one call. If it changes after it was made, it is another call.
        run.shown, run.is_approved = call, False
        return None
    detail = "The repaired call was not made, because no one has approved it."
    if state["attempts"]:
        detail += f" The tool had refused: {quote(state['attempts'][-1]['text'] or '', 300)}"
    return stop_run("needs_person", detail, proposal=call)
