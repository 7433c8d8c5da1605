"""execute: check the arguments, write the intent, call the tool, keep what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from selfcorrect.context import RunContext, Update
from selfcorrect.effects import Outcome, may_call_again
from selfcorrect.errors import GraphSetupError, LedgerError, is_control_flow
from selfcorrect.failures import MOST_TIMES
from selfcorrect.intents import (
    begin,
    intent_key,
    ledger_of,
    lost_value,
    settle,
    settle_now,
    verified,
)
from selfcorrect.json_forms import call_from_json, finding_to_json, to_json
from selfcorrect.limits import remaining
from selfcorrect.model import Attempt, Call, Finding, Result
from selfcorrect.plain import as_text, clean, plain, storable
from selfcorrect.policies.retry_budget import budget_of
from selfcorrect.progress import add, call_key
from selfcorrect.protocols import Ledger, Record
from selfcorrect.redaction import redact
from selfcorrect.state import CorrectionState
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.deadlines import StillRunning

_LONGEST_TEXT = 4_000
_MOST_CAUSES = 200


@dataclass(frozen=True, slots=True)
class _Execution:
    """One execution that is about to happen."""

    state: CorrectionState
    context: RunContext
    call: Call
    tool: ToolSpec
    ledger: Ledger | None
    key: str

    @property
    def number(self) -> int:
        return len(self.state.get("attempts") or ()) + 1

    async def settle(self, status: str, value: Any = None) -> str | None:
        """Write what came of it; why it could not be written, or None."""
        return await settle(self.ledger, self.context, self.key, status, value)


async def execute(state: CorrectionState, context: RunContext) -> Update:
    """Call the tool once; a call that does not fit the tool never reaches it."""
    call = call_from_json(state["current"])
    tool = context.tools.get(call.name)
    if tool is None or call.raw is not None:
        finding = Finding("there is no such tool", ("UnknownTool",), code="unknown_tool")
        return _failed("plan", (finding,), {})
    if violations := tool.violations(call.args):
        return _failed("schema", violations, {"call": state["current"]})

    ceiling = context.limits.ceiling
    if len(state.get("attempts") or ()) >= ceiling:
        return _stopped("attempts_exhausted", f"{ceiling} of at most {ceiling} executions")
    repeatable = may_call_again(Outcome.MAYBE, tool.effect)
    if not repeatable and any(item["outcome"] == "unknown" for item in state.get("attempts") or ()):
        # Also a changed call may do once more what an earlier one has done.
        detail = f"an earlier execution may have acted, and the tool is {tool.effect}"
        return _stopped("unknown_outcome", detail)
    if (known := _known_to_fail(state, context, call)) is not None:
        return known
    ledger = ledger_of(state, context)
    needed = ledger is not None or tool.takes_key or tool.verify
    key = intent_key(state, call) if needed else ""
    this = _Execution(state, context, call, tool, ledger, key)
    if ledger is not None and (update := await _replayed(this, ledger)) is not None:
        return update
    if not state.get("attempts"):
        budget_of(call.name, context.limits.retry_ratio).called(context.time.monotonic())
    return await _call_tool(this)


async def _replayed(this: _Execution, ledger: Ledger) -> Update | None:
    """What an earlier intent of the same call means for this one; None: call the tool."""
    repeatable = may_call_again(Outcome.MAYBE, this.tool.effect)
    try:
        record = await begin(ledger, this.key, this.state, this.context)
    except LedgerError:
        if repeatable:
            return None
        raise
    if record is None:
        return None
    if record.status == "done":
        return _done(this, record.value, {"replayed": True})
    if record.status == "held":
        return _in_doubt(this, "another process is at this very call and did not finish in time")
    if repeatable:
        return None
    return await _settled_doubt(this, record)


async def _settled_doubt(this: _Execution, record: Record) -> Update | None:
    """Ask the tool what became of an execution in doubt; None: it did not happen, call it."""
    found = await verified(this.tool, this.call, this.key, this.context, over=not record.lost)
    if isinstance(found, Result):
        value = _kept(found.value)
        await this.settle("done", value)
        return _done(this, value, {"replayed": True, "verified": True})
    if found is Outcome.NOT_DONE:
        return None
    await this.settle("unknown", lost_value(record))
    detail = "an earlier execution of this call was begun, and nobody knows how it ended"
    return _in_doubt(this, f"{detail}: {record.detail}" if record.detail else detail)


def _in_doubt(this: _Execution, detail: str) -> Update:
    attempt = {"number": this.number, "call": this.state["current"], "outcome": "unknown"}
    return {
        "outcome": "stopped",
        "stop": {"reason": "unknown_outcome", "detail": detail},
        "attempts": [*(this.state.get("attempts") or ()), attempt | {"replayed": True}],
        "trail": [{"ok": False, "replayed": True, "unknown": True}],
    }


async def _call_tool(this: _Execution) -> Update:
    context = this.context
    started = context.time.monotonic()
    tool = this.tool.within(remaining(this.state["counts"], context.limits))
    try:
        value = await context.host.run_tool(tool, this.call.args, this.call.id, this.key)
    except GeneratorExit:
        settle_now(this.ledger, this.key, "unknown")
        raise
    except GraphSetupError:
        await this.settle("unknown")
        raise
    except Exception as error:
        if is_control_flow(error):
            await this.settle("not_done" if _asked_first(this.tool) else "unknown")
            raise
        return await _tool_failed(this, error, max(0.0, context.time.monotonic() - started))
    except BaseException:
        await this.settle("unknown")
        raise
    seconds = max(0.0, context.time.monotonic() - started)
    result = _kept(value)
    trouble = await this.settle("done", result)
    context.errors.forget(this.state["run"])
    return _done(this, result, {"ledger": trouble} if trouble else {}, seconds)


def _done(
    this: _Execution, result: Any, shown: Mapping[str, Any], seconds: float | None = None
) -> Update:
    update: dict[str, Any] = {"outcome": "done", "result": result, "error": None, "findings": []}
    update |= _no_longer_failing(this)
    state, number = this.state, this.number
    attempt = {"number": number, "call": state["current"], "outcome": "done"}
    counts = add(state["counts"], "attempts")
    if seconds is None:
        attempt["replayed"] = True
    else:
        counts = add(counts, "seconds", seconds)
        attempt["seconds"] = round(seconds, 6)
    said = {key: attempt[key] for key in ("seconds",) if key in attempt}
    return {
        **update,
        "attempts": [*(state.get("attempts") or ()), attempt],
        "counts": counts,
        "trail": [{"attempt": number, "ok": True, **said, **shown}],
    }


async def _tool_failed(this: _Execution, error: Exception, seconds: float) -> Update:
    from selfcorrect.evidence import outcome_of, read_error  # a call that succeeds reads none

    state, context, call = this.state, this.context, this.call
    context.errors.add(state["run"], error)
    findings = read_error(error, call, this.tool)
    is_open = _left_open(error)
    settled = None
    outcomes = {outcome_of(item, call.args, this.tool.schema) for item in findings}
    if is_open or outcomes != {Outcome.NOT_DONE}:
        over = not isinstance(error, StillRunning)
        found = await verified(this.tool, call, this.key, context, over=over)
        if isinstance(found, Result):
            value = _kept(found.value)
            trouble = await this.settle("done", value)
            shown = {"verified": True} | ({"ledger": trouble} if trouble else {})
            return _done(this, value, shown, seconds)
        settled = found if found is Outcome.NOT_DONE else None
    text = redact(clean(findings[0].text[:_LONGEST_TEXT]))
    attempt = Attempt(this.number, call, "failed", round(seconds, 6), text, findings[0].kind)
    update = _failed("tool", findings, {"attempt": this.number, "seconds": round(seconds, 6)})
    update["error"] |= {"intent": this.key, "open": is_open}
    if settled is not None:
        update["error"]["settled"] = settled.value
    update["attempts"] = [
        *(state.get("attempts") or ()),
        to_json(attempt) | {"key": call_key(call), "type": type(error).__name__},
    ]
    counts = {**state["counts"], "rounds": 0}
    update["counts"] = add(add(counts, "attempts"), "seconds", seconds)
    return update


def _no_longer_failing(this: _Execution) -> dict[str, Any]:
    """What a call that succeeds says of the failures of its thread."""
    task = this.state["given"].get("task_id")
    past = {**this.context.failures.of(task), **(this.state.get("failed") or {})}
    if not past or (key := call_key(this.call)) not in past:
        return {}
    rest = {name: item for name, item in past.items() if name != key}
    this.context.failures.keep(task, rest)
    return {"failed": rest}


def _known_to_fail(state: CorrectionState, context: RunContext, call: Call) -> Update | None:
    """A call that failed in the same way in earlier runs of its thread is not executed again.

    It is diagnosed once more, for rungs that were not tried; then the run ends.
    """
    task = state["given"].get("task_id")
    past = {**context.failures.of(task), **(state.get("failed") or {})}
    if not past:
        return None
    key = call_key(call)
    item = past.get(key)
    if item is None or item["times"] < MOST_TIMES:
        return None
    if any(attempt.get("key") == key for attempt in state.get("attempts") or ()):
        return None
    detail = f"the same call failed in the same way in {item['times']} runs before this one"
    if item.get("run") == state["run"]:
        return _stopped("repeated_failure", detail)
    return {
        "outcome": "failed",
        "error": {"source": "history", "findings": item["findings"]},
        "failed": {**past, key: {**item, "run": state["run"]}},
        "trail": [{"ok": False, "refused": detail}],
    }


def _asked_first(tool: ToolSpec) -> bool:
    """Whether a tool that interrupted itself is taken to have done nothing yet."""
    if tool.asks_first is not None:
        return tool.asks_first
    return tool.effect != "destructive"


def _kept(value: Any) -> Any:
    result = plain(value)
    return result if storable(result) else as_text(result)


def _left_open(error: BaseException) -> bool:
    """Whether anything that led to this error leaves it open whether the tool acted."""
    stack, seen = [error], 0
    while stack and seen < _MOST_CAUSES:
        item = stack.pop()
        seen += 1
        if isinstance(item, TimeoutError | ConnectionResetError | ConnectionAbortedError):
            return True
        if isinstance(item, BaseExceptionGroup):
            stack.extend(item.exceptions)
        stack.extend(cause for cause in (item.__cause__, item.__context__) if cause is not None)
    return bool(stack)


def _failed(source: str, findings: tuple[Finding, ...], shown: dict[str, Any]) -> dict[str, Any]:
    items = [finding_to_json(finding) for finding in findings]
    for item in items:
        item["text"] = redact(clean(item["text"][:_LONGEST_TEXT]))
    return {
        "outcome": "failed",
        "error": {"source": source, "findings": plain(items)},
        "trail": [{"ok": False, **shown, "error": [item["text"] for item in items]}],
    }


def _stopped(reason: str, detail: str) -> dict[str, Any]:
    return {
        "outcome": "stopped",
        "stop": {"reason": reason, "detail": detail},
        "trail": [{"ok": False, "stopped": detail}],
    }
