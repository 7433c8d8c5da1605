"""Repairs the calls of a turn before anybody sees it; executes nothing, and asks nobody."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, ToolCall

from selfcorrect.agents.calls import calls_of, with_calls
from selfcorrect.agents.text_calls import UNREAD, Readable, Start
from selfcorrect.context import RunContext
from selfcorrect.model import Call, JsonDict, JsonObject
from selfcorrect.nodes.execute import unfit
from selfcorrect.nodes.plan import check_call
from selfcorrect.routing import PASSED
from selfcorrect.setup import Loop
from selfcorrect.state import CorrectionState, Update
from selfcorrect.walk import walk_hosted


async def mend_calls(
    turn: AIMessage,
    starts: Mapping[str, Start],
    loop: Loop,
    beside: JsonObject,
    *,
    skip: Collection[str],
) -> Readable:
    """Return the turn with its calls repaired as far as they can be, and what the loop starts from.

    Args:
        turn: The turn; each call has an id of its own.
        starts: What the loop starts from, where it is not the call as the turn shows it.
        loop: The loop with the tools that the model was offered.
        beside: What is known beside the calls: `request`, `messages`, `finish_reason`.
        skip: The names of calls that the loop does not make: those of structured output.
    """
    calls, found = calls_of(turn), dict(starts)
    for at, call in enumerate(calls):
        call_id = call["id"] or ""
        start = starts.get(call_id)
        if call["name"] in skip:
            continue
        if start is None and check_call(Call(call["name"], call["args"]), loop.context) is None:
            continue
        plain = {"call": {"name": call["name"], "args": call["args"], "id": call_id}}
        given = start["given"] if start else plain
        state = await _walk({**given, **beside}, loop)
        if state is not None:
            calls[at], found[call_id] = _show(call, state)
    # The arguments that the model wrote could not be read.
    unread = [
        call_id
        for call_id, start in found.items()
        if not isinstance(start["given"].get("call", {}).get("args"), dict)
    ]
    mended = with_calls(turn, calls)
    if not unread:
        return mended, found
    # The mark outlasts the private state: without it the call would run with its defaults.
    extra = {**mended.additional_kwargs, UNREAD: unread}
    return mended.model_copy(update={"additional_kwargs": extra}), found


def _show(call: ToolCall, state: JsonDict) -> tuple[ToolCall, Start]:
    """Return the call as others see it, and what the loop starts from.

    A name that is sure is shown, even where the arguments cannot be repaired: the call fails
    visibly, and a person may complete it.
    """
    current = state["current"]
    shown = {"name": current["name"], "args": current["args"]}
    if not isinstance(shown["args"], dict):
        # The arguments could not be read; the loop has their text.
        shown["args"] = {}
    # Nobody was asked: what only asks is tried again where somebody can be.
    tried = [each for each in state["tried"] if each["outcome"] != "asked"]
    kept = {key: state[key] for key in ("original", "changes", "counts")}
    if (stop := state["stop"]) and stop["reason"] in ("escalated", "terminal_kind"):
        # Whoever has ended the call is not asked again.
        kept["stop"] = stop
    given = {"call": {**current, "id": call["id"]}, "mended": {**kept, "tried": tried}}
    made: Any = {**call, **shown}
    return made, Start(shown=shown, given=given)


async def _walk(given: JsonDict, loop: Loop) -> JsonDict | None:
    """Return the state in which a walk ends that executes nothing; None where it has no call."""
    nodes = {name: _pass for name, targets in loop.table.routes.items() if PASSED in targets}
    nodes |= {"execute": _stop_before, "report_failure": _hand_over}
    out = await walk_hosted(replace(loop, nodes={**loop.nodes, **nodes}), given)
    # The result of a handler is no call, and a change that was rejected is not shown.
    if out["trail"][-1]["node"] not in ("execute", "report_failure"):
        return None
    state: Any = out["result"]
    is_rejected = (state["stop"] or {}).get("reason") == "rejected"
    return None if is_rejected or not state["current"].get("name") else state


async def _pass(state: CorrectionState, context: RunContext) -> Update:  # noqa: ARG001
    return {}


async def _stop_before(state: CorrectionState, context: RunContext) -> Update:
    """Hand the call over where it would be executed."""
    wrong = unfit(state, context)
    return {"outcome": "done", "result": dict(state)} if wrong is None else wrong


async def _hand_over(state: CorrectionState, context: RunContext) -> Update:  # noqa: ARG001
    return {"outcome": "reported", "result": dict(state)}
