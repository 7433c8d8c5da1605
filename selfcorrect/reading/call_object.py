"""Reads the input as one call, strictly, and says why the model's message ended.

Every deviation is a finding, and loses nothing.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from selfcorrect.model import JSON, Call, Finding, JsonObject, own_finding
from selfcorrect.pointer import ARGS, MAX_BYTES, oversize
from selfcorrect.text import quote

_KEYS = {"name", "args", "id", "type"}
_TYPES = (None, "tool_call")


def read_call(source: Any, is_tool: Callable[[str], bool]) -> tuple[Call, Finding | None]:
    """Return the call as far as it can be read strictly, and what is wrong with it.

    What is unreadable stays a text in `args`, so that it can never run as empty arguments.

    Args:
        source: An object, in this library's form or a provider's, or the JSON text of one.
        is_tool: Whether a name is the name of a tool.
    """
    value = strict_json(source) if isinstance(source, str) else source
    if not isinstance(value, Mapping):
        return _unreadable(source, "the text is not a call as JSON")
    args = value.get("args")
    if isinstance(args, Mapping) and value.keys() <= _KEYS and value.get("type") in _TYPES:
        own_id = value.get("id")
        call = Call(str(value.get("name") or ""), args, None if own_id is None else str(own_id))
        # A call in this form loads nothing of what reads the others.
        return (call, None) if call.name else _unreadable(source, "the call has no name")
    from selfcorrect.reading.json_calls import CallTextError, ToolCallKeys

    try:
        calls = ToolCallKeys(is_tool=is_tool, decode=_decode).read(dict(value))
    except CallTextError as error:
        return _unreadable(source, str(error))
    if len(calls) != 1:
        return _unreadable(source, "it is not one call")
    form = calls[0]
    if not isinstance(form.arguments, Mapping):
        why = f"the arguments of {form.name[:80]!r} are not a JSON object"
        return _unreadable(form.arguments, why, form.name, form.id)
    return Call(form.name, form.arguments, form.id), None


def strict_json(text: str) -> JSON:
    """Return the value of a strict JSON text; of another one, or a large one, the text itself."""
    if oversize(text) is not None:
        return text
    # A call that is an object loads nothing of this.
    from selfcorrect.reading.strict_json import decode_strictly

    try:
        value = decode_strictly(text)
    except (ValueError, RecursionError):
        return text
    return value if oversize(value) is None else text


def is_cut(finish_reason: Any) -> bool:
    """Say whether a model was stopped by a limit of tokens, in the words of any provider.

    >>> is_cut("length"), is_cut("MAX_TOKENS"), is_cut("stop"), is_cut(None)
    (True, True, False, False)
    """
    return _is_any(finish_reason, _CUT)


def promises_call(finish_reason: Any) -> bool:
    """Say whether a model stopped in order to call a tool, in the words of any provider."""
    return _is_any(finish_reason, _CALLS)


def is_forbidden(turn: JsonObject) -> bool:
    """Say whether a model's turn may hold no call: it was withheld, or calls were not allowed."""
    return _is_any(turn.get("finish_reason"), _WITHHELD) or choice_of(turn) == "none"


def choice_of(turn: JsonObject) -> str:
    """Return what the caller let the model do: `auto`, `none`, `required`, a tool's name, or ""."""
    choice = turn.get("tool_choice")
    # Some providers take the choice as an object.
    choice = choice.get("mode") or choice.get("type") if isinstance(choice, Mapping) else choice
    return str(choice).lower() if choice else ""


def _is_any(finish_reason: Any, reasons: tuple[str, ...]) -> bool:
    return str(finish_reason).lower() in reasons


_CUT = ("length", "max_tokens", "max_output_tokens", "model_length")
_CALLS = ("tool_calls", "tool_use", "function_call", "tool_call")
_WITHHELD = (
    "content_filter",
    "refusal",
    "safety",
    "recitation",
    "prohibited_content",
    "guardrail_intervened",
)
"""Why a message ended, in the words of providers; any other reason says nothing."""


def _decode(arguments: JSON) -> tuple[JSON, tuple[str, ...]]:
    """Return the object that strict JSON writes; whatever deviates stays a text."""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}, ()
    value = strict_json(arguments) if isinstance(arguments, str) else arguments
    return (value if isinstance(value, Mapping) else arguments), ()


def _unreadable(
    source: Any, why: str, name: str = "", call_id: str | None = None
) -> tuple[Call, Finding]:
    text = source if isinstance(source, str) else json.dumps(source, default=repr)[:MAX_BYTES]
    path = ARGS if name else ""
    finding = own_finding("MalformedCall", "malformed_json", f"{why}: {quote(text, 200)}", path)
    return Call(name, text, call_id), finding  # type: ignore[arg-type]
