"""report_failure: an honest report that a person can act on, and a shorter text for the model."""

from selfcorrect.context import RunContext, has_readers
from selfcorrect.effects.again import gravest
from selfcorrect.errors import (
    CorrectionFailed,
    EscalationError,
    ToolErrorTerminal,
    ToolExecutionError,
)
from selfcorrect.for_model import text_for_model
from selfcorrect.limits import cost_of
from selfcorrect.model import JsonDict, acts
from selfcorrect.policies.run import notify
from selfcorrect.report import ADVICE, FailureReport, frame_of
from selfcorrect.state import CorrectionState, Update, drop_unused, records_of
from selfcorrect.text import redact_json, release
from selfcorrect.tools.spec import ToolSpec

MAX_ITEMS = 200
_FROM_OUTSIDE = ("call", "original", "findings", "tried", "changes", "question")
"""What of a report may hold texts from outside that nothing has redacted yet."""
_INSIDE = ("key", "fault", "changes")
_AFTER_RETRIES = ("attempts_exhausted", "limit_reached", "no_strategy", "repeated_failure")
_UNTOUCHED = (
    "no_strategy",
    "repeated_failure",
    "unknown_outcome",
    "needs_person",
    "refused",
    "unavailable",
)


async def report_failure(state: CorrectionState, context: RunContext) -> Update:
    """End the run with a `FailureReport`, or raise where the caller wants exceptions."""
    report = _report(state, context)
    # A doubt is logged even without a configured log.
    if has_readers() or report.is_doubt:
        from selfcorrect.watching.log import log_failure

        log_failure(report, state, context)
    if context.hooks is not None:
        if report.reason == "escalated":
            # An escalation is the answer of its tool.
            args = state["current"].get("args", {})
            notify(context.hooks.on_tool_use, report.tool or "", args, report.for_model)
        notify(context.hooks.on_error, report.tool or "", report.to_json())
    if context.raises:
        errors = context.live_part(state["run"]).errors
        # Nobody comes behind this node, and what is raised holds the errors on.
        context.live.pop(state["run"], None)
        _raise(report, errors)
    note = {"reason": report.reason, "detail": report.detail}
    failure = report.to_json()
    # Whoever makes the proposed call needs it as it is.
    failure |= {name: redact_json(failure[name]) for name in _FROM_OUTSIDE if name in failure}
    failure["tool"] = report.tool and release(report.tool)
    return {"outcome": "reported", "failure": failure, "note": note}


def _report(state: CorrectionState, context: RunContext) -> FailureReport:
    stop: JsonDict = state["stop"] or {
        "reason": "no_strategy",
        "detail": "The run could not go on.",
    }
    if stop["reason"] in _AFTER_RETRIES and state["source"] == "tool":
        # Retries sit inside, the policy outside: only a failure that no retry helps is judged.
        findings = [finding for finding in state["findings"] if "kind" in finding]
        ending = context.terminal_reason(state, findings)
        stop = stop if ending is None else {"reason": "terminal_kind", "detail": ending}
    reason = stop["reason"]
    tried = [
        {key: item for key, item in trial.items() if key not in _INSIDE}
        for trial in drop_unused(state["tried"])
    ]
    call, name = state["current"], state["current"].get("name")
    if call and not name:
        # A text that is not a call stays a text.
        call = {"raw": call.get("args")}
    tool = context.tools.get(name or "")
    doubt = gravest(records_of(state))
    attempts = state["attempts"][:MAX_ITEMS]
    errors = context.live_part(state["run"]).errors
    return FailureReport(
        reason,
        stop["detail"],
        text_for_model(stop, state, tool, words=context.tool_words),
        _advice(reason, tool, state),
        name,
        call=call or None,
        original=state["original"],
        findings=state["findings"][:MAX_ITEMS],
        tried=tried[:MAX_ITEMS],
        attempts=[attempt | {"call": redact_json(attempt["call"])} for attempt in attempts],
        changes=[*state["changes"], *state["pending"]][:MAX_ITEMS],
        proposal=stop.get("proposal"),
        question=state["question"],
        severity=stop.get("severity"),
        counts=state["counts"],
        where=frame_of(errors[-1]) if errors else None,
        record=stop.get("record") or (doubt.key if doubt else None),
        cost=cost_of(state["counts"]),
    )


def _advice(reason: str, tool: ToolSpec | None, state: CorrectionState) -> str:
    advice = ADVICE.get(reason, "")
    effects = [attempt["effect"] for attempt in state["attempts"]]
    if tool is None or tool.declared or not any(map(acts, effects)):
        return advice
    line = f'ToolSpec.from_function({tool.name}, effect="read_only")'
    return f"{advice} The effect of {tool.name!r} is not declared; if it only reads: {line}."


def _raise(report: FailureReport, errors: list[Exception]) -> None:
    """Raise the tool's own exception where the run changed nothing, else one of ours."""
    name = report.tool or "the call"
    last = errors[-1] if errors else None
    if report.reason == "escalated":
        tool, severity = report.tool or "", report.severity or "HIGH"
        error = EscalationError(tool, report.detail, severity, last, len(report.attempts))
        error.report = report
        raise error
    if not errors and report.reason != "terminal_kind":
        raise CorrectionFailed(f"{name!r}: {report.reason}: {report.detail}", report)
    # Without a repair the caller sees what it would have seen without this library.
    if last and len(errors) == 1 and not report.changes and report.reason in _UNTOUCHED:
        last.add_note(f"selfcorrect: {report.reason}: {report.detail}")
        raise last
    if report.reason == "terminal_kind":
        raise ToolErrorTerminal(f"{name!r}: {report.detail}", report) from last
    text = f"{name!r} failed after {len(errors)} executions; first: {errors[0]}; last: {last}"
    failed = ToolExecutionError(text, report)
    failed.first_cause, failed.last_cause = errors[0], last
    raise failed from last
