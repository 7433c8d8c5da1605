"""`SelfCorrection`: a LangChain middleware that carries every tool call through the loop."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, NotRequired, Unpack, cast

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
    hook_config,
)
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from selfcorrect.agents.agent_run import RUN, AgentRun
from selfcorrect.agents.answers import ends_agent, feedback_message
from selfcorrect.agents.ending import (
    MOST_REPEATS,
    REPEATED,
    count_repeats,
    may_end,
    object_to_repeats,
)
from selfcorrect.agents.model_call import check, prepare
from selfcorrect.agents.model_turn import (
    TURN,
    Turn,
    take_turn,
    unread_messages,
    with_made_calls,
)
from selfcorrect.agents.provider_error import response_in
from selfcorrect.agents.stream import tap_stream
from selfcorrect.agents.tool_call import arun_call, run_call
from selfcorrect.agents.tool_run import HostedLoops
from selfcorrect.errors import GraphSetupError, unknown_name
from selfcorrect.model import JsonDict
from selfcorrect.policies.empty_answers import EmptyAnswerPolicy
from selfcorrect.policies.unknown_tools import AutoCorrect, ToolNotFoundPolicy
from selfcorrect.setup import Options

_UNBOUNDED: Final = 1 << 30
"""Without a policy the model is told of a wrong name as often as it writes one."""


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

    tool_not_found: ToolNotFoundPolicy | None
    on_empty: EmptyAnswerPolicy | None
    on_trail: Callable[[JsonDict], object] | None
    ask_person: bool


class SelfCorrectionState(AgentState[Any]):
    """The state of an agent with the private keys of the middleware."""

    selfcorrect_run: NotRequired[Annotated[AgentRun, UntrackedValue, PrivateStateAttr]]
    selfcorrect_turn: NotRequired[Annotated[Turn, PrivateStateAttr]]


class SelfCorrection(AgentMiddleware[SelfCorrectionState, Any, Any]):
    """Repairs the tool calls of an agent, and answers each of them exactly once.

    The model is asked with a thread that every provider accepts. A run that would end against its
    evidence goes back to the model, once for each reason; one in which the model makes the same
    calls with the same answers eight times in a row is ended.

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
        self._not_found: ToolNotFoundPolicy | None = given.pop("tool_not_found", None)
        self._on_empty: EmptyAnswerPolicy | None = given.pop("on_empty", None)
        ask_person, on_trail = given.pop("ask_person", False), given.pop("on_trail", None)
        shared = cast("Options", given)
        self._loops = HostedLoops(shared, ask_person=ask_person, on_trail=on_trail)

    @hook_config(can_jump_to=["end"])
    def before_model(
        self,
        state: SelfCorrectionState,
        runtime: Runtime[Any],  # noqa: ARG002
    ) -> dict[str, Any] | None:
        """Begin a run; show calls as they were made; end the agent where that is due."""
        messages = state["messages"]
        if ends_agent(messages, is_running=RUN in state):
            return {"jump_to": "end"}
        run = state.get(RUN) or self._new_run()
        update: dict[str, Any] = {} if RUN in state else {RUN: run}
        starts = state[TURN]["starts"] if TURN in state else {}
        changed = [*with_made_calls(messages, run.made), *unread_messages(messages, starts)]
        if (count := count_repeats(messages)) >= MOST_REPEATS:
            objection = object_to_repeats(count)
            if run.may_ask(objection):
                changed.append(feedback_message(objection.text))
            elif count >= MOST_REPEATS + 3:
                changed.append(AIMessage(REPEATED.format(count)))
                update["jump_to"] = "end"
        return {**update, "messages": changed} if changed else update or None

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Ask with a valid thread; read streamed calls from their pieces."""
        with tap_stream() as tap:
            try:
                response = handler(prepare(request))
            except Exception as error:
                response = response_in(error, request)
        return check(request, response, tap)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Like `wrap_model_call`."""
        with tap_stream() as tap:
            try:
                response = await handler(prepare(request))
            except Exception as error:
                response = response_in(error, request)
        return check(request, response, tap)

    @hook_config(can_jump_to=["model"])
    def after_model(
        self,
        state: SelfCorrectionState,
        runtime: Runtime[Any],  # noqa: ARG002
    ) -> dict[str, Any] | None:
        """Make every call of the turn readable, and ask again where the run may not end."""
        run = state.get(RUN) or self._new_run()
        update = take_turn(state["messages"], run, self._loops)
        # A run that was resumed has to outlast the jump to the model.
        return {**update, RUN: run} if update and "jump_to" in update else update

    @hook_config(can_jump_to=["model"])
    def after_agent(
        self,
        state: SelfCorrectionState,
        runtime: Runtime[Any],  # noqa: ARG002
    ) -> dict[str, Any] | None:
        """Show calls as they were made, and ask again where the run ended with a failed call."""
        messages, run = state["messages"], state.get(RUN)
        last = messages[-1]
        if run is None or not isinstance(last, ToolMessage):
            return None
        # Where a tool's answer is the agent's, LangChain ends with it even if it is an error.
        is_direct = any(tool.return_direct for tool in run.offered if tool.name == last.name)
        objection = may_end(messages) if is_direct else None
        is_over = ends_agent(messages, is_running=True)
        if objection is not None and not is_over and run.may_ask(objection):
            return {"jump_to": "model", RUN: run}
        changed = with_made_calls(messages, run.made)
        return {"messages": changed} if changed else None

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """Walk the loop with one call; return its one answer."""
        answer = run_call(request, handler, self._loops, request.state)
        return cast("ToolMessage | Command[Any]", answer)

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Like `wrap_tool_call`."""
        answer = await arun_call(request, handler, self._loops, request.state)
        return cast("ToolMessage | Command[Any]", answer)

    def _new_run(self) -> AgentRun:
        not_found = (self._not_found or AutoCorrect(max_retries=_UNBOUNDED)).fresh()
        return AgentRun(not_found, self._on_empty.fresh() if self._on_empty else None)
