"""`SelfCorrectingToolNode`: the tool node of graphs that are built by hand with LangGraph."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY
from itertools import chain
from typing import Any, Literal, Unpack

from langchain_core.messages import AnyMessage, ToolCall
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphInterrupt
from langgraph.func import entrypoint, task
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolRuntime
from langgraph.runtime import Runtime

from selfcorrect.context import run_sync
from selfcorrect.langchain.calls import LANGCHAIN, each_once, shown_calls
from selfcorrect.langchain.host import Host, HostOptions
from selfcorrect.langchain.stream import written_calls
from selfcorrect.langchain.thread import answer_to, find_answers, last_turn, open_calls
from selfcorrect.langchain.tool_call import run_call
from selfcorrect.langchain.turn_state import with_readable_calls
from selfcorrect.model import JsonDict, JsonObject, frozen
from selfcorrect.setup import Options

_Kind = Literal["list", "dict", "tool_calls"]
_RUNTIME = "__pregel_runtime"
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
        **options: See `NodeOptions`.

    Raises:
        GraphSetupError: If a tool or an option is unusable.
        MapError: If the map is unusable.

    >>> from langchain_core.messages import AIMessage
    >>> from langgraph.graph import START, MessagesState, StateGraph
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
        **options: Unpack[NodeOptions],
    ) -> None:
        super().__init__(
            tools,
            name=name,
            # The loop decides about errors; what it lets through is meant to be raised.
            handle_tool_errors=False,
            messages_key=messages_key,
        )
        # Nothing stands between the model's call and this node: what is repaired runs.
        self._host = Host(options, NodeOptions, shows=False)
        # Unusable tools are found here, not by the first call.
        self._host.loop_with(list(self.tools_by_name.values()))

    def _func(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:  # noqa: A002
        turn = self._read(input, config, runtime)
        if len(turn.calls) == 1:
            results: Any = [self._call(turn.calls[0], turn, config)]
        else:
            run: Any = task(self._call)

            @entrypoint()
            def run_all(_: Any) -> list[Any]:
                return _results_of([run(call, turn) for call in turn.calls])

            results = run_all.invoke({}, config)
        return self._combine_tool_outputs([*turn.changed, *results], turn.kind)

    async def _afunc(self, input: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:  # noqa: A002
        turn = self._read(input, config, runtime)
        if len(turn.calls) == 1:
            results: Any = [await self._acall(turn.calls[0], turn, config)]
        else:
            run: Any = task(self._acall)

            @entrypoint()
            async def run_all(_: Any) -> list[Any]:
                tasks = [run(call, turn) for call in turn.calls]
                await asyncio.gather(*tasks, return_exceptions=True)
                return _results_of(tasks)

            results = await run_all.ainvoke({}, config)
        return self._combine_tool_outputs([*turn.changed, *results], turn.kind)

    def _read(self, given: Any, config: RunnableConfig, runtime: Runtime[Any]) -> "_NodeTurn":
        input_calls, kind = self._parse_input(given)
        state = self._extract_state(given, config)
        messages = _messages_in(state, self._messages_key)
        thread: JsonDict = {"messages": messages}
        calls: list[ToolCall] = []
        changed: list[AnyMessage] = []
        turn, behind = last_turn(messages)
        if turn is not None:
            # What the model streamed is not seen here, but where a limit has cut it.
            written = each_once(written_calls(turn))
            readable = with_readable_calls(turn, written)
            answers = find_answers(written, behind)
            calls = [call for at, call in enumerate(readable.tool_calls) if at not in answers]
            shown = shown_calls(readable)
            new = {id(old): LANGCHAIN.answer(old, shown[at], "") for at, old in answers.items()}
            before = messages[: len(messages) - len(behind) - 1]
            after = [new.get(id(message), message) for message in behind]
            thread = {"messages": [*before, readable, *after]}
            # Without an id a message would be added, not replaced.
            if readable is not turn and turn.id:
                renewed = [answer for answer in after if answer.id and answer not in behind]
                changed = [readable, *renewed]
        if kind == "tool_calls":
            changed = []
            calls = [call for call in input_calls if answer_to(call["id"], messages) is None]
        return _NodeTurn(calls, kind, state=state, runtime=runtime, thread=thread, changed=changed)

    def _call(self, call: ToolCall, turn: "_NodeTurn", config: RunnableConfig) -> Any:
        return run_sync(self._acall(call, turn, config, is_async=False))

    async def _acall(
        self, call: ToolCall, turn: "_NodeTurn", config: RunnableConfig, *, is_async: bool = True
    ) -> Any:
        """Run one call, with the request that LangGraph hands to those who wrap it."""
        runtime = turn.runtime
        # What a tool streams would else stay in the graph of the tasks.
        configurable = {**(config.get("configurable") or {}), _RUNTIME: runtime}
        own = ToolRuntime(
            state=turn.state,
            tool_call_id=call["id"],
            config={**config, "configurable": configurable},
            context=runtime.context,
            store=runtime.store,
            stream_writer=runtime.stream_writer,
            tools=list(self.tools_by_name.values()),
            execution_info=runtime.execution_info,
            server_info=runtime.server_info,
        )
        request = ToolCallRequest(call, self.tools_by_name.get(call["name"]), turn.state, own)
        execute = self._execute_tool_async if is_async else self._execute_tool_sync

        def handle(request: ToolCallRequest) -> Any:
            return execute(request, turn.kind, own.config)

        return await run_call(request, handle, self._host, turn.thread, is_async=is_async)


def calls_condition(state: Any, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """Route to `tools` where the last turn has an open call, a malformed one too; else to the end.

    >>> from langchain_core.messages import AIMessage
    >>> malformed = {"name": "f", "args": "{'x': 1}", "id": "c1", "error": "no JSON"}
    >>> calls_condition([AIMessage("", invalid_tool_calls=[malformed])])
    'tools'
    """
    return "tools" if open_calls(_messages_in(state, messages_key)) else "__end__"


@frozen
class _NodeTurn:
    """One run of the node.

    Attributes:
        calls: The calls to run.
        kind: The form of the input, and so of the output.
        state: What tools get injected.
        runtime: The runtime of the node.
        thread: The state of the host, as `run_call` takes it.
        changed: The messages that take the place of those whose calls are malformed, or share ids.
    """

    calls: Sequence[ToolCall]
    kind: _Kind
    _: KW_ONLY
    state: Any
    runtime: Runtime[Any]
    thread: JsonObject
    changed: Sequence[Any]


def _results_of(tasks: Sequence[Any]) -> list[Any]:
    """Return what the calls of a turn came to; each is a task, and has ended before one raises.

    A call that raised, asked, or was cut off by a crash is run again when the node is resumed; the
    ledger says whether it may run. What is done is kept by the checkpointer.
    """
    errors = [run.exception() for run in tasks]
    questions = [error.args[0] for error in errors if isinstance(error, GraphInterrupt)]
    if questions:
        raise GraphInterrupt([*chain(*questions)])
    for error in filter(None, errors):
        raise error
    return [run.result() for run in tasks]


def _messages_in(state: Any, key: str) -> list[AnyMessage]:
    if isinstance(state, list):
        return state
    messages = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    return list(messages or ())
