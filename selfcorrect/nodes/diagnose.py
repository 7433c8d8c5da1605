"""diagnose: say of every finding its kind, category, rule and ladder; some kinds end the run."""

from selfcorrect.context import RunContext
from selfcorrect.handlers import RUNG
from selfcorrect.model import RETRYABLE, call_of
from selfcorrect.state import CorrectionState, Update, stop_run


async def diagnose(state: CorrectionState, context: RunContext) -> Update:
    """Ask the error-strategy map, and the error itself, about every finding."""
    call = call_of(state["current"])
    tool, ask = context.tools.get(call.name), context.map.diagnose_faults
    schema, acts = (tool.parameters, tool.acts) if tool else ({}, True)
    findings = [
        fault
        for each in state["findings"]
        for fault in ask(each, call.name, args=call.args, schema=schema, acts=acts)
    ]
    if findings and context.handler_of(state) is not None:
        # Once for a call, whatever the number of its faults; the map's rungs follow.
        findings[0]["ladder"] = [RUNG, *findings[0]["ladder"]]
    names = ("kind", "category", "rule", "ladder", "paths", "retry_after")
    note = {"findings": [{name: each.get(name) for name in names} for each in findings[:20]]}
    update: Update = {"findings": findings, "note": note}
    # What can pass by itself is retried first; the report judges what is left of it.
    lasting = [each for each in findings if each["kind"] not in RETRYABLE]
    if (detail := context.terminal_reason(state, lasting)) is not None:
        return update | stop_run("terminal_kind", detail)
    return update | {"outcome": "diagnosed"}
