"""A `Loop`, one step of it, and a plain walk through it without LangGraph.

A step calls the node, checks its update and names the next node. The walk is for drop-ins, batch
commands and tests: the same nodes and the same table, in microseconds instead of milliseconds.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, get_type_hints
from uuid import uuid4

from selfcorrect.context import RunContext, has_readers, run_sync
from selfcorrect.errors import GraphSetupError, refuse_unknown
from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.nodes.execute import execute
from selfcorrect.nodes.plan import plan
from selfcorrect.policies.run import PolicySource
from selfcorrect.protocols import Node
from selfcorrect.routing import END, ENTRY, PASSED, REPORT, ROUTES, STOPPED, Table
from selfcorrect.state import (
    FORMAT,
    INPUT_KEYS,
    ONE_STEP_KEYS,
    STATE_KEYS,
    CorrectionState,
    Update,
    new_run,
    stop_run,
)
from selfcorrect.text import redact_json

MAX_STEPS = 500


@dataclass(frozen=True)
class Loop:
    """Everything that runs: the table, the nodes and their context.

    Attributes:
        table: Which node follows which outcome.
        nodes: The nodes by name.
        context: The parts that nodes use.
        state: The type of the state.
        own_keys: The keys that the deployment added to the state, with their types.
    """

    table: Table
    nodes: Mapping[str, Node]
    context: RunContext
    state: type[CorrectionState]
    own_keys: Mapping[str, Any]

    @cached_property
    def reducers(self) -> dict[str, Callable[[Any, Any], Any]]:
        """The reducers of keys: the callables in their `Annotated` types."""
        return {
            key: reducer
            for key, hint in get_type_hints(self.state, include_extras=True).items()
            for reducer in getattr(hint, "__metadata__", ())
            if callable(reducer)
        }


def walk(loop: Loop, start: JsonObject) -> JsonDict:
    """Run the loop on one input; return `result` or `failure`, and the `trail`.

    Raises:
        GraphSetupError: If something in the loop is async.
    """
    return run_sync(walk_hosted(loop, start))


async def awalk(loop: Loop, start: JsonObject) -> JsonDict:
    """Like `walk`, for tools, strategies, models and nodes that are async."""
    context = replace(loop.context, is_async=True)
    return await walk_hosted(replace(loop, context=context), start)


async def walk_hosted(loop: Loop, start: JsonObject) -> JsonDict:
    """Like `walk`, in async code or not, as the context of the loop says."""
    state: Any = dict(start)
    node = loop.table.first
    while node != END:
        update = await run_step(loop, node, state, loop.context)
        node = loop.table.next_node(node, update["outcome"])
        _merge(loop, state, update)
    return {
        key: state[key] for key in ("result", "failure", "trail", *loop.own_keys) if key in state
    }


def load_node(name: str) -> Node:
    """Return a built-in node; those that a healthy call does not reach are imported late."""
    if name in _EAGER:
        return _EAGER[name]

    async def node(state: CorrectionState, context: RunContext) -> Update:
        function: Any = getattr(import_module(f"selfcorrect.nodes.{name}"), name)
        return await function(state, context)  # type: ignore[no-any-return]

    return node


_EAGER: Mapping[str, Node] = {"plan": plan, "execute": execute}


async def run_step(loop: Loop, node: str, state: CorrectionState, context: RunContext) -> JsonDict:
    """Return the node's completed update; its `outcome` names the next node.

    Raises:
        GraphSetupError: If a node returns something unusable, or the state has another format.
    """
    fresh: JsonDict = {}
    if node == loop.table.first:
        fresh = new_run(state, uuid4().hex)
        if isinstance(context.terminal, PolicySource):
            context.live_part(fresh["run"])  # keeps the policy of this moment
        if node != ENTRY:  # a guard stands before plan: what came in must outlast it
            fresh |= {key: item for key, item in state.items() if key in INPUT_KEYS}
        state = {**state, **fresh}  # type: ignore[typeddict-item]
    elif state.get("format") != FORMAT:
        form = f"state format {state.get('format')}, not {FORMAT}"
        raise GraphSetupError(f"this run has {form}: start it anew")
    returned = loop.nodes[node](state, context)
    if inspect.iscoroutine(returned):
        returned = await returned
    update = {**fresh, **_check(node, returned, loop)}
    step = 0 if fresh else len(state.get("trail") or ())
    # What a node notes goes into the trail, not into the state.
    note = update.pop("note", {})
    update = _end(loop.table, node, state, update, step)
    target = loop.table.next_node(node, update["outcome"])
    event = {"step": step, "node": node, "outcome": update["outcome"], "next": target}
    event |= redact_json(note) if note else {}
    update["trail"] = [event]
    if has_readers():
        from selfcorrect.watching.log import log_step

        log_step(event, state)
    if target == END:
        context.live.pop(state.get("run", ""), None)
    return update


def _check(node: str, returned: Any, loop: Loop) -> JsonDict:
    # A node on an edge, or before a node, may only look.
    if returned is None and PASSED in loop.table.routes[node]:
        return {}
    if not isinstance(returned, dict):
        raise GraphSetupError(f"node {node!r} must return a dict, not {returned!r:.80}")
    keys = {*STATE_KEYS, *loop.own_keys, "note"}
    if not returned.keys() <= keys:
        refuse_unknown("key", returned, keys, f"node {node!r}: ")
    return returned


def _end(table: Table, node: str, state: CorrectionState, update: JsonDict, step: int) -> JsonDict:
    """Complete an update by its outcome; what cannot go on, or ends in nothing, is stopped."""
    outcome = update["outcome"] = update.get("outcome") or table.only_outcome(node)
    target = table.next_node(node, outcome)
    if outcome == STOPPED or target in (REPORT, table.report):
        if not (update.get("stop") or state.get("stop")):
            # A deployment's own outcome leads here and gives no reason.
            update["stop"] = {"reason": "rejected", "detail": f"{node}: {outcome}"}
        return update
    if "result" in state and node not in ROUTES:
        # A result lasts for one step: nodes behind the tool hand it on.
        update.setdefault("result", state["result"])
    if target == END:
        if node == REPORT or update.keys() & {"result", "failure"}:
            return update
        return update | stop_run("rejected", f"{node}: {outcome}: there is no result")
    # The report must come before LangGraph's own error about its recursion limit.
    left = state.get("remaining_steps") or MAX_STEPS
    if step < MAX_STEPS and left > 1 + table.reserve:
        return update
    return update | stop_run("limit_reached", f"no steps are left after {node}")


def _merge(loop: Loop, state: JsonDict, update: JsonDict) -> None:
    """Take an update into the state, as LangGraph's channels do."""
    for key, reducer in loop.reducers.items():
        if key in update and key in state:
            update[key] = reducer(state[key], update[key])
    # LangGraph clears ephemeral channels after one step.
    for key in ONE_STEP_KEYS:
        state.pop(key, None)
    state.update(update)
