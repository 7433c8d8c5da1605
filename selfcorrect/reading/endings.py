"""Why a model stopped, under every provider's name for it, and what that means for its calls."""

from __future__ import annotations

from selfcorrect.forms.endings import reasons_in
from selfcorrect.kernel.metadata import CUT_REASONS, DONE_REASONS
from selfcorrect.kernel.requests import spelled
from selfcorrect.model import JSON, JsonObject
from selfcorrect.reading.contract import Ending, Fault


def ending_of(reason: str | None) -> Ending:
    """What a reason for stopping says about the end of a text.

    >>> ending_of("FinishReason.MAX_TOKENS").closers
    False
    >>> ending_of("tool-calls").complete
    True
    """
    said = spelled(reason)
    return Ending(closers=said not in CUT_REASONS, complete=said in DONE_REASONS)


def ending_in(value: JsonObject, ending: Ending) -> Ending:
    """What is known of the end of the calls in an object, which may say itself why it ends.

    What one of both calls cut off is cut off.

    >>> ending_in({"finish_reason": "length"}, Ending(complete=True))
    Ending(closers=False, complete=False)
    """
    told = [ending, *map(ending_of, reasons_in(value))]
    closers = all(each.closers for each in told)
    return Ending(closers=closers, complete=closers and any(each.complete for each in told))


def lost(value: JsonObject, given: JSON, ending: Ending, *, failed: bool = False) -> Fault | None:
    """Why the arguments of a call may have been lost instead of being empty.

    Args:
        value: The call.
        given: What stands there as its arguments.
        ending: What is known of the end of the message.
        failed: The call stands among those that could not be parsed.
    """
    if given is not None and given != {} and not (isinstance(given, str) and not given.strip()):
        return None
    if failed or value.get("type") == "invalid_tool_call":
        return Fault(0, "arguments that could not be parsed, and were not kept")
    return None if ending.closers else Fault(0, "cut off before the arguments", cut=True)
