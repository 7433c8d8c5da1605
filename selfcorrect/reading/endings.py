"""Why a model stopped, under every provider's name for it, and what that means for its calls."""

from __future__ import annotations

from selfcorrect.forms.endings import reasons_in
from selfcorrect.kernel.metadata import ended, ended_all
from selfcorrect.model import JSON, JsonObject
from selfcorrect.reading.contract import Fault


def ended_in(value: JsonObject, around: bool | None = None) -> bool | None:
    """Whether the calls in an object ended by themselves, as it and what is around it say.

    >>> ended_in({"finish_reason": "length"}, True)
    False
    """
    return ended_all(around, *map(ended, reasons_in(value)))


def lost(value: JsonObject, given: JSON, end: bool | None, *, failed: bool = False) -> Fault | None:
    """Why the arguments of a call may have been lost instead of being empty.

    Args:
        value: The call.
        given: What stands there as its arguments.
        end: Whether the message ended by itself; None if nobody knows.
        failed: The call stands among those that could not be parsed.
    """
    if given is not None and given != {} and not (isinstance(given, str) and not given.strip()):
        return None
    if failed or value.get("type") == "invalid_tool_call":
        return Fault(0, "arguments that could not be parsed, and were not kept")
    return Fault(0, "cut off before the arguments", cut=True) if end is False else None
