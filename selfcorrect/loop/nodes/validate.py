"""validate: the whole call against the schema, and every change against the safety policy."""

from __future__ import annotations

from typing import Any

from selfcorrect.json_forms import call_from_json, change_from_json, finding_to_json, to_json
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.own_findings import still_raw, unknown_tool
from selfcorrect.loop.progress import stopped
from selfcorrect.model import Call, Change, Finding
from selfcorrect.pointer import apply
from selfcorrect.policies.safety import words_of
from selfcorrect.state import CorrectionState


async def validate(state: CorrectionState, context: RunContext) -> Update:
    """Let a mended call go on only if it is valid and every change may run unasked."""
    call = call_from_json(state["current"])
    tool = context.tools.get(call.name)
    pending = [change_from_json(item) for item in state["pending"]]
    refusals = [
        (change, why)
        for change in pending
        for _, why in context.safety.refusals(
            [change], context.tools, tool, context.allowed(change.rule, change.strategy)
        )
    ]
    if refusals:
        return _rejected(state, call, pending, refusals)
    update: dict[str, Any] = {
        "pending": [],
        "changes": [*state["changes"], *state["pending"]],
    }
    findings: tuple[Finding, ...] = ()
    if tool is None:
        findings = (unknown_tool(context.tools),)
    elif call.raw is not None:
        findings = (still_raw(),)
    else:
        findings = tool.violations(call.args)
    shown = [finding_to_json(finding) for finding in findings]
    update["trail"] = [{"ok": not findings, "refused": [], "findings": shown}]
    if findings:
        return update | {"outcome": "invalid", "error": {"source": "schema", "findings": shown}}
    return update | {"outcome": "valid", "findings": []}


def _rejected(
    state: CorrectionState,
    call: Call,
    pending: list[Change],
    refusals: list[tuple[Change, str]],
) -> Update:
    """Undo the round: none of its changes may stand."""
    undo = [
        Change(change.path, change.after, change.before, change.safety, "undone")
        for change in reversed(pending)
    ]
    try:
        call = apply(call, undo)
    except LookupError:
        call = call_from_json(state["original"])
    refused = [to_json(change) | {"why": why} for change, why in refusals]
    return stopped("rejected", words_of(refusals)) | {
        "current": to_json(call),
        "pending": [],
        "refused": [*state["refused"], *refused],
        "trail": [{"ok": False, "refused": refused, "findings": []}],
    }
