"""validate: the whole call against the schema, and every change against the safety policy."""

from selfcorrect.context import RunContext
from selfcorrect.model import call_of, change_of
from selfcorrect.state import CorrectionState, Update, stop_run


async def validate(state: CorrectionState, context: RunContext) -> Update:
    """Let a repaired call go on only if it is valid and every change may run."""
    call = call_of(state["current"])
    # Checked here once more, because a repairer of the deployment's own may have made them.
    changes = [change_of(item) for item in state["pending"]]
    if (why := context.refusal_of(changes, call, state)) is not None:
        return {"pending": []} | stop_run("rejected", f"{why}.")
    update: Update = {"changes": [*state["changes"], *state["pending"]], "pending": []}
    if (wrong := context.check_call(call)) is not None:
        return update | wrong | {"outcome": "invalid"}
    return update | {"outcome": "valid", "findings": []}
