"""The calls of LangChain's messages: read, and written wherever a message holds them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from selfcorrect.effects.equal import canonical
from selfcorrect.model import JSON, JsonDict
from selfcorrect.threads.forms import (
    ANTHROPIC,
    CHAT,
    NAME,
    NO_WORDS,
    RESPONSES,
    ProviderForm,
    ThreadCall,
    Unit,
    with_words,
    without_half_characters,
)

_UNKNOWN = "unknown"
_BLOCK = ("tool_call", "invalid_tool_call", "tool_call_chunk")
_FORMS: Mapping[str, ProviderForm] = {
    "tool_use": ANTHROPIC,
    "function_call": RESPONSES,
    "function": CHAT,
    **dict.fromkeys(_BLOCK, replace(ANTHROPIC, call=_BLOCK, args="args")),
}
"""How LangChain, or the provider, writes the call of a block, by the type of the block."""
_OF_MALFORMED = ("error", "partial_json")


def calls_of(message: AIMessage) -> list[ToolCall]:
    """Return all calls of a message, the malformed ones last and with empty arguments."""
    return [
        ToolCall(
            name=each.get("name") or _UNKNOWN,
            args=args if isinstance(args := each.get("args"), dict) else {},
            id=each.get("id") or "",
            type="tool_call",
        )
        for each in (*message.tool_calls, *message.invalid_tool_calls)
    ]


def each_once(message: AIMessage) -> AIMessage:
    """Return the message with each call once: what was sent twice with one id is one call.

    A call without arguments beside one with the same id and name is only the head of it.
    """
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    keys = [(each.get("id") or at, each["name"]) for at, each in enumerate(calls)]
    if len({*keys}) == len(keys):
        return message
    full = {key for key, each in zip(keys, calls, strict=True) if each["args"]}
    kept: dict[tuple[Any, str], ToolCall] = {}
    for key, call in zip(keys, message.tool_calls, strict=False):
        if call["args"] or key not in full:
            kept.setdefault((key, canonical(call["args"])), call)
    return message.model_copy(update={"tool_calls": [*kept.values()]})


def with_calls(message: AIMessage, calls: Sequence[ToolCall]) -> AIMessage:
    """Return the message with these calls in place of its own, one by one, wherever it holds them.

    Providers send a message back from its content or its raw calls, not only from `tool_calls`.
    What a message says beside its calls (thoughts, signatures, usage) is left alone.
    """
    old = calls_of(message)
    new = [(each["id"] or "", call) for each, call in zip(old, calls, strict=True)]
    update: JsonDict = {"tool_calls": list(calls), "invalid_tool_calls": []}
    update["additional_kwargs"] = _replace_raw(message.additional_kwargs, new)
    if isinstance(message.content, list):
        update["content"], left = _replace_blocks(message.content, new)
        if message.response_metadata.get("output_version") == "v1":
            # This form is sent back from its content alone.
            update["content"] += (dict(call) for call in left)
    made = message.model_copy(update=update)
    return message if made == message else made


def _replace_blocks(
    blocks: Sequence[Any], new: Sequence[tuple[str, ToolCall]]
) -> tuple[list[Any], list[ToolCall]]:
    """Return the blocks with the new calls, and the calls that have no block.

    A block whose call the message has not is left out.
    """
    left, made = list(new), []
    for block in blocks:
        kind = str(block.get("type")) if isinstance(block, dict) else ""
        form = _FORMS.get(kind)
        if form is None:
            made.append(block)
            continue
        call_id = form.read(block).id
        pair = next((each for each in left if each[0] == call_id), None)
        if pair is not None:
            left.remove(pair)
            kept = {key: item for key, item in block.items() if key not in _OF_MALFORMED}
            kept["type"] = _BLOCK[0] if kind in _BLOCK else kind
            made.append(form.write(kept, _written(pair[1])))
    return made, [call for _, call in left]


def _replace_raw(extra: JsonDict, new: Sequence[tuple[str, ToolCall]]) -> JsonDict:
    made = dict(extra)
    if raw := extra.get("tool_calls"):
        made["tool_calls"], _ = _replace_blocks([{"type": "function", **each} for each in raw], new)
    if (one := extra.get("function_call")) and new:
        made["function_call"] = CHAT.write({"function": one}, _written(new[0][1]))["function"]
    return made


def _written(call: ToolCall) -> ThreadCall:
    return ThreadCall(call["id"] or "", call["name"], call["args"])


_SENT = frozenset(
    ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls", "tool_call_id", "name")
)
"""What of a message goes to a provider."""


class LangChainForm:
    """LangChain's messages: a message for each answer."""

    own_name = NAME
    own_id = "(?s).{1,64}"

    def clean(self, message: Any) -> Any:
        held = {part: each for part, each in vars(message).items() if part in _SENT}
        made: Any = without_half_characters(held)
        if isinstance(message, AIMessage) and not calls_of(message):
            made["content"] = with_words(made["content"], {"type": "text", "text": NO_WORDS})
        return message if made == held else message.model_copy(update=made)

    def is_written(self, args: JSON) -> bool:
        return isinstance(args, dict)

    def split(self, messages: Sequence[Any]) -> list[Unit]:
        return [self._unit(at, each) for at, each in enumerate(messages)]

    def _unit(self, at: int, message: Any) -> Unit:
        if isinstance(message, ToolMessage):
            return Unit(at, message, answers=message.tool_call_id or "", tool=message.name or "")
        if not isinstance(message, AIMessage):
            return Unit(at, message)
        good = len(message.tool_calls)
        # What LangChain could not read stays a text here, so that it counts as malformed.
        written = [
            ThreadCall(each["id"] or "", each["name"], each["args"] if index < good else [])
            for index, each in enumerate(calls_of(message))
        ]
        return Unit(at, message, tuple(written))

    def with_calls(self, item: Any, calls: Sequence[ThreadCall]) -> Any:
        made = [
            ToolCall(name=each.name, args=dict(each.args), id=each.id, type="tool_call")
            for each in calls
        ]
        return with_calls(item, made)

    def answer(self, item: Any, call: ThreadCall, text: str) -> Any:
        if item is None:
            return ToolMessage(text, name=call.name, tool_call_id=call.id, status="error")
        update = {"tool_call_id": call.id, "name": item.name and call.name}
        same = update == {key: getattr(item, key) for key in update}
        return item if same else item.model_copy(update=update)

    def join(self, units: Sequence[Unit]) -> list[Any]:
        return [unit.item for unit in units]
