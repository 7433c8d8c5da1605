"""The calls of one message: read from it, and written to every place where it holds them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, ToolCall

from selfcorrect.model import JSON, JsonDict, JsonObject
from selfcorrect.reading.call_object import strict_json

_UNKNOWN: Final = "unknown"
_ID_AND_ARGS: Final[Mapping[str, tuple[str, str]]] = {
    "tool_use": ("id", "input"),  # Anthropic
    "tool_call": ("id", "args"),  # LangChain
    "invalid_tool_call": ("id", "args"),
    "tool_call_chunk": ("id", "args"),
    "function_call": ("call_id", "arguments"),  # OpenAI's responses
    "function": ("id", "arguments"),  # OpenAI's chat
}
"""Where a block of a type holds the id and the arguments of its call."""
_OF_MALFORMED: Final = ("error", "partial_json")


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


def with_calls(message: AIMessage, calls: Sequence[ToolCall]) -> AIMessage:
    """Return the message with these calls in place of its own, one by one, wherever it holds them.

    Providers send a message back from its content or its raw calls, not only from `tool_calls`.
    What a message says beside its calls (thoughts, signatures, usage) is left alone.
    """
    old = [each.get("id") or "" for each in (*message.tool_calls, *message.invalid_tool_calls)]
    new = list(zip(old, calls, strict=True))
    update: JsonDict = {}
    if message.invalid_tool_calls or message.tool_calls != calls:
        update = {"tool_calls": list(calls), "invalid_tool_calls": []}
    if isinstance(message.content, list):
        content, left = _replace_blocks(message.content, new)
        if message.response_metadata.get("output_version") == "v1":
            # This form is sent back from its content alone.
            content += (dict(call) for call in left)
        update |= {"content": content} if content != message.content else {}
    extra = _replace_raw(message.additional_kwargs, new)
    update |= {"additional_kwargs": extra} if extra != message.additional_kwargs else {}
    return message.model_copy(update=update) if update else message


def _replace_blocks(
    blocks: Sequence[Any], new: Sequence[tuple[str, ToolCall]]
) -> tuple[list[Any], list[ToolCall]]:
    """Return the blocks with the new calls, and the calls that have no block.

    A block whose call the message has not is left out.
    """
    left, made = list(new), []
    for block in blocks:
        kind = str(block.get("type")) if isinstance(block, dict) else ""
        if kind not in _ID_AND_ARGS:
            made.append(block)
            continue
        call_id = block.get(_ID_AND_ARGS[kind][0]) or ""
        pair = next((each for each in left if each[0] == call_id), None)
        if pair is not None:
            left.remove(pair)
            made.append(_replace_call(block, kind, pair[1]))
    return made, [call for _, call in left]


def _replace_call(block: JsonDict, kind: str, call: ToolCall) -> JsonDict:
    id_key, args_key = _ID_AND_ARGS[kind]
    if kind == "function":
        inner = _replace_arguments(block.get("function") or {}, args_key, call)
        return {**block, id_key: call["id"], "function": inner}
    kept = {key: item for key, item in block.items() if key not in _OF_MALFORMED}
    if kind in ("invalid_tool_call", "tool_call_chunk"):
        kept["type"] = "tool_call"
    return _replace_arguments({**kept, id_key: call["id"]}, args_key, call)


def _replace_arguments(holder: JsonObject, key: str, call: ToolCall) -> JsonDict:
    """Return the holder with name and arguments; a text that says the same stays as it is."""
    args: JSON = call["args"]
    if key == "arguments":
        text = holder.get(key)
        is_same = isinstance(text, str) and strict_json(text) == args
        args = text if is_same else json.dumps(args, ensure_ascii=False, default=str)
    return {**holder, "name": call["name"], key: args}


def _replace_raw(extra: JsonDict, new: Sequence[tuple[str, ToolCall]]) -> JsonDict:
    made = dict(extra)
    if raw := extra.get("tool_calls"):
        made["tool_calls"], _ = _replace_blocks([{"type": "function", **each} for each in raw], new)
    if (one := extra.get("function_call")) and new:
        made["function_call"] = _replace_arguments(one, "arguments", new[0][1])
    return made
