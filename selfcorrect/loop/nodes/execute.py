"""execute: check the arguments, write the intent, call the tool, keep what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from selfcorrect.effects import Outcome, acts, may_call_again
from selfcorrect.errors import GraphSetupError, LedgerError, ToolReportedError, is_control_flow
from selfcorrect.json_forms import call_from_json, finding_to_json, to_json
from selfcorrect.kernel.outcomes import settled
from selfcorrect.kernel.texts import excerpt
from selfcorrect.limits import remaining
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.failures import MOST_TIMES
from selfcorrect.loop.intents import (
    LIFTED,
    Intent,
    failed_before,
    idempotency_key,
    lost_value,
    settle,
    settle_now,
)
from selfcorrect.loop.own_findings import still_raw, unknown_tool
from selfcorrect.loop.progress import add, stopped
from selfcorrect.loop.recalls import of_tool
from selfcorrect.loop.sparing import admitted, count_call, held_back, noted, returned
from selfcorrect.model import JSON, Attempt, Call, Finding, Result
from selfcorrect.plain import canonical, plain, storable_form
from selfcorrect.protocols import Ledger, Record
from selfcorrect.schema.equality import call_key
from selfcorrect.sizes import too_large
from selfcorrect.state import CorrectionState

if TYPE_CHECKING:
    from selfcorrect.policies.breaker import Admission
    from selfcorrect.tools import ToolSpec

_LONGEST_TEXT = 4_000


@dataclass(frozen=True)
class _Execution(Intent):
    """One execution that is about to happen."""

    admission: Admission | None = None

    @property
    def number(self) -> int:
        return len(self.state["attempts"]) + 1

    async def note(self, *, ok: bool | None) -> None:
        """Note for the service's circuit whether it answered."""
        await noted(self.context, self.call.name, self.admission, ok=ok)

    async def settle(self, status: str, value: Any = None) -> str | None:
        """Write what came of it; why it could not be written, or None."""
        return await settle(self.ledger, self.context, self.key, status, value)


async def execute(state: CorrectionState, context: RunContext) -> Update:
    """Call the tool once; a call that does not fit the tool never reaches it."""
    if (update := not_made(state, context)) is not None:
        return update
    call = call_from_json(state["current"])
    return await _executed(state, context, call, context.tools[call.name])


def not_made(state: CorrectionState, context: RunContext) -> Update | None:
    """What becomes of a call that cannot be made as it stands; None: it can be made.

    Pays nothing and asks nobody, so that it can be asked before a person is.
    """
    call = call_from_json(state["current"])
    tool = context.tools.get(call.name)
    if tool is None or call.raw is not None:
        finding = unknown_tool(context.tools) if tool is None else still_raw()
        return failed("plan", (finding,), {})
    if (wrong := too_large(call.args, context.limits.argument_bytes)) is not None:
        return _stopped("invalid_input", wrong)
    if violations := tool.violations(call.args):
        return failed("schema", violations, {"call": state["current"]})

    ceiling = context.limits.ceiling
    if len(state["attempts"]) >= ceiling:
        return _stopped("attempts_exhausted", f"{ceiling} of at most {ceiling} executions")
    if acts(tool) and (why := _is_barred(state)) is not None:
        return _stopped(*why)
    return _known_to_fail(state, context, call)


async def _executed(
    state: CorrectionState, context: RunContext, call: Call, tool: ToolSpec
) -> Update:
    """What is remembered of this very call, else what comes of making it, if it may be made now."""
    admission = await admitted(context, call.name)
    if admission is not None and admission.wait:
        context = replace(context, again=False)  # what is held back is no reason to forget a doubt
    if context.around:
        from selfcorrect.loop.branching import in_its_branch

        state = await in_its_branch(state, context, call, tool)
    this = _Execution(state, context, call, tool, admission)
    update, over = await _remembered(this)
    if update is None and this.ledger is not None:
        update = await _replayed(this, this.ledger)
    if update is not None:
        await returned(context, admission)
        return update
    # Not before: what is done answers, and lifts no doubt of another call.
    settled_before = await this.forget(over, LIFTED if context.again else "not_done")
    if admission is not None and admission.wait:
        await this.settle("not_done")
        return {**settled_before, **held_back(context, admission)}
    if not state["attempts"]:
        await count_call(context, call.name)
    return {**settled_before, **await _call_tool(this)}


def _is_barred(state: CorrectionState) -> tuple[str, str] | None:
    """Why a tool that acts may not be called again by this run, or None."""
    if (barred := state["barred"]) is not None:
        return str(barred["reason"]), str(barred["detail"])
    unknown = any(item["outcome"] == "unknown" for item in state["attempts"])
    if unknown and not state["counts"].get("even_if_lost"):
        # Also a changed call may do once more what an earlier one has done.
        return "unknown_outcome", "an earlier execution of this run may have acted"
    return None


async def _remembered(this: _Execution) -> tuple[Update | None, list[str]]:
    """The answer from memory, where an equal call may have been done; else the doubts that end."""
    doubts = [key for key in await this.doubts() if key != this.key]
    for key in () if this.context.again else doubts:
        found = await this.verified_doubt(key)
        if isinstance(found, Result):
            shown = {"replayed": True, "verified": True}
            return _done(this, storable_form(found.value), shown), []
        if found is not Outcome.NOT_DONE:
            detail = "an equal call was made before, and nobody knows whether it was done"
            return _in_doubt(this, detail + this.where(key)), []
    return None, doubts


async def _replayed(this: _Execution, ledger: Ledger) -> Update | None:
    """What an earlier intent of the same call means for this one; None: call the tool."""
    repeatable = not acts(this.tool)
    try:
        record = await this.begin(ledger)
    except LedgerError:
        if repeatable:
            return None
        raise
    if record is None:
        return None
    if record.status == "refused":
        return _refused_before(this, record.value)
    if record.status == "done":
        return _done(this, record.value, {"replayed": True})
    if record.status == "held":
        return _in_doubt(this, "another process is at this very call and did not finish in time")
    if repeatable or this.context.again:
        return None
    return await _settled_doubt(this, record)


def _refused_before(this: _Execution, told: JSON) -> Update | None:
    """The refusal of this very call, where its host was begun anew; None: call the tool.

    Elsewhere who makes an equal call decides anew, and so does who makes it once more in one run.
    """
    state, number = this.state, this.number
    is_told = this.context.host.is_begun_anew and isinstance(told, Mapping)
    if not is_told or told["attempt"]["number"] < number:
        return None
    return {
        "outcome": "failed",
        "error": told["error"] | {"admission": None},
        "attempts": [*state["attempts"], told["attempt"] | {"number": number, "replayed": True}],
        "counts": add({**state["counts"], "rounds": 0}, "attempts"),
        "trail": [{"attempt": number, "ok": False, "replayed": True}],
    }


async def _settled_doubt(this: _Execution, record: Record) -> Update | None:
    """Ask the tool what became of an execution in doubt; None: it did not happen, call it."""
    found = await this.verified(this.key, over=not record.lost)
    if isinstance(found, Result):
        value = storable_form(found.value)
        await this.settle("done", value)
        return _done(this, value, {"replayed": True, "verified": True})
    if found is Outcome.NOT_DONE:
        return None
    # Of what a person lifted, its equals were made since: it is in doubt for itself alone.
    is_lifted = record.status == LIFTED
    await this.settle(LIFTED if is_lifted else "unknown", lost_value(record))
    kept = {} if is_lifted else this.remember(this.key)
    detail = "an earlier execution of this call was begun, and nobody knows how it ended"
    detail += this.where(this.key)
    return {**kept, **_in_doubt(this, f"{detail}: {record.detail}" if record.detail else detail)}


def _in_doubt(this: _Execution, detail: str) -> Update:
    attempt = {"number": this.number, "call": this.state["current"], "outcome": "unknown"}
    return stopped("unknown_outcome", detail) | {
        "attempts": [*this.state["attempts"], attempt | {"replayed": True}],
        "trail": [{"ok": False, "replayed": True, "unknown": True}],
    }


async def _call_tool(this: _Execution) -> Update:
    context = this.context
    started = context.time.monotonic()
    tool = this.tool.within(remaining(this.state["counts"], context.limits))
    try:
        own_key = idempotency_key(this.key)
        value = await context.host.run_tool(tool, this.call.args, this.call.id, own_key)
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
        if acts(tool):
            this.remember(this.key)
        raise
    seconds = max(0.0, context.time.monotonic() - started)
    result = storable_form(value)
    if tool.is_error(result):
        return await _answered_no(this, result, seconds)
    trouble = await this.settle("done", result)
    await this.note(ok=True)
    context.errors.forget(this.state["run"])
    return _done(this, result, {"ledger": trouble} if trouble else {}, seconds)


async def _answered_no(this: _Execution, value: Any, seconds: float) -> Update:
    """The tool's value is an error: it refused, and said so without raising."""
    text = value if isinstance(value, str) else canonical(value)
    update = dict(await _tool_failed(this, ToolReportedError(text), seconds))
    if update["outcome"] == "failed":
        update["error"] |= {"value": True}
        update["attempts"][-1]["value"] = value
    return update


def _done(
    this: _Execution, result: Any, shown: Mapping[str, Any], seconds: float | None = None
) -> Update:
    state, number = this.state, this.number
    attempt = {"number": number, "call": state["current"], "outcome": "done"}
    counts = add(state["counts"], "attempts")
    said: dict[str, float] = {}
    if seconds is not None:
        counts = add(counts, "seconds", seconds)
        said = {"seconds": round(seconds, 6)}
    return {
        "outcome": "done",
        "result": result,
        "error": None,
        "findings": [],
        **_no_longer_failing(this),
        "attempts": [*state["attempts"], attempt | (said or {"replayed": True})],
        "counts": counts,
        "trail": [{"attempt": number, "ok": True, **said, **of_tool(this.tool), **shown}],
    }


async def _tool_failed(this: _Execution, error: Exception, seconds: float) -> Update:
    state, context, call, tool = this.state, this.context, this.call, this.tool
    context.errors.add(state["run"], error)
    seen = context.senses.witness(error, call, tool, tool.home, context.strategies.bodies)
    context.heard.keep(state["run"], seen.reading)
    findings, ending = seen.findings, seen.ending
    outcome = settled(ending.outcome, atomic=tool.atomic, firm=ending.is_firm)
    is_atomic = outcome is not ending.outcome
    if not may_call_again(outcome, tool.effect) or tool.verify:
        from selfcorrect.tools.deadlines import StillRunning

        over = not isinstance(error, StillRunning)
        found = await this.verified(this.key, over=over)
        if isinstance(found, Result):
            value = storable_form(found.value)
            trouble = await this.settle("done", value)
            shown = {"verified": True} | ({"ledger": trouble} if trouble else {})
            await this.note(ok=None)
            return _done(this, value, shown, seconds)
        if found is Outcome.NOT_DONE:
            outcome, is_atomic = found, False
    text = excerpt(findings[0].text, _LONGEST_TEXT)
    attempt = Attempt(this.number, call, "failed", round(seconds, 6), text)
    said = {"attempt": this.number, "seconds": round(seconds, 6)}
    update: dict[str, Any] = failed("tool", findings, {**said, **of_tool(tool)})
    fault = {"fault": True} if ending.is_fault else {}
    atomic = {"atomic": True} if is_atomic else {}
    known = {"intent": this.key, "outcome": outcome.value, "why": ending.why}
    update["error"] |= known | fault | atomic
    if this.admission is not None:
        from selfcorrect.policies.fault_domain import host_of

        update["error"] |= {"admission": asdict(this.admission), "host": host_of(error)}
    noted: dict[str, Any] = {"key": call_key(call, tool), "type": type(error).__name__}
    noted |= fault
    if ending.where is not None:
        noted["where"] = ending.where
    update["attempts"] = [*state["attempts"], to_json(attempt) | noted]
    update["counts"] = add(add({**state["counts"], "rounds": 0}, "attempts"), "seconds", seconds)
    return update


def _no_longer_failing(this: _Execution) -> dict[str, Any]:
    """What a call that succeeds says of the failures of its thread."""
    task, past = failed_before(this.state, this.context)
    if not past or past.pop(call_key(this.call, this.tool), None) is None:
        return {}
    this.context.failures.keep(task, past)
    return {"failed": past}


def _known_to_fail(state: CorrectionState, context: RunContext, call: Call) -> Update | None:
    """A call that failed in the same way in earlier runs of its thread is not executed again.

    It is diagnosed once more, for rungs that were not tried; then the run ends.
    """
    _, past = failed_before(state, context)
    if not past or state["counts"].get("steps"):
        return None
    key = context.key_of(call)
    item = past.get(key)
    if (
        item is None
        or item["times"] < MOST_TIMES
        or item.get("until", float("inf")) <= context.time.now().timestamp()
        or any(attempt.get("key") == key for attempt in state["attempts"])
    ):
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


def failed(source: str, findings: Sequence[Finding], shown: dict[str, Any]) -> dict[str, Any]:
    """What execute comes to where a call is known to be wrong."""
    items = [finding_to_json(finding) for finding in findings]
    for item in items:
        if item["kind"] == "internal":  # nobody has decided yet
            del item["kind"]
        item["text"] = excerpt(item["text"], _LONGEST_TEXT)
    return {
        "outcome": "failed",
        "error": {"source": source, "findings": plain(items)},
        "trail": [{"ok": False, **shown, "error": [item["text"] for item in items]}],
    }


def _stopped(reason: str, detail: str) -> dict[str, Any]:
    return stopped(reason, detail) | {"trail": [{"ok": False, "stopped": detail}]}
