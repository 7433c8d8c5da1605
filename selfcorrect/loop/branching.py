"""Tells branches of a host's fan-out apart that make equal calls under one id, or under none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from selfcorrect.effects import acts
from selfcorrect.kernel import memory
from selfcorrect.loop.context import RunContext
from selfcorrect.model import Call
from selfcorrect.policies.sharing import Shared
from selfcorrect.protocols import Tool
from selfcorrect.schema.equality import call_key
from selfcorrect.state import CorrectionState


@dataclass(frozen=True, slots=True)
class _Branches:
    """Of each superstep, the tasks that made one and the same call, in the order they came."""

    of: dict[str, list[str]] = field(default_factory=dict)


async def in_its_branch(
    state: CorrectionState, context: RunContext, call: Call, tool: Tool
) -> CorrectionState:
    """The state with the call's origin in it, if that is another branch than the first."""
    origin: Any = state["given"].get("origin")
    if context.thread is None or origin is None or not acts(tool):
        return state
    board = context.board
    for task in context.around or ():

        def step(known: _Branches, _: float, task: memory.Task = task) -> tuple[_Branches, int]:
            after, place = memory.branch(known.of, task)
            return _Branches(after), place

        key = memory.identity(origin, call.id, call_key(call, tool))
        shared = Shared(board, f"branches:{key}", _Branches)
        place = await context.of_store(board, shared.decide, step, context.time.monotonic())
        origin = [*origin, place] if place else origin
    return {**state, "given": {**state["given"], "origin": origin}}
