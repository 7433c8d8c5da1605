"""One call of a turn, from the thread into the loop of its host and back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeAlias, TypedDict, cast
from uuid import uuid4

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt

from selfcorrect.context import LOG, RunContext, has_readers
from selfcorrect.graph import AGAIN, compile_loop
from selfcorrect.langchain.agent_run import RUN, AgentRun
from selfcorrect.langchain.ending import may_end, why_over
from selfcorrect.langchain.thread import ACCOUNT, answer_to, last_turn, own_message
from selfcorrect.langchain.tool_run import LISTENER, Handler, ToolRun, spec_of
from selfcorrect.langchain.turn import TURN, UNREAD, beside_calls
from selfcorrect.model import JSON, JsonDict, JsonObject, call_of
from selfcorrect.setup import Options, build_loop, check_options
from selfcorrect.state import CorrectionState, Update, stop_run
from selfcorrect.step import Loop
from selfcorrect.strategy_map.strategy_map import StrategyMap
from selfcorrect.text import quote
from selfcorrect.tools.spec import collect_tools, is_usable

_MAX_TOOL_SETS = 64
_FORGETS = (
    "calls of %r are remembered for this run only; pass a thread_id, or SelfCorrection(scope=...)"
)


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


class HostedLoops:
    """Gives one loop the tools of whatever agent asks; built once for each set of tools.

    Args:
        options: The options of the host. A model may be named as LangChain names it.
        kinds: What they may be: `Options`, `HostOptions`, and what the host adds.
        shows: Whether calls are shown to others before they run.
    """

    def __init__(self, options: Mapping[str, Any], kinds: Any, *, shows: bool) -> None:
        named = options.get("model")
        if isinstance(named, str):
            named = import_module("langchain.chat_models").init_chat_model(named)
        self.options = check_options({**options, "model": named}, kinds)
        own = self.options.keys() & Options.__annotations__
        loop = build_loop((), {name: self.options[name] for name in own})
        self._loop = run_as_shown(loop) if shows else loop
        self.raises = loop.context.raises
        self._effects = StrategyMap(effects=self.options.get("effects")).effects
        self._has_warned = False
        # What is kept holds its tools, so that no other tool can get one of their ids.
        self._kept: dict[tuple[int, ...], tuple[Sequence[BaseTool], HostedLoop]] = {}

    def lasting_scope(self, runtime: Any, config: JsonObject) -> str | None:
        """Return the scope that outlives the run: the host's own, or the thread; else None."""
        scope = self.options.get("scope")
        if callable(scope):
            scope = scope(runtime)
        lasting = scope or config.get("thread_id")
        return str(lasting) if lasting else None

    def scope_of(self, request: ToolCallRequest, run: AgentRun | None, *, acts: bool) -> str:
        """Return what the ledger's memory of a call belongs to: a scope, the thread, or the run.

        Args:
            request: The call.
            run: The run of the agent, if it is known.
            acts: Whether its tool acts: one that nobody will remember is warned about, once.
        """
        config = _configurable(request)
        if (lasting := self.lasting_scope(request.runtime, config)) is not None:
            return lasting
        if acts and not self._has_warned and has_readers():
            self._has_warned = True
            LOG.warning(_FORGETS, request.tool_call["name"])
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
            found = collect_tools(specs, {**self._effects, **context.map.effects})
            context = replace(context, tools=found, answer=_answer, is_async=is_async)
            loop = replace(self._loop, context=context)
            asking = replace(loop, context=replace(context, ask=_ask))
            hosted = loop, compile_loop(asking) if self.options.get("ask_person") else None
            kept = self._kept[key] = tools, hosted
        return kept[1]


def _configurable(request: ToolCallRequest) -> JsonObject:
    return request.runtime.config.get("configurable") or {}


def _answer() -> JSON:
    run = LISTENER.get()
    return run.dump_answer() if run else None


def _ask(question: JSON) -> Any:
    """Ask a person about the present call; the answer stands for the call as it is then."""
    answer = interrupt(question)
    cast("ToolRun", LISTENER.get()).is_approved = True
    return answer


def tools_of(request: ToolCallRequest) -> list[BaseTool]:
    """Return the tools of the agent that makes a call."""
    tools, own = request.runtime.tools, request.tool
    if own is None or any(each is own for each in tools):
        return tools
    # Another middleware has brought a tool of its own.
    return [*(each for each in tools if each.name != own.name), own]


def run_as_shown(loop: Loop) -> Loop:
    """Return the loop in which a call that acts, but that nobody has seen so, is only proposed."""
    name = loop.table.guards.get("execute", "execute")
    node = loop.nodes[name]

    def run(state: CorrectionState, context: RunContext) -> Any:
        stop = _refuse_unseen(state, context)
        return node(state, context) if stop is None else stop

    return replace(loop, nodes={**loop.nodes, name: run})


def _refuse_unseen(state: CorrectionState, context: RunContext) -> Update | None:
    run: Any = LISTENER.get()
    now, seen = state["current"], run.shown or run.request.tool_call
    tool = context.tools.get(now["name"])
    if tool is None or not tool.acts or _is_same(now, {**seen}, context):
        return None
    if context.check_call(call_of(now)) is not None:
        # What does not fit is not made either, and says why.
        return None
    if run.is_approved:
        # One answer of a person is for one call: what is changed after it was made is another.
        run.shown, run.is_approved = now, False
        return None
    detail = "The repaired call was not made, because no one has approved it."
    if state["attempts"]:
        detail += f" The tool had refused: {quote(state['attempts'][-1]['text'] or '', 300)}"
    return stop_run("needs_person", detail, proposal=now)


def _is_same(now: JsonDict, seen: JsonDict, context: RunContext) -> bool:
    """Say whether two calls are the same for their tool's own validation."""
    if now["name"] != seen["name"] or not isinstance(seen["args"], dict):
        return False
    # Most calls are made as they were shown.
    is_equal = repr(now["args"]) == repr(seen["args"])
    return is_equal or context.key_of(call_of(now)) == context.key_of(call_of(seen))


async def run_call(
    request: ToolCallRequest,
    handler: Handler,
    loops: HostedLoops,
    state: JsonObject,
    *,
    is_async: bool,
) -> Any:
    """Walk the loop with one call; return its one answer.

    Args:
        request: The call.
        handler: LangChain's own, which runs the tool.
        loops: The loops of the host.
        state: What the host knows around the call: `messages`, in which each call of the last
            turn has an id of its own; where it knows them, `TURN` and `RUN`.
        is_async: Whether the host is async; if not, nothing is awaited.
    """
    if (answer := answer_to(request.tool_call["id"], state["messages"])) is not None:
        return answer
    run = _start(request, handler, loops, state, is_async=is_async)
    await run.walk()
    return _end(run, loops, state)


def _start(
    request: ToolCallRequest,
    handler: Handler,
    loops: HostedLoops,
    state: JsonObject,
    *,
    is_async: bool,
) -> ToolRun:
    """Return the run of a call that has no answer yet."""
    call, messages = request.tool_call, state["messages"]
    turn, behind = last_turn(messages)
    # What is known may be of another message, which has other calls.
    known: JsonDict = state.get(TURN) or {}
    if turn is None or known.get("message") != turn.id:
        known = {}
    call_id = call["id"]
    shown = {"name": call["name"], "args": call["args"]}
    start: JsonDict = {"call": {**shown, "id": call_id}}
    # Another middleware, or a person, may have edited the call already.
    written = known.get("starts", {}).get(call_id)
    if written and written["shown"] == shown:
        start = written["given"]
    elif turn and not call["args"] and call_id in turn.additional_kwargs.get(UNREAD, ()):
        # Somebody has lost what is known of the call: it must not run with its defaults.
        start["call"]["args"] = "(unreadable)"
    loop, graph = loops.loop_with(tools_of(request), is_async=is_async)
    if _configurable(request).get(AGAIN):
        loop = replace(loop, context=replace(loop.context, again=True))
    tool = loop.context.tools.get(call["name"])
    acts = tool is not None and tool.acts
    given = {
        **start,
        **beside_calls(turn, messages),
        # Where messages have no ids, the same call in a later message is another one.
        "message_id": turn.id if turn and turn.id else f"#{len(messages) - len(behind)}",
        "task_id": loops.scope_of(request, state.get(RUN), acts=acts),
    }
    return ToolRun(request, handler, loop, graph, given, known.get("words", {}).get(call_id))


def _end(run: ToolRun, loops: HostedLoops, state: JsonObject) -> Any:
    if (on_trail := loops.options.get("on_trail")) is not None:
        on_trail(run.record())
    answer = run.answer()
    _add_account(own_message(answer, run.request.tool_call["id"]), run)
    agent_run: AgentRun | None = state.get(RUN)
    tool = run.request.tool
    if agent_run is None or tool is None or not tool.return_direct:
        return answer
    # Where a tool's answer is the agent's, LangChain ends with it even if it is an error.
    thread = [*state["messages"], answer]
    objection = may_end(thread) if why_over(thread, is_running=True) is None else None
    if agent_run.say_once(objection) is None:
        return answer
    return Command(update={"messages": [answer]}, goto="model")


def _add_account(message: ToolMessage | None, run: ToolRun) -> None:
    """Have an answer say what the model wrote, where that is not what was made."""
    call, made = run.request.tool_call, run.made if "result" in run.out else None
    account: JsonDict = {"written": run.written, "changes": run.changes}
    if made and (made["name"], made["args"]) != (call["name"], call["args"]):
        account["made"] = {"name": made["name"], "args": made["args"]}
    if message is not None and (run.mended or "made" in account):
        message.additional_kwargs = {**message.additional_kwargs, ACCOUNT: account}
