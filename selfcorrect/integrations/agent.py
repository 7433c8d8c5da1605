"""`SelfCorrection`: the loop as a middleware of a LangChain agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated, Any, NotRequired, Unpack

from selfcorrect.errors import GraphSetupError, MissingExtra
from selfcorrect.hints import switch, whole
from selfcorrect.integrations.handled import AsyncHandler, Handler, Response
from selfcorrect.integrations.not_found import NotFound
from selfcorrect.integrations.tool_calls import ToolCalls
from selfcorrect.integrations.toolbox import DeclaredTools, Toolboxes
from selfcorrect.integrations.turn_loop import TurnLoop
from selfcorrect.loop.context import run_sync
from selfcorrect.loop.options import OptionKeywords, Options
from selfcorrect.model import JSON
from selfcorrect.policies import AgentBudget, EmptyResponsePolicy, ToolNotFoundPolicy
from selfcorrect.tools import tool_specs
from selfcorrect.tools.running import awaited, called

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
    from langchain.agents.middleware.types import PrivateStateAttr
    from langgraph.prebuilt.tool_node import ToolCallRequest
except ImportError as error:
    raise MissingExtra("agent", "SelfCorrection") from error


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
        on_trail: Gets the record of every call, those that were simply done too, as plain JSON.
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
        boxes = Toolboxes(chosen, declared)
        whole("SelfCorrection", "max_misses", max_misses)
        whole("SelfCorrection", "max_failed", max_failed)
        if not isinstance(budget, AgentBudget | None):
            raise _wrong("budget must be AgentBudget(…)", budget)
        if on_trail is not None and not callable(on_trail):
            raise _wrong("on_trail must be callable", on_trail)
        for name, policy in (("tool_not_found", tool_not_found), ("on_empty", on_empty)):
            wanted = (getattr(policy, each, None) for each in ("fresh", "handle"))
            if policy is not None and not all(map(callable, wanted)):
                of = "a policy with fresh and handle, such as those of selfcorrect.policies"
                raise _wrong(f"{name} must be {of}", policy)
        switch("SelfCorrection", "ask_person", ask_person)
        switch("SelfCorrection", "read_text", read_text)
        self._calls = ToolCalls(chosen, boxes, ask_person=ask_person, on_trail=on_trail)
        self._turns = TurnLoop(
            options=chosen,
            boxes=boxes,
            budget=budget,
            not_found=NotFound(tool_not_found),
            on_empty=on_empty,
            max_misses=max_misses,
            max_failed=max_failed,
            read_text=read_text,
            ask_person=ask_person,
            on_trail=on_trail,
        )

    @property
    def name(self) -> str:
        """One name, whatever the subclass: two of them in one agent would mend twice."""
        return "SelfCorrection"

    def wrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Response:
        """Run the call; where it fails, correct it."""
        return self._calls.call(request, self._in_time(handler))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncHandler) -> Response:
        """Run the call; where it fails, correct it."""
        return await self._calls.acall(request, self._ain_time(handler))

    def _in_time(self, handler: Handler) -> Handler:
        """The handler, which waits for a tool as long as was declared."""

        def timed(request: ToolCallRequest) -> Response:
            name = request.tool_call["name"]
            return called(partial(handler, request), self._timeouts.get(name), name)

        return timed if self._timeouts else handler

    def _ain_time(self, handler: AsyncHandler) -> AsyncHandler:
        async def timed(request: ToolCallRequest) -> Response:
            name = request.tool_call["name"]
            # A sync tool goes on in its thread, and nothing tells which kind this is.
            begin = partial(handler, request)
            return await awaited(begin, self._timeouts.get(name), name, goes_on=True)

        return timed if self._timeouts else handler

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> Any:
        """Call the model; mend its calls, or ask it again."""

        async def ask(asked: ModelRequest[Any]) -> Any:
            return handler(asked)

        return run_sync(self._turns.turn(request, ask, is_async=False))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        """Call the model; mend its calls, or ask it again."""
        return await self._turns.turn(request, handler, is_async=True)


def _wrong(what: str, given: object) -> GraphSetupError:
    return GraphSetupError(f"SelfCorrection: {what}, not {given!r:.80}")
