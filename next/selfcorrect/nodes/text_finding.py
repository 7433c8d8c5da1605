"""Says what is wrong with a text that should be a call: unreadable, several calls, or none."""

from selfcorrect.context import RunContext
from selfcorrect.model import Finding, own_finding
from selfcorrect.reading.choose import NoCall, Unreadable, may_read
from selfcorrect.state import CorrectionState


def text_finding(
    text: str, finding: Finding, state: CorrectionState, context: RunContext
) -> Finding | None:
    """Return what is wrong with a text that is no strict call; None if it holds no call at all.

    Args:
        text: The text.
        finding: What the strict reader says of it, which stands where the text is a call.
        state: The run.
        context: Its parts.
    """
    given = state["given"]
    chosen = context.read(text, given.get("finish_reason"))
    if isinstance(chosen, Unreadable):
        code = "cut" if given.get("finish_reason") == "length" else "malformed_json"
        return own_finding("MalformedCall", code, chosen.reason, "")
    if isinstance(chosen, NoCall) or not may_read(
        chosen, context.map.reading.text, acts=context.may_act(chosen.calls)
    ):
        return _prose(context)
    if len(chosen.calls) > 1 and given.get("index") is None:
        several = (
            f"the text holds {len(chosen.calls)} calls, and one is expected; `index` chooses it"
        )
        return own_finding("MalformedCall", "several_calls", several, "")
    return finding


def _prose(context: RunContext) -> Finding | None:
    """Return a finding about a text without a call, where the map wants a model to look at it."""
    code = "malformed_json" if context.map.reading.prose == "ask" else "no_call"
    if code == "no_call" and not any(code in each.rule.code for each in context.map.rules):
        return None
    return own_finding("MalformedCall", code, "the text holds no call", "")
