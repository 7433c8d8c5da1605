"""What the model answered: its calls are made readable; a turn without one may not be the end."""

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypedDict
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage

from selfcorrect.agents.agent_run import AgentRun
from selfcorrect.agents.answers import (
    NO_ANSWER,
    PLACEHOLDER,
    feedback_message,
    is_blank,
    last_turn,
)
from selfcorrect.agents.calls import calls_of, with_calls
from selfcorrect.agents.ending import BLANK, SOURCE, may_end
from selfcorrect.agents.text_calls import (
    Readable,
    Start,
    may_hold_call,
    read_text_calls,
    stop_reason,
)
from selfcorrect.agents.thread import open_calls
from selfcorrect.agents.tool_run import HostedLoops
from selfcorrect.text import quote

TURN: Final = "selfcorrect_turn"


class Turn(TypedDict):
    """What is known of the calls of the model's last turn, by call id.

    Attributes:
        starts: What the loop starts from.
        words: What the model reads about names that no tool has.
    """

    starts: dict[str, Start]
    words: dict[str, str]


def take_turn(
    messages: Sequence[AnyMessage], run: AgentRun, loops: HostedLoops
) -> dict[str, Any] | None:
    """Return the update of the state after a turn of the model."""
    turn, behind = last_turn(messages)
    if turn is None:
        return None
    if is_blank(turn):
        return _after_blank(turn, run)
    run.objections.discard(BLANK.reason)
    if run.empty is not None:
        run.empty.on_answer()
    readable, starts = with_readable_calls(turn)
    if not readable.tool_calls:
        found = _calls_in_text(turn, messages, run, loops)
        if isinstance(found, str):
            return _end_or_ask(messages, run, found)
        readable, starts = found
    words = run.words_for(open_calls([readable, *behind]), partial(_means_tool, run, loops))
    known = Turn(starts=starts, words=words)
    return {TURN: known} if readable is turn else {TURN: known, "messages": [readable]}


def with_readable_calls(message: AIMessage) -> Readable:
    """Return the message with every malformed call as a call, and where the loop starts from.

    Each call gets an id of its own. The arguments of a malformed call are empty in the thread; the
    loop starts from its text.
    """
    calls: dict[str, ToolCall] = {}
    starts: dict[str, Start] = {}
    for index, call in enumerate(calls_of(message)):
        call_id = call["id"] or ""
        if not call_id or call_id in calls:
            call_id = call["id"] = _new_id(message, index)
        calls[call_id] = call
        if index >= len(message.tool_calls):
            malformed = message.invalid_tool_calls[index - len(message.tool_calls)]
            text = malformed.get("args") or ""
            start = {"call": {"name": call["name"], "args": text, "id": call_id}}
            starts[call_id] = Start(shown={}, given=start)
    return with_calls(message, list(calls.values())), starts


def _new_id(message: AIMessage, index: int) -> str:
    """Return an id for a call; the same when a node runs again from its top."""
    place = f"{message.id or uuid4()} {index}"
    return f"call_{sha256(place.encode('utf-8', 'replace')).hexdigest()[:12]}"


def unread_messages(
    messages: Sequence[AnyMessage], starts: Mapping[str, Start]
) -> list[ToolMessage]:
    """Return the answers to malformed calls that no tool answers: those of structured output."""
    answers: list[ToolMessage] = []
    for call in open_calls(messages) if starts else ():
        start = starts.get(call["id"] or "")
        if start is None or "call" not in start["given"]:
            continue
        text = (
            f"The arguments of `{call['name']}` are not a JSON object:"
            f" {quote(start['given']['call']['args'], 300)}. Correct the call and call again."
        )
        name, call_id = call["name"], call["id"]
        answers.append(ToolMessage(text, name=name, tool_call_id=call_id, status="error"))
    return answers


def with_made_calls(
    messages: Sequence[AnyMessage], made: Mapping[str, ToolCall]
) -> list[AIMessage]:
    """Return the last turn with its calls as they were made, if they differ from those it shows."""
    turn, _ = last_turn(messages)
    if turn is None or not any(call["id"] in made for call in turn.tool_calls):
        return []
    changed = with_calls(turn, [made.get(call["id"] or "", call) for call in calls_of(turn)])
    return [] if changed is turn else [changed]


def _after_blank(turn: AIMessage, run: AgentRun) -> dict[str, Any] | None:
    if run.empty is None:
        feedback = BLANK.text if run.may_ask(BLANK) else None
    else:
        feedback = run.empty.handle()
    if feedback is not None:
        asked = [_with_text(turn, PLACEHOLDER), feedback_message(feedback)]
        return {"messages": asked, "jump_to": "model"}
    return None if run.empty else {"messages": [_with_text(turn, NO_ANSWER)]}


def _means_tool(run: AgentRun, loops: HostedLoops, call: ToolCall) -> bool:
    """Say whether the loop would make the call under the name of an offered tool."""
    from selfcorrect.repairs.tools import match_tool

    tools = loops.loop_with(run.offered).context.tools
    return match_tool(call["name"], call["args"], tools) is not None


def _calls_in_text(
    turn: AIMessage, messages: Sequence[AnyMessage], run: AgentRun, loops: HostedLoops
) -> Readable | str:
    """Return the turn with the calls of its text, or the tool of one that was not read."""
    if run.has_answer or not may_hold_call(turn, run.names):
        return ""
    context = loops.loop_with(run.offered).context
    made, may_call = _calls_made(messages), not run.structured
    return read_text_calls(turn, context, made=made, may_call=may_call)


def _end_or_ask(messages: Sequence[AnyMessage], run: AgentRun, unread: str) -> dict[str, Any]:
    known = {TURN: Turn(starts={}, words={})}
    turn, _ = last_turn(messages)
    reason = stop_reason(turn) if turn else None
    structured = () if run.has_answer else run.structured
    objection = may_end(messages, stop_reason=reason, unread=unread, structured=structured)
    if objection is None or not run.may_ask(objection):
        return known
    return {**known, "messages": [feedback_message(objection.text)], "jump_to": "model"}


def _calls_made(messages: Sequence[AnyMessage]) -> list[ToolCall]:
    """Return the calls that have succeeded since the user's last word."""
    calls: list[ToolCall] = []
    done: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, HumanMessage) and SOURCE not in message.additional_kwargs:
            break
        if isinstance(message, ToolMessage) and message.status != "error":
            done.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            calls += (call for call in message.tool_calls if call["id"] in done)
    return calls


def _with_text(message: AIMessage, text: str) -> AIMessage:
    return message.model_copy(update={"content": text})
