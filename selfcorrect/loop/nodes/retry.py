"""retry: check every bound before anything is paid, then wait for the next execution."""

from __future__ import annotations

from typing import Any

from selfcorrect.json_forms import call_from_json
from selfcorrect.limits import remaining, spent
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.progress import add, stopped
from selfcorrect.loop.sparing import may_repeat
from selfcorrect.state import CorrectionState


async def retry(state: CorrectionState, context: RunContext) -> Update:
    """Let the call be executed again, after its wait, if bounds and history allow it."""
    counts, limits = state["counts"], context.limits
    call = call_from_json(state["current"])
    key = context.key_of(call)
    same = [attempt for attempt in state["attempts"] if attempt.get("key") == key]
    if (barred := state["barred"]) is not None:
        current = state["current"]
        mended = {"proposal": {"name": current["name"], "args": current["args"]}}
        return _stopped(barred["reason"], barred["detail"], **({} if same else mended))
    if bound := spent(counts, limits, "attempts"):
        return _stopped("attempts_exhausted", bound)
    if bound := spent(counts, limits, "seconds"):
        return _stopped("limit_reached", bound)
    if why := _repeated(same, counts.get("allowed_attempts", 0)):
        return _stopped("repeated_failure", why)
    left = remaining(counts, limits)
    wait = waiting(float(state["wait"] or 0.0), _floor(state), limits.wait, left)
    if isinstance(wait, str):
        return _stopped("limit_reached", wait)
    if same and not await may_repeat(context, call.name):
        detail = f"too many calls of {call.name!r} fail: its retry budget is used up for now"
        return _stopped("limit_reached", detail)
    if wait > 0:
        await context.host.sleep(context.time, wait)
    return {
        "outcome": "retry",
        "wait": 0.0,
        "error": None,
        "counts": add(counts, "seconds", wait),
        "trail": [{"attempt": len(state["attempts"]) + 1, "wait": wait}],
    }


def waiting(wanted: float, floor: float, longest: float, left: float | None) -> float | str:
    """Seconds to wait before the next execution, or why there will be none.

    The tool's own word (`Retry-After`) is a floor. A wait that would pass the deadline is cut
    short, but never below that floor: half of the time that is left is kept for the execution.

    >>> waiting(20.0, 0.0, 30.0, left=8.0)
    4.0
    >>> waiting(0.2, 5.0, 30.0, left=300.0)
    5.0
    >>> waiting(0.2, 5.0, 30.0, left=4.0)
    "a wait of 5 s would pass the run's deadline"

    Args:
        wanted: What the strategy asks for, in seconds.
        floor: What the tool asks for, in seconds; 0 if nothing.
        longest: The longest wait that the limits allow, in seconds.
        left: Seconds to the run's deadline; None: there is none.
    """
    wait = max(0.0, wanted, floor)
    if wait > longest:
        return f"a wait of {wait:g} s, and at most {longest:g} s"
    if left is None or wait < left:
        return wait
    if floor >= left:
        return f"a wait of {wait:g} s would pass the run's deadline"
    return floor + (left - floor) / 2


def _floor(state: CorrectionState) -> float:
    """Seconds that the tool asked for when it last failed: nothing calls it before."""
    attempts = state["attempts"]
    last = attempts[-1] if attempts else {}
    same_tool = (last.get("call") or {}).get("name") == state["current"]["name"]
    return float(last.get("retry_after") or 0.0) if same_tool else 0.0


def _repeated(same: list[dict[str, Any]], asked_for: int) -> str | None:
    """Why a call with these attempts may not run again, or None."""
    for attempt in same:
        failed = attempt["outcome"] == "failed" and not attempt.get("retryable")
        if failed and attempt["number"] >= asked_for:
            return f"the same call failed in attempt {attempt['number']}, and would fail again"
    return None


def _stopped(reason: str, detail: str, **more: Any) -> Update:
    return stopped(reason, detail, **more) | {"trail": [{"stopped": detail}]}
