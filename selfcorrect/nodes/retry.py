"""retry: check every bound before anything is paid, then wait for the next execution."""

from selfcorrect.context import RunContext
from selfcorrect.limits import check_bound, count
from selfcorrect.nodes.select_strategy import stop_refused
from selfcorrect.state import CorrectionState, Update, stop_run


async def retry(state: CorrectionState, context: RunContext) -> Update:
    """Let the call be executed again if bounds and history allow it."""
    counts, limits = state["counts"], context.limits
    if refused := stop_refused(state, context, is_meant=state["wait"] is not None):
        return refused
    if why := check_bound(counts, limits, "attempts"):
        return stop_run("attempts_exhausted", f"{why}.")
    if why := check_bound(counts, limits, "seconds"):
        return stop_run("limit_reached", f"{why}.")
    # A wait is never cut short: the service names the earliest time at which it answers.
    wait = state["wait"] or 0.0
    left = (limits.seconds or float("inf")) - counts.get("seconds", 0.0)
    if not 0 <= wait <= (longest := min(limits.wait, left)):
        why = f"The next try has to wait {wait:g} s, longer than {longest:g} s."
        return stop_run("limit_reached", why)
    if wait > 0:
        await context.sleep(wait)
    return {
        "outcome": "retry",
        "wait": None,
        "counts": count(counts, "seconds", wait),
        "note": {"wait": wait, "attempt": len(state["attempts"]) + 1},
    }
