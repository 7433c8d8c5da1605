"""`SelfCorrection`: a LangChain middleware that carries every tool call through the loop."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, NotRequired, TypedDict, Unpack, cast

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
    hook_config,
)
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from selfcorrect.agents.agent_run import AgentRun, AskOnce, EmptyPolicy, NotFoundPolicy
from selfcorrect.agents.answers import (
    NO_ANSWER,
    PLACEHOLDER,
    answer_to,
    ends_agent,
    feedback_message,
    finish_reason,
    is_blank,
    last_request,
    last_turn,
    open_calls,
    unread_messages,
    with_arguments,
    with_readable_calls,
)
from selfcorrect.agents.tool_run import HostedLoops, ToolRun
from selfcorrect.errors import GraphSetupError, unknown_name
from selfcorrect.model import JsonDict
from selfcorrect.policies.unknown_tools import AutoCorrect
from selfcorrect.setup import Options, build_loop
from selfcorrect.walk import awalk, walk

RUN: Final = "selfcorrect_run"
_UNBOUNDED: Final = 1 << 30
"""Without a policy the model is told of a wrong name as often as it writes one."""
TURN: Final = "selfcorrect_turn"


class AgentOptions(Options, total=False):
    """What `SelfCorrection` takes: the options of `build_graph`, and these.

    Attributes:
        tool_not_found: Says what the model reads when it names a tool that does not exist, or
            raises; names that are near a tool's are repaired before.
        on_empty: Says what the model reads when its turn was blank, or raises; without it the
            model is asked once more.
        on_trail: Called after each call with `{"tool_call_id", "call", "executed", "trail"}`,
            and the `failure` where there is one.
        ask_person: Whether a question interrupts the agent; this needs a checkpointer.
    """

    tool_not_found: NotFoundPolicy | None
    on_empty: EmptyPolicy | None
    on_trail: Callable[[JsonDict], object] | None
    ask_person: bool


class Turn(TypedDict):
    """What is known of the calls of the model's last turn, by call id.

    Attributes:
        raw: The texts of malformed arguments.
        words: What the model reads about names that no tool has.
    """

    raw: dict[str, str]
    words: dict[str, str]


class SelfCorrectionState(AgentState[Any]):
    """The state of an agent with the private keys of the middleware."""

    selfcorrect_run: NotRequired[Annotated[AgentRun, UntrackedValue, PrivateStateAttr]]
    selfcorrect_turn: NotRequired[Annotated[Turn, PrivateStateAttr]]


class SelfCorrection(AgentMiddleware[SelfCorrectionState, Any, Any]):
    """Repairs the tool calls of an agent, and answers each of them exactly once.

    One instance serves any number of agents, threads and runs.

    Args:
        **options: See `AgentOptions`.

    Raises:
        GraphSetupError: If an option is unusable.
        MapError: If the map is unusable.

    >>> from langchain.agents import create_agent
    >>> from selfcorrect.testing import ScriptedModel, tool_call
    >>> def double(n: int) -> str:
    ...     '''Double a number.'''
    ...     return str(2 * n)
    >>> model = ScriptedModel([tool_call("duoble", N="21"), "It is 42."])
    >>> agent = create_agent(model, [double], middleware=[SelfCorrection()])
    >>> agent.invoke({"messages": [("user", "Double 21")]})["messages"][2].text
    '42'
    """

    state_schema = SelfCorrectionState

    def __init__(self, **options: Unpack[AgentOptions]) -> None:
        super().__init__()
        given: JsonDict = {**options}
        for name in given:
            if name not in AgentOptions.__annotations__:
                raise GraphSetupError(unknown_name("option", name, AgentOptions.__annotations__))
        self._not_found: NotFoundPolicy | None = given.pop("tool_not_found", None)
        self._on_empty: EmptyPolicy | None = given.pop("on_empty", None)
        self._on_trail = given.pop("on_trail", None)
        ask_person = bool(given.pop("ask_person", False))
        self._loops = HostedLoops(build_loop((), given), ask_person=ask_person)

    @hook_config(can_jump_to=["end"])
    def before_model(
        self,
        state: SelfCorrectionState,
        runtime: Runtime[Any],  # noqa: ARG002
    ) -> dict[str, Any] | None:
        """Begin the run of the agent, or end it where an answer is final."""
        messages = state["messages"]
        if ends_agent(messages, is_running=RUN in state):
            return {"jump_to": "end"}
        run = state.get(RUN) or self._new_run()
        texts = state[TURN]["raw"] if TURN in state else {}
        changed = [*with_arguments(messages, run.repaired), *unread_messages(messages, texts)]
        begun = {} if RUN in state else {RUN: run}
        return {**begun, "messages": changed} if changed else begun or None

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Take note of the tools that the model is offered."""
        _note_tools(request)
        return handler(request)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Like `wrap_model_call`."""
        _note_tools(request)
        return await handler(request)

    @hook_config(can_jump_to=["model"])
    def after_model(
        self,
        state: SelfCorrectionState,
        runtime: Runtime[Any],  # noqa: ARG002
    ) -> dict[str, Any] | None:
        """Make every call of the turn readable, and ask again after a blank turn."""
        turn, behind = last_turn(state["messages"])
        if turn is None:
            return None
        run = state.get(RUN) or self._new_run()
        if is_blank(turn):
            return self._after_blank(turn, run)
        run.empty.on_answer()
        readable, raw = with_readable_calls(turn)
        known = Turn(raw=raw, words=run.words_for(open_calls(readable, behind)))
        return {TURN: known} if readable is turn else {TURN: known, "messages": [readable]}

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Walk the loop with one call; return its one answer."""
        run = self._start(request, handler, is_async=False)
        if isinstance(run, ToolMessage):
            return run
        with run.hosted():
            run.out = walk(run.loop, run.given)
        return self._end(request, run)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Like `wrap_tool_call`."""
        run = self._start(request, handler, is_async=True)
        if isinstance(run, ToolMessage):
            return run
        with run.hosted():
            run.out = await awalk(run.loop, run.given)
        return self._end(request, run)

    def _new_run(self) -> AgentRun:
        not_found = (self._not_found or AutoCorrect(max_retries=_UNBOUNDED)).fresh()
        return AgentRun(not_found, (self._on_empty or AskOnce()).fresh())

    def _after_blank(self, turn: AIMessage, run: AgentRun) -> dict[str, Any] | None:
        feedback = run.empty.handle()
        if feedback is not None:
            asked = [_with_text(turn, PLACEHOLDER), feedback_message(feedback)]
            return {"messages": asked, "jump_to": "model", RUN: run}
        return None if self._on_empty else {"messages": [_with_text(turn, NO_ANSWER)]}

    def _start(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any], *, is_async: bool
    ) -> ToolRun | ToolMessage:
        """Return the run of a call, or the answer that the call has already."""
        state, call = request.state, request.tool_call
        turn, behind = last_turn(state["messages"])
        if (answer := answer_to(call["id"], behind)) is not None:
            return answer
        known: Turn = state.get(TURN) or Turn(raw={}, words={})
        run: AgentRun | None = state.get(RUN)
        call_id, message_id = call["id"] or "", turn.id if turn else None
        # Another middleware, or a person, may have given a malformed call its arguments already.
        args = call["args"] or known["raw"].get(call_id, {})
        thread = (request.runtime.config.get("configurable") or {}).get("thread_id")
        given = {
            "call": {"name": call["name"], "args": args, "id": call_id},
            "message_id": message_id,
            "request": last_request(state["messages"]),
            "messages": state["messages"],
            "finish_reason": finish_reason(turn) if turn else None,
            # What the ledger remembers belongs to the thread, else to this run of the agent.
            "task_id": str(thread or (run.id if run else message_id)),
        }
        loop = self._loops.loop_for(request, is_async=is_async)
        return ToolRun(loop, given, request, handler, known["words"].get(call_id))

    def _end(self, request: ToolCallRequest, run: ToolRun) -> ToolMessage | Command[Any]:
        if self._on_trail is not None:
            self._on_trail(run.record())
        call_id, agent_run = request.tool_call["id"] or "", request.state.get(RUN)
        if agent_run and "result" in run.out and isinstance(run.given["call"]["args"], str):
            agent_run.repaired[call_id] = run.call["args"]
        return cast("ToolMessage | Command[Any]", run.answer())


def _note_tools(request: ModelRequest[Any]) -> None:
    run = cast("AgentRun | None", request.state.get(RUN))
    if run is not None:
        structured = request.response_format
        if isinstance(structured, AutoStrategy):
            structured = ToolStrategy(structured.schema)
        offered = [*request.tools, *getattr(structured, "schema_specs", ())]
        run.tools = tuple(each.name for each in offered if not isinstance(each, dict))


def _with_text(message: AIMessage, text: str) -> AIMessage:
    return message.model_copy(update={"content": text})
