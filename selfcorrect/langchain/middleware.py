"""`SelfCorrection`: a LangChain middleware that carries every tool call through the loop."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict
from typing import Annotated, Any, NotRequired, Unpack, cast

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    PrivateStateAttr,
)
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.prebuilt.tool_node import ToolCallRequest

from selfcorrect.context import run_sync
from selfcorrect.langchain.agent_run import RUN, AgentRun
from selfcorrect.langchain.budget import SPENT, Account
from selfcorrect.langchain.ending import is_word_of_user
from selfcorrect.langchain.host import Host, HostOptions
from selfcorrect.langchain.model_call import Ask
from selfcorrect.langchain.model_turn import take_turn
from selfcorrect.langchain.tool_call import Handler, run_call
from selfcorrect.model import JsonDict
from selfcorrect.policies.agent import (
    AgentBudget,
    AutoCorrect,
    EmptyAnswerPolicy,
    LimitDecision,
    ToolNotFoundPolicy,
)
from selfcorrect.setup import Options, show_options

_UNBOUNDED = 1 << 30
"""Without a policy the model is told of a wrong name as often as it writes one."""


class AgentOptions(Options, HostOptions, total=False):
    """What `SelfCorrection` takes: the options of `build_graph`, and these.

    Attributes:
        tool_not_found: Says what the model reads when it names a tool that does not exist, or
            raises; names that are near a tool's are repaired before.
        on_empty: Says what the model reads when its turn was blank, or raises; without it the
            model is asked once more.
        budget: What a run may cost; without it a run has no such bounds.
        on_limit: Decides what happens at a bound: gets `{"limit", "used", "bound", "detail"}`, and
            returns `Stop()`, `Extend(...)` or `Checkpoint()`.
    """

    tool_not_found: ToolNotFoundPolicy | None
    on_empty: EmptyAnswerPolicy | None
    budget: AgentBudget | None
    on_limit: Callable[[JsonDict], LimitDecision] | None


class SelfCorrectionState(AgentState[Any]):
    """The state of an agent with the private keys of the middleware."""

    selfcorrect_run: NotRequired[Annotated[AgentRun, UntrackedValue, PrivateStateAttr]]
    selfcorrect_starts: NotRequired[Annotated[JsonDict, PrivateStateAttr]]
    selfcorrect_spent: NotRequired[Annotated[JsonDict, PrivateStateAttr]]


class SelfCorrection(AgentMiddleware[SelfCorrectionState, Any, Any]):
    """Repairs the tool calls of an agent, and answers each of them exactly once.

    Calls are repaired in the model's turn, before any other middleware sees them. Behind it a tool
    that acts runs only with what was shown, or with what a person has answered; a tool that only
    reads is repaired from its errors too.

    The model is asked with a thread that every provider accepts. A run that would end against its
    evidence goes back to the model, once for each reason; one in which the model makes the same
    calls with the same answers eight times in a row, or in which all calls of sixteen turns fail,
    is ended.

    One instance serves any number of agents, threads and runs.

    Args:
        **options: See `AgentOptions` for `tool_not_found`, `on_empty`, `budget`, `on_limit`,
            `on_trail`, `ask_person`, `effects` and `scope`, and `Options` for all others:
            `strategies`, `model`, `limits`, `policy`, `ledger`, `on_error`, `on_model_error`,
            `on_failure`, `hooks`, `tool_words`, and those that change the graph.

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

    @show_options(AgentOptions)
    def __init__(self, **options: Unpack[AgentOptions]) -> None:
        super().__init__()
        self._host = Host(options, AgentOptions, shows=True)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Ask
    ) -> ExtendedModelResponse[Any]:
        """Ask until the turn may stand; return it with its calls readable and repaired."""
        run = self._run_of(request)
        return run_sync(take_turn(request, handler, run, self._host, is_async=False))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Ask
    ) -> ExtendedModelResponse[Any]:
        """Like `wrap_model_call`."""
        return await take_turn(request, handler, self._run_of(request), self._host, is_async=True)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Any:
        """Walk the loop with one call; return its one answer."""
        return run_sync(run_call(request, handler, self._host, request.state, is_async=False))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Any:
        """Like `wrap_tool_call`."""
        return await run_call(request, handler, self._host, request.state, is_async=True)

    def _run_of(self, request: ModelRequest[Any]) -> AgentRun:
        if (run := request.state.get(RUN)) is not None:
            return cast("AgentRun", run)
        options = self._host.options
        not_found = options.get("tool_not_found") or AutoCorrect(max_retries=_UNBOUNDED)
        empty = options.get("on_empty")
        last = request.state["messages"][-1]
        run = AgentRun(not_found.fresh(), empty and empty.fresh(), last.id)
        # Another middleware may ask for this turn several times.
        request.state[RUN] = run  # type: ignore[literal-required]
        if (budget := options.get("budget")) is not None:
            spent: Any = None if is_word_of_user(last) else request.state.get(SPENT)
            account: JsonDict = deepcopy({"bounds": asdict(budget), **(spent or {})})
            on_limit, hooks = options.get("on_limit"), options.get("hooks")
            run.account = Account(on_limit=on_limit, hooks=hooks, **account)
        return run
