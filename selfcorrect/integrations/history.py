"""What a conversation tells of calls that were made in it, and who spoke last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.prebuilt.tool_node import ToolCallRequest

from selfcorrect.effects import acts
from selfcorrect.integrations.chat import note_of
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.intents import Intent
from selfcorrect.model import JSON, Call
from selfcorrect.plain import as_text, digest
from selfcorrect.schema.equality import call_key
from selfcorrect.tools import ToolSpec


def messages_of(state: Any) -> list[Any]:
    """The messages in the state of a host, whatever form it has."""
    if isinstance(state, list):
        return state
    found = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", ())
    return list(found or ())


def lost_notes(state: Any) -> list[tuple[int, str]]:
    """Where in the conversation a call was lost, and its key."""
    return [
        (place, str(note["key"]))
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
    call, spec = request.tool_call, context.tools.get(request.tool_call["name"])
    if spec is None or not acts(spec) or not isinstance(call["args"], dict):
        return {}
    this = Call(call["name"], call["args"], call.get("id"))
    messages = messages_of(request.state)
    spoken = max((n for n, each in enumerate(messages) if each.type == "human"), default=-1)
    key = call_key(this, spec)
    for place, lost in lost_notes(request.state):
        if lost == key and (spec.declared or place > spoken):
            scope = Intent({"given": dict(given)}, context, this, spec).scope
            return {scope: {"key": f"{scope}:{key}", "tool": spec.name}} if scope else {}
    return {}


def stand_in(call: Mapping[str, Any]) -> str:
    """What stands in for the thread where the host has none: the id of the call."""
    return f"call {call['id']}"


def equal_before(request: ToolCallRequest, specs: Mapping[str, ToolSpec]) -> tuple[str, ...]:
    """Where equal calls were made earlier in this conversation, which has no thread."""
    call, spec = request.tool_call, specs.get(request.tool_call["name"])
    if spec is None or not acts(spec) or not isinstance(call["args"], dict):
        return ()
    key = call_key(Call(call["name"], call["args"]), spec)
    return tuple(
        stand_in(each)
        for message in messages_of(request.state)
        for each in getattr(message, "tool_calls", None) or ()
        if each["name"] == call["name"]
        and each.get("id") not in (None, call["id"])
        and call_key(Call(each["name"], each["args"]), spec) == key
    )


def last_person(messages: Sequence[Any]) -> str | None:
    """What marks the last message of a person, or None."""
    for message in reversed(messages):
        if message.type == "human":
            return str(message.id) if message.id else digest(as_text(message.content))
    return None
