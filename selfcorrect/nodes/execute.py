"""execute: check the arguments, write the intent, call the tool, keep what came of it."""

from __future__ import annotations

from typing import Any

from selfcorrect.context import RunContext, Update
from selfcorrect.effects import Outcome, may_call_again
from selfcorrect.errors import GraphSetupError, is_control_flow
from selfcorrect.evidence import read_error
from selfcorrect.model import Attempt, Call, Finding, call_from_json, to_json
from selfcorrect.plain import as_text, clean, digest, plain, storable
from selfcorrect.progress import add, call_key
from selfcorrect.protocols import Record
from selfcorrect.redaction import redact
from selfcorrect.state import CorrectionState
from selfcorrect.tools import ToolSpec

_LONGEST_TEXT = 4_000
_MOST_CAUSES = 200


async def execute(state: CorrectionState, context: RunContext) -> Update:
    """Call the tool once; a call that does not fit the tool never reaches it."""
    call = call_from_json(state["current"])
    tool = context.tools.get(call.name)
    if tool is None or call.raw is not None:
        finding = Finding("there is no such tool", ("UnknownTool",), code="unknown_tool")
        return _failed("plan", (finding,), {})
    if not tool.is_valid(call.args):
        return _failed("schema", tool.violations(call.args), {"call": state["current"]})

    ceiling = context.limits.ceiling
    if len(state.get("attempts") or ()) >= ceiling:
        detail = f"{ceiling} of at most {ceiling} executions"
        return {
            "outcome": "stopped",
            "stop": {"reason": "attempts_exhausted", "detail": detail},
            "trail": [{"ok": False, "stopped": detail}],
        }
    key = _intent(state, call) if context.ledger is not None else ""
    record = context.ledger.begin(key) if context.ledger is not None else None
    if record is not None and (update := _replayed(record, tool)) is not None:
        return update
    return await _call_tool(state, context, call, tool, key)


async def _call_tool(
    state: CorrectionState, context: RunContext, call: Call, tool: ToolSpec, key: str
) -> Update:
    number = len(state.get("attempts") or ()) + 1
    started = context.time.monotonic()
    try:
        value = await context.host.run_tool(tool, call.args, call.id)
    except GraphSetupError:
        _settle(context, key, "unknown")
        raise
    except Exception as error:
        if is_control_flow(error):
            _settle(context, key, "unknown")
            raise
        seconds = max(0.0, context.time.monotonic() - started)
        return _tool_failed(state, context, call, tool, key, error, number, seconds)
    except BaseException:
        _settle(context, key, "unknown")
        raise
    seconds = max(0.0, context.time.monotonic() - started)
    result = plain(value)
    result = result if storable(result) else as_text(result)
    _settle(context, key, "done", result)
    context.errors.forget(state["run"])
    attempt = {
        "number": number,
        "call": state["current"],
        "outcome": "done",
        "seconds": round(seconds, 6),
    }
    return {
        "outcome": "done",
        "result": result,
        "error": None,
        "findings": [],
        "attempts": [*(state.get("attempts") or ()), attempt],
        "counts": add(add(state["counts"], "attempts"), "seconds", seconds),
        "trail": [{"attempt": number, "ok": True, "seconds": attempt["seconds"]}],
    }


def _tool_failed(
    state: CorrectionState,
    context: RunContext,
    call: Call,
    tool: ToolSpec,
    key: str,
    error: Exception,
    number: int,
    seconds: float,
) -> Update:
    context.errors.add(state["run"], error)
    findings = read_error(error, call, tool)
    text = redact(clean(findings[0].text[:_LONGEST_TEXT]))
    attempt = Attempt(number, call, "failed", round(seconds, 6), text, findings[0].kind)
    update = _failed("tool", findings, {"attempt": number, "seconds": round(seconds, 6)})
    update["error"]["intent"] = key
    update["error"]["open"] = _left_open(error)
    update["attempts"] = [
        *(state.get("attempts") or ()),
        to_json(attempt) | {"key": call_key(call), "type": type(error).__name__},
    ]
    counts = {**state["counts"], "rounds": 0}
    update["counts"] = add(add(counts, "attempts"), "seconds", seconds)
    return update


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
    items = [to_json(finding) for finding in findings]
    for item in items:
        item["text"] = redact(clean(item["text"][:_LONGEST_TEXT]))
    return {
        "outcome": "failed",
        "error": {"source": source, "findings": plain(items)},
        "trail": [{"ok": False, **shown, "error": [item["text"] for item in items]}],
    }


def _replayed(record: Record, tool: ToolSpec) -> Update | None:
    """What an earlier intent of the same call means for this one; None: call the tool."""
    if record.status == "done":
        return {
            "outcome": "done",
            "result": record.value,
            "error": None,
            "findings": [],
            "trail": [{"ok": True, "replayed": True}],
        }
    if may_call_again(Outcome.MAYBE, tool.effect):
        return None
    return {
        "outcome": "stopped",
        "stop": {
            "reason": "unknown_outcome",
            "detail": "an earlier execution of this call was begun, and nobody knows how it ended",
        },
        "trail": [{"ok": False, "replayed": True}],
    }


def _intent(state: CorrectionState, call: Call) -> str:
    """The ledger's key: the same task and call id with the same arguments is one intent."""
    task = state["given"].get("task_id") or state["run"]
    return digest(task, call.id, call.name, call.args)


def _settle(context: RunContext, key: str, status: str, value: Any = None) -> None:
    if context.ledger is not None:
        context.ledger.settle(key, status, value)
