"""What a tool answered: one call of a turn, from the thread into the loop and back."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from selfcorrect.agents.agent_run import RUN, AgentRun
from selfcorrect.agents.answers import last_request, last_turn
from selfcorrect.agents.model_turn import TURN, Turn
from selfcorrect.agents.text_calls import TOOL_CHOICE, stop_reason
from selfcorrect.agents.thread import answer_to
from selfcorrect.agents.tool_run import HostedLoops, ToolRun
from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.walk import awalk, walk


def run_call(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Any],
    loops: HostedLoops,
    state: JsonObject,
) -> Any:
    """Walk the loop with one call; return its one answer.

    Args:
        request: The call.
        handler: LangChain's own, which runs the tool.
        loops: The loops of the host.
        state: What the host knows around the call: `messages`, in which each call of the last
            turn has an id of its own; where it knows them, `TURN` and `RUN`.
    """
    run = _start(request, handler, loops, state, is_async=False)
    if isinstance(run, ToolMessage):
        return run
    with run.hosted():
        run.out = walk(run.loop, run.given)
    return _end(run, loops, state)


async def arun_call(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Any],
    loops: HostedLoops,
    state: JsonObject,
) -> Any:
    """Like `run_call`."""
    run = _start(request, handler, loops, state, is_async=True)
    if isinstance(run, ToolMessage):
        return run
    with run.hosted():
        run.out = await awalk(run.loop, run.given)
    return _end(run, loops, state)


def _start(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Any],
    loops: HostedLoops,
    state: JsonObject,
    *,
    is_async: bool,
) -> ToolRun | ToolMessage:
    """Return the run of a call, or the answer that the call has already."""
    call, messages = request.tool_call, state["messages"]
    if (answer := answer_to(call["id"], messages)) is not None:
        return answer
    known: Turn = state.get(TURN) or Turn(starts={}, words={})
    turn, behind = last_turn(messages)
    call_id = call["id"] or ""
    start: JsonDict = {"call": {"name": call["name"], "args": call["args"], "id": call_id}}
    # Another middleware, or a person, may have edited the call already.
    written = known["starts"].get(call_id)
    if written and written["shown"] == call["args"]:
        start = written["given"]
    # Where messages have no ids, the same call in a later message is another one.
    message_id = turn.id if turn and turn.id else f"#{len(messages) - len(behind)}"
    if "raw" in start:
        # A text gives its calls no ids, and two equal calls in it are two.
        message_id = f"{message_id} {call_id}"
    given = {
        **start,
        "message_id": message_id,
        "request": last_request(messages),
        "messages": messages,
        "finish_reason": stop_reason(turn) if turn else None,
        TOOL_CHOICE: turn.response_metadata.get(TOOL_CHOICE) if turn else None,
        "task_id": _scope(request, state.get(RUN)),
    }
    loop = loops.loop_for(request, is_async=is_async)
    return ToolRun(request, handler, loop, given, known["words"].get(call_id))


def _end(run: ToolRun, loops: HostedLoops, state: JsonObject) -> Any:
    if loops.on_trail is not None:
        loops.on_trail(run.record())
    agent_run: AgentRun | None = state.get(RUN)
    if agent_run is not None and run.made is not None and "result" in run.out:
        agent_run.note_made(run.request.tool_call, run.made)
    return run.answer()


def _scope(request: ToolCallRequest, run: AgentRun | None) -> str:
    """Return what the ledger's memory belongs to: the thread, else this run of the host."""
    config = request.runtime.config.get("configurable") or {}
    task = str(config.get("checkpoint_ns") or "").partition("|")[0]
    return str(config.get("thread_id") or (run.id if run else task) or uuid4().hex)
