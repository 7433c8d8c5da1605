"""retry: check every bound before anything is paid, then wait for the next execution."""

from __future__ import annotations

from typing import Any

from selfcorrect.json_forms import call_from_json
from selfcorrect.limits import remaining, spent
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.progress import add, stopped
from selfcorrect.loop.sparing import may_repeat
from selfcorrect.policies.waiting import waiting
from selfcorrect.schema.equality import call_key
from selfcorrect.state import CorrectionState


async def retry(state: CorrectionState, context: RunContext) -> Update:
    """Let the call be executed again, after its wait, if bounds and history allow it."""
    counts, limits = state["counts"], context.limits
    same = _same_call(state, context)
    if (barred := state.get("barred")) is not None:
        return _stopped(barred["reason"], barred["detail"], **({} if same else _proposal(state)))
    if bound := spent(counts, limits, "attempts"):
        return _stopped("attempts_exhausted", bound)
    if bound := spent(counts, limits, "seconds"):
        return _stopped("limit_reached", bound)
    if why := _repeated(same, counts.get("allowed_attempts", 0)):
        return _stopped("repeated_failure", why)
    left = remaining(counts, limits)
    wait = waiting(float(state.get("wait") or 0.0), _floor(state), limits.wait, left)
    if isinstance(wait, str):
        return _stopped("limit_reached", wait)
    call = call_from_json(state["current"])
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
        "trail": [{"attempt": len(state.get("attempts") or ()) + 1, "wait": wait}],
    }


def _floor(state: CorrectionState) -> float:
    """Seconds that the tool asked for when it last failed: nothing calls it before."""
    attempts = state.get("attempts") or ()
    last = attempts[-1] if attempts else {}
    same_tool = (last.get("call") or {}).get("name") == state["current"]["name"]
    return float(last.get("retry_after") or 0.0) if same_tool else 0.0


def _proposal(state: CorrectionState) -> dict[str, Any]:
    """The mended call, which the model or a person may make."""
    return {"proposal": {key: state["current"][key] for key in ("name", "args")}}


def _same_call(state: CorrectionState, context: RunContext) -> list[dict[str, Any]]:
    """The attempts of this run that executed this very call."""
    attempts = state.get("attempts")
    if not attempts:
        return []
    call = call_from_json(state["current"])
    key = call_key(call, context.tools.get(call.name))
    return [attempt for attempt in attempts if attempt.get("key") == key]


def _repeated(same: list[dict[str, Any]], asked_for: int) -> str | None:
    """Why a call with these attempts may not run again, or None."""
    for attempt in same:
        failed = attempt["outcome"] == "failed" and not attempt.get("retryable")
        if failed and attempt["number"] >= asked_for:
            return f"the same call failed in attempt {attempt['number']}, and would fail again"
    return None


def _stopped(reason: str, detail: str, **more: Any) -> Update:
    return stopped(reason, detail, **more) | {"trail": [{"stopped": detail}]}
