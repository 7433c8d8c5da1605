"""One `tools/call`: straight to the server where it fits, through the loop where it does not.

In the loop it is mended, executed through the relay, and a person is asked where one must be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from selfcorrect.effects import acts
from selfcorrect.errors import SelfCorrectError
from selfcorrect.limits import Limits
from selfcorrect.log import warning
from selfcorrect.loop.context import AsyncHost, Time
from selfcorrect.loop.walk import Walk
from selfcorrect.model import JSON
from selfcorrect.model import Call as ToolCall
from selfcorrect.proxy.answers import (
    OURS,
    answer_of,
    failed,
    is_unfinished,
    note_on,
    noted,
    refused,
    value_of,
)
from selfcorrect.proxy.asking import Question, again, can_be_asked, question_of
from selfcorrect.proxy.frames import (
    CLOSED,
    Frame,
    capabilities_in,
    complete,
    error,
    mapping,
    request,
    result,
    version_in,
)
from selfcorrect.proxy.sides import Disconnected
from selfcorrect.schema.equality import call_key
from selfcorrect.sizes import json_bytes
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.running import awaited

if TYPE_CHECKING:
    from selfcorrect.proxy.relay import Relay

_INTERNAL: Final = -32603
_NOT_KEPT: Final = (
    "The call was not made: it no longer waits for this answer. Make it again without requestState."
)
_STALE: Final = (
    "The call was not made: it does not fit the tool, which the server has changed since. List the "
    "tools again, then make the call."
)
_REFUSED: Final = (
    "The call was not made again: an identical call was refused, and nothing has changed since. "
    "Correct it, or make the call that it needs first."
)
_ANSWER: Final = ("requestState", "inputResponses")
"""What a client adds to a call that it makes again: of ours the server must not see it."""
_ASK: Final = "elicitation/create"
_SELECT: Final = "select_strategy"


class Call:
    """A client's call of a tool.

    Attributes:
        line: The relay that it came through.
        frame: The call, under the client's id.
        key: What equal calls of a tool that acts share; empty where it only reads.
        cancelled: The notification with which the client called it off.
        task: What works on it.
    """

    def __init__(self, line: Relay, frame: Frame) -> None:
        self.line = line
        self.tools = line.tools
        mended = line.tools.mended(frame.params.get("requestState"))
        self.frame = frame.saying({**frame.params, **mended}) if mended else frame
        self.key = ""
        self.cancelled: Frame | None = None
        self.task: asyncio.Task[Any] | None = None

    @property
    def id(self) -> JSON:
        return self.frame.id

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the client can do."""
        modern = version_in(self.frame) is not None
        return capabilities_in(self.frame) if modern else self.line.capabilities

    def cancel(self, said: Frame) -> None:
        """The client wants no answer any more."""
        self.cancelled = said
        if self.task is not None:
            self.task.cancel()

    async def run(self) -> None:
        """Answer the call, unless it is called off."""
        try:
            answer = await self._answer()
        except asyncio.CancelledError:
            if self.cancelled is None:
                raise
            return
        except Disconnected as why:
            answer = error(self.id, CLOSED, f"Connection closed: {why}")
        except Exception as why:  # a fault of ours must not leave the client waiting
            if (warn := warning()) is not None:
                warn("selfcorrect.proxy_fault", {"exception": type(why).__name__, "text": why})
            answer = error(self.id, _INTERNAL, f"selfcorrect proxy: {type(why).__name__}")
        await self.line.to_client(answer, self.id)

    async def ask(self, method: str, params: Mapping[str, JSON]) -> Frame:
        """The server's answer to a request of our own on behalf of this call.

        Raises:
            Disconnected: If it ends before.
        """
        own = request(self.line.own_id(), method, params, self.frame.headers)
        return await self.line.ask_server(own, self)

    async def _answer(self) -> Frame:
        params, tools = self.frame.params, self.tools
        if (kept := self.tools.paused(params.get("requestState"))) is not None:
            own = {key: value for key, value in params.items() if key not in _ANSWER}
            self.frame = self.frame.saying(own)
            return await kept.resume(self, mapping(params.get("inputResponses")))
        if self.tools.is_own(params.get("requestState")):
            # Answered before, or too long ago: as a new call it would be made with nobody's answer.
            return refused(self.frame, "rejected", _NOT_KEPT, _NOT_KEPT)
        name = params.get("name")
        if not tools.has(name):
            await self.tools.list_tools(self)
        is_known = tools.has(name)
        spec = tools.spec(str(name)) if is_known else None
        if tools.listed is None or (is_known and spec is None):
            return await self.line.ask_server(self.frame, self)  # nothing to check it by
        return await self._made(spec, params.get("arguments", {}))

    async def _made(self, spec: ToolSpec | None, args: Any) -> Frame:
        """The answer to a call that is made, if it may be; mended where it does not fit."""
        tools, first = self.tools, list[Ended]()
        is_valid = spec is not None and type(args) is dict and spec.is_valid(args)
        if not is_valid and tools.is_stale(str(self.frame.params.get("name"))):
            return refused(self.frame, "invalid_input", _STALE, _STALE)
        if spec is not None and type(args) is dict and acts(spec):
            self.key = call_key(ToolCall(spec.name, args), spec)
        if tools.is_refused(self.key):
            return refused(self.frame, "refused", _REFUSED, _REFUSED)
        if spec is not None and is_valid and tools.is_sure:
            first = [await self._passed_on(spec)]
            if first[0].is_fine and first[0].answer is not None:
                tools.hear(self.key)
                return first[0].answer
        return await Mending(self, first).run()

    async def _passed_on(self, spec: ToolSpec) -> Ended:
        """The call as it came, and what became of it."""
        begin = partial(self.line.ask_server, self.frame, self)
        try:
            return await ended(begin, spec, trusted=self.tools.policy.trust)
        except asyncio.CancelledError as cut:
            if acts(spec):
                await self._remember(cut)
            raise

    async def _remember(self, cut: asyncio.CancelledError) -> None:
        """Note that nobody will know whether the call was done."""
        try:
            await Mending(self, [Ended(error=cut)]).run()
        except asyncio.CancelledError:
            return


@dataclass(frozen=True, slots=True)
class Ended:
    """How one execution ended.

    Attributes:
        answer: What the server answered, if it did.
        error: What the loop is told, where it failed.
        value: The tool's value, where it has one.
        is_fine: Whether there is nothing to mend.
    """

    answer: Frame | None = None
    error: BaseException | None = None
    value: JSON = None
    is_fine: bool = False


async def ended(begin: Callable[[], Awaitable[Frame]], tool: ToolSpec, *, trusted: bool) -> Ended:
    """How an execution ended: with what the server answered, or without an answer."""
    try:
        answer: Frame = await awaited(begin, tool.timeout, tool.name)
    except (SelfCorrectError, TimeoutError) as why:
        return Ended(None, why)
    try:
        value = None if is_unfinished(answer) else value_of(answer, trusted=trusted)
    except (SelfCorrectError, TimeoutError) as why:
        return Ended(answer, why)
    return Ended(answer, value=value, is_fine=is_unfinished(answer) or not tool.is_error(value))


class _Asked(Exception):
    """The loop has a question for a person."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        self.question = question
        super().__init__("a person is asked")


class Mending(AsyncHost):
    """One call on its way through the loop, whose executions go through the relay.

    What was executed before is told again, and not done again.

    Args:
        call: The call, as the client wrote it.
        first: How it ended when it was passed on as it came, if it was.
    """

    def __init__(self, call: Call, first: list[Ended] | None = None) -> None:
        self.original = call
        self._known = first or []
        self._last: Frame | None = None
        self._made: dict[str, JSON] = {}
        self._executions = 0
        self._told: Any = None
        self._question: Question | None = None
        self._out: dict[str, Any] | None = None
        self._loop = self.original.tools.loop()
        self._begin()

    def _given(self) -> dict[str, Any]:
        frame = self.original.frame
        args = frame.params.get("arguments")
        given = {"name": frame.params.get("name"), "args": {} if args is None else args}
        # A number that becomes text keeps the spelling that it came in.
        written = frame.raw.decode("utf-8", "replace")
        failed = self.original.tools.failed
        return {"call": {**given, "id": str(frame.id)}, "written": written, "failed": failed}

    def _begin(self, **more: Any) -> None:
        self._walk = Walk(self._loop, self._given())
        self._context = self._loop.start(
            host=self,
            thread=self.original.tools.thread,
            ask_person=self._person if can_be_asked(self.original.capabilities) else None,
            limits=self._limits(),
            **more,
        )

    def _limits(self) -> Limits:
        """The limits; a call that needs no mending may be as large as it is."""
        params, context = self.original.frame.params, self._loop.context
        tool, args = context.tools.get(str(params.get("name"))), params.get("arguments", {})
        if tool is None or type(args) is not dict or not tool.is_valid(args):
            return context.limits
        size = max(context.limits.argument_bytes, json_bytes(args))
        return context.limits.model_copy(update={"argument_bytes": size})

    async def run(self) -> Frame:
        """The answer for the client.

        Raises:
            asyncio.CancelledError: If the call is called off; it is remembered as in doubt.
        """
        while True:
            try:
                out = await self._walk.run(self._context)
            except _Asked as asked:
                self._question = self._form(asked.question)
            else:
                self._out = out
                self.original.tools.failed = dict(self._walk.state.get("failed") or {})
                if not self._is_in_doubt(out):
                    return self._finished(out)
                self._question = again(str(self._walk.state["current"]["name"]))
            if (paused := await self._ask()) is not None:
                return paused

    async def resume(self, call: Call, given: Mapping[str, Any]) -> Frame:
        """Go on, with a person's answer that came with the same call made again."""
        self.original = call
        self._take(mapping(given.get(OURS)))
        return await self.run()

    async def sleep(self, clock: Time, seconds: float) -> None:
        if self.original.line.gone is None:
            await super().sleep(clock, seconds)

    async def run_tool(
        self, tool: ToolSpec, args: Any, call_id: str | None, key: str | None = None
    ) -> Any:
        """The tool's value out of what the server answers."""
        del call_id, key  # the relay has ids of its own
        self._executions += 1
        self._last = None
        if self._known:
            known = self._known.pop(0)
        else:
            self._made = {"name": tool.name, "arguments": dict(args)}
            params = {**self.original.frame.params, **self._made}
            begin = partial(self.original.ask, "tools/call", params)
            known = await ended(begin, tool, trusted=self.original.tools.policy.trust)
        self._last = known.answer
        if known.error is not None:
            raise known.error
        return known.value

    # --- asking -------------------------------------------------------------------------------

    def _person(self, question: JSON) -> JSON:
        """The loop asks: what was answered, or the walk is left until somebody has."""
        if self._told is None:
            raise _Asked(mapping(question))
        told, self._told = self._told, None
        return told

    def _form(self, question: Mapping[str, Any]) -> Question | None:
        """The question as a form; None where a client may not ask for this value."""
        call = mapping(question.get("call"))
        tool = self._loop.context.tools.get(str(call.get("name")))
        path = str(question.get("path") or "")
        if self._loop.context.safety.sensitive_field(path, tool) is not None:
            return None  # the protocol forbids to ask for secrets in a form
        return question_of(question, tool)

    async def _ask(self) -> Frame | None:
        """Ask the client; the answer to the call, where the client has to make it again."""
        question = self._question
        if question is None:
            self._nobody()
            return None
        if version_in(self.original.frame) is not None:
            return self._pause(question)
        line = self.original.line
        try:
            answer = await line.ask_client(
                request(line.own_id(), _ASK, question.params), self.original
            )
        except Disconnected:
            self._nobody()
            return None
        self._take(mapping(answer.data.get("result")))
        return None

    def _pause(self, question: Question) -> Frame:
        state = self.original.tools.pause(self)
        asked = {OURS: {"method": _ASK, "params": {"mode": "form", **question.params}}}
        told = {"resultType": "input_required", "inputRequests": asked, "requestState": state}
        return result(self.original.id, told)

    def _take(self, answer: Mapping[str, Any]) -> None:
        """Take what a person answered; an answer that is none means that nobody can be asked."""
        if self._question is None or "action" not in answer:
            self._nobody()
            return
        told = self._question.answer(answer)
        self.original.tools.hear_person()
        if self._out is None:
            self._told = told
        elif told is True:
            self._out, self._known = None, []
            self._begin(again=True)
        else:
            self._nobody()

    def _nobody(self) -> None:
        """Go on as where nobody can be asked."""
        self._context = replace(self._context, ask_person=None)
        if self._out is None:
            self._walk.node = _SELECT

    def _is_in_doubt(self, out: Mapping[str, Any]) -> bool:
        """Whether nothing was done because an equal call may have been, and somebody may say so."""
        reason = mapping(out.get("failure")).get("reason")
        may_ask = self._context.ask_person is not None and not self._context.again
        return reason == "unknown_outcome" and not self._executions and may_ask

    # --- the answer ---------------------------------------------------------------------------

    def _finished(self, out: Mapping[str, Any]) -> Frame:
        if self._known and (answer := self._known[0].answer) is not None:
            return answer  # the loop cannot take the call, and it was made as it came
        note = note_on(out, self._executions)
        failure = mapping(out.get("failure"))
        self.original.tools.refuse(self._walk.state.get("attempts") or (), self.original.key)
        if not failure and self._executions:
            self.original.tools.hear(self.original.key)
        if failure or note.get("changes") or self._executions != 1:
            self._record(out)
        if failure:
            return self._failed(failure, note)
        last = out["trail"][-1]
        if last["node"] == "execute" and not last.get("replayed") and self._last is not None:
            return self._done(self._last.under(self.original.id), note)
        told = {
            **complete(self.original.frame),
            **answer_of(out.get("result")),
            "_meta": {OURS: note},
        }
        return result(self.original.id, told)

    def _done(self, answer: Frame, note: Mapping[str, JSON]) -> Frame:
        """The server's own answer."""
        told = mapping(answer.data.get("result"))
        if is_unfinished(answer):
            self.original.tools.keep_mended(told.get("requestState"), self._made)
        return noted(answer, note) if note.get("changes") or self._executions > 1 else answer

    def _failed(self, failure: Mapping[str, Any], note: Mapping[str, JSON]) -> Frame:
        text = str(failure.get("for_model") or "The call was not made.")
        id_, gone = self.original.id, self.original.line.gone
        if gone is not None:
            return error(id_, CLOSED, f"Connection closed: {gone}. {text}", {OURS: dict(note)})
        hidden = self.original.tools.policy.strategies.policy.tool_words == "hide"
        last = None if hidden else self._last
        if failure.get("value") is not None and last is not None:
            return last.under(id_)  # an error in the shape of a value: the tool's own words
        return failed(id_, text, note, last, complete(self.original.frame))

    def _record(self, out: Mapping[str, Any]) -> None:
        if (record := self.original.tools.record) is not None:
            params = self.original.frame.params
            given = {"name": params.get("name"), "args": params.get("arguments")}
            record({"title": str(params.get("name")), "input": {"call": given}, **out})
