"""What happens around a step of the loop: costs on the trail, listeners, and limits extended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from selfcorrect.errors import is_control_flow
from selfcorrect.loop.context import RunContext
from selfcorrect.plain import plain
from selfcorrect.routing import END
from selfcorrect.state import CorrectionState

_COSTS: Final = ("model_calls", "tokens", "cost")
_LIMITED: Final = ("limit_reached", "attempts_exhausted")
_PURE: Final = ("select_strategy", "retry")
"""Nodes that check their bounds before anything is paid, and so may be run again."""


def extended(state: Mapping[str, Any], context: RunContext) -> RunContext:
    """The context with the limits that this run was given on the way."""
    more = state["counts"].get("extended")
    return context if not more else replace(context, limits=context.limits.merged(more))


def with_costs(state: Mapping[str, Any], update: dict[str, Any]) -> None:
    """Write what the step paid for into its last event."""
    after = update.get("counts")
    if not after or not update.get("trail"):
        return
    before = state["counts"] if update["trail"][0].get("step") != 0 else {}
    more = {key: after.get(key, 0) - before.get(key, 0) for key in _COSTS}
    paid = {key: round(value, 9) for key, value in more.items() if value > 0}
    if paid:
        update["trail"] = [*update["trail"][:-1], {**update["trail"][-1], **paid}]


async def more_room(
    node: str, state: CorrectionState, update: Mapping[str, Any], context: RunContext
) -> CorrectionState | None:
    """The state with larger limits, where this update would end the run at one; else None."""
    stop = update.get("stop") or {}
    if context.on_limit is None or node not in _PURE or stop.get("reason") not in _LIMITED:
        return None
    from selfcorrect.policies.budgets import (
        MOST_EXTENSIONS,
        Checkpoint,
        Extend,
        LimitReached,
        larger,
    )

    counts = state["counts"]
    if counts.get("extensions", 0) >= MOST_EXTENSIONS:
        return None
    reached = LimitReached(stop["detail"], dict(counts), context.limits)
    decision = await context.host.call(context.on_limit, reached)
    wanted: Any = decision.limits if isinstance(decision, Extend) else None
    if isinstance(decision, Checkpoint) and context.ask_person is not None:
        asked = {
            "question": f"The run has reached a limit: {stop['detail']}. Go on with larger limits?",
            "options": [],
            "limit": stop["detail"],
            "counts": plain(dict(counts)),
        }
        answer = context.ask_person(asked)
        is_more = isinstance(answer, Mapping) and answer.get("action") == "extend"
        wanted = answer.get("limits") if is_more else None
    more = larger(context.limits, wanted) if isinstance(wanted, Mapping) else {}
    if not more:
        return None
    given = {**counts.get("extended", {}), **more}
    extensions = counts.get("extensions", 0) + 1
    return {**state, "counts": {**counts, "extended": given, "extensions": extensions}}


async def tell(
    state: CorrectionState, update: dict[str, Any], target: str, context: RunContext
) -> None:
    """Call the listeners that a step concerns."""
    hooks = context.hooks
    if hooks is None:
        return
    counts = update.get("counts") or state["counts"]
    if hooks.on_threshold is not None:
        from selfcorrect.policies.hooks import nearly_spent

        near = nearly_spent(counts, context.limits, hooks.threshold)
        if near:
            told = [*(counts.get("warned") or ()), *(name for name, _, _ in near)]
            update["counts"] = {**counts, "warned": told}
        for each in near:
            await call_hook(context, hooks.on_threshold, *each)
    if target != END:
        return
    call = update.get("current") or state["current"] or {}
    name, args = str(call.get("name") or ""), dict(call.get("args") or {})
    failure = update.get("failure")
    if failure is not None and hooks.on_error is not None:
        await call_hook(context, hooks.on_error, name, failure)
    if hooks.on_tool_use is not None:
        result = failure["for_model"] if failure is not None else update.get("result")
        await call_hook(context, hooks.on_tool_use, name, args, result)


async def tell_raised(state: CorrectionState, context: RunContext) -> None:
    """Call the listener for errors where the report is about to be raised."""
    if context.hooks is not None and context.hooks.on_error is not None:
        name = str((state["current"] or {}).get("name") or "")
        await call_hook(context, context.hooks.on_error, name, dict(state["stop"] or {}))


async def call_hook(context: RunContext, hook: Any, *args: Any) -> None:
    """Tell a listener; what it raises is logged and changes nothing."""
    try:
        await context.host.call(hook, *args)
    except Exception as error:
        if is_control_flow(error):
            raise
        if context.emit is not None:
            context.emit("selfcorrect.hook_failed", {"error": type(error).__name__})
