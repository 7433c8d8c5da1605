"""retry: check every bound before anything is paid, then wait for the next execution."""

from __future__ import annotations

from typing import Any

from selfcorrect.context import RunContext, Update
from selfcorrect.limits import spent
from selfcorrect.model import call_from_json
from selfcorrect.progress import add, call_key
from selfcorrect.state import CorrectionState


async def retry(state: CorrectionState, context: RunContext) -> Update:
    """Let the call be executed again, after its wait, if bounds and history allow it."""
    counts, limits = state["counts"], context.limits
    wait = max(0.0, float(state.get("wait") or 0.0))
    if bound := spent(counts, limits, "attempts"):
        return _stopped("attempts_exhausted", bound)
    if bound := spent(counts, limits, "seconds"):
        return _stopped("limit_reached", bound)
    if why := _repeated(state):
        return _stopped("repeated_failure", why)
    if wait > limits.wait:
        return _stopped("limit_reached", f"a wait of {wait:g} s, and at most {limits.wait:g} s")
    if limits.seconds is not None and counts.get("seconds", 0) + wait >= limits.seconds:
        return _stopped("limit_reached", f"a wait of {wait:g} s would pass the run's deadline")
    if wait > 0:
        await context.host.sleep(context.time, wait)
    return {
        "outcome": "retry",
        "wait": 0.0,
        "error": None,
        "counts": add(counts, "seconds", wait),
        "trail": [{"attempt": len(state.get("attempts") or ()) + 1, "wait": wait}],
    }


def _repeated(state: CorrectionState) -> str | None:
    """Why this very call may not run again, or None."""
    key = call_key(call_from_json(state["current"]))
    asked_for = state["counts"].get("allowed_attempts", 0)
    for attempt in state.get("attempts") or ():
        same = attempt.get("key") == key and attempt["outcome"] == "failed"
        if same and not attempt.get("retryable") and attempt["number"] >= asked_for:
            return f"the same call failed in attempt {attempt['number']}, and would fail again"
    return None


def _stopped(reason: str, detail: str) -> dict[str, Any]:
    return {
        "outcome": "stopped",
        "stop": {"reason": reason, "detail": detail},
        "trail": [{"stopped": detail}],
    }
