"""One step of the loop: run a node, complete its update, and name the next node."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.errors import GraphSetupError
from selfcorrect.log import summary
from selfcorrect.masking import masked
from selfcorrect.model import REASONS, Safety
from selfcorrect.nodes import NODES
from selfcorrect.plain import copied, problem
from selfcorrect.routing import ENTRY, RESERVE, advance
from selfcorrect.state import FORMAT, STATE_KEYS, CorrectionState
from selfcorrect.watching import extended, more_room, tell, tell_raised, with_costs
from selfcorrect.wiring import Loop


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
    context = extended(state, context)
    foreign = loop.nodes[node] is not NODES[node]
    try:
        value = loop.nodes[node](_with_own_call(state) if foreign else state, context)
        returned = await value if inspect.isawaitable(value) else value
    except Exception:
        if node == "report_failure" and context.hooks is not None:
            await tell_raised(state, context)
        raise
    reserve = RESERVE + (2 if loop.edges else 0)
    if foreign:
        returned = _checked(node, returned)
    update, target = advance(node, state, returned, reserve)
    if "stop" in update and (roomier := await more_room(node, state, update, context)) is not None:
        again, target = await run_node(loop, node, roomier, context)
        return {"counts": roomier["counts"], **again}, target
    with_costs(state, update)
    _mask(update, state, context)
    if node == ENTRY or "policy" not in state:
        update["policy"] = context.starting_policy().as_data()
    if context.hooks is not None:
        await tell(state, update, target, context)
    if context.emit is not None:
        for event in update["trail"]:
            context.emit(f"selfcorrect.{node}", summary(event))
    return update, target


async def apply_edge(
    loop: Loop, edge: tuple[str, str], state: CorrectionState, context: RunContext
) -> tuple[dict[str, Any], str]:
    """What the caller's node on an edge changes, and the next node.

    A changed call is written down as a change, also where the node changed it in place. A node
    that returns `stop` (`{"reason", "detail"}`) ends the run with a report.
    """
    name = edge_name(edge)
    seen = _with_own_call(state)
    value = loop.edges[edge](seen, context)
    returned = await value if inspect.isawaitable(value) else value
    update = dict(_checked(name, {} if returned is None else returned))
    stop = update.get("stop")
    if stop is not None:
        if not isinstance(stop, Mapping) or stop.get("reason") not in REASONS:
            raise GraphSetupError(f"{name} returned a stop without a reason of {REASONS}")
        update["stop"] = {"detail": f"by {name}", **stop}
    target = edge[1] if stop is None else "report_failure"
    event: dict[str, Any] = {"step": len(state.get("trail") or ()), "node": name, "next": target}
    new = update.setdefault("current", seen.get("current"))
    if new is not None and new != state.get("current"):
        change = {
            "path": "",
            "before": state.get("current"),
            "after": new,
            "safety": Safety.HUMAN.value,
            "reason": "by the node on this edge",
            "strategy": name,
        }
        update["changes"] = [*(state.get("changes") or ()), change]
        event["changes"] = [change]
    update["trail"] = [event]
    _mask(update, state, context)
    return update, target


def _mask(update: dict[str, Any], state: CorrectionState, context: RunContext) -> None:
    """Trails are read by people and sent to logs: no secrets, and nothing of sensitive fields."""
    call = update.get("current") or state.get("current") or {}
    name = call.get("name") if isinstance(call, Mapping) else None
    tool = context.tools.get(name) if isinstance(name, str) else None
    update["trail"] = masked(update["trail"], call, tool, context.safety)


def _with_own_call(state: CorrectionState) -> CorrectionState:
    """The state with a call of its own: what a foreign node does to it in place must show."""
    return {**state, "current": copied(state.get("current"))}


def edge_name(edge: tuple[str, str]) -> str:
    """The name of the node on an edge, as it is drawn."""
    return f"{edge[0]}_to_{edge[1]}"


def _checked(node: str, returned: Any) -> Mapping[str, Any]:
    if not isinstance(returned, Mapping):
        raise GraphSetupError(
            f"{node} must return a mapping of state keys, not {type(returned).__name__}"
        )
    if not returned.keys() <= STATE_KEYS:
        unknown = next(key for key in returned if key not in STATE_KEYS)
        raise GraphSetupError(f"{node} returned {unknown!r}, which is not a key of the state")
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
