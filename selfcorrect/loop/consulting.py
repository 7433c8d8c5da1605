"""Asks the handler that stands beside a tool about everything that is wrong with a call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from selfcorrect.handlers.by_tool import Exhausted
from selfcorrect.handlers.handling import Consultation, consult, error_of
from selfcorrect.limits import remaining
from selfcorrect.loop.answers import usable_answer
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.progress import add_to
from selfcorrect.model import Call, Finding, GiveUp, Repair
from selfcorrect.models.metering import metered
from selfcorrect.plain import own_copy
from selfcorrect.state import CorrectionState


async def consulted(
    call: Call,
    group: Sequence[Finding],
    state: CorrectionState,
    context: RunContext,
    counts: dict[str, Any],
) -> tuple[Repair | Exhausted, str]:
    """What the tool's handler decides about these findings, and what its fixer was asked for.

    What is paid for it is counted in `counts`.
    """
    handler, tool = context.on_error.of(call.name), context.tools.get(call.name)
    if handler is None or tool is None:
        return GiveUp("there is no handler any more"), ""
    attempts = state.get("attempts") or ()
    ours = group[0].types[:1] in (("InvalidArgs",), ("MalformedCall",))
    raised = context.errors.of(state["run"])
    told = group[0].types[0].rpartition(".")[2] if group[0].types else "Exception"
    type_name = None if ours else (attempts[-1].get("type") if attempts else None) or told
    cause = raised[-1] if raised and type_name is not None else None
    port = context.port(counts)
    error = error_of(call, list(group), tool, cause, type_name)
    kind = type(error).__name__
    asked = Consultation(
        own_copy(call),
        error,
        tool,
        state["given"].get("request"),
        context.host,
        port.messages,
        fixes=counts.get("fixes", {}).get(kind, 0),
        executed=counts.get("attempts", 0),
        allowed=counts.get("allowed_attempts"),
        seconds=remaining(counts, context.limits),
        meter=partial(metered, counts, context.limits),
    )
    handled, asks = await consult(handler, asked)
    for _ in range(asks):
        counts |= add_to(counts, "fixes", kind)
    if handled.raised is not None:
        context.errors.add(state["run"], handled.raised)
    if isinstance(handled.answer, Exhausted):
        return handled.answer, ""
    return usable_answer(handled.answer), handled.note
