"""The intent of one execution: written before the tool is called, settled after it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final

from selfcorrect.context import RunContext
from selfcorrect.effects import Outcome, may_call_again
from selfcorrect.errors import LedgerError, is_control_flow
from selfcorrect.failures import fingerprint, noted
from selfcorrect.json_forms import call_from_json, finding_to_json
from selfcorrect.limits import remaining
from selfcorrect.model import JSON, Call, Finding, Result
from selfcorrect.plain import copied, digest
from selfcorrect.protocols import Ledger, Record
from selfcorrect.state import CorrectionState
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.deadlines import in_time

_FIRST_LOOK: Final = 0.02
_LONGEST_LOOK: Final = 0.25
_LONGEST_WAIT: Final = 300.0
_VERIFY_SECONDS: Final = 30.0


def intent_key(state: CorrectionState, call: Call) -> str:
    """The ledger's key: the same task and call id with the same arguments is one intent."""
    task = state["given"].get("task_id") or state["run"]
    return digest(task, call.id, call.name, call.args)


def ledger_of(state: CorrectionState, context: RunContext) -> Ledger | None:
    """The ledger of this run: the caller's; without one, memory, where a run can come again."""
    if context.ledger is not None:
        return context.ledger
    comes_again = state["given"].get("task_id") is not None or context.ask_person is not None
    return context.memory if comes_again else None


async def begin(ledger: Ledger, key: str, state: CorrectionState, context: RunContext) -> Any:
    """Write the intent, and wait while somebody else is at it.

    Returns:
        The ledger's record: None to go on, `held` where waiting took too long.

    Raises:
        LedgerError: If the ledger cannot be used.
    """
    left = remaining(state["counts"], context.limits)
    most = _LONGEST_WAIT if left is None else min(_LONGEST_WAIT, left)
    waited, pause = 0.0, _FIRST_LOOK
    while True:
        record, cut = await _ask(ledger, context, ledger.begin, key)
        if cut is not None:
            if record is None:
                await _ask(ledger, context, ledger.settle, key, "not_done")
            elif record.status not in ("held", "done"):
                await settle(ledger, context, key, "unknown", lost_value(record))
            raise cut
        if record is None or record.status != "held" or waited >= most:
            return record
        await context.host.sleep(context.time, pause)
        waited += pause
        pause = min(pause * 1.5, _LONGEST_LOOK)


async def settle(
    ledger: Ledger | None, context: RunContext, key: str, status: str, value: JSON = None
) -> str | None:
    """Write what came of an intent; why it could not be written, or None.

    What cannot be written stays in doubt, and the run goes on with what it knows.
    """
    if ledger is None or not key:
        return None
    try:
        _, cut = await _ask(ledger, context, ledger.settle, key, status, value)
    except LedgerError as error:
        return str(error)
    if cut is not None:
        raise cut
    return None


def settle_now(ledger: Ledger | None, key: str, status: str) -> None:
    """The same, where nothing can be awaited any more."""
    if ledger is not None and key:
        try:
            ledger.settle(key, status)
        except LedgerError:
            return


async def verified(
    tool: ToolSpec, call: Call, key: str, context: RunContext, *, over: bool
) -> Result | Outcome:
    """What the tool finds out of an execution that is in doubt; `MAYBE` where it cannot tell.

    Args:
        tool: The tool that was called.
        call: What it was called with.
        key: The idempotency key that it got.
        context: Of the run.
        over: Whether the execution is surely over, so that "not done" will stay true.
    """
    if tool.verify is None:
        return Outcome.MAYBE
    try:
        found = await _verdict(tool, call, key, context)
    except Exception as error:
        if is_control_flow(error):
            raise
        return Outcome.MAYBE
    if isinstance(found, Result):
        return found
    return Outcome.NOT_DONE if found is Outcome.NOT_DONE and over else Outcome.MAYBE


def lost_value(record: Record) -> JSON:
    """What is stored with `unknown`, so that a holder that was lost sight of stays so."""
    return {"lost": True} if record.lost else None


async def _verdict(tool: ToolSpec, call: Call, key: str, context: RunContext) -> Any:
    verify: Any = tool.verify
    args, seconds = copied(call.args), tool.timeout or _VERIFY_SECONDS

    def ask() -> Any:
        return verify(args, key)

    if inspect.iscoroutinefunction(verify):
        return await _within(ask(), seconds)
    found, cut = await context.host.off_loop(in_time, ask, seconds, tool.name)
    if cut is not None:
        raise cut
    return await _within(found, seconds) if inspect.isawaitable(found) else found


async def _within(work: Awaitable[Any], seconds: float) -> Any:
    try:
        asyncio.current_task()
    except RuntimeError:
        return await work
    return await asyncio.wait_for(work, seconds)


async def _ask(ledger: Ledger, context: RunContext, method: Any, *args: Any) -> Any:
    if getattr(ledger, "blocks", True):
        return await context.host.off_loop(method, *args)
    return method(*args), None


def outcome_left(error: Mapping[str, Any], told: Outcome) -> Outcome:
    """What is known of a failed execution's effect: what was found out before what was told."""
    if error.get("settled"):
        return Outcome(error["settled"])
    return Outcome.MAYBE if error.get("open") else told


async def concluded(
    state: CorrectionState,
    context: RunContext,
    findings: Sequence[Finding],
    attempts: list[dict[str, Any]],
    outcome: Outcome,
) -> dict[str, Any]:
    """Settle the intent of an execution that failed, and remember how.

    Returns:
        What changes in the state: the attempts, the failures of the thread, and the end of the run
        where the tool may not be called again.
    """
    error, call = state.get("error") or {}, call_from_json(state["current"])
    status = "not_done" if outcome is Outcome.NOT_DONE else "unknown"
    ledger = ledger_of(state, context)
    await settle(ledger, context, error.get("intent") or "", status)
    update: dict[str, Any] = {"attempts": attempts}
    tool = context.tools.get(call.name)
    if tool is not None and not may_call_again(outcome, tool.effect):
        if attempts:
            attempts[-1]["outcome"] = "unknown"
        detail = f"the tool is {tool.effect} and may or may not have acted before it failed"
        if outcome is Outcome.DONE:
            detail = f"the tool is {tool.effect} and acted, but its result is lost"
        return update | {
            "outcome": "stopped",
            "stop": {"reason": "unknown_outcome", "detail": detail},
        }
    if attempts and not attempts[-1].get("retryable"):
        key = attempts[-1].get("key")
        if not any(item.get("key") == key for item in attempts[:-1]):
            task = state["given"].get("task_id")
            past = {**context.failures.of(task), **(state.get("failed") or {})}
            shown = [finding_to_json(item) for item in findings]
            failed = noted(past, str(key), fingerprint(findings), shown)
            context.failures.keep(task, failed)
            update["failed"] = failed
    return update
