"""Calls in LangChain's messages, which keep a call in up to three places of one message.

`tool_calls`, content blocks and `additional_kwargs` have to say the same, or the next request is
refused: what is written back is written in all of them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from selfcorrect.forms import endings
from selfcorrect.kernel.metadata import is_silent
from selfcorrect.plain import is_one_of, one_value

CALL_BLOCKS: Final = frozenset({"tool_use", "tool_call", "function_call", "invalid_tool_call"})


def is_answer(value: Any) -> bool:
    """Whether this is a model's answer as LangChain keeps it: its calls are dicts."""
    calls = getattr(value, "tool_calls", None)
    listed = isinstance(calls, list) and all(isinstance(call, Mapping) for call in calls)
    return listed and hasattr(value, "content") and hasattr(value, "additional_kwargs")


def is_marked_refused(message: Any) -> bool:
    """Whether a message is marked as a refusal, where LangChain keeps what a provider says."""
    told = (message.additional_kwargs, message.content)
    return any(endings.is_marked_refused(each) for each in told if each)


def block_id(block: Any) -> str | None:
    """The id of a call that stands among the content blocks; None where the block is no call."""
    if not isinstance(block, Mapping) or not is_one_of(block.get("type"), CALL_BLOCKS):
        return None
    found = block.get("call_id") or block.get("id")
    return found if isinstance(found, str) else None


def has_broken_copy(message: Any) -> bool:
    """Whether the raw copy of a call is none that a provider takes, or none of the message's."""
    kwargs = message.additional_kwargs
    listed = kwargs.get("tool_calls") if isinstance(kwargs, Mapping) else None
    one = kwargs.get("function_call") if isinstance(kwargs, Mapping) else None
    known = {call.get("id") for call in message.tool_calls}
    raw = [item for item in listed or () if isinstance(item, Mapping)]
    texts = [item.get("function") for item in raw] + ([one] if one else [])
    return any(item.get("id") not in known for item in raw) or not all(map(_is_whole, texts))


def _is_whole(function: Any) -> bool:
    """Whether this is the name of a tool and the JSON text of an object."""
    if not isinstance(function, Mapping) or not function.get("name"):
        return False
    return is_object(function.get("arguments") or "")


def is_object(text: Any) -> bool:
    """Whether this is the JSON text of an object that can be read in one way."""
    try:
        return isinstance(json.loads(text, object_pairs_hook=one_value), dict)
    except (TypeError, ValueError, RecursionError):
        return False


def answer(call_id: str, name: str, text: str) -> Any:
    """The answer to a call that could not be read."""
    from langchain_core.messages import ToolMessage

    return ToolMessage(text, tool_call_id=call_id, name=name, status="error")


def rewritten(
    message: Any,
    calls: Sequence[tuple[str | None, dict[str, Any]]],
    *,
    content: Any = None,
    metadata: Mapping[str, Any] | None = None,
    unread: Sequence[Mapping[str, Any]] = (),
) -> Any:
    """A copy of a message that makes these calls and no others, in every place that has calls.

    Args:
        message: What the model wrote.
        calls: The calls as `{"name", "args", "id"}`, each with the id that the model gave it.
        content: The content to take the message's place, or None to keep it.
        metadata: The response's metadata to take their place, or None to keep them.
        unread: Calls that nobody could parse, which stay as they are.
    """
    from langchain_core.messages import AIMessage

    by_given = {given: call for given, call in calls if given}
    kept = frozenset(str(call["id"]) for call in unread if call.get("id"))
    body = message.content if content is None else content
    kwargs = _kwargs(message.additional_kwargs, by_given, kept)
    if (one := _one_function(message, by_given)) is not None:
        kwargs["function_call"] = one
    values: dict[str, Any] = {
        "content": _blocks(body, by_given, kept) if isinstance(body, list) else body,
        "additional_kwargs": kwargs,
        "response_metadata": dict(
            (message.response_metadata or {}) if metadata is None else metadata
        ),
        "tool_calls": [{**call, "type": "tool_call"} for _, call in calls],
        "invalid_tool_calls": list(unread),
    }
    if not hasattr(message, "tool_call_chunks"):
        return message.model_copy(update=values)

    own = ("name", "id", "usage_metadata")
    whole = {**(message.model_extra or {}), **{key: getattr(message, key) for key in own}}
    return AIMessage(**whole, **values)


def said(content: Any, words: str) -> Any:
    """A message's content, whose text was calls and these words; other blocks stay as they are."""
    if not isinstance(content, list):
        return words
    new: list[Any] = [None if _is_text(block) else block for block in content]
    if words:
        new[new.index(None)] = {"type": "text", "text": words}
    return [block for block in new if block is not None]


def is_words(content: Any) -> bool:
    """Whether a content is words and thinking alone; what else stands there may speak of them."""
    blocks = content if isinstance(content, list) else [content]
    return all(_is_text(block) or is_silent(block) for block in blocks)


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (isinstance(block, Mapping) and block.get("type") == "text")


def _one_function(message: Any, calls: Mapping[str, Mapping[str, Any]]) -> Any:
    """The call that stands there once more, for clients that know one call a message."""
    one = message.additional_kwargs.get("function_call")
    if not isinstance(one, Mapping):
        return None
    old = (*message.tool_calls, *message.invalid_tool_calls)
    ids = [call.get("id") for call in old if call.get("name") == one.get("name")]
    new = next((calls[each] for each in reversed(ids) if each in calls), None)
    return None if new is None else _function(one, new)


def _function(function: Any, call: Mapping[str, Any]) -> dict[str, Any]:
    kept = function if isinstance(function, Mapping) else {}
    return {**kept, "name": call["name"], "arguments": _dumped(call["args"])}


def _blocks(
    content: Sequence[Any], calls: Mapping[str, Mapping[str, Any]], kept: Collection[str]
) -> list[Any]:
    out: list[Any] = []
    for block in content:
        found = block_id(block)
        if found is None or found in kept:
            out.append(block)
        elif (call := calls.get(found)) is not None:
            out.append(_block(block, call))
    return out


def _block(block: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    new = {**block, "name": call["name"]}
    new["call_id" if "call_id" in block else "id"] = call["id"]
    if "arguments" in block:
        is_text = isinstance(block["arguments"], str)
        new["arguments"] = _dumped(call["args"]) if is_text else call["args"]
    if "input" in block or block.get("type") == "tool_use":
        new["input"] = call["args"]
    if "args" in block or block.get("type") in ("tool_call", "invalid_tool_call"):
        new["args"] = call["args"]
    new.pop("partial_json", None)
    if block.get("type") == "invalid_tool_call":
        new["type"] = "tool_call"
        new.pop("error", None)
    return new


def _kwargs(
    kwargs: Mapping[str, Any], calls: Mapping[str, Mapping[str, Any]], kept: Collection[str]
) -> dict[str, Any]:
    ids = {old: call["id"] for old, call in calls.items()}
    out = {key: _renamed(value, ids) for key, value in kwargs.items() if key != "function_call"}
    listed = out.get("tool_calls")
    if not isinstance(listed, list):
        return out
    out["tool_calls"] = []
    for item in listed:
        old: Any = item.get("id") if isinstance(item, Mapping) else None
        if old in kept:
            out["tool_calls"].append(item)
        elif old in calls:
            made = _function(item.get("function"), calls[old])
            out["tool_calls"].append({**item, "id": calls[old]["id"], "function": made})
    if not out["tool_calls"]:
        del out["tool_calls"]
    return out


def _renamed(value: Any, ids: Mapping[str, Any]) -> Any:
    """What is kept by the ids of calls, such as the signatures of thoughts, by the new ids."""
    if not isinstance(value, dict) or value.keys().isdisjoint(ids):
        return value
    return {ids.get(key, key): item for key, item in value.items()}


def _dumped(args: Any) -> str:
    try:
        return json.dumps(args)
    except (ValueError, RecursionError):
        return "{}"
