"""diagnose: ask the error-strategy map what each finding means and what may be done about it."""

from __future__ import annotations

from selfcorrect.context import RunContext, Update
from selfcorrect.effects import Outcome, may_call_again
from selfcorrect.evidence import outcome_of
from selfcorrect.model import Finding, finding_from_json, to_json
from selfcorrect.progress import is_retryable
from selfcorrect.state import CorrectionState

_MOST_FINDINGS = 200


async def diagnose(state: CorrectionState, context: RunContext) -> Update:
    """All findings of the error, each with kind, category, rule and ladder."""
    error = state.get("error") or {"source": "tool", "findings": []}
    call, source = state["current"], error["source"]
    raw = [finding_from_json(item) for item in error["findings"][:_MOST_FINDINGS]]
    findings = _distinct([context.strategies.decide(item, call["name"] or None) for item in raw])
    update: dict[str, object] = {
        "outcome": "diagnosed",
        "findings": [to_json(finding) for finding in findings],
        "error": None,
    }
    if source == "tool":
        update["attempts"] = _noted(state, findings, context)
        outcome = Outcome.MAYBE if error.get("open") else _worst(findings)
        if context.ledger is not None and (key := error.get("intent")):
            context.ledger.settle(key, "not_done" if outcome is Outcome.NOT_DONE else "unknown")
        tool = context.tools.get(call["name"])
        if tool is not None and not may_call_again(outcome, tool.effect):
            update |= _stop(
                "unknown_outcome",
                f"the tool is {tool.effect} and may or may not have acted before it failed",
            )
    policy = context.policy_of(state)
    terminal = next(
        (
            finding
            for finding in findings
            if policy.classifies_terminal(finding.kind, call["name"])
            and not is_retryable(finding, context.strategies)
        ),
        None,
    )
    if terminal is not None and update["outcome"] != "stopped":
        update |= _stop("terminal_kind", f"errors of kind {terminal.kind} end the run")
    update["trail"] = [{"findings": update["findings"]}]
    return update


def _noted(
    state: CorrectionState, findings: list[Finding], context: RunContext
) -> list[dict[str, object]]:
    """The attempts, the last one with what was learnt of its error."""
    attempts = [dict(item) for item in state.get("attempts") or ()]
    if attempts and findings:
        attempts[-1]["kind"] = findings[0].kind.value
        attempts[-1]["retryable"] = all(is_retryable(item, context.strategies) for item in findings)
    return attempts


def _worst(findings: list[Finding]) -> Outcome:
    """What is known of the effect: certain only if every finding says so."""
    outcomes = {outcome_of(finding) for finding in findings} or {Outcome.MAYBE}
    if outcomes == {Outcome.NOT_DONE}:
        return Outcome.NOT_DONE
    return Outcome.DONE if Outcome.DONE in outcomes else Outcome.MAYBE


def _distinct(findings: list[Finding]) -> list[Finding]:
    kept: list[Finding] = []
    for finding in findings:
        if finding not in kept:
            kept.append(finding)
    return kept


def _stop(reason: str, detail: str) -> dict[str, object]:
    return {"outcome": "stopped", "stop": {"reason": reason, "detail": detail}}
