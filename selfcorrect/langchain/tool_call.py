"""One tool call: from the thread through the loop, where LangChain's handler runs the tool."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain
from typing import Any, TypeAlias, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from selfcorrect.effects.failure import ending_of
from selfcorrect.errors import CorrectionFailed, EscalationError, NotDone
from selfcorrect.graph import CHECKPOINTER
from selfcorrect.langchain.agent_run import RUN, AgentRun
from selfcorrect.langchain.calls import name_and_args
from selfcorrect.langchain.ending import FAILED
from selfcorrect.langchain.host import Host, configurable_of
from selfcorrect.langchain.listening_tool import LISTENER
from selfcorrect.langchain.thread import (
    ACCOUNT,
    answer_to,
    chain_of,
    error_of,
    last_turn,
    load_answer,
    own_message,
    text_in,
    value_in,
)
from selfcorrect.langchain.turn_state import STARTS, WORDS, beside_calls, notes_of
from selfcorrect.model import ABSENT, JSON, JsonDict, JsonObject
from selfcorrect.models.port import value_of
from selfcorrect.nodes.call_once import EXECUTION, change
from selfcorrect.report import FailureReport
from selfcorrect.step import Loop, walk_hosted
from selfcorrect.tools.run import plain

Handler: TypeAlias = Callable[[ToolCallRequest], Any]
"""LangChain's own way to run a tool; in async code it gives an awaitable."""


async def run_call(
    request: ToolCallRequest, handler: Handler, host: Host, state: JsonObject, *, is_async: bool
) -> Any:
    """Walk the loop with one call; return its one answer.

    Args:
        request: The call.
        handler: LangChain's own, which runs the tool.
        host: The host.
        state: `messages`, in which each call of the last turn has an id of its own, and `STARTS`
            and `RUN` where the host has them.
        is_async: Whether the host is async; if not, nothing is awaited.
    """
    call, messages = request.tool_call, state["messages"]
    if (answer := answer_to(call["id"], messages)) is not None:
        return answer
    loop, graph = host.loop_with(_tools_of(request), is_async=is_async)
    agent_run: AgentRun | None = state.get(RUN)
    inputs, words = _inputs_of(call, state)
    inputs |= {"task_id": host.scope_of(request, agent_run)}
    run = ToolRun(request, handler, loop, graph, inputs=inputs, words=words, shown={**call})
    await run.walk()
    if (on_trail := host.options.get("on_trail")) is not None:
        on_trail(run.record())
    answer = run.answer()
    # Where a tool's answer is the agent's, LangChain ends with it even if it is an error.
    is_direct = request.tool is not None and request.tool.return_direct
    has_failed = is_direct and getattr(answer, "status", None) == "error"
    if agent_run is None or not has_failed or agent_run.object_once(FAILED) is None:
        return answer
    return Command(update={"messages": [answer]}, goto="model")


def _tools_of(request: ToolCallRequest) -> Sequence[BaseTool]:
    """Return the tools of the agent that makes a call."""
    tools = {tool.name: tool for tool in request.runtime.tools}
    if request.tool is not None:
        # Another middleware may have brought a tool of its own.
        tools[request.tool.name] = request.tool
    return [*tools.values()]


def _inputs_of(call: ToolCall, state: JsonObject) -> tuple[JsonDict, str | None]:
    """Return what the loop takes for a call, and what the model reads if its name means no tool."""
    messages = state["messages"]
    turn, behind = last_turn(messages)
    call_id = call["id"]
    shown = name_and_args(call)
    inputs: JsonDict = {"call": {**shown, "id": call_id}}
    # The state may hold another message, which has other calls.
    own = (state.get(STARTS) or {}).get(turn.id, {}) if turn else {}
    start = {**notes_of(turn, STARTS), **own}.get(call_id)
    # Another middleware, or a person, may have edited the call already.
    if start and start["shown"] == shown:
        inputs = start["given"]
    elif start and not call["args"] and not start["shown"]["args"]:
        # Only its name was edited: the call must not run with its defaults.
        inputs["call"]["args"] = start["given"].get("call", {}).get("args", "(unreadable)")
    # Where messages have no ids, the same call in a later message is another one.
    message_id = turn.id if turn and turn.id else f"#{len(messages) - len(behind)}"
    inputs = {**inputs, **beside_calls(turn, messages), "message_id": message_id}
    return inputs, notes_of(turn, WORDS).get(call_id)


@dataclass(eq=False, slots=True)
class ToolRun:
    """One call: what the loop is given, and what LangChain answered.

    Attributes:
        request: The call as it came to the tools.
        handler: LangChain's own, which runs the tool.
        loop: The loop with the tools of the agent.
        graph: The same as a graph that asks persons, or None.
        inputs: The input of the loop.
        words: What the model reads where its name means no tool, or None.
        shown: The call as others have seen it: a tool that acts runs with nothing else.
        out: What the loop came to.
        is_approved: Whether a person has answered for the call as it stands now.
        last_call: The call as the tool got it last, or None.
        errors: What the tool's own code raised in the last execution; a handler may call it often.
        returned: What the tool's own code returned in it.
        last_answer: What the handler answered in it, where that is not an error.
    """

    request: ToolCallRequest
    handler: Handler
    loop: Loop
    graph: Any
    _: KW_ONLY
    inputs: JsonObject
    words: str | None
    shown: JsonObject
    out: JsonDict = field(default_factory=dict)
    is_approved: bool = False
    last_call: ToolCall | None = None
    errors: list[BaseException] = field(default_factory=list)
    returned: Any = ABSENT
    last_answer: Any = None
    _value: JSON = None

    async def walk(self) -> None:
        """Run the loop, in which this call's handler runs the tools.

        A failure that is raised, but is the model's to read, becomes the output.
        """
        token = LISTENER.set(self)
        try:
            if self.graph is None or configurable_of(self.request).get(CHECKPOINTER) is None:
                self.out = await walk_hosted(self.loop, self.inputs)
            else:
                is_async = self.loop.context.is_async
                invoke = self.graph.ainvoke if is_async else self.graph.invoke
                self.out = await value_of(invoke(self.inputs, self.request.runtime.config))
        except CorrectionFailed as error:
            report = cast("FailureReport", error.report)
            # What the model did wrong before any tool ran, the model is told; so is an escalation.
            has_ended = bool(report.attempts) or report.reason == "terminal_kind"
            if has_ended and not isinstance(error, EscalationError):
                raise
            self.out = {"failure": report.to_json(), "trail": []}
        finally:
            LISTENER.reset(token)

    async def execute(self, tool: BaseTool, args: JsonDict) -> JSON:
        """Run LangChain's handler with the call as it stands now; return the tool's own value.

        Raises:
            ToolReportedError: If the handler answers with the message of an error.
            Exception: What the handler raises; what its earlier tries raised stays a cause.
        """
        self.last_answer, self.returned, self.errors = None, ABSENT, []
        spec = self.loop.context.tools[tool.name]
        call: ToolCall = {**self.request.tool_call, "name": tool.name, "args": args}
        # The tool may change its arguments; its call stays as it was.
        self.last_call = {**call, "args": deepcopy(spec.strip(args))}
        try:
            answer = await value_of(self.handler(self.request.override(tool_call=call, tool=tool)))
        except Exception as error:
            before = [earlier for earlier in self.errors if earlier is not error]
            gravest = chain_of([*before, error])
            if gravest is error:
                raise
            raise gravest from error
        call_id = call["id"]
        message = own_message(answer, call_id)
        if message is not None and message is answer:
            # Of a tool that acts, no answer of a handler hides what its code raised.
            is_hidden = spec.acts and bool(self.errors) and self.returned is ABSENT
            if message.status == "error" or is_hidden:
                raise error_of(message, self.errors)
        self.last_answer = answer
        own = message if self.returned is ABSENT else self.returned
        is_message = own_message(own, call_id) is not None
        self._value = value_in(message) if is_message else plain(own)
        return self._value

    def note_args(self, args: Any) -> None:
        """Have the ledger hold what is made, where another middleware has edited the call.

        Raises:
            NotDone: If the edited call may not run.
            BaseException: What an earlier try raised that ends the run, or may have been done.
        """
        execution = EXECUTION.get()
        for error in self.errors:
            # A handler that tries again knows nothing of doubts.
            if ending_of(error) or (execution is not None and not isinstance(error, NotDone)):
                raise error
        call = self.last_call
        if execution is None or call is None or not isinstance(args, dict):
            return
        # What LangChain injects is not an argument.
        names = {*self.loop.context.tools[call["name"]].arguments.properties, *call["args"]}
        own = {name: item for name, item in args.items() if name in names}
        try:
            if change(execution, own):
                self.last_call = {**call, "args": own}
        except NotDone as error:
            self.errors.append(error)
            raise

    def note_value(self, value: Any) -> None:
        """Take note of what the tool's own code returned."""
        is_pair = getattr(self.request.tool, "response_format", "") == "content_and_artifact"
        self.returned = value[0] if is_pair and isinstance(value, tuple) and value else value

    def answer(self) -> Any:
        """Return LangChain's answer to the call; of a repaired one it says what the model wrote."""
        answer, call, account = self._find_answer(), self.request.tool_call, self._account()
        if "result" in self.out and self.last_call is not None:
            executed = name_and_args(self.last_call)
            if executed != name_and_args(call):
                account["made"] = executed
        message = own_message(answer, call["id"])
        if message is not None and (self.inputs.get("mended") or "made" in account):
            message.additional_kwargs = {**message.additional_kwargs, ACCOUNT: account}
        return answer

    def _find_answer(self) -> Any:
        """Return the tool's own message where its call succeeded, else one with its result."""
        call, failure, text = self.request.tool_call, self.out.get("failure"), self.words
        if failure is None:
            value = self.out["result"]
            if self.last_answer is not None and value == self._value:
                return self.last_answer
            value, stored = load_answer(value)
            if stored is not None:
                return stored
            text = text_in(value)
        elif text is None or failure.get("tool") in self.loop.context.tools:
            # The policy's words are about a name that no tool has.
            text = failure["for_model"]
        status = "error" if failure else "success"
        name, call_id = call["name"], call["id"]
        return ToolMessage(text, name=name, tool_call_id=call_id, status=status, artifact=failure)

    def _account(self) -> JsonDict:
        """Return the call as the model wrote it, and all changes to it, shown to others or not."""
        mended = self.inputs.get("mended") or {}
        changes = [event.get("changes", ()) for event in self.out["trail"]]
        return {
            "written": mended.get("original") or name_and_args(self.request.tool_call),
            "changes": [*chain(mended.get("changes", ()), *changes)],
        }

    def record(self) -> JsonDict:
        """Return what became of the call, for a listener."""
        call, trail = self.request.tool_call, self.out["trail"]
        if trail and (mended := self.inputs.get("mended")):
            trail = [{**trail[0], "changes": mended["changes"]}, *trail[1:]]
        record = {
            "tool_call_id": call["id"],
            "call": name_and_args({**call, **self._account()["written"]}),
            "executed": any("did" in event for event in trail),
            "trail": trail,
        }
        return record | {key: item for key, item in self.out.items() if key == "failure"}
