"""What a tool answered: one call of a turn, from the thread into the loop and back."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from selfcorrect.agents.agent_run import RUN, AgentRun
from selfcorrect.agents.answers import ACCOUNT, last_turn, own_message
from selfcorrect.agents.ending import may_end, why_over
from selfcorrect.agents.hosted_loops import HostedLoops, tools_of
from selfcorrect.agents.text_calls import UNREAD
from selfcorrect.agents.thread import answer_to
from selfcorrect.agents.tool_run import ToolRun
from selfcorrect.agents.turn import TURN, Turn, beside_calls
from selfcorrect.graph import AGAIN
from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.walk import walk_hosted


async def run_call(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Any],
    loops: HostedLoops,
    state: JsonObject,
    *,
    is_async: bool,
) -> Any:
    """Walk the loop with one call; return its one answer.

    Args:
        request: The call.
        handler: LangChain's own, which runs the tool.
        loops: The loops of the host.
        state: What the host knows around the call: `messages`, in which each call of the last
            turn has an id of its own; where it knows them, `TURN` and `RUN`.
        is_async: Whether the host is async; if not, nothing is awaited.
    """
    if (answer := answer_to(request.tool_call["id"], state["messages"])) is not None:
        return answer
    run = _start(request, handler, loops, state, is_async=is_async)
    with run.hosted():
        graph, config = loops.graph_for(request, run.loop), request.runtime.config
        if graph is None:
            run.out = await walk_hosted(run.loop, run.given)
        elif is_async:
            run.out = await graph.ainvoke(run.given, config)
        else:
            run.out = graph.invoke(run.given, config)
    return _end(run, loops, state)


def _start(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Any],
    loops: HostedLoops,
    state: JsonObject,
    *,
    is_async: bool,
) -> ToolRun:
    """Return the run of a call that has no answer yet."""
    call, messages = request.tool_call, state["messages"]
    turn, behind = last_turn(messages)
    known: Turn | None = state.get(TURN)
    if known is None or turn is None or known["message"] != turn.id:
        # Nothing is known, or of another message.
        known = Turn(message=None, starts={}, words={})
    call_id = call["id"] or ""
    shown = {"name": call["name"], "args": call["args"]}
    start: JsonDict = {"call": {**shown, "id": call_id}}
    # Another middleware, or a person, may have edited the call already.
    written = known["starts"].get(call_id)
    if written and written["shown"] == shown:
        start = written["given"]
    elif turn and not call["args"] and call_id in turn.additional_kwargs.get(UNREAD, ()):
        # Somebody has lost what is known of the call: it must not run with its defaults.
        start["call"]["args"] = "(unreadable)"
    loop = loops.loop_with(tools_of(request), is_async=is_async)
    if request.runtime.config.get("configurable", {}).get(AGAIN):
        loop = replace(loop, context=replace(loop.context, again=True))
    agent_run: AgentRun | None = state.get(RUN)
    tool = loop.context.tools.get(call["name"])
    scope = loops.scope_of(
        request, agent_run.id if agent_run else None, acts=tool is not None and tool.acts
    )
    given = {
        **start,
        **beside_calls(turn, messages),
        # Where messages have no ids, the same call in a later message is another one.
        "message_id": turn.id if turn and turn.id else f"#{len(messages) - len(behind)}",
        "task_id": scope,
    }
    return ToolRun(request, handler, loop, given, known["words"].get(call_id))


def _end(run: ToolRun, loops: HostedLoops, state: JsonObject) -> Any:
    if loops.on_trail is not None:
        loops.on_trail(run.record())
    answer = _with_account(run.answer(), run)
    agent_run: AgentRun | None = state.get(RUN)
    tool = run.request.tool
    if agent_run is None or tool is None or not tool.return_direct:
        return answer
    # Where a tool's answer is the agent's, LangChain ends with it even if it is an error.
    thread = [*state["messages"], answer]
    objection = may_end(thread) if why_over(thread, is_running=True) is None else None
    if objection is None or not agent_run.may_ask(objection):
        return answer
    return Command(update={"messages": [answer]}, goto="model")


def _with_account(answer: Any, run: ToolRun) -> Any:
    """Return the answer that says what the model wrote, where that is not what was made."""
    call, made = run.request.tool_call, run.made if "result" in run.out else None
    is_other = made is not None and (made["name"], made["args"]) != (call["name"], call["args"])
    message = own_message(answer, call["id"])
    if message is None or not (is_other or "mended" in run.given):
        return answer
    account: JsonDict = {"written": run.written, "changes": run.changes}
    if is_other and made is not None:
        account["made"] = {"name": made["name"], "args": made["args"]}
    extra = {**message.additional_kwargs, ACCOUNT: account}
    if message is answer:
        return message.model_copy(update={"additional_kwargs": extra})
    # The message stands inside of a command.
    message.additional_kwargs = extra
    return answer
