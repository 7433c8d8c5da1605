"""diagnose: ask the error-strategy map what each finding means and what may be done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from selfcorrect.effects import Outcome, acts
from selfcorrect.errors import Escalation, HardFailure
from selfcorrect.json_forms import call_from_json, finding_from_json, finding_to_json
from selfcorrect.kernel.outcomes import after_rules
from selfcorrect.kernel.texts import excerpt
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.intents import concluded
from selfcorrect.loop.progress import is_retryable, stopped
from selfcorrect.loop.sparing import noted_error
from selfcorrect.model import OWN_CHECKS, Category, ErrorKind, Finding, Source, distinct
from selfcorrect.plain import as_text
from selfcorrect.state import CorrectionState

if TYPE_CHECKING:
    from selfcorrect.tools import ToolSpec

_MOST_SHOWN = 200
_LONGEST = 1_000


async def diagnose(state: CorrectionState, context: RunContext) -> Update:
    """All findings of the error, each with kind, category, rule and ladder."""
    error = state.get("error") or {"source": "tool", "findings": []}
    call, source = state["current"], error["source"]
    tool = context.tools.get(call["name"])
    too_many = _too_many(error, call, tool, context)
    items = error["findings"][: _MOST_SHOWN if too_many else None]
    raw = map(finding_from_json, items)
    findings = distinct(_decided([*raw], state, source, context))
    is_value = bool(error.get("value")) and not _may_mend_value(findings, tool, context)
    if is_value:
        findings = [replace(item, ladder=()) for item in findings]
    if error.get("fault"):
        findings = [_as_fault(item, tool, context) for item in findings]
    update: dict[str, Any] = {
        "outcome": "diagnosed",
        "findings": [finding_to_json(finding) for finding in findings],
        "error": None,
    }
    if source == "tool":
        await noted_error(context, call["name"], error, findings)
        update["attempts"] = _noted(state, findings, context)
        outcome = _outcome(error, findings, context)
        update |= await concluded(state, context, findings, update["attempts"], outcome)
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
    if source == "tool" and (ended := _ended(state, context)) is not None:
        update |= ended
    elif terminal is None or is_value:
        handled = _handled(state, findings, update, source, tool, context)
        update |= handled
        if is_value and not handled and update["outcome"] != "stopped":
            update |= stopped("refused", "the tool answered with an error")
    elif update["outcome"] != "stopped":
        update |= stopped("terminal_kind", f"errors of kind {terminal.kind} end the run")
    if too_many and update["outcome"] != "stopped":
        limit = {"reason": "limit_reached", "detail": too_many}
        update |= stopped(**(update.get("barred") or state["barred"] or limit))
    update["trail"] = [{"findings": update["findings"][:_MOST_SHOWN]}]
    return update


def _too_many(
    error: Mapping[str, Any], call: Mapping[str, Any], tool: ToolSpec | None, context: RunContext
) -> str:
    """What is said of more findings than a round takes up; empty where it takes up all."""
    found, most = len(error["findings"]), context.limits.findings
    if found >= _MOST_SHOWN and tool is not None:
        # Not all may be listed: a call that a round cannot mend whole is not mended in part.
        found = max(found, tool.count_violations(call.get("args") or {}, 5 * most))
    is_over = found > most
    return f"at least {found:,} of at most {most:,} findings in one repair round" if is_over else ""


def _decided(
    found: Sequence[Finding], state: CorrectionState, source: str, context: RunContext
) -> Sequence[Finding]:
    """What the map says; of a tool's own words it sees none that only repeat the arguments."""
    call = call_from_json(state["current"])
    if source != "tool" and all(not OWN_CHECKS.isdisjoint(item.types) for item in found):
        seen = [replace(item, witness=Source.STRUCTURE) for item in found]
        return [context.strategies.decide(item, call.name or None) for item in seen]
    reading = context.heard.of(state["run"])
    tool = context.tools.get(call.name)
    return context.senses.interpret(found, context.strategies, call, tool, reading)


def _may_mend_value(findings: list[Finding], tool: ToolSpec | None, context: RunContext) -> bool:
    """Whether the deployment lets an error that came as a value be mended or repeated."""
    told = any(context.strategies.is_told(item.rule) for item in findings)
    return told or (tool is not None and tool.mends_values)


def _as_fault(finding: Finding, tool: ToolSpec | None, context: RunContext) -> Finding:
    """A fault of the tool's own code is no fault of an argument, but where the map's owner says so.

    A tool that does not act may choke on a value that it parses: where the error repeats an
    argument, it is told like any other refusal.
    """
    parsing = "ValueError" in finding.types and bool(finding.paths)
    harmless = tool is not None and not acts(tool)
    if context.strategies.is_told(finding.rule) or (harmless and parsing):
        return finding
    return replace(
        finding,
        kind=ErrorKind.INTERNAL,
        category=Category.NONE,
        paths=(),
        constraint={},
        suggestions=(),
        ladder=(),
        confidence=1.0,
        witness=Source.STRUCTURE,
    )


def _noted(
    state: CorrectionState, findings: list[Finding], context: RunContext
) -> list[dict[str, Any]]:
    """The attempts, the last one with what was learnt of its error."""
    attempts = [dict(item) for item in state["attempts"]]
    if attempts and findings:
        attempts[-1]["kind"] = findings[0].kind.value
        attempts[-1]["retryable"] = all(is_retryable(item, context.strategies) for item in findings)
        waits = [item.retry_after for item in findings if item.retry_after is not None]
        if waits:
            attempts[-1]["retry_after"] = max(waits)
    return attempts


def _ended(state: CorrectionState, context: RunContext) -> dict[str, object] | None:
    """What the tool itself said of the whole run, by what it raised."""
    raised = context.errors.of(state["run"])[-1:]
    match raised:
        case [Escalation() as error]:
            reason = excerpt(error.reason, _LONGEST)
            return stopped("escalated", reason, severity=error.severity, escalation=reason)
        case [HardFailure() as error]:
            return stopped("terminal_kind", excerpt(as_text(error), _LONGEST))
        case _:
            return None


def _handled(
    state: CorrectionState,
    findings: list[Finding],
    update: Mapping[str, Any],
    source: str,
    tool: ToolSpec | None,
    context: RunContext,
) -> dict[str, object]:
    """The tool's handler comes before the map; where the tool may not run again, alone."""
    attempts = state["attempts"]
    type_name = attempts[-1].get("type") if source == "tool" and attempts else None
    if not context.on_error.handles(tool, source, type_name):
        return {}
    stop, name = update.get("stop"), context.on_error.name
    out: dict[str, object] = {"outcome": "diagnosed", "stop": None}
    if stop is not None:
        out["barred"] = stop
    out["findings"] = [
        finding_to_json(replace(each, ladder=(name, *(() if stop else each.ladder))))
        for each in findings
    ]
    return out


def _outcome(error: Mapping[str, Any], findings: list[Finding], context: RunContext) -> Outcome:
    """What the execution did, as its structure showed; a rule of the deployment knows a refusal."""
    rules = context.strategies
    found = Outcome(error.get("outcome") or "lost")
    said = [rules.told_outcome(item.rule) for item in findings]
    kinds = [item.kind for item in findings if not rules.is_told(item.rule)]
    return after_rules(found, said, kinds, atomic=bool(error.get("atomic")))
