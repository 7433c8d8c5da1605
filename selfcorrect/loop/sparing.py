"""What a loop asks before it calls a tool, so that many workers do not wear out one service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from selfcorrect.loop.context import RunContext
from selfcorrect.loop.progress import stopped
from selfcorrect.model import Finding

if TYPE_CHECKING:
    from selfcorrect.policies.breaker import Admission

T = TypeVar("T")


async def count_call(context: RunContext, tool: str) -> None:
    """Count a first execution for the retry budget."""
    budget = context.budgets.of(tool, context.limits.retry_ratio)
    if budget is not None:
        await _asked(context, budget.board, budget.called)


async def may_repeat(context: RunContext, tool: str) -> bool:
    """Whether the retry budget lets a call be repeated."""
    budget = context.budgets.of(tool, context.limits.retry_ratio)
    return budget is None or await _asked(context, budget.board, budget.may_repeat)


async def admitted(context: RunContext, tool: str) -> Admission | None:
    """Whether a tool may be called now; None: nothing ever holds it back."""
    breaker = context.breaker
    if breaker is None or not breaker.guards(tool):
        return None
    return await _asked(context, breaker.board, lambda now: breaker.admit(tool, now))


def held_back(context: RunContext, made: Admission) -> dict[str, Any]:
    """How a run ends whose call is held back."""
    until = context.time.now() + timedelta(seconds=made.wait)
    shown = until.isoformat(timespec="seconds")
    detail = (
        f"{made.service} fails: its calls are held back until {shown}, {made.wait:.1f} s from now"
    )
    event = {"ok": False, "stopped": detail}
    return stopped("unavailable", detail, until=shown) | {"trail": [event]}


async def noted(
    context: RunContext,
    tool: str,
    made: Admission | None,
    *,
    ok: bool | None,
    host: str | None = None,
) -> None:
    """Note what became of a call that was admitted."""
    breaker = context.breaker
    if breaker is None or made is None:
        return
    await _asked(
        context, breaker.board, lambda now: breaker.told(tool, made, now, ok=ok, host=host)
    )


async def returned(context: RunContext, made: Admission | None) -> None:
    """Note that a call that was admitted is not made after all."""
    breaker = context.breaker
    if breaker is not None and made is not None and made.probe is not None:
        await _asked(context, breaker.board, lambda now: breaker.returned(made, now))


async def noted_error(
    context: RunContext, tool: str, error: Mapping[str, Any], findings: list[Finding]
) -> None:
    """Note an execution that failed, once it is known what kind of error it was."""
    breaker = context.breaker
    if breaker is None or (kept := error.get("admission")) is None:
        return
    from selfcorrect.policies.breaker import Admission

    failed = any(breaker.is_failure(finding.kind) for finding in findings)
    ok = False if failed else None if error.get("fault") else True
    await noted(context, tool, Admission(**kept), ok=ok, host=error.get("host"))


async def _asked(context: RunContext, board: Any, ask: Callable[[float], T]) -> T:
    """Ask, in a thread where the board is a database that one would have to wait for."""
    found: T = await context.of_store(board, ask, context.time.monotonic())
    return found
