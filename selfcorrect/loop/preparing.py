"""Calls of other tools before a failing one, each through the whole loop.

What bounds them: the tools of all of them read or are idempotent; no call is made twice by a run,
nor inside itself; all runs within a run share one budget of steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from selfcorrect.echoes import leaves
from selfcorrect.effects import acts
from selfcorrect.json_forms import call_to_json
from selfcorrect.kernel.texts import literal
from selfcorrect.limits import Limits, remaining, spent
from selfcorrect.loop.answers import mended
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.judging import judged, judged_step
from selfcorrect.loop.masking import Mask
from selfcorrect.loop.recalls import retired
from selfcorrect.model import JSON, Call, Finding, First, Safety
from selfcorrect.policies.safety import words_of
from selfcorrect.state import CorrectionState

MOST_NESTED: Final = 3
"""Runs inside each other."""
_LONGEST_VALUE: Final = 80
_LEAST_SECONDS: Final = 0.001


@dataclass(frozen=True, slots=True)
class Prepared:
    """What became of the calls that should come first.

    Attributes:
        counts: The counters of the run afterwards.
        notes: What is written down of it, as outcomes and reasons: `prepared`, `gave_up`, and
            `advised` with a sentence for the model, where they were not made unasked.
        shown: What is written down of each call that was made.
        is_ready: The failing call may be made again.
    """

    counts: dict[str, Any]
    notes: list[tuple[str, str]]
    shown: list[JSON] = field(default_factory=list)
    is_ready: bool = False


async def prepared(
    first: First,
    item: Mapping[str, Any],
    call: Call,
    group: list[Finding],
    state: CorrectionState,
    context: RunContext,
    counts: dict[str, Any],
) -> Prepared:
    """Make the calls that come first, if they may be made unasked; else say so in a sentence.

    Args:
        first: What a strategy proposes.
        item: The rung of the ladder that it stands on.
        call: The failing call.
        group: The findings that it is to mend.
        state: Of the run.
        context: Of the run.
        counts: The counters of the run.
    """
    allow = context.allowed(item["rule"], item["strategy"])
    why = _forbidden(first, call, group, state, context, allow) or await retired(first, context)
    if why is not None:
        return Prepared(counts, [("advised", _sentence(first, context)), ("gave_up", why)])
    made = [*(counts.get("made") or ())]
    keys = [context.key_of(step) for step in first.calls]
    bound = _bound(first, counts, context)
    if not {*made, *context.under}.isdisjoint(keys) or len(set(keys)) < len(keys):
        bound = "the same call came first before, in this run"
    if bound is not None:
        return Prepared(counts, [("gave_up", bound)])
    counts = {**counts, "made": [*made, *keys]}
    if first.entry is not None:
        recalled = {"entry": first.entry, "attempt": len(state["attempts"])}
        counts["recalled"] = [*(counts.get("recalled") or ()), recalled]
    shown: list[JSON] = []
    under = (*context.under, context.key_of(call))
    for step in first.calls:
        number = counts.get("steps", 0) + 1
        output, used = await _made(step, number, state, context, counts, under)
        counts["steps"] = number + used.get("steps", 0)
        failure = output.get("failure")
        shown.append(_shown(step, output, context))
        if failure is not None:
            why = f"{step.name} came first and failed: {failure['reason']}"
            return Prepared(counts, [("gave_up", why)], shown)
    counts["allowed_attempts"] = max(
        counts.get("attempts", 0) + 1, counts.get("allowed_attempts", 0)
    )
    notes = [("prepared", "; ".join(_told(step, context) for step in first.calls))] if shown else []
    return Prepared(counts, notes, shown, is_ready=True)


def _forbidden(
    first: First,
    call: Call,
    group: list[Finding],
    state: CorrectionState,
    context: RunContext,
    allow: frozenset[Safety],
) -> str | None:
    """Why this may not be done unasked, or None."""
    tool = context.tools.get(call.name)
    if (barred := state["barred"]) is not None:
        return f"the call may not be made again: {barred['detail']}"
    if first.calls and context.inner is None:
        return "no other tool is called here"
    if first.suggest:
        return "it is only suggested until a person approves of it"
    if Safety.LEARNED not in context.safety.allow | allow:
        return "the policy lets nothing that was learnt run unasked"
    for step in first.calls:
        why = _forbidden_step(step, call, context)
        if why is None:
            # A call that nobody wrote takes no value from what an error said.
            why = judged_step(step, call, group, state, context)
        if why:
            return why
    if first.then:
        new = mended(call, first.then, group)
        if isinstance(new, str):
            return new
        found = judged(call, new, first.then, group, {}, state, context)
        refusals = context.safety.refusals(found.changes, context.tools, tool, allow)
        return found.words or words_of(refusals) or None
    return None


def _forbidden_step(step: Call, call: Call, context: RunContext) -> str | None:
    tool = context.tools.get(step.name)
    if tool is None:
        return f"there is no tool {step.name!r}"
    if step.name == call.name:
        return "a call does not come before itself"
    if acts(tool):
        return f"{step.name} is {tool.effect}: it is not called unasked"
    places = (path for path, _ in leaves(step.args, "/args"))
    hidden = next((n for path in places if (n := context.safety.sensitive_field(path, tool))), None)
    if hidden is not None:
        return f"{step.name}: {hidden} is sensitive"
    if not tool.is_valid(step.args):
        return f"{step.name}: the arguments do not fit its schema"
    return None


def _bound(first: First, counts: Mapping[str, Any], context: RunContext) -> str | None:
    """Which bound of the run leaves no room for it."""
    if bound := spent(counts, context.limits, "attempts"):
        return bound
    if first.calls and len(context.under) >= MOST_NESTED:
        return f"{len(context.under)} runs inside each other"
    if counts.get("steps", 0) + len(first.calls) > context.limits.steps:
        return f"at most {context.limits.steps} calls of other tools come first"
    return None


async def _made(
    step: Call,
    number: int,
    state: CorrectionState,
    context: RunContext,
    counts: Mapping[str, Any],
    under: tuple[str, ...],
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """One call through the whole loop: what it came to, and what it cost.

    Its id is the same if this run is gone on with after a crash: the ledger then knows the call.
    """
    given = {key: item for key, item in state["given"].items() if key in _PASSED_ON}
    given["task_id"] = given.get("task_id") or state["run"]
    own = call_to_json(replace(step, id=f"{state['run']}/first/{number}"))
    # A host may tell calls of other tools from the call that it is for.
    aside = getattr(context.host, "aside", None)
    inner = replace(
        context,
        host=context.host if aside is None else aside(),
        limits=_within(context.limits, counts, number),
        tools={name: tool for name, tool in context.tools.items() if not acts(tool)},
        model=None,
        ask_person=None,
        on_limit=None,
        on_failure="report",
        under=under,
    )
    assert context.inner is not None  # noqa: S101 -- see `_forbidden`
    return await context.inner({**given, "call": own}, inner)


_PASSED_ON: Final = ("request", "messages", "task_id")


def _within(limits: Limits, counts: Mapping[str, Any], number: int) -> Limits:
    left = remaining(counts, limits)
    seconds = None if left is None else max(left, _LEAST_SECONDS)
    return limits.model_copy(update={"steps": limits.steps - number, "seconds": seconds})


def _shown(step: Call, output: Mapping[str, Any], context: RunContext) -> JSON:
    tool = context.tools.get(step.name)
    call = call_to_json(step)
    mask = Mask.of(call, tool, context.safety)
    failure = output.get("failure")
    return {
        "call": mask.event(call),
        "outcome": failure["reason"] if failure is not None else "done",
        "trail": list(output.get("trail") or ()),
    }


def _sentence(first: First, context: RunContext) -> str:
    """What the model reads of it: the calls that came first, and how often."""
    parts = [_told(step, context) for step in first.calls]
    edits = [
        f"{change.path.removeprefix('/args/')} = {literal(change.after, _LONGEST_VALUE)}"
        for change in first.then
    ]
    return f"{', then '.join(parts) or ', '.join(edits)} {first.told}"


def _told(step: Call, context: RunContext) -> str:
    mask = Mask.of(call_to_json(step), context.tools.get(step.name), context.safety)
    args: Any = mask.value(step.args, "/args")
    shown = (f"{name}={literal(value, _LONGEST_VALUE)}" for name, value in args.items())
    return f"{step.name}({', '.join(shown)})"
