"""The thread of an agent: made valid for any provider, and which of its calls are unanswered."""

from collections.abc import Sequence
from typing import Final, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from selfcorrect.agents.calls import calls_of, with_calls
from selfcorrect.agents.characters import has_half_characters, without_half_characters
from selfcorrect.agents.pairing import (
    LOST,
    MALFORMED,
    AnswerEntry,
    CallsEntry,
    Entry,
    Step,
    find_answers,
    pair,
)

_SENT: Final = frozenset(
    ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls", "tool_call_id", "name")
)
"""What of a message goes to a provider."""


def valid_thread(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return the thread as every provider accepts it; a valid thread comes back unchanged.

    Ids are unique, arguments are objects, and directly behind each message stands one answer to
    each of its calls: a missing answer says so, and an answer to no call is left out. Halves of
    characters are replaced.
    """
    clean = [clean_message(each) for each in messages]
    return [_message(step, clean) for step in pair([_entry(each) for each in clean])]


def open_calls(messages: Sequence[AnyMessage]) -> list[ToolCall]:
    """Return the calls of the model's last message that have no answer; no others may run."""
    at = _last_turn(messages)
    calls = calls_of(messages[at]) if at is not None else []  # type: ignore[arg-type]
    answered = find_answers([_entry(each) for each in messages]) if calls else {}
    return [call for index, call in enumerate(calls) if (at, index) not in answered]


def answer_to(call_id: str | None, messages: Sequence[AnyMessage]) -> ToolMessage | None:
    """Return the answer that a call has already, or None.

    Args:
        call_id: The call; the last one that has this id is meant.
        messages: The thread.
    """
    entries = [_entry(each) for each in messages]
    answers = find_answers(entries)
    for at in reversed(range(len(entries))):
        entry = entries[at]
        if isinstance(entry, CallsEntry) and call_id in entry.ids:
            places = [i for i, each in enumerate(entry.ids) if each == call_id]
            found = [answers[at, index] for index in places if (at, index) in answers]
            return messages[found[0]] if found else None  # type: ignore[return-value]
    return None


def _last_turn(messages: Sequence[AnyMessage]) -> int | None:
    places = reversed(range(len(messages)))
    return next((at for at in places if isinstance(messages[at], AIMessage)), None)


def _entry(message: AnyMessage) -> Entry:
    if isinstance(message, ToolMessage):
        return AnswerEntry(message.tool_call_id or "")
    if isinstance(message, AIMessage):
        calls = (*message.tool_calls, *message.invalid_tool_calls)
        return CallsEntry(tuple(each.get("id") or "" for each in calls)) if calls else None
    return None


def _message(step: Step, messages: Sequence[AnyMessage]) -> AnyMessage:
    if step.at is None and step.call is not None:
        return _missing_answer(step, messages)
    message = messages[step.at or 0]
    if isinstance(message, ToolMessage):
        (call_id,) = step.ids
        same = message.tool_call_id == call_id
        return message if same else message.model_copy(update={"tool_call_id": call_id})
    if isinstance(message, AIMessage) and step.ids:
        pairs = zip(calls_of(message), step.ids, strict=True)
        return with_calls(message, [{**call, "id": own} for call, own in pairs])
    return message


def _missing_answer(step: Step, messages: Sequence[AnyMessage]) -> ToolMessage:
    at, index = step.call or (0, 0)
    turn = cast("AIMessage", messages[at])
    text = LOST if index < len(turn.tool_calls) else MALFORMED
    name = calls_of(turn)[index]["name"]
    return ToolMessage(text, name=name, tool_call_id=step.ids[0], status="error")


def clean_message(message: AnyMessage) -> AnyMessage:
    """Return the message with valid text in whatever goes to a provider."""
    held = {part: each for part, each in vars(message).items() if part in _SENT}
    if not has_half_characters(held):
        return message
    return message.model_copy(update=without_half_characters(held))
