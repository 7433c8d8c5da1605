"""What a conversation tells of calls that were made in it: lost, equal, made again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from selfcorrect.effects import acts
from selfcorrect.integrations.chat import last_person, note_of, this_run
from selfcorrect.limits import Limits
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.intents import Intent
from selfcorrect.model import JSON, Call
from selfcorrect.plain import as_text, digest
from selfcorrect.schema.equality import call_key
from selfcorrect.tools import ToolSpec

REASON: Final = "repeated_failure"
REFUSED: Final = (
    "The call was not made: it gave the same answer {} times before, with the same arguments. Use "
    "that answer, or do something else."
)
_NUDGE: Final = (
    "\n\n(Note: this call gave this same answer {} times now. Making it again will not change it.)"
)


def messages_of(state: Any, key: str = "messages") -> list[Any]:
    """The messages in the state of a host, whatever form it has."""
    if isinstance(state, list):
        return state
    found = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    return list(found or ())


def lost_notes(state: Any) -> list[tuple[int, Mapping[str, Any]]]:
    """Where in the conversation a call was lost, and what is noted of it."""
    return [
        (place, note)
        for place, message in enumerate(messages_of(state))
        if message.type == "tool"
        and message.status == "error"
        and (note := note_of(message)).get("reason") == "unknown_outcome"
        and note.get("key")
    ]


def lost_before(
    request: ToolCallRequest, given: Mapping[str, Any], context: RunContext
) -> dict[str, JSON]:
    """What the conversation says of an equal call that was lost, as the state keeps it."""
    if (spec := _acting(request, context.tools)) is None:
        return {}
    call = request.tool_call
    this = Call(call["name"], call["args"], call.get("id"))
    spoken = last_person(messages_of(request.state))
    key = call_key(this, spec)
    lost = [
        # Who was told of the loss has no intent of its own: that of the loss says how it stands.
        note.get("intent")
        for place, note in lost_notes(request.state)
        if note["key"] == key and (spec.declared or place > spoken)
    ]
    scope = Intent({"given": dict(given)}, context, this, spec).scope if lost else ""
    intent = [*filter(None, [key, *lost])][-1]
    return {scope: {"key": f"{scope}:{intent}", "tool": spec.name}} if scope else {}


def stand_in(call: Mapping[str, Any]) -> str:
    """What stands in for the thread where the host has none: the id of the call."""
    return f"call {call['id']}"


def equal_before(request: ToolCallRequest, specs: Mapping[str, ToolSpec]) -> tuple[str, ...]:
    """Where equal calls were made earlier in this conversation, which has no thread."""
    if (spec := _acting(request, specs)) is None:
        return ()
    call = request.tool_call
    key = call_key(Call(call["name"], call["args"]), spec)
    return tuple(
        stand_in(each)
        for message in messages_of(request.state)
        for each in getattr(message, "tool_calls", None) or ()
        if each["name"] == call["name"]
        and each.get("id") not in (None, call["id"])
        and call_key(Call(each["name"], each["args"]), spec) == key
    )


def _acting(request: ToolCallRequest, specs: Mapping[str, ToolSpec]) -> ToolSpec | None:
    """The tool of a call that can be compared with others, if it acts."""
    spec = specs.get(request.tool_call["name"])
    is_one = spec is not None and acts(spec) and isinstance(request.tool_call["args"], dict)
    return spec if is_one else None


def person_of(messages: Sequence[Any]) -> str | None:
    """What marks the last message of a person, or None."""
    place = last_person(messages)
    if place < 0:
        return None
    message = messages[place]
    return str(message.id) if message.id else digest(as_text(message.content))


def repeats(messages: Sequence[BaseMessage], call: Mapping[str, Any]) -> int:
    """How often this very call succeeded in this run, ending in the same answer each time.

    Calls of other tools in between do not count against it; an answer that differs starts anew.
    """
    asked: dict[str, bool] = {}
    answers: list[Any] = []
    for message in this_run(messages):
        for made in getattr(message, "tool_calls", None) or ():
            same = made["name"] == call["name"] and made["args"] == call["args"]
            asked[str(made.get("id"))] = same
        if not isinstance(message, ToolMessage) or not asked.get(message.tool_call_id):
            continue
        if note_of(message).get("reason") != REASON:
            answers.append(message.content if message.status != "error" else None)
    count = 0
    for answer in reversed(answers):
        if answer is None or _bare(answer) != _bare(answers[-1]):
            break
        count += 1
    return count


def is_too_often(count: int, limits: Limits) -> bool:
    """Whether the call that comes now is one too many."""
    return limits.repeats > 0 and count + 1 >= limits.repeats


def nudged(response: Any, count: int, limits: Limits) -> Any:
    """The answer, with a word to the model where it is the same once more."""
    if not isinstance(response, ToolMessage) or not 0 < limits.nudge <= count + 1:
        return response
    said = response.content
    if not isinstance(said, str):
        return response
    return response.model_copy(update={"content": said + _NUDGE.format(count + 1)})


def _bare(content: Any) -> Any:
    return content.partition(_NUDGE[:40])[0] if isinstance(content, str) else content
