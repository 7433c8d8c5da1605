"""validate: the whole call against the schema, and every change against the safety policy."""

from collections.abc import Iterable

from selfcorrect.context import RunContext
from selfcorrect.errors import near_name
from selfcorrect.model import Call, Finding, call_of, change_of, own_finding
from selfcorrect.state import CorrectionState, Update, state_findings, stop_run
from selfcorrect.text import release


async def validate(state: CorrectionState, context: RunContext) -> Update:
    """Let a repaired call go on only if it is valid and every change may run."""
    call = call_of(state["current"])
    # Checked here once more, because a repairer of the deployment's own may have made them.
    changes = [change_of(item) for item in state["pending"]]
    if (why := context.refusal_of(changes, call, state)) is not None:
        return {"pending": []} | stop_run("rejected", f"{why}.")
    update: Update = {"changes": [*state["changes"], *state["pending"]], "pending": []}
    if (wrong := check_call(call, context)) is not None:
        return update | wrong | {"outcome": "invalid"}
    return update | {"outcome": "valid", "findings": []}


def check_call(call: Call, context: RunContext) -> Update | None:
    """Return what is wrong with a call that does not fit its tool, or None.

    Pays nothing and asks nobody.
    """
    tool = context.tools.get(call.name)
    if tool is None:
        return state_findings("plan", [unknown_tool(call.name, context.tools)])
    findings = tool.findings(call.args)
    return state_findings("schema", findings) if findings else None


def unknown_tool(name: str, offered: Iterable[str]) -> Finding:
    """Return the finding about a name that no tool has."""
    text = release(f"there is no tool {name[:80]!r}{near_name(name, offered)}")
    return own_finding("UnknownTool", "unknown_tool", text, "/name")
