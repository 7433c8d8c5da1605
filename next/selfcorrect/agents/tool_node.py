"""`SelfCorrectingToolNode`: the tool node of graphs that are built by hand with LangGraph."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from operator import or_
from typing import Annotated, Any, Final, Literal, TypedDict, Unpack, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from selfcorrect.agents.answers import last_turn
from selfcorrect.agents.calls import calls_of, each_once
from selfcorrect.agents.hosted_loops import HostedLoops, HostOptions, split_options
from selfcorrect.agents.stream import read_pieces
from selfcorrect.agents.thread import answer_to, find_answers, open_calls
from selfcorrect.agents.tool_call import arun_call, run_call
from selfcorrect.agents.turn import TURN, Turn, with_readable_calls
from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.setup import Options

_Kind = Literal["list", "dict", "tool_calls"]
_WITH_CONTEXT: Final = "tool_call_with_context"
"""LangGraph's type of an input that is one call and its state."""
_RUNTIME: Final = "__pregel_runtime"
"""LangGraph's key for where a tool finds the store, the context and the stream."""


class NodeOptions(Options, HostOptions, total=False):
    """What `SelfCorrectingToolNode` takes: the options of `build_graph`, and these."""


class SelfCorrectingToolNode(ToolNode):
    """Runs the open calls of the last turn, as `ToolNode` does, and repairs those that fail.

    Takes and gives what `ToolNode` takes and gives. Each call is a task of its own: it asks, is
    answered, fails and is resumed alone. A call that has an answer is not executed again. Calls
    that LangChain could not parse are repaired or answered too, and the message that holds them is
    replaced by one with readable calls; route to the node by `calls_condition`.

    Args:
        tools: LangChain tools, or functions.
        messages_key: Where the state holds the messages.
        name: The name of the node.
        tags: The tags of the node.
        **options: See `NodeOptions`.

    Raises:
        GraphSetupError: If a tool or an option is unusable.
        MapError: If the map is unusable.

    >>> from langgraph.graph import MessagesState
    >>> def double(n: int) -> str:
    ...     '''Double a number.'''
    ...     return str(2 * n)
    >>> graph = StateGraph(MessagesState).add_node("tools", SelfCorrectingToolNode([double]))
    >>> turn = AIMessage("", tool_calls=[{"name": "duoble", "args": {"N": "21"}, "id": "c1"}])
    >>> graph.add_edge(START, "tools").compile().invoke({"messages": [turn]})["messages"][-1].text
    '42'
    """

    def __init__(
        self,
        tools: Sequence[BaseTool | Callable[..., Any]],
        *,
        messages_key: str = "messages",
        name: str = "tools",
        tags: list[str] | None = None,
        **options: Unpack[NodeOptions],
    ) -> None:
        super().__init__(
            tools,
            name=name,
            tags=tags,
            # The loop decides about errors; what it lets through is meant to be raised.
            handle_tool_errors=False,
            messages_key=messages_key,
            wrap_tool_call=self._walk,
            awrap_tool_call=self._awalk,
        )
        # Nothing stands between the model's call and this node: what is repaired runs.
        self._loops = HostedLoops(*split_options(options), shows=False)
        # Unusable tools are found here, not by the first call.
        self._loops.loop_with(list(self.tools_by_name.values()))
        self._tasks = _task_graph(self._run_task, self._arun_task)

    def _func(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:  # noqa: A002
        with self._read(input, config, runtime) as turn:
            if len(turn.calls) > 1:
                found = self._tasks.invoke({"outputs": {}}, config)["outputs"]
            else:
                found = {key: self._call(key, config) for key in turn.calls}
        return self._join(turn, found)

    async def _afunc(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:  # noqa: A002
        with self._read(input, config, runtime) as turn:
            if len(turn.calls) > 1:
                found = (await self._tasks.ainvoke({"outputs": {}}, config))["outputs"]
            else:
                found = {key: await self._acall(key, config) for key in turn.calls}
        return self._join(turn, found)

    def _parse_input(self, input: Any) -> tuple[list[ToolCall], _Kind]:  # noqa: A002
        calls, kind = super()._parse_input(input)
        # One call of ours is checked by the form that the whole input had.
        return calls, input.get("kind", kind) if isinstance(input, dict) else kind

    @contextmanager
    def _read(
        self, given: Any, config: RunnableConfig, runtime: Runtime[Any]
    ) -> Iterator["_NodeTurn"]:
        """Read what the node got; inside, its calls find it."""
        calls, kind = super()._parse_input(given)
        state = self._extract_state(given, config)
        messages = _messages_in(state, self._messages_key)
        known: JsonDict = {"messages": messages}
        renewed: list[AnyMessage] = []
        turn, behind = last_turn(messages)
        if turn is not None:
            # What the model streamed is not seen here, but where a limit has cut it.
            once = each_once(read_pieces(turn, ()))
            readable, starts = with_readable_calls(once)
            before = messages[: len(messages) - len(behind) - 1]
            answers = _renew_answers(once, readable, behind)
            thread = [*before, readable, *(answers.get(id(each), each) for each in behind)]
            known = {
                "messages": thread,
                TURN: Turn(message=readable.id, starts=starts, words={}),
            }
            # Without an id a message would be added, not replaced.
            if readable is not turn and turn.id:
                renewed = [readable, *(each for each in answers.values() if each.id)]
        if kind == "tool_calls":
            renewed = []
            own = [each for each in calls if answer_to(each["id"], messages) is None]
        else:
            own = open_calls(known["messages"])
        token = _TURN.set(_NodeTurn(_by_id(own), kind, state, runtime, known, renewed))
        try:
            yield _TURN.get()
        finally:
            _TURN.reset(token)

    def _join(self, turn: "_NodeTurn", found: Mapping[str, Any]) -> Any:
        """Return what the calls came to, in the form of the input."""
        outputs = [each for key in turn.calls for each in self._parts(found[key])]
        return self._combine_tool_outputs(cast("Any", [*turn.renewed, *outputs]), turn.kind)

    def _parts(self, output: Any) -> Iterator[ToolMessage | Command[Any]]:
        for part in output if isinstance(output, list) else [output]:
            if isinstance(part, dict):
                yield from part[self._messages_key]
            elif isinstance(part, list):
                yield from part
            else:
                yield part

    def _call(self, call_id: str, config: RunnableConfig) -> Any:
        turn = _TURN.get()
        return super()._func(turn.one(call_id), turn.hosted(config), turn.runtime)

    async def _acall(self, call_id: str, config: RunnableConfig) -> Any:
        turn = _TURN.get()
        return await super()._afunc(turn.one(call_id), turn.hosted(config), turn.runtime)

    def _run_task(self, call_id: str, config: RunnableConfig) -> JsonDict:
        outputs = {}
        with _TURN.get().keep_errors():
            outputs[call_id] = self._call(call_id, config)
        return {"outputs": outputs}

    async def _arun_task(self, call_id: str, config: RunnableConfig) -> JsonDict:
        outputs = {}
        with _TURN.get().keep_errors():
            outputs[call_id] = await self._acall(call_id, config)
        return {"outputs": outputs}

    def _walk(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        return run_call(request, handler, self._loops, _TURN.get().known)

    async def _awalk(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
    ) -> Any:
        return await arun_call(request, handler, self._loops, _TURN.get().known)


def calls_condition(state: Any, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """Route to `tools` where the last turn has an open call, a malformed one too; else to the end.

    >>> malformed = {"name": "f", "args": "{'x': 1}", "id": "c1", "error": "no JSON"}
    >>> calls_condition([AIMessage("", invalid_tool_calls=[malformed])])
    'tools'
    """
    return "tools" if open_calls(_messages_in(state, messages_key)) else "__end__"


@dataclass(frozen=True, slots=True)
class _NodeTurn:
    """One run of the node.

    Attributes:
        calls: The calls to run, by id.
        kind: The form of the input, and so of the output.
        state: What tools get injected.
        runtime: The runtime of the node.
        known: What is known around a call: see `run_call`.
        renewed: The messages that take the place of those whose calls are malformed, or share an
            id.
        errors: What calls raised.
    """

    calls: Mapping[str, ToolCall]
    kind: _Kind
    state: Any
    runtime: Runtime[Any]
    known: JsonObject
    renewed: Sequence[AnyMessage] = ()
    errors: list[Exception] = field(default_factory=list)

    def one(self, call_id: str) -> JsonDict:
        """Return the input of one call."""
        call = self.calls[call_id]
        return {"__type": _WITH_CONTEXT, "tool_call": call, "state": self.state, "kind": self.kind}

    @contextmanager
    def keep_errors(self) -> Iterator[None]:
        """Keep an error for the end of the turn: raised here, it would cancel the other calls."""
        try:
            yield
        except GraphBubbleUp:
            raise
        except Exception as error:
            self.errors.append(error)

    def hosted(self, config: RunnableConfig) -> RunnableConfig:
        """Return the config of a task with the runtime of the node.

        What a tool streams would else stay in the graph of the tasks.
        """
        configurable = {**(config.get("configurable") or {}), _RUNTIME: self.runtime}
        return {**config, "configurable": configurable}


_TURN: Final[ContextVar[_NodeTurn]] = ContextVar("selfcorrect_node_turn")


class _Outputs(TypedDict):
    """The state of the tasks: what calls came to, by id."""

    outputs: Annotated[dict[str, Any], or_]


def _task_graph(run: Callable[..., Any], arun: Callable[..., Any]) -> Any:
    """Return the graph in which each call of a turn is a task; a checkpointer keeps what is done.

    A call that raised, or was cut off by a crash, is a task again when the node is resumed; the
    ledger says whether it may run.
    """
    graph = StateGraph(_Outputs)
    graph.add_node("collect", _collect, destinations=("call",))
    graph.add_node("call", RunnableLambda(run, arun))
    graph.add_edge(START, "collect")
    graph.add_edge("call", "collect")
    return graph.compile(name="calls")


def _collect(state: _Outputs) -> Command[Any]:
    turn = _TURN.get()
    if turn.errors:
        raise turn.errors[0]
    return Command(goto=[Send("call", key) for key in turn.calls if key not in state["outputs"]])


def _renew_answers(
    turn: AIMessage, readable: AIMessage, behind: Sequence[AnyMessage]
) -> dict[int, ToolMessage]:
    """Return the answers whose calls have got another id, by the identity of the old message."""
    answers = find_answers(calls_of(turn), behind)
    ids = {at: readable.tool_calls[at]["id"] for at in answers}
    return {
        id(each): each.model_copy(update={"tool_call_id": ids[at]})
        for at, each in answers.items()
        if each.tool_call_id != ids[at]
    }


def _by_id(calls: Sequence[ToolCall]) -> dict[str, ToolCall]:
    found: dict[str, ToolCall] = {}
    for number, call in enumerate(calls):
        key = call["id"] or ""
        # Calls that came without a message may share an id; each of them is answered.
        found[f"{key} {number}" if key in found else key] = call
    return found


def _messages_in(state: Any, key: str) -> list[AnyMessage]:
    if isinstance(state, list):
        return state
    found = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    return list(found or ())
