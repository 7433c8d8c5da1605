"""Says what is wrong with a text that should be a call: unreadable, several calls, or none."""

from selfcorrect.context import RunContext
from selfcorrect.model import Finding, own_finding
from selfcorrect.reading.call_object import is_cut
from selfcorrect.reading.choose import Chosen, Unreadable, may_read
from selfcorrect.state import CorrectionState


def text_finding(
    text: str, finding: Finding, state: CorrectionState, context: RunContext
) -> Finding | None:
    """Return what is wrong with a text that is not a strict call; None if it holds no call.

    Args:
        text: The text.
        finding: What the strict reader says of it, which stands where the text is a call.
        state: The run.
        context: Its parts.
    """
    finish_reason = state["given"].get("finish_reason")
    chosen = context.read(text, finish_reason)
    if isinstance(chosen, Unreadable):
        code = "cut" if is_cut(finish_reason) else "malformed_json"
        return own_finding("MalformedCall", code, chosen.reason, "")
    if chosen is None:
        return _prose(context)
    acts = context.may_act(chosen.calls)
    if not may_read(chosen, context.map.reading.text, acts=acts):
        if chosen.is_meant and context.map.reading.text != "off":
            return own_finding("MalformedCall", "malformed_json", "words stand around the call", "")
        return _prose(context)
    return _several(chosen, state) or finding


def object_finding(
    text: str, finding: Finding, state: CorrectionState, context: RunContext
) -> Finding:
    """Return what is wrong with an object that is not exactly one call; see `text_finding`."""
    chosen = context.read(text, state["given"].get("finish_reason"))
    return (_several(chosen, state) if isinstance(chosen, Chosen) else None) or finding


def _several(chosen: Chosen, state: CorrectionState) -> Finding | None:
    """Return a finding about several calls of which none is chosen: no other one is dropped."""
    if len(chosen.calls) < 2 or state["given"].get("index") is not None:
        return None
    several = f"the text holds {len(chosen.calls)} calls, and one is expected; `index` chooses it"
    return own_finding("MalformedCall", "several_calls", several, "")


def _prose(context: RunContext) -> Finding | None:
    """Return a finding about a text without a call, where the map wants a model to look at it."""
    code = "malformed_json" if context.map.reading.prose == "ask" else "no_call"
    if code == "no_call" and not any(code in placed.rule.code for placed in context.map.rules):
        return None
    return own_finding("MalformedCall", code, "the text holds no call", "")
