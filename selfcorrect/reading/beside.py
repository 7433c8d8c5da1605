"""What stands beside the arguments of a call: its name, its id, and arguments."""

from __future__ import annotations

from typing import Final

from selfcorrect.kernel.metadata import is_known
from selfcorrect.model import JsonObject
from selfcorrect.protocols import Tool
from selfcorrect.reading.contract import ToolCallKeys, parameters
from selfcorrect.text import normal, typo

ARGUMENTS_TOO: Final = ("input", "action_input", "tool_input", "function_args", "kwargs")
CALL_ID: Final = "call_id"
"""Where it stands beside an `id`, the answer to the call has to name this one."""
IDS_TOO: Final = (CALL_ID, "toolUseId", "tool_use_id")


def belongs(key: str, tool: Tool) -> bool:
    """Whether a key beside the arguments is one of them: a parameter, or a misspelt one."""
    known = parameters(tool)
    return key in known or any(_resemble(key, name) for name in known)


def _resemble(key: str, name: str) -> bool:
    short, long = sorted((normal(key), normal(name)), key=len)
    return (len(short) > 2 and long.startswith(short)) or typo(key, name) is not None


def beside(value: JsonObject, keys: ToolCallKeys) -> JsonObject:
    """What stands in a call beside its id, name and the usual metadata."""
    meant = {*keys.own, *keys.name}
    return {
        key: item for key, item in value.items() if key not in meant and not is_known(key, item)
    }
