"""retry: check every bound before anything is paid, then wait for the next execution."""

from selfcorrect.context import RunContext
from selfcorrect.limits import check_bound, count
from selfcorrect.model import call_of
from selfcorrect.nodes.select_strategy import stop_refused
from selfcorrect.state import CorrectionState, Update, stop_run


async def retry(state: CorrectionState, context: RunContext) -> Update:
    """Let the call be executed again if bounds and history allow it."""
    counts, limits = state["counts"], context.limits
    if refused := stop_refused(state, context):
        return refused
    if why := check_bound(counts, limits, "attempts"):
        return stop_run("attempts_exhausted", f"{why}.")
    if why := check_bound(counts, limits, "seconds"):
        return stop_run("limit_reached", f"{why}.")
    if state["wait"] is None and (number := _equal_attempt(state, context)):
        return stop_run("repeated_failure", f"The same call failed in attempt {number} already.")
    # A wait is never cut short: the service has said when it can answer at the earliest.
    wait = state["wait"] or 0.0
    left = (limits.seconds or float("inf")) - counts.get("seconds", 0.0)
    if not 0 <= wait <= (longest := min(limits.wait, left)):
        why = f"The next try has to wait {wait:g} s, longer than {longest:g} s."
        return stop_run("limit_reached", why)
    if wait > 0:
        await context.sleep(wait)
    note = {"wait": wait, "attempt": len(state["attempts"]) + 1}
    return {
        "outcome": "retry",
        "wait": None,
        "counts": count(counts, "seconds", wait),
        "note": note,
    }


def _equal_attempt(state: CorrectionState, context: RunContext) -> int | None:
    """Return the number of an execution of a call equal to the current one, or None."""
    if not state["attempts"]:
        return None
    key = context.key_of(call_of(state["current"]))
    equal = (each for each in state["attempts"] if context.key_of(call_of(each["call"])) == key)
    return next((int(each["number"]) for each in equal), None)
