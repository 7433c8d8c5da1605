"""One step of the loop: run a node, complete its update, and name the next node."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from selfcorrect.errors import GraphSetupError
from selfcorrect.log import summary
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.masking import masked
from selfcorrect.loop.starting import BLANK, started
from selfcorrect.loop.watching import extended, more_room, tell, tell_raised, with_costs
from selfcorrect.plain import copied, problem
from selfcorrect.report import REASONS
from selfcorrect.routing import END, ENTRY, EXECUTE, REPORT, ROUTES, STOPPED
from selfcorrect.state import FORMAT, LASTS_ONE_STEP, STATE_KEYS, CorrectionState


async def run_node(
    loop: Loop, node: str, state: CorrectionState, context: RunContext
) -> tuple[dict[str, Any], str]:
    """The node's completed update and the next node.

    Raises:
        GraphSetupError: If a node of the caller's own returns something unusable, or the state
            was written by another version of the library.
    """
    if state.get("format", FORMAT) != FORMAT:
        raise GraphSetupError(
            f"this run was started with state format {state.get('format')}, not {FORMAT}"
        )
    fresh = started(state, context) if node == loop.table.into(ENTRY) else {}
    state = {**BLANK, **state, **fresh}  # type: ignore[typeddict-item]
    context = extended(state, context)
    returned = await _returned(loop, node, state, context)
    if node == ENTRY:
        returned = {"original": returned.get("current"), **returned}
    returned = {**fresh, **returned} if fresh else returned
    update, target = loop.table.advance(node, state, returned)
    roomier = await more_room(node, state, update, context) if update.get("stop") else None
    if roomier is not None:
        again, target = await run_node(loop, node, roomier, context)
        return {"counts": roomier["counts"], **again}, target
    if target == END:
        context.readings.forget(state.get("run", ""))
        if "recalled" in (counts := update.get("counts") or state["counts"]):
            from selfcorrect.loop.recalls import count_recalls

            await count_recalls({**state, **update}, counts, context)
    with_costs(state, update)
    # Trails are read by people and sent to logs: no secrets, and nothing of sensitive fields.
    call = update.get("current") or state["current"] or {}
    name = call.get("name") if isinstance(call, Mapping) else None
    tool = context.tools.get(name) if isinstance(name, str) else None
    update["trail"] = masked(update["trail"], call, tool, context.safety)
    if fresh or "policy" not in state:
        update["policy"] = context.starting_policy().as_data()
    if context.hooks is not None:
        await tell(state, update, target, context)
    if context.emit is not None:
        for event in update["trail"]:
            context.emit(f"selfcorrect.{node}", summary(event))
    return update, target


async def _returned(
    loop: Loop, node: str, state: CorrectionState, context: RunContext
) -> Mapping[str, Any]:
    """What the node returns; what is not ours gets a call of its own, and is checked."""
    run, foreign = loop.nodes[node], node in loop.foreign
    if node == loop.table.guards.get(EXECUTE):
        from selfcorrect.loop.nodes.execute import not_made

        if (update := not_made(state, context)) is not None:
            return update  # nobody is asked about a call that cannot be made
    # A call of its own: what a foreign node does to it in place must show.
    own: CorrectionState = {**state, "current": copied(state["current"])} if foreign else state
    try:
        value = run(own, context)
        returned: Any = await value if inspect.isawaitable(value) else value
    except Exception:
        if node == REPORT and context.hooks is not None:
            await tell_raised(state, context)
        raise
    returned = _checked(node, returned, loop) if foreign else returned
    return returned if node in ROUTES else _of_own_node(node, returned, own, state, loop, context)


def _of_own_node(
    node: str,
    returned: Mapping[str, Any],
    seen: CorrectionState,
    state: CorrectionState,
    loop: Loop,
    context: RunContext,
) -> dict[str, Any]:
    """What a node of the caller's own changes.

    A changed call is written down as a change, also where the node changed it in place. A `stop`
    (`{"reason", "detail"}`) ends the run with a report. What the run began with, or has come to, is
    carried on.
    """
    update = dict(returned)
    stop = update.get("stop")
    if stop is not None:
        if not isinstance(stop, Mapping) or stop.get("reason") not in REASONS:
            raise GraphSetupError(f"{node} returned a stop without a reason of {REASONS}")
        update |= {"stop": {"detail": f"by {node}", **stop}, "outcome": STOPPED}
    elif update.get("outcome") is None:
        update["outcome"] = loop.table.only_outcome(node)
    event: dict[str, Any] = {}
    new = update.setdefault("current", seen.get("current"))
    if new is not None and new != state["current"]:
        from selfcorrect.loop.judging import by_node

        change, rejected = by_node(node, state["current"], new, context)
        if rejected is not None and stop is None:
            update |= {"stop": rejected, "outcome": STOPPED}
        update["changes"] = [*state["changes"], change]
        event["changes"] = [change]
    update["trail"] = [event]
    return held_on(state) | update


def held_on(state: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that last one step, for one step more: a node of the caller's own uses none up."""
    return {key: state[key] for key in LASTS_ONE_STEP - {"phase"} if key in state}


def _checked(node: str, returned: Any, loop: Loop) -> Mapping[str, Any]:
    if returned is None and node not in ROUTES:
        return {}
    if not isinstance(returned, Mapping):
        raise GraphSetupError(
            f"{node} must return a mapping of state keys, not {type(returned).__name__}"
        )
    known = STATE_KEYS | loop.own.keys()
    if not returned.keys() <= known:
        unknown = next(key for key in returned if key not in known)
        raise GraphSetupError(
            f"{node} returned {unknown!r}, which is not a key of the state: declare keys of your "
            "own in a subclass of CorrectionState, and give it as state="
        )
    current = returned.get("current")
    if "current" in returned and not (
        isinstance(current, Mapping)
        and isinstance(current.get("name"), str)
        and isinstance(current.get("args"), dict)
    ):
        raise GraphSetupError(f"{node} returned a call without a name and args")
    if current is not None and (wrong := problem(current)) is not None:
        raise GraphSetupError(f"{node} returned a call that is not JSON at {wrong[0]}: {wrong[1]}")
    return returned
