"""What a tool answered: one call of a turn, from the thread into the loop and back."""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from selfcorrect.agents.agent_run import RUN, AgentRun
from selfcorrect.agents.answers import last_request, last_turn
from selfcorrect.agents.model_turn import TURN, Turn
from selfcorrect.agents.text_calls import is_cut, stop_reason
from selfcorrect.agents.thread import answer_to
from selfcorrect.agents.tool_run import HostedLoops, ToolRun
from selfcorrect.model import JsonDict


def start_call(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Any],
    loops: HostedLoops,
    *,
    is_async: bool,
) -> ToolRun | ToolMessage:
    """Return the run of a call, or the answer that the call has already."""
    state, call = request.state, request.tool_call
    messages = state["messages"]
    if (answer := answer_to(call["id"], messages)) is not None:
        return answer
    known: Turn = state.get(TURN) or Turn(starts={}, words={})
    run: AgentRun | None = state.get(RUN)
    turn, _ = last_turn(messages)
    call_id, message_id = call["id"] or "", turn.id if turn else None
    start: JsonDict = {"call": {"name": call["name"], "args": call["args"], "id": call_id}}
    # Another middleware, or a person, may have edited the call already.
    if (written := known["starts"].get(call_id)) and written["shown"] == call["args"]:
        start = written["given"]
    thread = (request.runtime.config.get("configurable") or {}).get("thread_id")
    reason = stop_reason(turn) if turn else None
    given = {
        **start,
        "message_id": message_id,
        "request": last_request(messages),
        "messages": messages,
        "finish_reason": "length" if is_cut(reason) else reason,
        # What the ledger remembers belongs to the thread, else to this run of the agent.
        "task_id": str(thread or (run.id if run else message_id)),
    }
    loop = loops.loop_for(request, is_async=is_async)
    return ToolRun(loop, given, request, handler, known["words"].get(call_id))
