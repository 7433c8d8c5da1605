"""`SelfCorrection`: the loop as a middleware of a LangChain agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final, NotRequired, Unpack, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.types import Command

from selfcorrect.errors import CorrectionFailed, GraphSetupError, MissingExtra, is_control_flow
from selfcorrect.hints import whole
from selfcorrect.integrations.chat import OURS, is_blank, note_of
from selfcorrect.integrations.mending import Mended, mended_calls
from selfcorrect.integrations.not_found import NotFound
from selfcorrect.integrations.spending import Over, Spending, not_made, over
from selfcorrect.integrations.text_calls import calls_in_text
from selfcorrect.integrations.tool_calls import AsyncHandler, Handler, Response, ToolCalls
from selfcorrect.integrations.toolbox import (
    DeclaredTools,
    Toolbox,
    Toolboxes,
)
from selfcorrect.integrations.turn import Counters, Turn, answer_to, with_calls
from selfcorrect.loop.context import AsyncHost, RunContext, SyncHost, run_sync
from selfcorrect.loop.options import OptionKeywords, Options
from selfcorrect.model import JSON, FailureReport
from selfcorrect.models.held import held_call
from selfcorrect.models.recovery import Answer
from selfcorrect.models.recovery import Turn as ModelTurn
from selfcorrect.models.transport import client_retries, wait_before
from selfcorrect.policies import (
    AgentBudget,
    EmptyResponsePolicy,
    ToolNotFoundPolicy,
)
from selfcorrect.policies.empty_responses import FEEDBACK
from selfcorrect.tools import tool_specs
from selfcorrect.tools.deadlines import in_time, late
from selfcorrect.tools.langchain import is_async_only

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
    from langchain.agents.middleware.types import (
        ExtendedModelResponse,
        ModelResponse,
        PrivateStateAttr,
    )
    from langgraph.prebuilt.tool_node import ToolCallRequest
except ImportError as error:
    raise MissingExtra("agent", "SelfCorrection") from error

_CHECKPOINTER: Final = "__pregel_checkpointer"
_UNREADABLE_CALL: Final = (
    "Your last message was a tool call that could not be read. Make the call again, with the exact "
    "name of a tool and its arguments as one JSON object."
)


class SelfCorrectionState(AgentState[Any]):
    """The agent's state, with what the middleware counts in this run."""

    selfcorrect: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class SelfCorrection(AgentMiddleware[Any, Any, Any]):
    """Mends the tool calls of an agent; asks its model again only where no rule can.

    Works first, last or between other middleware: calls are mended where the model is called, so
    that whoever approves, limits or runs them sees the mended ones. Needs the extra `agent`.

    Not the right tool for a graph of your own: see `SelfCorrectingToolNode` and `build_graph`.

    Args:
        tools: Declarations of the agent's tools, by their names: `ToolSpec`s, or LangChain tools
            whose metadata say it. Their effect, `verify`, `on_error` and `timeout` count; what runs
            is the agent's own tool. A sync tool that is late goes on, and may still act.
        tool_not_found: Decides about names that no tool has; None: the model is told.
        on_empty: Decides about empty messages; None: the model is asked once more, then the user
            is told.
        budget: Bounds of one run, from a user's message to the answer: turns, calls of tools, time,
            tokens. Where one is used up, `on_limit` decides; else the run ends, and says why.
        max_misses: Messages in a row with calls of which none can be made; one more ends the run.
        max_failed: Messages in a row of whose calls none succeeds; one more ends the run.
        read_text: Whether calls that the model writes in its text are made.
        ask_person: Whether a person may be asked, by an interrupt; needs a checkpointer.
        on_trail: Gets the record of every call that was not simply done, as plain JSON.
        options: What the loop is made of: `strategies`, `model`, `limits`, `policy`, `ledger`,
            `on_error`, `on_failure` and all others of `build_graph`, but for `checkpointer`.
            `on_model_error` also decides about the agent's own model: below it, dropped
            connections and busy servers are tried again, three times in all, unless the client
            does so itself (`max_retries`) or the answer is streamed.

    Raises:
        GraphSetupError: If a setting is unusable.
        MapError: If the error-strategy map is unusable.
    """

    state_schema = SelfCorrectionState

    def __init__(
        self,
        *,
        tools: DeclaredTools = (),
        tool_not_found: ToolNotFoundPolicy | None = None,
        on_empty: EmptyResponsePolicy | None = None,
        budget: AgentBudget | None = None,
        max_misses: int = 3,
        max_failed: int = 8,
        read_text: bool = True,
        ask_person: bool = False,
        on_trail: Callable[[Mapping[str, JSON]], None] | None = None,
        **options: Unpack[OptionKeywords],
    ) -> None:
        super().__init__()
        self.tools = ()
        chosen, declared = Options.of(options), tool_specs(tools)
        self._timeouts = {
            name: tool.timeout for name, tool in declared.items() if tool.timeout is not None
        }
        self._boxes = Toolboxes(chosen, declared)
        _check(max_misses, max_failed, on_trail, tool_not_found, on_empty, budget)
        self._calls = ToolCalls(
            chosen,
            self._boxes,
            ask_person=ask_person,
            on_trail=on_trail,
        )
        self._spending = Spending(budget, chosen.on_limit, chosen.hooks)
        self._on_model_error = chosen.on_model_error
        self._raises = chosen.on_failure == "raise"
        self._max_misses = max_misses
        self._max_failed = max_failed
        self._not_found = NotFound(tool_not_found)
        self._on_empty = on_empty
        self._read_text = read_text
        self._ask_person = ask_person
        self._on_trail = on_trail

    @property
    def name(self) -> str:
        """One name, whatever the subclass: two of them in one agent would mend twice."""
        return "SelfCorrection"

    def wrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Response:
        """Run the call; where it fails, correct it."""
        if request.tool is not None and is_async_only(request.tool):
            return handler(request)  # LangChain's own error says what to do
        return self._calls.call(request, self._in_time(handler))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncHandler) -> Response:
        """Run the call; where it fails, correct it."""
        return await self._calls.acall(request, self._ain_time(handler))

    def _in_time(self, handler: Handler) -> Handler:
        """The handler, which waits for a tool as long as was declared."""

        def timed(request: ToolCallRequest) -> Response:
            name = request.tool_call["name"]
            seconds = self._timeouts.get(name)
            if seconds is None:
                return handler(request)
            return cast("Response", in_time(partial(handler, request), seconds, name))

        return timed if self._timeouts else handler

    def _ain_time(self, handler: AsyncHandler) -> AsyncHandler:
        async def timed(request: ToolCallRequest) -> Response:
            name = request.tool_call["name"]
            limit = asyncio.timeout(self._timeouts.get(name))
            try:
                async with limit:
                    return await handler(request)
            except TimeoutError:
                if not limit.expired():
                    raise
                # A sync tool goes on in its thread, and nothing tells which kind this is.
                raise late(name, self._timeouts[name], goes_on=True) from None

        return timed if self._timeouts else handler

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> Any:
        """Call the model; mend its calls, or ask it again."""

        async def ask(asked: ModelRequest[Any]) -> Any:
            return handler(asked)

        return run_sync(self._turn(request, ask, is_async=False))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """Call the model; mend its calls, or ask it again."""
        return await self._turn(request, handler, is_async=True)

    async def _turn(
        self,
        request: ModelRequest[Any],
        ask: Callable[[ModelRequest[Any]], Awaitable[Any]],
        *,
        is_async: bool,
    ) -> Any:
        box = self._boxes.of(request.tools)
        configurable = _configurable()
        if self._ask_person and configurable.get(_CHECKPOINTER) is None:
            raise GraphSetupError(
                "SelfCorrection(ask_person=True) needs a checkpointer, which keeps the question: "
                "create_agent(…, checkpointer=InMemorySaver())"
            )
        turn = Turn(
            request=request,
            box=box,
            context=_context(box, configurable, is_async=is_async),
            stored=Counters.of(request.state, request.messages),
            has_checkpointer=configurable.get(_CHECKPOINTER) is not None,
            thread=str(configurable.get("thread_id")),
        )
        self._spending.begin(turn)
        while True:
            if (ending := self._ending(turn)) is not None:
                return _answered(turn, ModelResponse([ending]))
            if (spent := await self._spending.ask(turn)) is not None:
                return _answered(turn, self._over_budget(turn, spent))
            try:
                response = _as_response(await self._asked(turn, ask))
            except Exception as error:
                if is_control_flow(error) or (text := held_call(error)) is None:
                    raise
                await self._spending.answer(turn, [AIMessage(text)])
                done = await self._read_held(turn, text, error)
            else:
                await self._spending.answer(turn, response.result)
                done = await self._read(turn, response)
            if done is not None:
                return _answered(turn, done)

    async def _asked(self, turn: Turn, ask: Callable[[ModelRequest[Any]], Awaitable[Any]]) -> Any:
        """What the model answers: again where the connection failed, then as is decided.

        What was streamed is told already, and a client that retries needs nobody to retry it.
        """
        recovery, attempt = ModelTurn(self._on_model_error), 1
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
                        return _message_of(settled.value)
                    wait, attempt = settled, 1
            await turn.context.host.sleep(turn.context.time, wait)

    async def _read(self, turn: Turn, response: ModelResponse[Any]) -> ModelResponse[Any] | None:
        """The response to go on with, or None where the model is to be asked again."""
        place, message = _last_ai(response.result)
        if message is None:
            return response
        response_format = getattr(turn.request, "response_format", None)
        if message.tool_calls or message.invalid_tool_calls:
            settled = _settled(response.result, response_format)
            calls = await mended_calls(turn.box, message, turn.conversation, turn.context, settled)
            return await self._with_calls(turn, response, (place, message), calls, settled=settled)
        if response_format is not None or response.structured_response is not None:
            return response
        if is_blank(message):
            turn.counters = replace(turn.counters, blank=turn.counters.blank + 1)
            feedback = self._feedback_on_empty(turn.counters.blank)
            if feedback is None:
                return response
            turn.ask_for_an_answer(message, feedback)
            return None
        calls, words = (
            await calls_in_text(turn.box, message, turn.conversation, turn.context)
            if self._read_text
            else ([], "")
        )
        can_be_made = all(call.is_ready for call in calls)
        if calls and (can_be_made or not turn.counters.unread):
            unread = turn.counters.unread + (0 if can_be_made else 1)
            turn.counters = replace(turn.counters, unread=unread)
            return await self._with_calls(turn, response, (place, message), calls, words)
        turn.counters = replace(turn.counters, misses=0, failed=0, blank=0)
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
            whole = ModelResponse([message])
            return await self._with_calls(turn, whole, (0, message), calls, "")
        misses = turn.counters.misses + 1
        if misses > self._max_misses:
            raise error
        turn.counters = replace(turn.counters, misses=misses)
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
        ready = [call for call in calls if call.is_ready or self._is_asked_later(turn, call)]
        made = [call for call in ready if not settled & {call.written.given_id, call.written.name}]
        if (spent := await self._spending.make(turn, made)) is not None:
            unmade = [not_made(call, spent.why) if call in made else call for call in calls]
            content = words if isinstance(message.content, str) else None
            whole = _replaced(response, place, with_calls(message, unmade, content))
            return self._without_calls(turn, whole, unmade, spent)
        held = self._with_feedback(turn, calls, [call for call in calls if call not in ready])
        turn.missed = [call for call in held if not call.is_answer]
        misses = turn.counters.misses + 1 if turn.missed and not ready else 0
        turn.counters = replace(turn.counters, misses=misses, blank=0)
        if not held and words is None and not any(call.is_changed for call in calls):
            return response
        content = words if isinstance(message.content, str) else None
        if ready:
            new = with_calls(message, ready, content)
            if held:
                turn.hold(message.model_copy(update={"id": new.id}), held)
            return _replaced(response, place, new)
        new = with_calls(message, held)
        turn.refuse(response.result[:place], new, held)
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
            return ModelResponse(told, response.structured_response)
        turn.keep(told)
        return self._over_budget(turn, spent)

    def _over_budget(self, turn: Turn, spent: Over) -> ModelResponse[Any]:
        """What ends the run; or nothing, where a person is asked at the next turn's start."""
        if spent.is_asked and turn.kept:
            over(turn, spent.why)
            return ModelResponse([])
        turn.missed = []
        return ModelResponse([self._end(turn, "budget", f"the budget is used up, {spent.why}")])

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
        unknown, texts = self._not_found.decide(turn.run, before, names, offered, found=found)
        turn.counters = replace(turn.counters, unknown=unknown)
        told = {id(call): text for call, text in zip(missing, texts, strict=True)}
        return [
            replace(call, text=f"The call was not done. {told[id(call)]}")
            if id(call) in told
            else call
            for call in held
        ]

    def _feedback_on_empty(self, blank: int) -> str | None:
        """What the model is told after this many empty messages; None: it stands."""
        if self._on_empty is None:
            return FEEDBACK
        policy = self._on_empty.fresh()
        return [policy.handle() for _ in range(blank)][-1]

    def _is_asked_later(self, turn: Turn, call: Mended) -> bool:
        """Whether a person is asked about it when its turn to run has come."""
        return (
            self._ask_person
            and turn.has_checkpointer
            and (call.failure or {}).get("reason") == "needs_person"
            and isinstance(call.written.args, dict)
        )

    def _ending(self, turn: Turn) -> AIMessage | None:
        """What the user is told where the bounds of the run are reached."""
        counters = turn.counters
        if (terminal := _terminal(turn.request.messages)) is not None:
            return self._end(turn, "terminal_kind", terminal)
        if counters.misses > self._max_misses:
            return self._end(turn, "misses", f"{counters.misses} calls in a row could not be made")
        if counters.failed > self._max_failed:
            return self._end(turn, "failed", f"{counters.failed} rounds of calls in a row failed")
        if self._on_empty is None and counters.blank > 1:
            return self._end(turn, "blank", f"{counters.blank} answers in a row were empty")
        return None

    def _end(self, turn: Turn, what: str, detail: str) -> AIMessage:
        last = turn.missed[-1] if turn.missed else None
        text = f"I have to stop here: {detail}."
        if last is not None:
            text += f" The last one: {last.text}"
        if self._raises:
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
            if self._on_trail is not None:
                self._on_trail(record)
            if writer is not None:
                writer({OURS: record})


def _check(
    max_misses: Any,
    max_failed: Any,
    on_trail: Any,
    tool_not_found: Any,
    on_empty: Any,
    budget: Any,
) -> None:
    """Refuse settings that can never be meant.

    Raises:
        GraphSetupError: If there is one; it names the setting.
    """
    whole("SelfCorrection", "max_misses", max_misses)
    whole("SelfCorrection", "max_failed", max_failed)
    if budget is not None and not isinstance(budget, AgentBudget):
        raise GraphSetupError(f"SelfCorrection: budget must be AgentBudget(…), not {budget!r:.80}")
    if on_trail is not None and not callable(on_trail):
        raise GraphSetupError(f"SelfCorrection: on_trail must be callable, not {on_trail!r:.80}")
    for name, policy in (("tool_not_found", tool_not_found), ("on_empty", on_empty)):
        wanted = ("fresh", "handle")
        if policy is not None and not all(callable(getattr(policy, w, None)) for w in wanted):
            raise GraphSetupError(
                f"SelfCorrection: {name} must be a policy with fresh and handle, such as those of "
                f"selfcorrect.policies, not {policy!r:.80}"
            )


def _message_of(value: Any) -> AIMessage:
    """What `RespondWith` holds, as the model's answer.

    Raises:
        TypeError: If it is neither a message nor text.
    """
    if isinstance(value, AIMessage):
        return value
    if isinstance(value, str):
        return AIMessage(value)
    kind = type(value).__name__
    raise TypeError(f"on_model_error: an agent answers with an AIMessage or text, not {kind}")


def _is_streamed() -> bool:
    """Whether somebody reads the model's tokens while they come."""
    from langgraph.config import get_config

    try:
        callbacks = get_config().get("callbacks")
    except RuntimeError:  # called outside a graph
        return False
    handlers = callbacks if isinstance(callbacks, list) else getattr(callbacks, "handlers", ())
    return any(type(each).__name__.startswith("StreamMessages") for each in handlers)


def _terminal(messages: Sequence[BaseMessage]) -> str | None:
    """Why a call of the last message ended the run for good, if one did."""
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            return None
        note = note_of(message)
        if note.get("reason") == "terminal_kind":
            return f"{message.name}: {note.get('detail')}"
    return None


def _answered(turn: Turn, response: ModelResponse[Any]) -> Any:
    if turn.is_untouched:
        return response
    whole = ModelResponse([*turn.kept, *response.result], response.structured_response)
    return ExtendedModelResponse(whole, Command(update=turn.update()))


def _as_response(response: Any) -> ModelResponse[Any]:
    if isinstance(response, AIMessage):
        return ModelResponse([response])
    if isinstance(response, ExtendedModelResponse):
        return response.model_response
    found: ModelResponse[Any] = response
    return found


def _replaced(response: ModelResponse[Any], place: int, message: AIMessage) -> ModelResponse[Any]:
    result = [*response.result[:place], message, *response.result[place + 1 :]]
    return ModelResponse(result, response.structured_response)


def _last_ai(messages: Sequence[BaseMessage]) -> tuple[int, AIMessage | None]:
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, AIMessage):
            return place, message
    return -1, None


def _settled(messages: Sequence[BaseMessage], response_format: Any) -> frozenset[str]:
    """What is no call of a tool: ids that are answered already, names of structured answers."""
    ids = {each.tool_call_id for each in messages if isinstance(each, ToolMessage)}
    specs = getattr(response_format, "schema_specs", None) or ()
    names = {str(spec.name) for spec in specs}
    schema = getattr(response_format, "schema", None)
    if isinstance(name := getattr(schema, "__name__", None), str):
        names.add(name)
    return frozenset({*ids, *names})


def _configurable() -> Mapping[str, Any]:
    from langgraph.config import get_config

    try:
        return get_config().get("configurable") or {}
    except RuntimeError:  # called outside a graph
        return {}


def _context(box: Toolbox, configurable: Mapping[str, Any], *, is_async: bool) -> RunContext:
    changes: dict[str, Any] = {"host": AsyncHost() if is_async else SyncHost()}
    if isinstance(tenant := configurable.get("tenant"), str):
        changes["tenant"] = tenant
    return box.check.start(**changes)
