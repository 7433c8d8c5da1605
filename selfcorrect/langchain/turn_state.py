"""What a turn of the model holds: calls that can be read, and what the loop starts from."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypedDict
from uuid import uuid4

from langchain_core.messages import AIMessage, ToolMessage

from selfcorrect.effects.equal import digest
from selfcorrect.langchain.calls import shown_calls, with_calls
from selfcorrect.langchain.ending import Thread
from selfcorrect.langchain.thread import ACCOUNT, last_request, last_turn
from selfcorrect.model import JsonDict
from selfcorrect.threads.forms import ThreadCall
from selfcorrect.threads.history import stop_reason_of

STARTS = "selfcorrect_starts"
"""Where a turn, and by its id the agent's state, hold what the loop starts from, by call id.

A call stands the same everywhere in its message, so the state has what it was before. The turn has
those that are shown without their arguments, because they could not be read.
"""
WORDS = "selfcorrect_words"
"""Where a turn holds what the model reads about names that no tool has, by call id."""
TOOL_CHOICE = "tool_choice"
"""Where a turn says that no call was allowed in it."""


class Start(TypedDict):
    """What the loop starts from, where it is not the call as the thread shows it.

    Attributes:
        shown: Name and arguments in the thread; others mean that somebody has edited the call.
        given: The call as it stands, or the text that holds it, with what repaired it so far.
    """

    shown: JsonDict
    given: JsonDict


Starts: TypeAlias = dict[str | None, Start]
"""What the loop starts from, by call id."""


def with_note(turn: AIMessage, key: str, note: Any) -> AIMessage:
    """Return the turn with this note in place of its own; an empty one leaves none.

    It outlasts an interrupt, and stays with this turn where another middleware asks for a second.
    """
    extra = {name: item for name, item in turn.additional_kwargs.items() if name != key}
    if note:
        extra[key] = note
    changed = turn.model_copy(update={"additional_kwargs": extra})
    return turn if changed == turn else changed


def notes_of(turn: AIMessage | None, key: str) -> dict[str | None, Any]:
    """Return a turn's notes about its calls, by call id."""
    return {**turn.additional_kwargs.get(key, {})} if turn else {}


def with_readable_calls(
    message: AIMessage, written: Sequence[ThreadCall], raw: str = ""
) -> AIMessage:
    """Return the message with the written calls as calls, and with what the loop starts from.

    Each call gets an id of its own, and a call that was sent twice is one. The arguments of a
    malformed call are empty in the thread; the loop starts from its text. Where a piece of the turn
    belongs to no call, each call is malformed: the piece may be the rest of any.

    Args:
        message: The turn.
        written: Its calls, as they were written.
        raw: The text in which they were written; empty where they came as calls.
    """
    is_torn = any(call.args and not call.name for call in written)
    calls: dict[str, ThreadCall] = {}
    starts: Starts = {}
    for index, call in enumerate(written):
        name, args, call_id = call.name or "unknown", call.args, call.id
        if not call_id or call_id in calls:
            # The same when a node runs again from its top.
            place = digest(message.id or uuid4().hex, index)
            call_id = f"call_{place[:12]}"
        is_malformed = is_torn or not isinstance(args, dict)
        if raw or is_malformed:
            own = {"name": name, "args": _NO_OWNER if is_torn else args, "id": call_id}
            given = {"raw": raw, "index": index} if raw else {"call": own}
            args = {} if is_malformed else args
            starts[call_id] = Start(shown={"name": name, "args": args}, given=given)
        calls[call_id] = ThreadCall(call_id, name, args)
    readable = with_calls(message, [*calls.values()], [call.id for call in written])
    return with_note(readable, STARTS, starts)


_NO_OWNER = "(a piece of this turn belongs to no call)"


def with_executed_calls(messages: Thread) -> AIMessage | None:
    """Return the last turn with its calls as tools got them; None if it shows them so."""
    turn, behind = last_turn(messages)
    if turn is None:
        return None
    executed = {
        answer.tool_call_id: answer.additional_kwargs.get(ACCOUNT, {}).get("made", {})
        for answer in behind
        if isinstance(answer, ToolMessage)
    }
    calls = [replace(call, **executed.get(call.id, {})) for call in shown_calls(turn)]
    changed = with_calls(turn, calls)
    return None if changed is turn else changed


def beside_calls(turn: AIMessage | None, messages: Thread) -> JsonDict:
    """Return what the loop is given beside the call of a turn."""
    return {
        "request": last_request(messages),
        "messages": messages,
        "finish_reason": stop_reason(turn) if turn else None,
        TOOL_CHOICE: turn.additional_kwargs.get(TOOL_CHOICE) if turn else None,
    }


def stop_reason(turn: AIMessage) -> str | None:
    """Return why the model stopped writing, if its provider says so; a refusal comes first."""
    return stop_reason_of(
        {**turn.additional_kwargs, **turn.response_metadata, "content": turn.content}
    )
