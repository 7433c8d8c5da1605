"""What a tool answered: one call of a turn, from the thread into the loop and back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from selfcorrect.agents.agent_run import RUN, AgentRun
from selfcorrect.agents.answers import last_request, last_turn
from selfcorrect.agents.model_turn import TURN, Turn
from selfcorrect.agents.text_calls import TOOL_CHOICE, is_cut, stop_reason
from selfcorrect.agents.thread import answer_to
from selfcorrect.agents.tool_run import HostedLoops, ToolRun
from selfcorrect.model import JsonDict, JsonObject


@dataclass(frozen=True, slots=True)
class Thread:
    """What a host knows around a call.

    Attributes:
        messages: The thread; each call of its last turn has an id of its own.
        turn: What is known of the calls of that turn.
        run: The run of the agent, where the host is one.
    """

    messages: Sequence[AnyMessage]
    turn: Turn
    run: AgentRun | None = None


def thread_of(state: JsonObject) -> Thread:
    """Return what the state of an agent says around a call."""
    known: Turn = state.get(TURN) or Turn(starts={}, words={})
    return Thread(state["messages"], known, state.get(RUN))


def start_call(
    request: ToolCallRequest,
    handler: Callable[[ToolCallRequest], Any],
    loops: HostedLoops,
    thread: Thread,
    *,
    is_async: bool,
) -> ToolRun | ToolMessage:
    """Return the run of a call, or the answer that the call has already."""
    call, messages = request.tool_call, thread.messages
    if (answer := answer_to(call["id"], messages)) is not None:
        return answer
    turn, behind = last_turn(messages)
    call_id = call["id"] or ""
    start: JsonDict = {"call": {"name": call["name"], "args": call["args"], "id": call_id}}
    # Another middleware, or a person, may have edited the call already.
    written = thread.turn["starts"].get(call_id)
    if written and written["shown"] == call["args"]:
        start = written["given"]
    reason = stop_reason(turn) if turn else None
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
        "finish_reason": "length" if is_cut(reason) else reason,
        TOOL_CHOICE: turn.response_metadata.get(TOOL_CHOICE) if turn else None,
        "task_id": _scope(request, thread.run),
    }
    loop = loops.loop_for(request, is_async=is_async)
    return ToolRun(loop, given, request, handler, thread.turn["words"].get(call_id))


def _scope(request: ToolCallRequest, run: AgentRun | None) -> str:
    """Return what the ledger's memory belongs to: the thread, else this run of the host."""
    config = request.runtime.config.get("configurable") or {}
    task = str(config.get("checkpoint_ns") or "").partition("|")[0]
    return str(config.get("thread_id") or (run.id if run else task) or uuid4().hex)
