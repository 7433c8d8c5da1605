"""diagnose: say of every finding its kind, category, rule and ladder; some kinds end the run."""

from typing import TypedDict, Unpack

from selfcorrect.context import RunContext
from selfcorrect.handlers import HANDLER
from selfcorrect.model import (
    JSON,
    RETRYABLE,
    Category,
    ErrorKind,
    Finding,
    JsonObject,
    call_of,
    is_own,
)
from selfcorrect.state import CorrectionState, Update, stop_run
from selfcorrect.strategy_map.strategy_map import StrategyMap, load_default


async def diagnose(state: CorrectionState, context: RunContext) -> Update:
    """Ask the error-strategy map, and the error itself, about every finding."""
    call = call_of(state["current"])
    tool = context.tools.get(call.name)
    schema, acts = (tool.parameters, tool.acts) if tool else ({}, True)
    findings = [
        fault
        for finding in state["findings"]
        for fault in diagnose_faults(
            context.map, finding, call.name, args=call.args, schema=schema, acts=acts
        )
    ]
    if findings and context.handler_of(state) is not None:
        # Once for a call, whatever the number of its faults; the map's rungs follow.
        findings[0]["ladder"] = [HANDLER, *findings[0]["ladder"]]
    names = ("kind", "category", "rule", "ladder", "paths", "retry_after")
    note = {"findings": [{name: fault.get(name) for name in names} for fault in findings[:20]]}
    update: Update = {"findings": findings, "note": note}
    # What can pass by itself is retried first; the report judges what is left of it.
    lasting = [fault for fault in findings if fault["kind"] not in RETRYABLE]
    if (detail := context.terminal_reason(state, lasting)) is not None:
        return update | stop_run("terminal_kind", detail)
    return update | {"outcome": "diagnosed"}


class About(TypedDict, total=False):
    """The call of an error.

    Attributes:
        args: The arguments.
        schema: Their schema.
        acts: Whether the tool has side effects: then no word of the error makes it run again.
    """

    args: JSON
    schema: JsonObject | None
    acts: bool


def classify(error: BaseException, strategies: StrategyMap | None = None) -> ErrorKind:
    """Return the kind of an error: whether, and how, the same call may succeed later.

    >>> classify(TimeoutError("no ruling"))
    <ErrorKind.TIMEOUT: 'timeout'>
    """
    from selfcorrect.diagnosis.facts import finding_of

    return ErrorKind(diagnose_faults(strategies or load_default(), finding_of(error))[0]["kind"])


def diagnose_faults(
    rules: StrategyMap, finding: Finding, tool: str | None = None, **about: Unpack[About]
) -> list[Finding]:
    """Diagnose each fault that an error lists, the first one first; see `diagnose_fault`."""
    parts = [finding]
    if not is_own(finding):
        # A call that only breaks its schema loads nothing of this.
        from selfcorrect.diagnosis.judgement import faults_of

        parts = faults_of(finding, about.get("args"), about.get("schema"))
    return [diagnose_fault(rules, part, tool, **about) for part in parts]


def diagnose_fault(
    rules: StrategyMap, finding: Finding, tool: str | None = None, **about: Unpack[About]
) -> Finding:
    """Complete a finding: kind, category, captures, rule, ladder, places and wait.

    The first rule that matches decides; what it does not say of kind, category and arguments the
    next one says, and what none of them says the reading of the error.

    Args:
        rules: The map.
        finding: What is wrong.
        tool: The tool's name.
        **about: See `About`.
    """
    ruling, more = rules.ask_rules(finding, tool), Finding()
    if not is_own(finding):
        from selfcorrect.diagnosis.judgement import judge

        ruling, more = judge(finding, ruling, lambda fault: rules.ask_rules(fault, tool), **about)
    kind, category = ruling.kind or ErrorKind.INTERNAL, ruling.category or Category.NONE
    first = ruling.rule_for(kind)
    complete: Finding = {
        **finding,
        "kind": kind.value,
        "category": category.value,
        "captures": ruling.captures,
        "rule": first.key if first else None,
        "ladder": rules.ladder(first, kind, category),
        "paths": ruling.paths,
        "retry_after": finding.get("retry_after"),
        "confidence": 1.0,
        "witness": "schema",
    }
    return {**complete, **more}
