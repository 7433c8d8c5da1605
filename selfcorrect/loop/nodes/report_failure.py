"""report_failure: an honest report that a person can act on, and a shorter text for the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from traceback import format_exception
from typing import Any

from selfcorrect.errors import HardFailure, ToolErrorTerminal, ToolExecutionError
from selfcorrect.foreign import told as heard
from selfcorrect.foreign import unreadable
from selfcorrect.json_forms import to_json
from selfcorrect.log import warning
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.masking import Mask
from selfcorrect.model import ErrorKind
from selfcorrect.report import FailureReport
from selfcorrect.state import CorrectionState

_NOBODY_ACTED = ("no_strategy", "repeated_failure", "unknown_outcome", "needs_person", "refused")
_INSIDE = ("key", "value")
_ENDED_BY_HAND = ("terminal_kind", "escalated")
_DECLINED = ("gave_up", "skipped")
_LISTS = ("findings", "changes", "tried")
_WHOLE = frozenset({"call", "original", "question"})
_MOST_ITEMS = 200
_LONGEST_TEXT = 4_000
_DEEPEST = 20


async def report_failure(state: CorrectionState, context: RunContext) -> Update:
    """End the run with a `FailureReport`, or raise where the caller wanted exceptions."""
    report = _report(state, context)
    errors = context.errors.of(state.get("run", ""))
    if report.reason != "needs_person" or not context.asked_later:
        _log(report, errors)
    context.errors.forget(state.get("run", ""))
    if context.on_failure == "raise":
        acted = any(
            context.is_handler(item.get("strategy")) and item.get("outcome") not in _DECLINED
            for item in report.tried
        )
        _raise(report, errors, len(state["attempts"]), acted=acted)
    return {
        "outcome": "reported",
        "failure": to_json(report),
        "trail": [{"reason": report.reason, "detail": report.detail}],
    }


def _log(report: FailureReport, errors: Sequence[BaseException]) -> None:
    """One record for the operator, who may see what a model may not: the traceback of a fault."""
    if (warn := warning()) is None:
        return
    last = report.attempts[-1] if report.attempts else {}
    finding = report.findings[0] if report.findings else {}
    values = {
        "tool": report.tool,
        "reason": report.reason,
        "detail": report.detail,
        "exception": last.get("type"),
        "text": last.get("text") or finding.get("text"),
        "kind": finding.get("kind"),
        "rule": finding.get("rule"),
        "where": report.where,
    }
    told = {key: value for key, value in values.items() if value is not None}
    if errors and finding.get("kind") == ErrorKind.INTERNAL:
        told["traceback"] = _traceback(errors[-1])
    warn("selfcorrect.failed", told)


def _report(state: CorrectionState, context: RunContext) -> FailureReport:
    from selfcorrect.loop.telling import nearest_first, told  # a healthy run tells nothing

    stop = state.get("stop") or {"reason": "no_strategy", "detail": "the run could not go on"}
    error = state["error"] or {}
    findings = state["findings"] or error.get("findings") or _last_found(state)
    current = state["current"]
    call = current if isinstance(current, Mapping) else None
    executed = state["attempts"]
    last = executed[-1] if executed else {}
    report = FailureReport(
        reason=stop["reason"],
        detail=stop["detail"],
        tool=(call or {}).get("name") or None,
        call=call,
        original=state["original"] if isinstance(state["original"], Mapping) else None,
        findings=tuple(nearest_first(finding, call, context.tools) for finding in findings),
        attempts=_told(executed),
        changes=(*state["changes"], *state["pending"]),
        tried=_told(state["tried"]),
        question=state["question"],
        proposal=stop.get("proposal"),
        value=last.get("value"),
        where=last.get("where"),
        severity=stop.get("severity"),
        until=stop.get("until"),
        counts=state["counts"],
    )
    refused: Sequence[Any] = state["refused"]
    tool = context.tools.get(str((call or {}).get("name") or ""))
    mask = Mask.of(call, tool, context.safety)
    shown = _bounded(dict(mask.event(to_json(report))))
    report = FailureReport.from_state({"failure": shown}) or report
    refused = [mask.event(item) for item in refused[:_MOST_ITEMS]]
    return replace(report, **told(report, state, refused, mask, context))


def _told(items: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple({k: v for k, v in item.items() if k not in _INSIDE} for item in items)


def _traceback(error: BaseException) -> str:
    return heard(lambda: "".join(format_exception(error)), unreadable(error))


def _bounded(report: dict[str, Any]) -> dict[str, Any]:
    """The report, its lists and texts short enough to be read; it says how much is left out.

    Calls are whole: they are bounded where they come in, and somebody may want to make them.
    """
    left = {name: len(report.get(name) or ()) - _MOST_ITEMS for name in _LISTS}
    left = {name: more for name, more in left.items() if more > 0}
    short = {name: item if name in _WHOLE else _short(item) for name, item in report.items()}
    short |= {name: short[name][:_MOST_ITEMS] for name in left}
    if report.get("attempts"):
        short["attempts"] = [
            {key: item if key in _WHOLE else _short(item) for key, item in each.items()}
            for each in report["attempts"]
        ]
    return short | {"counts": {**report["counts"], "left_out": left}} if left else short


def _short(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        more = len(value) - _LONGEST_TEXT
        return value if more <= 0 else f"{value[:_LONGEST_TEXT]}… {more} more characters"
    if isinstance(value, list | tuple | Mapping) and depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        kept = list(value.items())[:_MOST_ITEMS]
        return {_short(key): _short(item, depth + 1) for key, item in kept}
    if isinstance(value, list | tuple):
        more = len(value) - _MOST_ITEMS
        return [_short(item, depth + 1) for item in value[:_MOST_ITEMS]] + (
            [f"… {more} more"] if more > 0 else []
        )
    return value


def _last_found(state: CorrectionState) -> Sequence[Any]:
    """What the last diagnosis found, where a wait has settled it and the call still failed."""
    if (state["attempts"] or [{}])[-1].get("outcome") in (None, "done"):
        return ()
    trail: Sequence[Any] = state.get("trail") or ()
    for event in reversed(trail):
        if event.get("findings"):
            return list(event["findings"])
    return ()


def _raise(
    report: FailureReport, errors: Sequence[BaseException], executed: int, *, acted: bool
) -> None:
    """Raise what the contract says: the original where no handler acted on it, else our own."""
    if acted and report.reason in _ENDED_BY_HAND:
        first, last = (errors[0], errors[-1]) if errors else (None, None)
        tool, reason = report.tool or "", report.detail
        raise ToolExecutionError(tool, executed, first, last, report, reason) from last
    if not errors:
        report.raise_()
    last = errors[-1]
    unchanged = not report.changes or report.reason == "refused"
    if executed == 1 and unchanged and not acted and report.reason in _NOBODY_ACTED:
        last.add_note(f"selfcorrect: {report.reason}: {report.detail}")
        raise last
    if executed == 0 and report.reason == "invalid_input":
        raise last
    if report.reason == "terminal_kind" and not isinstance(last, HardFailure):
        message = f"{report.tool}: {report.detail}"
        raise ToolErrorTerminal(message, report) from last
    raise ToolExecutionError(report.tool or "", executed, errors[0], last, report) from last
