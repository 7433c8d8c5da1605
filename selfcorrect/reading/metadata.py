"""What stands beside the arguments of a call: arguments, metadata, or why it is not to be made."""

from __future__ import annotations

from typing import Final

from selfcorrect.effects import acts
from selfcorrect.model import JsonObject
from selfcorrect.protocols import Tool
from selfcorrect.reading import Offered, ToolCallKeys, parameters
from selfcorrect.text import LONGEST, normal, tokens, typo

NAMES_TOO: Final = ("function", "function_name", "action", "recipient_name", "api_name")
"""Further keys of a name; they count only where they hold the name of an offered tool."""
ARGUMENTS_TOO: Final = ("input", "action_input", "tool_input", "function_args", "kwargs")
CALL_ID: Final = "call_id"
"""Where it stands beside an `id`, the answer to the call has to name this one."""
IDS_TOO: Final = (CALL_ID, "toolUseId", "tool_use_id")
MEANS_NOTHING: Final = frozenset(
    {
        *("type", "index", "status", "role", "object", "error", "content", "tool_type"),
        *("thought", "thoughts", "thinking", "reasoning", "rationale", "explanation", "comment"),
        *IDS_TOO,
    }
)
_PLAIN: Final = frozenset(
    {"action", "assistant", "calling", "completed", "custom", "functioncall", "in_progress"}
    | {"incomplete", "model", "object", "ok", "toolcall", "tooluse"}
)
"""What the usual metadata of a call say: its type, its status, and whose it is."""
_CALLS: Final = frozenset({"call", "function", "tool"})
_IDLE: Final = frozenset(
    {"cache_control", "caller", "channel", "created", "created_at", "description", "extra_content"}
    | {"metadata", "namespace", "provider", "purpose", "recipient", "signature", "step", "strict"}
    | {"thoughtSignature", "thought_signature", "timestamp", "title", "usage"}
)
"""What else providers and models write beside a call."""
_TOLD: Final = ("type", "status", "role", "object", "tool_type")
_DONE: Final = ("error", "result", "response", "outcome")
BESIDE: Final = "arguments beside the others"


def belongs(key: str, tool: Tool) -> bool:
    """Whether a key beside the arguments is one of them: a parameter, or a misspelt one."""
    known = parameters(tool)
    if key in known or tool.schema.get("additionalProperties"):
        return True
    return any(_resemble(key, name) for name in known)


def _resemble(key: str, name: str) -> bool:
    short, long = sorted((normal(key), normal(name)), key=len)
    return (len(short) > 2 and long.startswith(short)) or typo(key, name) is not None


def limited(
    name: str, value: JsonObject, keys: ToolCallKeys, tools: Offered, *, failed: bool = False
) -> str | None:
    """What beside the arguments says that a call is not to be made as it stands, if anything does.

    A tool that changes something is called only with what is known to mean nothing. The error of
    a call whose arguments `failed` to be parsed is about their text.
    """
    failed = failed or value.get("type") == "invalid_tool_call"
    for key in keys.name:
        other = value.get(key)
        if isinstance(other, str) and other.strip() and normal(other) != normal(name):
            return f"two names of tools: {name[:40]!r} and {other[:40]!r}"
    tool = tools.meant(name)
    if tool is None or not acts(tool):
        return None
    for key in _TOLD:
        told = value.get(key)
        if isinstance(told, str) and not _is_plain(told) and key not in parameters(tool):
            return f"{key} {told[:40]!r} beside the arguments"
    for key in _DONE[failed:]:
        if value.get(key) not in (None, "", {}, []):
            return f"{key!r} beside the arguments"
    known = {*NAMES_TOO, *ARGUMENTS_TOO, *_IDLE}
    odd = next((key for key in beside(value, keys) if key not in known), None)
    return None if odd is None else f"{odd[:40]!r} beside the arguments"


def _is_plain(told: str) -> bool:
    return told.lower() in _PLAIN or not _CALLS.isdisjoint(tokens(told[:LONGEST]))


def beside(value: JsonObject, keys: ToolCallKeys) -> JsonObject:
    """What stands in a call beside its id, name, arguments and the usual metadata."""
    meant = {*keys.id, *keys.name, *keys.arguments, *MEANS_NOTHING, "input"}
    return {key: item for key, item in value.items() if key not in meant}
