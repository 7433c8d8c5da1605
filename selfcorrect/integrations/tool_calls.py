"""One tool call inside a host: attempt 1 is the host's own, the loop takes over when it fails."""

from __future__ import annotations

import inspect
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, TypeAlias
from uuid import uuid4

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt

from selfcorrect.effects import acts
from selfcorrect.errors import (
    HardFailure,
    ToolExecutionError,
    ToolReportedError,
    is_control_flow,
)
from selfcorrect.foreign import is_plain
from selfcorrect.foreign import told as read_in_time
from selfcorrect.integrations.chat import OURS, last_messages, note_of, refusal, request_of
from selfcorrect.integrations.mcp import TRUSTED, protocol_error
from selfcorrect.integrations.once import Once
from selfcorrect.integrations.repeats import REFUSED, is_too_often, nudged, repeats
from selfcorrect.integrations.toolbox import Toolboxes
from selfcorrect.log import sink
from selfcorrect.loop.context import AGAIN, AsyncHost, RunContext, SyncHost, run_sync
from selfcorrect.loop.intents import scope_of_call
from selfcorrect.loop.options import Options
from selfcorrect.loop.walk import walk_in
from selfcorrect.model import JSON, Call, FailureReport
from selfcorrect.plain import as_text, digest
from selfcorrect.schema.equality import call_key
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.declarations import stated

Response: TypeAlias = Any
"""What a host answers a tool call with: a `ToolMessage`, a `Command`, or a list of them."""
Handler: TypeAlias = Callable[[ToolCallRequest], Response]
AsyncHandler: TypeAlias = Callable[[ToolCallRequest], Awaitable[Response]]

_CHECKPOINTER: Final = "__pregel_checkpointer"
_MOST_WAITING: Final = 256
_BESIDE: Final = frozenset({"raw", "cut", "finish_reason", "invalid"})
"""What a drop-in may put beside a call: its text, and what is known of the end of that."""
CUT: Final = "The call was not done: the message ended before it was complete. Write it again."

try:
    from langgraph.errors import is_invalid_resume as _is_invalid_resume
except ImportError:  # older versions never mark such an error

    def _is_invalid_resume(error: BaseException) -> bool:  # noqa: ARG001
        return False


@dataclass(frozen=True, slots=True)
class Ended:
    """How one execution ended.

    Attributes:
        response: What the host answered.
        error: What was raised.
        cause: What the tool raised, where the host made an answer of it.
    """

    response: Response = None
    error: Exception | None = None
    cause: Exception | None = None


class Handled:
    """Runs tools through the host's handler; outcomes that are known already are not run again.

    Attributes:
        known: Outcomes of executions that happened before this walk, in order.
        happened: Every outcome of this walk.
        made: The call that was made last.
    """

    def __init__(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Any],
        tools: Mapping[str, Any],
        known: list[Ended],
    ) -> None:
        self.request = request
        self.handler = handler
        self.tools = tools
        self.known = known
        self.happened: list[Ended] = []
        self.made: dict[str, JSON] | None = None

    async def run_tool(
        self, tool: ToolSpec, args: Any, call_id: str | None, key: str | None = None
    ) -> Any:
        """The tool's value, out of what the handler answers."""
        del call_id  # the host's own id stays: it is what the answer is matched by
        place = len(self.happened)
        known = self.known[place] if place < len(self.known) else None
        ended = known if known is not None else await self._ended(tool, args, key)
        self.happened.append(ended)
        if ended.error is not None:
            raise ended.error
        return value_of(ended.response, ended.cause)

    async def _ended(self, tool: ToolSpec, args: Any, key: str | None) -> Ended:
        own = {tool.takes_key: key or uuid4().hex} if tool.takes_key is not None else {}
        call = {**self.request.tool_call, "name": tool.name, "args": {**args, **own}}
        for beside in _BESIDE:
            call.pop(beside, None)
        self.made = {"name": tool.name, "args": dict(args)}
        changes: dict[str, Any] = {"tool_call": call}
        if tool.name != self.request.tool_call["name"] or self.request.tool is None:
            changes["tool"] = self.tools[tool.name]
        request = self.request.override(**changes)
        once = Once(tool)
        if acts(tool) and isinstance(request.tool, BaseTool):
            request = request.override(tool=once.guarding(request.tool))
        try:
            value = self.handler(request)
            return Ended(await value if inspect.isawaitable(value) else value, cause=once.error)
        except Exception as error:
            if _is_hosts_own(error):
                raise
            return Ended(error=_told(error, request))


class SyncHandled(Handled, SyncHost):
    """For a handler that is called."""


class AsyncHandled(Handled, AsyncHost):
    """For a handler that is awaited."""


def value_of(response: Response, cause: Exception | None = None) -> Any:
    """The tool's value in a response.

    Args:
        response: What the host answered.
        cause: What the tool raised, where the host made this answer of it.

    Raises:
        ToolReportedError: If the response reports an error.
    """
    if not isinstance(response, ToolMessage):
        return None if isinstance(response, Command | list) else response
    if response.status == "error":
        raise ToolReportedError(str(response.text)) from cause
    if response.artifact is not None:
        return {"content": response.content, "artifact": response.artifact}
    return response.content


class ToolCalls:
    """Runs tool calls for a drop-in, and mends those that fail.

    Args:
        options: What the loop is made of.
        ask_person: Whether a person may be asked, by an interrupt of the host's graph.
        on_trail: Gets the record of every call that was not simply done.
    """

    def __init__(
        self,
        options: Options,
        boxes: Toolboxes,
        *,
        ask_person: bool = False,
        on_trail: Callable[[Mapping[str, JSON]], None] | None = None,
    ) -> None:
        self._boxes = boxes
        self._ask_person = ask_person
        self._on_trail = on_trail
        self._always = options.sees_all
        self._memory = boxes.memory
        self._waiting: OrderedDict[tuple[str, ...], list[Ended]] = OrderedDict()
        self._lock = Lock()

    def call(self, request: ToolCallRequest, handler: Handler) -> Response:
        """The host's answer, or the answer of a mended call, or a report for the model."""
        times = repeats(messages_of(request.state), request.tool_call)
        if is_too_often(times, self._boxes.limits):
            return _repeated(request, times)
        first: list[Ended] = []
        if (spec := self._ready(request)) is not None:
            once, watched = _watched(request, spec)
            try:
                response = handler(watched)
            except Exception as error:
                if _is_hosts_own(error):
                    raise
                first.append(Ended(error=_told(error, request)))
            else:
                if not _is_error(response, spec):
                    return nudged(response, times, self._boxes.limits)
                first.append(Ended(response, cause=once.error))
        return run_sync(self._corrected(request, handler, first, SyncHandled))

    async def acall(self, request: ToolCallRequest, handler: AsyncHandler) -> Response:
        """Like `call`, where the handler is async."""
        times = repeats(messages_of(request.state), request.tool_call)
        if is_too_often(times, self._boxes.limits):
            return _repeated(request, times)
        first: list[Ended] = []
        if (spec := self._ready(request)) is not None:
            once, watched = _watched(request, spec)
            try:
                response = await handler(watched)
            except Exception as error:
                if _is_hosts_own(error):
                    raise
                first.append(Ended(error=_told(error, request)))
            else:
                if not _is_error(response, spec):
                    return nudged(response, times, self._boxes.limits)
                first.append(Ended(response, cause=once.error))
        return await self._corrected(request, handler, first, AsyncHandled)

    def _ready(self, request: ToolCallRequest) -> ToolSpec | None:
        """The tool, if the call may go straight to it: it fits, nobody listens, nothing is open."""
        call = request.tool_call
        spec = self._boxes.ready(call["name"], request.tool)
        args = call["args"]
        may = (
            spec is not None
            and spec.takes_key is None
            and type(args) is dict
            and not _BESIDE & call.keys()
            and not self._always
            and not (self._ask_person and self._waiting)
            and sink() is None
            and spec.is_valid(args)
            and not (acts(spec) and (not self._memory.is_sure or _lost_notes(request.state)))
        )
        return spec if may else None

    async def _corrected(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Any],
        first: list[Ended],
        kind: type[SyncHandled | AsyncHandled],
    ) -> Response:
        if request.tool_call.get("cut"):
            return refusal(request.tool_call, CUT, {"reason": "invalid_input"})
        box = self._boxes.of(_tools_of(request))
        if request.tool_call["name"] in box.elsewhere:
            value = handler(request)
            return await value if inspect.isawaitable(value) else value
        config = request.runtime.config if request.runtime is not None else {}
        configurable = config.get("configurable") or {}
        host = kind(request, handler, box.tools, first)
        changes: dict[str, Any] = {"host": host}
        key: tuple[str, ...] | None = None
        if self._ask_person and configurable.get(_CHECKPOINTER) is not None:
            key = _waiting_key(request, configurable)
            host.known = self._known(key) or first
            changes["ask_person"] = self._asking(key, host)
        if isinstance(tenant := configurable.get("tenant"), str):
            changes["tenant"] = tenant
        if (thread := configurable.get("thread_id")) is not None:
            changes["thread"] = str(thread)
        elif request.tool_call.get("id"):
            changes["thread"] = _of_call(request.tool_call)
            changes["earlier"] = _equal_before(request, box.specs)
        if configurable.get(AGAIN) is True:
            changes["again"] = True
        changes["person"] = _last_person(messages_of(request.state))
        context = box.run.start(**changes)
        given = _given(request, configurable)
        given["lost"] = _lost_before(request, given, context)
        out = await walk_in(box.run, given, context)
        if key is not None:
            with self._lock:
                self._waiting.pop(key, None)
        return self._answer(request, host, out)

    def _known(self, key: tuple[str, ...]) -> list[Ended]:
        with self._lock:
            return list(self._waiting.get(key, ()))

    def _asking(self, key: tuple[str, ...], host: Handled) -> Callable[[JSON], JSON]:
        """Asks by an interrupt; what was executed before is replayed when the host re-enters."""

        def ask(question: JSON) -> JSON:
            with self._lock:
                self._waiting[key] = list(host.happened)
                while len(self._waiting) > _MOST_WAITING:
                    self._waiting.popitem(last=False)
            return interrupt(question)

        return ask

    def _answer(self, request: ToolCallRequest, host: Handled, out: Mapping[str, Any]) -> Response:
        call = {**request.tool_call, "id": request.tool_call.get("id") or ""}
        failure = out.get("failure")
        note = note_on(out)
        if note.get("executed"):
            # By the call itself: the report's own copy hides what may not be shown.
            made = host.made or {"name": call["name"], "args": request.tool_call["args"]}
            spec = self._boxes.of(_tools_of(request)).specs.get(made["name"])
            note["key"] = call_key(Call(made["name"], made["args"]), spec)
        if tokens := tokens_of(out):
            note["tokens"] = tokens
        if "raw" in request.tool_call and host.made is not None:
            note["call"] = host.made
        if note or len(host.happened) > 1:
            self._tell(request, out)
        last = host.happened[-1].error if host.happened else None
        if failure and isinstance(last, HardFailure):
            report = FailureReport.from_state({"failure": failure})
            name, times = str(call["name"]), len(host.happened)
            raise ToolExecutionError(name, times, host.happened[0].error, last, report) from last
        if failure and failure.get("value") is not None and host.happened:
            return _marked(host.happened[-1].response, note)
        if failure:
            return refusal(call, told(failure), note)
        executed = out["trail"][-1]["node"] == "execute" and host.happened
        response = host.happened[-1].response if executed else None
        if response is None:
            text = out.get("result")
            return ToolMessage(
                content=text if isinstance(text, str) else json.dumps(text, default=as_text),
                name=(failure or {}).get("tool") or call["name"],
                tool_call_id=call["id"],
                response_metadata={OURS: note} if note else {},
            )
        if note and isinstance(response, ToolMessage):
            metadata = {**(response.response_metadata or {}), OURS: note}
            return response.model_copy(update={"response_metadata": metadata})
        return response

    def _tell(self, request: ToolCallRequest, out: Mapping[str, Any]) -> None:
        record = {"tool_call_id": request.tool_call.get("id"), **out}
        if self._on_trail is not None:
            self._on_trail(record)
        writer = getattr(request.runtime, "stream_writer", None)
        if writer is not None:
            writer({OURS: {"tool_call_id": record["tool_call_id"], "trail": out["trail"]}})


def _repeated(request: ToolCallRequest, times: int) -> ToolMessage:
    """The answer to a call that gave the same answer too often."""
    call = {**request.tool_call, "id": request.tool_call.get("id") or ""}
    return refusal(call, REFUSED.format(times), {"reason": "repeated_failure", "executed": False})


def _marked(response: Response, note: Mapping[str, JSON]) -> Response:
    """The tool's own answer, whole, marked as the error that it is."""
    if not isinstance(response, ToolMessage):
        return response
    metadata = {**(response.response_metadata or {}), OURS: note}
    return response.model_copy(update={"status": "error", "response_metadata": metadata})


def told(failure: Mapping[str, Any]) -> str:
    """What the model reads of a failure."""
    return str(failure.get("for_model") or "The call was not made.")


def tokens_of(out: Mapping[str, Any]) -> int:
    """What the models of a run have cost."""
    return sum(int(event.get("tokens") or 0) for event in out.get("trail") or ())


def note_on(out: Mapping[str, Any]) -> dict[str, JSON]:
    """What is noted in a message about a run; nothing where the call was simply done."""
    failure = out.get("failure") or {}
    trail = out.get("trail") or ()
    note: dict[str, JSON] = {}
    changes = failure.get("changes") or [
        change for event in trail for change in event.get("changes") or ()
    ]
    if changes:
        note["changes"] = list(changes)
    attempts: Sequence[Any] = failure.get("attempts") or ()
    if failure:
        note["reason"] = failure["reason"]
        note["detail"] = failure["detail"]
        note["kind"] = next((item.get("kind") for item in failure.get("findings") or ()), None)
        note["executed"] = bool(attempts)
        note["retryable"] = bool(attempts) and bool(attempts[-1].get("retryable"))
    return note


def _watched(request: ToolCallRequest, spec: ToolSpec) -> tuple[Once, ToolCallRequest]:
    """The request, its tool guarded against repetition if it acts."""
    once = Once(spec)
    if not acts(spec) or not isinstance(request.tool, BaseTool):
        return once, request
    return once, request.override(tool=once.guarding(request.tool))


def _told(error: Exception, request: ToolCallRequest) -> Exception:
    """The error; that of an MCP server as ours, with what is known of the server."""
    metadata = getattr(request.tool, "metadata", None) or {}
    return protocol_error(error, trusted=stated(metadata, TRUSTED) is True) or error


def _is_hosts_own(error: Exception) -> bool:
    """Whether an error steers the host and is nobody's failure; one that cannot be read is none."""
    if is_control_flow(error):
        return True
    return not is_plain(error) and read_in_time(lambda: _is_invalid_resume(error), otherwise=False)


def _lost_notes(state: Any) -> list[tuple[int, str]]:
    """Where in the conversation a call was lost, and its key."""
    return [
        (place, str(note["key"]))
        for place, message in enumerate(messages_of(state))
        if message.type == "tool"
        and message.status == "error"
        and (note := note_of(message)).get("reason") == "unknown_outcome"
        and note.get("key")
    ]


def _lost_before(
    request: ToolCallRequest, given: Mapping[str, Any], context: RunContext
) -> dict[str, JSON]:
    """What the conversation says of an equal call that was lost, as the state keeps it."""
    call, spec = request.tool_call, context.tools.get(request.tool_call["name"])
    if spec is None or not acts(spec) or not isinstance(call["args"], dict):
        return {}
    this = Call(call["name"], call["args"], call.get("id"))
    messages = messages_of(request.state)
    spoken = max((n for n, each in enumerate(messages) if each.type == "human"), default=-1)
    key = call_key(this, spec)
    for place, lost in _lost_notes(request.state):
        if lost == key and (spec.declared or place > spoken):
            scope = scope_of_call({"given": dict(given)}, this, spec, context)
            return {scope: {"key": f"{scope}:{key}", "tool": spec.name}} if scope else {}
    return {}


def _of_call(call: Mapping[str, Any]) -> str:
    """What stands in for the thread where the host has none: the id of the call."""
    return f"call {call['id']}"


def _equal_before(request: ToolCallRequest, specs: Mapping[str, ToolSpec]) -> tuple[str, ...]:
    """Where equal calls were made earlier in this conversation, which has no thread."""
    call, spec = request.tool_call, specs.get(request.tool_call["name"])
    if spec is None or not acts(spec) or not isinstance(call["args"], dict):
        return ()
    key = call_key(Call(call["name"], call["args"]), spec)
    return tuple(
        _of_call(each)
        for message in messages_of(request.state)
        for each in getattr(message, "tool_calls", None) or ()
        if each["name"] == call["name"]
        and each.get("id") not in (None, call["id"])
        and call_key(Call(each["name"], each["args"]), spec) == key
    )


def _last_person(messages: Sequence[Any]) -> str | None:
    """What marks the last message of a person, or None."""
    for message in reversed(messages):
        if message.type == "human":
            return str(message.id) if message.id else digest(as_text(message.content))
    return None


def _is_error(response: Response, spec: ToolSpec) -> bool:
    if not isinstance(response, ToolMessage):
        return False
    return response.status == "error" or spec.is_error(response.content)


def _tools_of(request: ToolCallRequest) -> list[Any]:
    """The tools that the host has, and the one of this call if somebody added it."""
    own = request.tool
    tools: list[Any] = list(getattr(request.runtime, "tools", None) or ())
    if own is None or any(tool is own for tool in tools):
        return tools
    return [*(tool for tool in tools if tool.name != own.name), own]


def _given(request: ToolCallRequest, configurable: Mapping[str, Any]) -> dict[str, Any]:
    call = request.tool_call
    raw = call.get("raw")
    given: dict[str, Any] = {
        "call": {
            "name": call["name"],
            "args": call["args"] if raw is None else raw,
            "id": call.get("id"),
        }
    }
    if call.get("invalid"):
        given["call"]["type"] = "invalid_tool_call"
    if (reason := call.get("finish_reason")) is not None:
        given["finish_reason"] = reason
    messages = messages_of(request.state)
    if messages:
        given["request"] = request_of(messages)
        given["messages"] = last_messages(messages)
    # The same call id on the same thread is one call only within one message of the model.
    turn = next((each.id for each in reversed(messages) if each.type == "ai" and each.id), None)
    thread = configurable.get("thread_id")
    if turn is not None or thread is not None:
        given["task_id"] = f"{thread}|{turn}"
    return given


def messages_of(state: Any) -> list[Any]:
    """The messages in the state of a host, whatever form it has."""
    if isinstance(state, list):
        return state
    found = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", ())
    return list(found or ())


def _waiting_key(request: ToolCallRequest, configurable: Mapping[str, Any]) -> tuple[str, ...]:
    call = request.tool_call
    args = call["args"] if isinstance(call["args"], Mapping) else {}
    return (
        str(configurable.get("thread_id")),
        str(call.get("id")),
        call_key(Call(call["name"], args)),
    )
