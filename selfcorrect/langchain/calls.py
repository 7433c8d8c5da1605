"""The calls of LangChain's messages: read, and written wherever a message holds them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from selfcorrect.effects.equal import canonical
from selfcorrect.lazy import load_table
from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.threads.forms import (
    ANTHROPIC,
    CHAT,
    NO_WORDS,
    RESPONSES,
    ProviderForm,
    ThreadCall,
    Unit,
    with_words,
    without_half_characters,
)

_OF_MALFORMED = ("error", "partial_json")


def shown_calls(message: AIMessage) -> list[ThreadCall]:
    """Return the calls of a message; the arguments of a malformed one are a text."""
    calls = [
        ThreadCall(call["id"] or "", call["name"], call["args"]) for call in message.tool_calls
    ]
    calls += (
        ThreadCall(call["id"] or "", call["name"] or "", call["args"] or "")
        for call in message.invalid_tool_calls
    )
    return calls


def name_and_args(call: JsonObject) -> JsonDict:
    """Return what makes two calls the same, whatever their ids."""
    return {"name": call["name"], "args": call["args"]}


def as_tool_call(call: ThreadCall) -> ToolCall:
    """Return a call as LangChain writes it."""
    return ToolCall(name=call.name, args=call.args, id=call.id, type="tool_call")


def each_once(calls: Sequence[ThreadCall]) -> list[ThreadCall]:
    """Return each call once: what was sent twice with one id is one call.

    A call without arguments beside one with the same id and name is only the head of it.
    """
    full = {(call.id, call.name) for call in calls if call.id and call.args}
    kept: dict[object, ThreadCall] = {}
    for at, call in enumerate(calls):
        if call.args or (call.id, call.name) not in full:
            kept.setdefault((call.id or at, call.name, canonical(call.args)), call)
    return [*kept.values()]


def with_calls(
    message: AIMessage, calls: Sequence[ThreadCall], ids: Sequence[str] | None = None
) -> AIMessage:
    """Return the message with these calls in place of its own, one by one, wherever it holds them.

    Providers send a message back from its content or its raw calls, not only from `tool_calls`.
    What a message says beside its calls (thoughts, signatures, usage) is left alone.

    Args:
        message: The message.
        calls: The calls.
        ids: The ids that they have in the message; left out, those of its own calls, in order.
    """
    if ids is None:
        ids = [call.id for call in shown_calls(message)]
    new = list(zip(ids, calls, strict=True))
    update: JsonDict = {"tool_calls": [*map(as_tool_call, calls)], "invalid_tool_calls": []}
    update["additional_kwargs"] = _replace_raw(message.additional_kwargs, new)
    if isinstance(message.content, list):
        update["content"], without_block = _replace_blocks(message.content, new)
        if message.response_metadata.get("output_version") == "v1":
            # This form is sent back from its content alone.
            update["content"] += map(as_tool_call, without_block)
    changed = message.model_copy(update=update)
    return message if changed == message else changed


def _replace_blocks(
    blocks: Sequence[Any], calls: Sequence[tuple[str, ThreadCall]]
) -> tuple[list[Any], list[ThreadCall]]:
    """Return the blocks with the new calls, and the calls that have no block.

    A block whose call the message has not is left out.

    Args:
        blocks: The blocks of a message.
        calls: The new calls, each with its old id.
    """
    left, replaced = list(calls), []
    for block in blocks:
        kind = str(block.get("type")) if isinstance(block, dict) else ""
        form = _FORMS.get(kind)
        if form is None:
            replaced.append(block)
            continue
        old_id = form.read(block).id
        pair = next((pair for pair in left if pair[0] == old_id), None)
        if pair is not None:
            left.remove(pair)
            kept = {key: item for key, item in block.items() if key not in _OF_MALFORMED}
            kept["type"] = "tool_call" if form is LANGCHAIN else kind
            replaced.append(form.write(kept, pair[1]))
    return replaced, [call for _, call in left]


def _replace_raw(extra: JsonDict, calls: Sequence[tuple[str, ThreadCall]]) -> JsonDict:
    new = dict(extra)
    if raw := extra.get("tool_calls"):
        typed = [{"type": "function", **call} for call in raw]
        new["tool_calls"], _ = _replace_blocks(typed, calls)
    if (raw := extra.get("function_call")) and calls:
        new["function_call"] = CHAT.write({"function": raw}, calls[0][1])["function"]
    return new


_SENT = frozenset(
    ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls", "tool_call_id", "name")
)
"""What of a message goes to a provider."""


class LangChainForm(ProviderForm):
    """LangChain's messages: objects, with a message for each answer."""

    def clean(self, message: Any) -> Any:
        sent = {part: value for part, value in vars(message).items() if part in _SENT}
        clean: Any = without_half_characters(sent)
        if isinstance(message, AIMessage) and not shown_calls(message):
            clean["content"] = with_words(clean["content"], {"type": "text", "text": NO_WORDS})
        return message if clean == sent else message.model_copy(update=clean)

    def split(self, messages: Sequence[Any]) -> list[Unit]:
        return [self._unit(at, message) for at, message in enumerate(messages)]

    def _unit(self, at: int, message: Any) -> Unit:
        if isinstance(message, ToolMessage):
            return Unit(at, message, answers=message.tool_call_id or "", tool=message.name or "")
        if not isinstance(message, AIMessage):
            return Unit(at, message)
        calls = shown_calls(message)
        # What LangChain could not read must count as malformed: it is not an object here.
        own = (call if isinstance(call.args, dict) else replace(call, args=[]) for call in calls)
        return Unit(at, message, tuple(own))

    def with_calls(self, item: Any, calls: Sequence[ThreadCall]) -> Any:
        return with_calls(item, calls)

    def answer(self, item: Any, call: ThreadCall, text: str) -> Any:
        if item is None:
            return ToolMessage(text, name=call.name, tool_call_id=call.id, status="error")
        update = {"tool_call_id": call.id, "name": item.name and call.name}
        is_same = all(getattr(item, key) == value for key, value in update.items())
        return item if is_same else item.model_copy(update=update)


LANGCHAIN = LangChainForm(**load_table("threads/forms.toml")["langchain"])
_FORMS: Mapping[str, ProviderForm] = {
    "tool_use": ANTHROPIC,
    "function_call": RESPONSES,
    "function": CHAT,
    **dict.fromkeys(LANGCHAIN.call, LANGCHAIN),
}
"""How LangChain, or the provider, writes the call of a block, by the type of the block."""
