"""What stands beside the arguments of a call and is known: all else may have a meaning.

Left out without a word are only known keys with known values.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from types import MappingProxyType
from typing import Any, Final

from selfcorrect.kernel.requests import REFUSED_REASONS, spelled
from selfcorrect.model import JSON, JsonObject
from selfcorrect.plain import is_one_of
from selfcorrect.text import normal

CUT_REASONS: Final = frozenset(
    {"length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"}
    | REFUSED_REASONS
    | {"incomplete", "error", "failed", "cancelled", "abort", "timeout"}
    | {"malformed_function_call", "malformed_tool_use"}
)
"""What providers call it when a text ends before the model had finished."""
DONE_REASONS: Final = frozenset(
    {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"}
    | {"tool_calls", "tool_call", "tool_use", "function_call"}
)
"""What they call it when the model had finished."""
_LONGEST_NAME: Final = 40


def ended(reason: str | None) -> bool | None:
    """Whether a model ended by itself, as its reason for stopping says; None if that says nothing.

    >>> ended("FinishReason.MAX_TOKENS"), ended("tool-calls"), ended(None)
    (False, True, None)
    """
    said = spelled(reason)
    return True if said in DONE_REASONS else False if said in CUT_REASONS else None


def ended_all(*told: bool | None) -> bool | None:
    """Whether a model ended by itself: where one of several says that it was cut off, it was."""
    return False if False in told else True if True in told else None


Check = Callable[[JSON], bool]


def _is_mark(item: JSON) -> bool:
    """A number or a word without spaces: an id, a time, a model, a signature."""
    if isinstance(item, str):
        return not any(map(str.isspace, item))
    return _is_number(item)


def _is_number(item: JSON) -> bool:
    return item is None or (isinstance(item, int | float) and not isinstance(item, bool))


def _is_nothing(item: JSON) -> bool:
    return item in (None, "", [], {}) and item is not False


def _is_flag(item: JSON) -> bool:
    return isinstance(item, bool) or item is None


def _is_record(item: JSON) -> bool:
    return isinstance(item, dict) or item is None


def _is_anything(item: JSON) -> bool:
    del item
    return True


def _is_reason(item: JSON) -> bool:
    if not isinstance(item, str):
        return item is None
    # What a provider refused to say is no call, wherever that stands.
    return spelled(item) in (CUT_REASONS - REFUSED_REASONS) | DONE_REASONS


def _one_of(words: str) -> Check:
    known = frozenset(words.split())
    return lambda item: item is None or (isinstance(item, str) and normal(item) in known)


def _all(check: Check, keys: str) -> dict[str, Check]:
    return dict.fromkeys(keys.split(), check)


_CALL: Final[Mapping[str, Check]] = MappingProxyType(
    {
        **_all(_is_mark, "id tool_call_id call_id toolUseId tool_use_id"),
        **_all(_is_mark, "signature thoughtSignature thought_signature"),
        **_all(_is_number, "index created"),
        **_all(_is_nothing, "error content metadata result response"),
        **_all(_is_anything, "thought thoughts thinking reasoning rationale"),
        **_all(_is_record, "cache_control caller extra_content usage"),
        "type": _one_of(
            "function functioncall tool toolcall toolcallchunk tooluse invalidtoolcall"
        ),
        "tool_type": _one_of("function tool"),
        "role": _one_of("assistant model ai chatbot"),
        "channel": _one_of("commentary analysis final"),
        "strict": _is_flag,
    }
)
"""What providers and models write in the object of one call, and what it may say there."""
_MESSAGE: Final[Mapping[str, Check]] = MappingProxyType(
    {
        **_CALL,
        **_all(_is_anything, "content text tool_plan reasoning_content tool_call_chunks"),
        **_all(_is_reason, "finish_reason finishReason stop_reason stopReason done_reason"),
        **_all(_is_mark, "model modelVersion system_fingerprint service_tier created_at name"),
        **_all(_is_mark, "responseId previous_response_id generation_id request_id chunk_position"),
        **_all(_is_record, "usage_metadata usageMetadata response_metadata metadata meta metrics"),
        **_all(_is_record, "additional_kwargs ResponseMetadata incomplete_details timings"),
        **_all(_is_nothing, "refusal annotations audio logprobs stop_sequence citations images"),
        **_all(_is_nothing, "safetyRatings promptFeedback prompt_logprobs summary tool_calls"),
        **_all(_is_nothing, "invalid_tool_calls function_call"),
        **_all(_is_number, "total_duration load_duration prompt_eval_count prompt_eval_duration"),
        **_all(_is_number, "eval_count eval_duration avgLogprobs temperature top_p"),
        "type": _one_of("ai aimessagechunk message response completion function toolcall tooluse"),
        "object": _one_of("chatcompletion chatcompletionchunk response textcompletion"),
        "status": _one_of("completed incomplete inprogress"),
        "done": _is_flag,
        "example": lambda item: item is False,
    }
)
"""The same of a whole message or response: the words of a message say nothing of its calls."""
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_SAID: Final = _THOUGHTS | {"text", "output_text", "message"}
"""The types of parts of a message that hold no calls."""
_PARTS: Final = frozenset({"text", "thought", "thoughtSignature", "reasoningContent"})


def is_known(key: str, item: JSON) -> bool:
    """Whether providers and models write this beside the arguments of one call."""
    check = _CALL.get(key)
    return check is not None and check(item)


def left_out(value: JsonObject, meant: Container[str], *, message: bool = False) -> str | None:
    """What of an object is neither meant nor known, if anything.

    Args:
        value: The object around a call, or of one.
        meant: The keys that are read.
        message: Whether it is a message or a response, and not one call.
    """
    known = _MESSAGE if message else _CALL
    for key, item in value.items():
        check = known.get(key)
        if key in meant or (check is not None and check(item)):
            continue
        if (key, item, value.get("type")) == ("status", "completed", "function_call"):
            continue  # the form of OpenAI's responses
        if key == "error" and value.get("type") == "invalid_tool_call":
            continue  # it is about the text of the arguments
        return f"{key[:_LONGEST_NAME]!r} beside the call is left out"
    return None


def is_said(item: JSON) -> bool:
    """Whether a part of a message is known to hold words of the model, or nothing."""
    if not isinstance(item, dict):
        return item is None
    return is_one_of(item.get("type"), _SAID) or (bool(item) and item.keys() <= _PARTS)


def is_silent(part: Any) -> bool:
    """Whether a part of a message says nothing aloud: empty, or marked as thinking.

    >>> is_silent({"type": "thinking", "thinking": "Hm."}), is_silent({"type": "image"})
    (True, False)
    """
    if not isinstance(part, Mapping):
        return not str(part or "").strip()
    if part.get("thought") or is_one_of(part.get("type"), _THOUGHTS):
        return True
    if "text" in part or part.get("type") == "text":
        return not str(part.get("text") or "").strip()
    return part.keys() <= _PARTS
