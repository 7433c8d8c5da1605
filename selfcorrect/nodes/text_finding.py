"""Says what is wrong with a text that should be a call: unreadable, several calls, or none."""

from selfcorrect.context import RunContext
from selfcorrect.model import Finding, own_finding
from selfcorrect.reading.call_object import is_cut
from selfcorrect.reading.choose import Chosen, may_read
from selfcorrect.state import CorrectionState


def text_finding(
    text: str, finding: Finding, state: CorrectionState, context: RunContext, *, is_text: bool
) -> Finding | None:
    """Return what is wrong with what is not a strict call; None if it holds no call.

    Args:
        text: The text, or an object as a text.
        finding: What the strict reader says of it, which stands where it is a call.
        state: The run.
        context: Its parts.
        is_text: Whether it came as a text.
    """
    finish_reason = state["given"].get("finish_reason")
    chosen = context.read(text, finish_reason)
    if not isinstance(chosen, Chosen):
        if not is_text:
            return finding
        if chosen is None:
            return _prose(context)
        code = "cut" if is_cut(finish_reason) else "malformed_json"
        return own_finding("MalformedCall", code, chosen.reason, "")
    acts, allowed = context.may_act(chosen.calls), context.map.reading.text
    if is_text and not may_read(chosen, allowed, acts=acts):
        if chosen.is_meant and allowed != "off":
            return own_finding("MalformedCall", "malformed_json", "words stand around the call", "")
        return _prose(context)
    if len(chosen.calls) < 2 or state["given"].get("index") is not None:
        return finding
    # Choosing one of them would drop the others.
    several = f"the text holds {len(chosen.calls)} calls, and one is expected; `index` chooses it"
    return own_finding("MalformedCall", "several_calls", several, "")


def _prose(context: RunContext) -> Finding | None:
    """Return a finding about a text without a call, where the map wants a model to look at it."""
    code = "malformed_json" if context.map.reading.prose == "ask" else "no_call"
    if code == "no_call" and not any(code in placed.rule.code for placed in context.map.rules):
        return None
    return own_finding("MalformedCall", code, "the text holds no call", "")
