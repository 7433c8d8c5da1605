"""The turns of an agent's model: what is asked, what is mended, and when the run ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from langchain_core.messages import AIMessage

from selfcorrect.errors import CorrectionFailed, GraphSetupError, is_control_flow
from selfcorrect.forms.langchain import has_broken_copy
from selfcorrect.integrations.chat import OURS, is_blank, note_of, request_of
from selfcorrect.integrations.mending import Mended, mended_calls
from selfcorrect.integrations.not_found import NotFound
from selfcorrect.integrations.pausing import running_config
from selfcorrect.integrations.spending import Over, Spending, not_made, over
from selfcorrect.integrations.text_calls import calls_in_text
from selfcorrect.integrations.toolbox import Toolbox, Toolboxes
from selfcorrect.integrations.turn import (
    Counters,
    Turn,
    answer_to,
    as_response,
    last_ai,
    message_of,
    replaced,
    response_of,
    settled_in,
    with_calls,
)
from selfcorrect.kernel.texts import quoted
from selfcorrect.loop.context import AsyncHost, RunContext, SyncHost
from selfcorrect.loop.options import Options
from selfcorrect.loop.watching import call_hook
from selfcorrect.model import JSON
from selfcorrect.models.held import held_call
from selfcorrect.models.recovery import Answer
from selfcorrect.models.recovery import Turn as ModelTurn
from selfcorrect.models.transport import client_retries, wait_before
from selfcorrect.policies import AgentBudget, EmptyResponsePolicy
from selfcorrect.policies.empty_responses import FEEDBACK
from selfcorrect.report import FailureReport

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest, ModelResponse

_CHECKPOINTER: Final = "__pregel_checkpointer"
_LONGEST: Final = 300
_UNREADABLE_CALL: Final = (
    "Your last message was a tool call that could not be read. Make the call again, with the exact "
    "name of a tool and its arguments as one JSON object."
)


@dataclass(slots=True, kw_only=True)
class TurnLoop:
    """The turns of one agent's model: asks it, mends its calls, asks again where that is due.

    Attributes:
        options: What the loop is made of.
        boxes: The tools that are offered.
        budget: Bounds of one run.
        not_found: Decides about names that no tool has.
        on_empty: Decides about empty messages.
        max_misses: Messages in a row with calls of which none can be made.
        max_failed: Messages in a row of whose calls none succeeds.
        read_text: Whether calls that the model writes in its text are made.
        ask_person: Whether a person may be asked, by an interrupt.
        on_trail: Gets the record of every call that was changed.
    """

    options: Options
    boxes: Toolboxes
    budget: AgentBudget | None
    not_found: NotFound
    on_empty: EmptyResponsePolicy | None
    max_misses: int
    max_failed: int
    read_text: bool
    ask_person: bool
    on_trail: Callable[[Mapping[str, JSON]], None] | None
    _spending: Spending = field(init=False)

    def __post_init__(self) -> None:
        self._spending = Spending(self.budget, self.options.on_limit, self.options.hooks)

    async def turn(
        self,
        request: ModelRequest[Any],
        ask: Callable[[ModelRequest[Any]], Awaitable[Any]],
        *,
        is_async: bool,
    ) -> Any:
        """Answer one request of the agent for its model.

        Raises:
            GraphSetupError: If a person may be asked and nothing keeps the question.
        """
        box = self.boxes.of(request.tools)
        configurable = running_config().get("configurable") or {}
        if self.ask_person and configurable.get(_CHECKPOINTER) is None:
            raise GraphSetupError(
                "SelfCorrection(ask_person=True) needs a checkpointer, which keeps the question: "
                "create_agent(…, checkpointer=InMemorySaver())"
            )
        turn = Turn(
            request=request,
            box=box,
            context=_context(box, configurable, is_async=is_async, asks=self.ask_person),
            stored=Counters.of(request.state, request.messages),
            has_checkpointer=configurable.get(_CHECKPOINTER) is not None,
            thread=str(configurable.get("thread_id")),
        )
        self._spending.begin(turn)
        while True:
            if (ending := self._ending(turn)) is not None:
                return turn.response(response_of([ending]))
            if (spent := await self._spending.ask(turn)) is not None:
                return turn.response(self._over_budget(turn, spent))
            try:
                response = as_response(await self._asked(turn, ask))
            except Exception as error:
                if is_control_flow(error) or (text := held_call(error)) is None:
                    raise
                await self._spending.answer(turn, [AIMessage(text)])
                done = await self._read_held(turn, text, error)
            else:
                await self._spending.answer(turn, response.result)
                done = await self._read(turn, response)
            if done is not None:
                return turn.response(done)

    async def _asked(self, turn: Turn, ask: Callable[[ModelRequest[Any]], Awaitable[Any]]) -> Any:
        """What the model answers: again where the connection failed, then as is decided.

        What was streamed is told already, and a client that retries needs nobody to retry it.
        """
        recovery, attempt = ModelTurn(self.options.on_model_error), 1
        is_left_alone = _is_streamed() or client_retries(turn.request.model)
        while True:
            turn.is_new = False
            try:
                return await ask(turn.asked())
            except Exception as error:
                if is_control_flow(error) or held_call(error) is not None:
                    raise
                wait = None if is_left_alone else wait_before(error, attempt)
                attempt += 1
                if wait is None:
                    settled = recovery.after(error)
                    if isinstance(settled, Answer):
                        return message_of(settled.value)
                    wait, attempt = settled, 1
            await turn.context.host.sleep(turn.context.time, wait)

    async def _read(self, turn: Turn, response: ModelResponse[Any]) -> ModelResponse[Any] | None:
        """The response to go on with, or None where the model is to be asked again."""
        place, message = last_ai(response.result)
        if message is None:
            return response
        response_format = getattr(turn.request, "response_format", None)
        if message.tool_calls or message.invalid_tool_calls:
            settled = settled_in(response.result, response_format)
            calls = await mended_calls(turn.box, message, turn.conversation, turn.context, settled)
            return await self._with_calls(turn, response, (place, message), calls, settled=settled)
        if response_format is not None or response.structured_response is not None:
            return response
        if is_blank(message):
            turn.count(blank=turn.counters.blank + 1)
            feedback = self._feedback_on_empty(turn.counters.blank)
            if feedback is None:
                return response
            turn.ask_for_an_answer(message, feedback)
            return None
        calls, words = (
            await calls_in_text(turn.box, message, turn.conversation, turn.context)
            if self.read_text
            else ([], "")
        )
        can_be_made = all(call.is_ready for call in calls)
        if calls and (can_be_made or not turn.counters.unread):
            unread = turn.counters.unread + (0 if can_be_made else 1)
            turn.count(unread=unread)
            return await self._with_calls(turn, response, (place, message), calls, words)
        turn.count(misses=0, failed=0, blank=0)
        return response

    async def _read_held(
        self, turn: Turn, text: str, error: Exception
    ) -> ModelResponse[Any] | None:
        """The response with the calls that the provider could not read; None: ask again.

        Raises:
            Exception: `error` itself, where the model has been asked often enough.
        """
        message = AIMessage(text, id=f"selfcorrect-{uuid4()}")
        calls, _ = await calls_in_text(turn.box, message, turn.conversation, turn.context)
        if calls:
            whole = response_of([message])
            return await self._with_calls(turn, whole, (0, message), calls, "")
        misses = turn.counters.misses + 1
        if misses > self.max_misses:
            raise error
        turn.count(misses=misses)
        turn.ask_for_an_answer(message, _UNREADABLE_CALL)
        return None

    async def _with_calls(
        self,
        turn: Turn,
        response: ModelResponse[Any],
        written: tuple[int, AIMessage],
        calls: list[Mended],
        words: str | None = None,
        settled: frozenset[str] = frozenset(),
    ) -> ModelResponse[Any] | None:
        self._tell(turn, calls)
        self._spending.mended(turn, calls)
        place, message = written
        content = words if isinstance(message.content, str) else None
        ready = [call for call in calls if call.is_ready or self._is_asked_later(call)]
        made = [call for call in ready if not settled & {call.written.given_id, call.written.name}]
        if (spent := await self._spending.make(turn, made)) is not None:
            unmade = [not_made(call, spent.why) if call in made else call for call in calls]
            whole = replaced(response, place, with_calls(message, unmade, content))
            return self._without_calls(turn, whole, unmade, spent)
        left = [call for call in calls if call not in ready]
        if (hooks := self.options.hooks) is not None and hooks.on_error is not None:
            for call in filter(lambda each: each.failure, left):
                await call_hook(turn.context, hooks.on_error, call.written.name, call.failure)
        held = self._with_feedback(turn, calls, left)
        turn.missed = [call for call in held if not call.is_answer]
        misses = turn.counters.misses + 1 if turn.missed and not ready else 0
        turn.count(misses=misses, blank=0)
        unchanged = not held and words is None and not any(call.is_changed for call in calls)
        if unchanged and not has_broken_copy(message):
            return response
        if ready:
            new = with_calls(message, ready, content)
            if held:
                turn.hold(message.model_copy(update={"id": new.id}), held)
            return replaced(response, place, new)
        new = with_calls(message, held)
        turn.keep([*response.result[:place], new, *map(answer_to, held)])
        return None

    def _without_calls(
        self,
        turn: Turn,
        response: ModelResponse[Any],
        calls: Sequence[Mended],
        spent: Over,
    ) -> ModelResponse[Any]:
        """The message with every call of a tool answered, and none made: there is no room."""
        told = [*response.result, *(answer_to(call) for call in calls if not call.is_ready)]
        if response.structured_response is not None:
            return response_of(told, response.structured_response)
        turn.keep(told)
        return self._over_budget(turn, spent)

    def _over_budget(self, turn: Turn, spent: Over) -> ModelResponse[Any]:
        """What ends the run; or nothing, where a person is asked at the next turn's start."""
        if spent.is_asked and turn.kept:
            over(turn, spent.why)
            return response_of([])
        turn.missed = []
        return response_of([self._end(turn, "budget", f"the budget is used up, {spent.why}")])

    def _with_feedback(
        self, turn: Turn, calls: Sequence[Mended], held: list[Mended]
    ) -> list[Mended]:
        """The calls that are not made, those of unknown tools with the policy's words.

        Raises:
            ToolNotFoundError: If the policy says so.
        """
        missing = [call for call in held if call.is_unknown]
        found = any(call.call["name"] in turn.box.specs for call in calls if call not in missing)
        names = [call.written.name for call in missing]
        before, offered = turn.counters.unknown, list(turn.box.specs)
        unknown, texts = self.not_found.decide(turn.run, before, names, offered, found=found)
        turn.count(unknown=unknown)
        told = iter(texts)
        return [
            replace(call, text=f"The call was not done. {next(told)}") if call.is_unknown else call
            for call in held
        ]

    def _feedback_on_empty(self, blank: int) -> str | None:
        """What the model is told after this many empty messages; None: it stands."""
        if self.on_empty is None:
            return FEEDBACK
        policy = self.on_empty.fresh()
        return [policy.handle() for _ in range(blank)][-1]

    def _is_asked_later(self, call: Mended) -> bool:
        """Whether a person is asked about it when its turn to run has come."""
        return (
            self.ask_person
            and (call.failure or {}).get("reason") == "needs_person"
            and isinstance(call.written.args, dict)
        )

    def _ending(self, turn: Turn) -> AIMessage | None:
        """What the user is told where the bounds of the run are reached."""
        counters = turn.counters
        if (terminal := _terminal(turn)) is not None:
            return self._end(turn, "terminal_kind", terminal)
        if counters.misses > self.max_misses:
            return self._end(turn, "misses", f"{counters.misses} calls in a row could not be made")
        if counters.failed > self.max_failed:
            return self._end(turn, "failed", f"{counters.failed} rounds of calls in a row failed")
        if self.on_empty is None and counters.blank > 1:
            return self._end(turn, "blank", f"{counters.blank} answers in a row were empty")
        return None

    def _end(self, turn: Turn, what: str, detail: str) -> AIMessage:
        last = turn.missed[-1] if turn.missed else None
        text = f"I have to stop here: {detail}."
        if last is not None:
            text += f" The last one: {last.text}"
        if self.options.on_failure == "raise":
            if last is not None and last.failure:
                report = FailureReport.from_state({"failure": last.failure})
                if report is not None:
                    report.raise_()
            raise CorrectionFailed(text)
        reason = what if what == "terminal_kind" else "limit_reached"
        return AIMessage(text, response_metadata={OURS: {"reason": reason, "what": what}})

    def _tell(self, turn: Turn, calls: Sequence[Mended]) -> None:
        writer = getattr(getattr(turn.request, "runtime", None), "stream_writer", None)
        for call in calls:
            if not call.note:
                continue
            record = {"tool_call_id": call.call["id"], "call": call.call, **call.note}
            if self.on_trail is not None:
                asked = request_of(turn.conversation.messages)
                self.on_trail(record | ({"request": asked} if asked else {}))
            if writer is not None:
                writer({OURS: record})


def _is_streamed() -> bool:
    """Whether somebody reads the model's tokens while they come."""
    callbacks = running_config().get("callbacks")
    handlers = callbacks if isinstance(callbacks, list) else getattr(callbacks, "handlers", ())
    return any(type(each).__name__.startswith("StreamMessages") for each in handlers)


def _terminal(turn: Turn) -> str | None:
    """Why one of the last calls ended the run for good, if one did, and what its tool said."""
    for message in turn.answers:
        note = note_of(message)
        if note.get("reason") == "terminal_kind":
            said = str(note.get("said") or "") if turn.context.tool_words == "show" else ""
            why = f"{message.name}: {note.get('detail')}"
            return f"{why}; it said {quoted(said, _LONGEST)}" if said else why
    return None


def _context(
    box: Toolbox, configurable: Mapping[str, Any], *, is_async: bool, asks: bool
) -> RunContext:
    host = AsyncHost() if is_async else SyncHost()
    changes: dict[str, Any] = {"host": host, "asked_later": asks}
    if isinstance(tenant := configurable.get("tenant"), str):
        changes["tenant"] = tenant
    return box.check.start(**changes)
