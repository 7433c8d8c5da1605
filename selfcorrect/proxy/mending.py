"""A call in the loop: mended, executed through the relay, and a person asked where one must be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from selfcorrect.errors import SelfCorrectError
from selfcorrect.limits import Limits
from selfcorrect.loop.context import AsyncHost, RunContext, Time
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.walk import Walk
from selfcorrect.model import JSON
from selfcorrect.proxy.answers import (
    OURS,
    answer_of,
    failed,
    is_unfinished,
    note_on,
    noted,
    value_of,
)
from selfcorrect.proxy.asking import Question, again, can_be_asked, question_of
from selfcorrect.proxy.frames import CLOSED, Frame, error, mapping, request, result
from selfcorrect.proxy.revisions import complete, version_in
from selfcorrect.proxy.sides import Disconnected
from selfcorrect.proxy.tools import Tools
from selfcorrect.sizes import json_bytes
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.running import awaited

if TYPE_CHECKING:
    from selfcorrect.proxy.calls import Call

_ASK: Final = "elicitation/create"
_SELECT: Final = "select_strategy"


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
    answer: Frame | None = None
    try:
        answer = await awaited(begin, tool.timeout, tool.name)
        value = None if is_unfinished(answer) else value_of(answer, trusted=trusted)
    except (SelfCorrectError, TimeoutError) as why:
        return Ended(answer, why)
    return Ended(answer, value=value, is_fine=is_unfinished(answer) or not tool.is_error(value))


class _Asked(Exception):
    """The loop has a question for a person."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        self.question = question
        super().__init__("a person is asked")


class _Host(AsyncHost):
    """Executes through the relay; what was executed before is told again, and not done again."""

    def __init__(self, mending: Mending) -> None:
        self._mending = mending

    async def run_tool(
        self, tool: ToolSpec, args: Any, call_id: str | None, key: str | None = None
    ) -> Any:
        del call_id, key  # the relay has ids of its own
        return await self._mending.execute(tool, args)

    async def sleep(self, clock: Time, seconds: float) -> None:
        if self._mending.call.line.gone is None:
            await super().sleep(clock, seconds)


class Mending:
    """One call on its way through the loop.

    Args:
        call: The call, as the client wrote it.
        first: How it ended when it was passed on as it came, if it was.
    """

    def __init__(self, call: Call, first: list[Ended] | None = None) -> None:
        self.call = call
        self._known = first or []
        self._last: Frame | None = None
        self._made: dict[str, JSON] = {}
        self._executions = 0
        self._told: Any = None
        self._question: Question | None = None
        self._out: dict[str, Any] | None = None
        self._loop = self._tools.loop()
        self._walk = Walk(self._loop, self._given())
        self._context = self._started(self._loop)

    @property
    def _tools(self) -> Tools:
        return self.call.desk.tools

    def _given(self) -> dict[str, Any]:
        params, frame = self.call.frame.params, self.call.frame
        args = params.get("arguments")
        given = {"name": params.get("name"), "args": {} if args is None else args}
        # A number that becomes text keeps the spelling that it came in.
        written = frame.raw.decode("utf-8", "replace")
        return {"call": {**given, "id": str(frame.id)}, "written": written}

    def _started(self, loop: Loop, **more: Any) -> RunContext:
        asks = can_be_asked(self.call.capabilities)
        ask = self._person if asks else None
        limits = self._limits(loop.context)
        return loop.start(
            host=_Host(self), thread=self.call.desk.thread, ask_person=ask, limits=limits, **more
        )

    def _limits(self, context: RunContext) -> Limits:
        """The limits; a call that needs no mending may be as large as it is."""
        params = self.call.frame.params
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
                if not self._is_in_doubt(out):
                    return self._finished(out)
                self._question = again(str(self._walk.state["current"]["name"]))
            if (paused := await self._ask()) is not None:
                return paused

    async def resume(self, call: Call, given: Mapping[str, Any]) -> Frame:
        """Go on, with a person's answer that came with the same call made again."""
        self.call = call
        self._take(mapping(given.get(OURS)))
        return await self.run()

    async def execute(self, tool: ToolSpec, args: Mapping[str, JSON]) -> Any:
        """The tool's value out of what the server answers."""
        self._executions += 1
        self._last = None
        if self._known:
            known = self._known.pop(0)
        else:
            self._made = {"name": tool.name, "arguments": dict(args)}
            begin = partial(self.call.execute, tool.name, args)
            known = await ended(begin, tool, trusted=self._tools.policy.trust)
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
        if version_in(self.call.frame) is not None:
            return self._pause(question)
        line = self.call.line
        try:
            answer = await line.ask_client(request(line.own_id(), _ASK, question.params), self.call)
        except Disconnected:
            self._nobody()
            return None
        self._take(mapping(answer.data.get("result")))
        return None

    def _pause(self, question: Question) -> Frame:
        state = self.call.desk.pause(self)
        asked = {OURS: {"method": _ASK, "params": {"mode": "form", **question.params}}}
        told = {"resultType": "input_required", "inputRequests": asked, "requestState": state}
        return result(self.call.id, told)

    def _take(self, answer: Mapping[str, Any]) -> None:
        """Take what a person answered; an answer that is none means that nobody can be asked."""
        if self._question is None or "action" not in answer:
            self._nobody()
            return
        told = self._question.answer(answer)
        if self._out is None:
            self._told = told
        elif told is True:
            self._out, self._known = None, []
            self._walk = Walk(self._loop, self._given())
            self._context = self._started(self._loop, again=True)
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
        if failure or note.get("changes") or self._executions != 1:
            self._record(out)
        if failure:
            return self._failed(failure, note)
        last = out["trail"][-1]
        if last["node"] == "execute" and not last.get("replayed") and self._last is not None:
            return self._done(self._last.under(self.call.id), note)
        told = {**complete(self.call.frame), **answer_of(out.get("result")), "_meta": {OURS: note}}
        return result(self.call.id, told)

    def _done(self, answer: Frame, note: Mapping[str, JSON]) -> Frame:
        """The server's own answer."""
        told = mapping(answer.data.get("result"))
        if is_unfinished(answer):
            self.call.desk.keep_mended(told.get("requestState"), self._made)
        return noted(answer, note) if note.get("changes") or self._executions > 1 else answer

    def _failed(self, failure: Mapping[str, Any], note: Mapping[str, JSON]) -> Frame:
        text = str(failure.get("for_model") or "The call was not made.")
        id_, gone = self.call.id, self.call.line.gone
        if gone is not None:
            return error(id_, CLOSED, f"Connection closed: {gone}. {text}", {OURS: dict(note)})
        hidden = self._tools.policy.strategies.policy.tool_words == "hide"
        last = None if hidden else self._last
        if failure.get("value") is not None and last is not None:
            return last.under(id_)  # an error in the shape of a value: the tool's own words
        return failed(id_, text, note, last, complete(self.call.frame))

    def _record(self, out: Mapping[str, Any]) -> None:
        if (record := self.call.desk.record) is not None:
            params = self.call.frame.params
            given = {"name": params.get("name"), "args": params.get("arguments")}
            record({"title": str(params.get("name")), "input": {"call": given}, **out})
