"""One step of a run: call the node, check its update, add to the trail, name the next node."""

import inspect
from typing import Any, Final
from uuid import uuid4

from selfcorrect.context import RunContext
from selfcorrect.errors import GraphSetupError, unknown_name
from selfcorrect.model import JsonDict
from selfcorrect.routing import END, ENTRY, REPORT, Table
from selfcorrect.setup import Loop
from selfcorrect.state import FORMAT, INPUT_KEYS, STATE_KEYS, CorrectionState, new_run, stop_run

MAX_STEPS: Final = 500


async def run_step(
    loop: Loop, node: str, state: CorrectionState, context: RunContext
) -> tuple[JsonDict, str]:
    """Return the node's completed update, and the next node.

    Raises:
        GraphSetupError: If a node returns something unusable, or the state has another format.
    """
    fresh: JsonDict = {}
    if node == loop.table.first:
        fresh = new_run(state, uuid4().hex)
        if node != ENTRY:  # a guard stands before plan: what came in must outlast it
            fresh |= {key: item for key, item in state.items() if key in INPUT_KEYS}
        state = {**state, **fresh}  # type: ignore[typeddict-item]
    elif state.get("format") != FORMAT:
        found = state.get("format")
        raise GraphSetupError(f"this run has state format {found}, not {FORMAT}: start it anew")
    returned = loop.nodes[node](state, context)
    if inspect.iscoroutine(returned):
        returned = await returned
    update = {**fresh, **_check(node, returned, loop)}
    step = 0 if fresh else len(state.get("trail") or ())
    # What a node notes goes into the trail, not into the state.
    note = update.pop("note", {})
    update, target = _route(loop.table, node, state, update, step)
    event = {"step": step, "node": node, "outcome": update["outcome"], "next": target, **note}
    update["trail"] = [event]
    if target == END:
        context.live.pop(state.get("run", ""), None)
    return update, target


def _check(node: str, returned: Any, loop: Loop) -> JsonDict:
    if not isinstance(returned, dict):
        raise GraphSetupError(f"node {node!r} must return a dict, not {returned!r:.80}")
    for key in returned:
        if key not in STATE_KEYS and key != "note" and key not in loop.own_keys:
            known = [*STATE_KEYS, *loop.own_keys]
            raise GraphSetupError(f"node {node!r}: {unknown_name('key', key, known)}")
    return returned


def _route(
    table: Table, node: str, state: CorrectionState, update: JsonDict, step: int
) -> tuple[JsonDict, str]:
    """Name the next node; where no steps are left, the report."""
    outcome = update.get("outcome") or table.only_outcome(node)
    target = table.next_node(node, outcome)
    update["outcome"] = outcome
    if target in (END, REPORT, table.report):
        if target != END and not (update.get("stop") or state.get("stop")):
            # An outcome of a deployment's own leads here, and nobody has said why.
            update["stop"] = {"reason": "rejected", "detail": f"{node}: {outcome}"}
        return update, target
    # The report must come before LangGraph's own error about its recursion limit.
    left = state.get("remaining_steps") or MAX_STEPS
    if step < MAX_STEPS and left > 2 + len(table.guards):
        return update, target
    return update | stop_run("limit_reached", f"no steps are left after {node}"), table.report
