"""What is known of a turn of the model: its calls, each readable, and where the loop starts."""

from collections.abc import Sequence
from hashlib import sha256
from typing import TypedDict
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from selfcorrect.agents.answers import ACCOUNT, last_request, last_turn
from selfcorrect.agents.calls import calls_of, each_once, with_calls
from selfcorrect.agents.text_calls import TOOL_CHOICE, Readable, Start, stop_reason
from selfcorrect.model import JsonDict

TURN = "selfcorrect_turn"


class Turn(TypedDict):
    """What is known of the calls of a turn, by call id.

    Attributes:
        message: The id of its message.
        starts: What the loop starts from.
        words: What the model reads about names that no tool has.
    """

    message: str | None
    starts: dict[str, Start]
    words: dict[str, str]


def with_readable_calls(message: AIMessage) -> Readable:
    """Return the message with every malformed call as a call, and where the loop starts from.

    Each call gets an id of its own, and a call that was sent twice is one. The arguments of a
    malformed call are empty in the thread; the loop starts from its text. Where a piece of the turn
    belongs to no call, each call is malformed: the piece may be the rest of any.
    """
    once = each_once(message)
    malformed = [each.get("args") or "" for each in once.invalid_tool_calls]
    texts: list[str | None] = [*(None for _ in once.tool_calls), *malformed]
    pieces = [*once.tool_calls, *once.invalid_tool_calls]
    if any(each["args"] and not each["name"] for each in pieces):
        texts = [_NO_OWNER for _ in texts]
    calls: dict[str, ToolCall] = {}
    starts: dict[str, Start] = {}
    for index, (call, text) in enumerate(zip(calls_of(once), texts, strict=True)):
        call_id = call["id"] or ""
        if not call_id or call_id in calls:
            # The same when a node runs again from its top.
            place = f"{message.id or uuid4()} {index}".encode("utf-8", "replace")
            call_id = call["id"] = f"call_{sha256(place).hexdigest()[:12]}"
        calls[call_id] = call
        if text is not None:
            call["args"] = {}
            start = {"call": {"name": call["name"], "args": text, "id": call_id}}
            starts[call_id] = Start(shown={"name": call["name"], "args": {}}, given=start)
    return with_calls(once, list(calls.values())), starts


_NO_OWNER = "(a piece of this turn belongs to no call)"


def with_made_calls(messages: Sequence[AnyMessage]) -> list[AIMessage]:
    """Return the last turn with its calls as they were made, if they differ from those it shows."""
    turn, behind = last_turn(messages)
    accounts = {
        each.tool_call_id: each.additional_kwargs.get(ACCOUNT, {})
        for each in behind
        if isinstance(each, ToolMessage)
    }
    if turn is None or not any("made" in each for each in accounts.values()):
        return []
    calls = calls_of(turn)
    for call in calls:
        call.update(accounts.get(call["id"] or "", {}).get("made", {}))
    changed = with_calls(turn, calls)
    return [] if changed is turn else [changed]


def beside_calls(turn: AIMessage | None, messages: Sequence[AnyMessage]) -> JsonDict:
    """Return what the loop is given beside the call of a turn."""
    return {
        "request": last_request(messages),
        "messages": messages,
        "finish_reason": stop_reason(turn) if turn else None,
        TOOL_CHOICE: turn.response_metadata.get(TOOL_CHOICE) if turn else None,
    }
