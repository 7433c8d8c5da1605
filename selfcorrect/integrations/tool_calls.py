"""One tool call inside a host: attempt 1 is the host's own, the loop takes over when it fails."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import interrupt

from selfcorrect.effects import acts
from selfcorrect.errors import HardFailure, ToolExecutionError
from selfcorrect.integrations.chat import OURS, last_messages, refusal, request_of
from selfcorrect.integrations.handled import (
    BESIDE,
    AsyncHandled,
    AsyncHandler,
    Ended,
    Handled,
    Handler,
    Response,
    SyncHandled,
    attempt,
)
from selfcorrect.integrations.history import (
    REFUSED,
    equal_before,
    is_too_often,
    lost_before,
    lost_notes,
    messages_of,
    nudged,
    person_of,
    repeats,
    stand_in,
)
from selfcorrect.integrations.toolbox import Toolboxes
from selfcorrect.integrations.trails import changes_in
from selfcorrect.kernel.memory import message_of
from selfcorrect.log import sink
from selfcorrect.loop.asking import asked
from selfcorrect.loop.context import AGAIN, run_sync
from selfcorrect.loop.failures import Live
from selfcorrect.loop.intents import held_until
from selfcorrect.loop.options import Options
from selfcorrect.loop.walk import walk_in
from selfcorrect.model import JSON, Call
from selfcorrect.models.describing import described
from selfcorrect.plain import as_text, digest
from selfcorrect.report import FailureReport
from selfcorrect.schema.equality import call_key
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.langchain import is_async_only

_CHECKPOINTER: Final = "__pregel_checkpointer"
_MOST_TOLD: Final = 12
_MOST_WAITING: Final = 256
CUT: Final = "The call was not done: the message ended before it was complete. Write it again."


class Turn(asyncio.Lock):
    """Held by one async call of a step at a time, where calls may ask."""

    is_over = False


IN_TURN: ContextVar[Turn | None] = ContextVar("in_turn", default=None)


class ToolCalls:
    """Runs tool calls for a drop-in, and mends those that fail.

    Args:
        options: What the loop is made of.
        ask_person: Whether a person may be asked, by an interrupt of the host's graph.
        on_trail: Gets the record of every call, those that were simply done too.
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
        self._always = options.sees_all or boxes.holds_back
        self._memory = boxes.memory
        # Of one that is forgotten the ledger knows what a tool that acts did.
        self._waiting = Live[list[Ended] | None](None, _MOST_WAITING)

    def call(self, request: ToolCallRequest, handler: Handler) -> Response:
        """The host's answer, or the answer of a mended call, or a report for the model."""
        if request.tool is not None and is_async_only(request.tool):
            return handler(request)  # LangChain's own error says what to do
        return run_sync(self._called(request, handler, SyncHandled))

    async def acall(self, request: ToolCallRequest, handler: AsyncHandler) -> Response:
        """Like `call`, where the handler is async."""
        turn = IN_TURN.get()
        if turn is None:
            return await self._called(request, handler, AsyncHandled)
        async with turn:
            if turn.is_over:  # another call asks: this one is made when the step is entered anew
                raise asyncio.CancelledError
            IN_TURN.set(None)  # a tool may call tools of its own while it has its turn
            try:
                return await self._called(request, handler, AsyncHandled)
            except BaseException:
                turn.is_over = True
                raise

    async def _called(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Any],
        kind: type[SyncHandled | AsyncHandled],
    ) -> Response:
        times = repeats(messages_of(request.state), request.tool_call)
        if is_too_often(times, self._boxes.limits):
            note: dict[str, JSON] = {"reason": "repeated_failure", "executed": False}
            return refusal(request.tool_call, REFUSED.format(times), note)
        first: list[Ended] = []
        if (spec := self._ready(request)) is not None:
            ended = await attempt(request, handler, spec)
            if ended.error is None and not _is_error(ended.response, spec):
                return nudged(ended.response, times, self._boxes.limits)
            first.append(ended)
        return await self._corrected(request, handler, first, kind)

    def _ready(self, request: ToolCallRequest) -> ToolSpec | None:
        """The tool, if the call may go straight to it: it fits, nobody listens, nothing is open."""
        call = request.tool_call
        spec = self._boxes.ready(call["name"], request.tool)
        args = call["args"]
        may = (
            spec is not None
            and spec.takes_key is None
            and type(args) is dict
            and not BESIDE & call.keys()
            and not self._always
            and self._on_trail is None
            # Where a person is asked, the host enters anew: what was done has to be known then.
            and not (self._ask_person and (acts(spec) or self._asked(request)))
            and sink() is None
            and spec.is_valid(args)
            and not (acts(spec) and (not self._memory.is_sure or lost_notes(request.state)))
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
        configurable = _configurable(request)
        host = kind(request, handler, box.tools, first)
        changes: dict[str, Any] = {
            "host": host,
            "again": configurable.get(AGAIN) is True,
            "person": person_of(messages_of(request.state)),
        }
        if self._ask_person and configurable.get(_CHECKPOINTER) is not None:
            key = _waiting_key(request, configurable)
            host.known = [*(self._waiting.of(key) or first)]
            changes["ask_person"] = self._asking(key, host)
        if isinstance(tenant := configurable.get("tenant"), str):
            changes["tenant"] = tenant
        if (thread := configurable.get("thread_id")) is not None:
            changes["thread"] = str(thread)
        elif request.tool_call.get("id"):
            changes["thread"] = stand_in(request.tool_call)
            changes["earlier"] = equal_before(request, box.specs)
        context = box.run.start(**changes)
        given = _given(request, configurable)
        given["lost"] = lost_before(request, given, context)
        out = await walk_in(box.run, given, context)
        return self._answer(request, host, out, held_until(context))

    def _asked(self, request: ToolCallRequest) -> bool:
        """Whether a person was asked about this very call."""
        return self._waiting.of(_waiting_key(request, _configurable(request))) is not None

    def _asking(self, key: str, host: Handled) -> Callable[[JSON], JSON]:
        """Asks by an interrupt; what was executed before is replayed when the host re-enters."""

        def ask(question: JSON) -> JSON:
            # The list itself: if another call asks as well, the host enters both anew.
            self._waiting.keep(key, host.happened)
            return asked(interrupt, question)

        return ask

    def _answer(
        self, request: ToolCallRequest, host: Handled, out: Mapping[str, Any], until: float
    ) -> Response:
        call, failure = request.tool_call, out.get("failure")
        note = note_on(out)
        if note.get("executed"):
            # By the call itself: the report's own copy hides what may not be shown.
            made = host.made or call
            spec = self._boxes.of(_tools_of(request)).specs.get(made["name"])
            key = call_key(Call(made["name"], made["args"]), spec)
            note |= {"key": key, "until": until, "intent": host.intent}
        if tokens := tokens_of(out):
            note["tokens"] = tokens
        if "raw" in call and host.made is not None:
            note["call"] = host.made
        self._tell(request, out, simply_done=not note and len(host.happened) <= 1)
        last = host.happened[-1].error if host.happened else None
        if failure and isinstance(last, HardFailure):
            report = FailureReport.from_state({"failure": failure})
            name, times = str(call["name"]), len(host.happened)
            raise ToolExecutionError(name, times, host.happened[0].error, last, report) from last
        if failure and failure.get("value") is not None and host.happened:
            return _noted(host.happened[-1].response, note, status="error")
        if failure:
            return refusal(call, told(failure), note)
        executed = out["trail"][-1]["node"] == "execute" and host.happened
        response = host.happened[-1].response if executed else None
        if response is None:
            text = out.get("result")
            return ToolMessage(
                content=text if isinstance(text, str) else json.dumps(text, default=as_text),
                name=call["name"],
                tool_call_id=call.get("id") or "",
                response_metadata={OURS: note} if note else {},
            )
        return _noted(response, note)

    def _tell(self, request: ToolCallRequest, out: Mapping[str, Any], *, simply_done: bool) -> None:
        record = {"tool_call_id": request.tool_call.get("id"), **out}
        if self._on_trail is not None:
            thread = _configurable(request).get("thread_id")
            known = {"task_id": thread, "request": request_of(messages_of(request.state))}
            kept = {key: str(value) for key, value in known.items() if value is not None}
            self._on_trail(record | kept)
        if simply_done:
            return
        writer = getattr(request.runtime, "stream_writer", None)
        if writer is not None:
            writer({OURS: {"tool_call_id": record["tool_call_id"], "trail": out["trail"]}})


def _configurable(request: ToolCallRequest) -> Mapping[str, Any]:
    config = request.runtime.config if request.runtime is not None else {}
    return config.get("configurable") or {}


def _noted(response: Response, note: Mapping[str, JSON], **changes: Any) -> Response:
    """The tool's own answer, whole, with what is noted of it."""
    if not note or not isinstance(response, ToolMessage):
        return response
    metadata = {**(response.response_metadata or {}), OURS: note}
    return response.model_copy(update={"response_metadata": metadata, **changes})


def told(failure: Mapping[str, Any]) -> str:
    """What the model reads of a failure."""
    return str(failure.get("for_model") or "The call was not made.")


def tokens_of(out: Mapping[str, Any]) -> int:
    """What the models of a run have cost."""
    return sum(int(event.get("tokens") or 0) for event in out.get("trail") or ())


def note_on(out: Mapping[str, Any]) -> dict[str, JSON]:
    """What is noted in a message about a run; nothing where the call was simply done."""
    failure = out.get("failure") or {}
    note: dict[str, JSON] = {}
    if changes := changes_in(out):
        note["changes"] = changes
    attempts: Sequence[Any] = failure.get("attempts") or ()
    if failure:
        findings = failure.get("findings") or ()
        last: Mapping[str, Any] = attempts[-1] if attempts else {}
        wrong = dict.fromkeys(filter(None, map(described, findings[:_MOST_TOLD])))
        note |= {
            "reason": failure["reason"],
            "detail": failure["detail"],
            "kind": next((item.get("kind") for item in findings), None),
            "wrong": "; ".join(wrong),
            "executed": bool(attempts),
            "said": last.get("text"),
            "retryable": bool(last.get("retryable") or last.get("retry_after")),
        }
    return note


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
    turn, thread = message_of(messages), configurable.get("thread_id")
    if isinstance(turn, str) or thread is not None:
        given["task_id"] = f"{thread}|{turn}"
    return given


def _waiting_key(request: ToolCallRequest, configurable: Mapping[str, Any]) -> str:
    call = request.tool_call
    args = call["args"] if isinstance(call["args"], Mapping) else {}
    # The step of the host's graph is the same whenever it is entered anew.
    place = [configurable.get(each) for each in ("thread_id", "checkpoint_ns")]
    return digest(*map(str, place), call.get("id"), call_key(Call(call["name"], args)))
