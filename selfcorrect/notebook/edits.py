"""What a person may write into the state at a breakpoint, checked before it is written."""

from collections.abc import Mapping
from typing import Any

from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.types import StateSnapshot

from selfcorrect.errors import GraphSetupError, refuse_unknown
from selfcorrect.graph import GraphNode
from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.step import Loop


def complete_edit(graph: Any, at: StateSnapshot, values: Any) -> Any:
    """Return an edit as `update_state` takes it.

    Args:
        graph: A compiled graph.
        at: The state that is edited.
        values: Keys of the state; for a graph of `build_graph` also `name` and `args` of the call,
            and in front of `repair` a `strategy` with its `options`.

    Raises:
        GraphSetupError: If a key is unknown, or cannot be edited now; if there is no such strategy,
            or it does not take the options.
    """
    if isinstance(graph.stream_channels, str):  # the state is one value without keys
        return values
    keys, loop, edit = graph.stream_channels_list, loop_of(graph), dict(values)
    if loop is not None:
        short = {key: edit.pop(key) for key in ("name", "args") if key in edit.keys() - keys}
        edit |= _edit_call(at.values, short) if short else {}
        if "strategy" in edit.keys() - keys:
            edit |= _edit_strategy(loop, at, edit.pop("strategy"), edit.pop("options", {}))
    refuse_unknown("key", edit, keys)
    # What lasts for one step would be lost before the node that reads it has run.
    kept = {
        key: item
        for key, item in at.values.items()
        if isinstance(graph.channels.get(key), EphemeralValue)
    }
    return kept | edit


def loop_of(graph: Any) -> Loop | None:
    """Return the loop of a graph of `build_graph`; None for any other graph."""
    nodes = (getattr(node, "bound", None) for node in graph.nodes.values())
    return next((node.loop for node in nodes if isinstance(node, GraphNode)), None)


def _edit_call(state: JsonObject, short: JsonDict) -> JsonDict:
    key = "current" if state.get("current") else "call"
    call = state.get(key)
    if not isinstance(call, Mapping) or "name" not in call:
        raise GraphSetupError("no call has been read yet: step once, then edit it")
    return {key: {**call, **short}}


def _edit_strategy(loop: Loop, at: StateSnapshot, name: Any, options: Any) -> JsonDict:
    if "repair" not in at.next:
        raise GraphSetupError('a strategy is chosen in front of "repair": run(until="repair")')
    findings = at.values["findings"]
    chosen = [rung["finding"] for rung in at.values["selected"]] or range(len(findings))
    for number in chosen:
        try:
            rule = findings[number].get("rule")
            loop.context.map.strategies.bind(rule, name, options)
        except ValueError as error:
            raise GraphSetupError(f"strategy {name!r}: {error}") from error
    rungs = [{"finding": number, "strategies": [name], "options": options} for number in chosen]
    return {"selected": rungs, "question": None}
