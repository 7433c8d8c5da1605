"""repair: one pass over what was selected; every answer of a strategy is one case of `Repair`.

A round is a fold: each answer turns one frozen `Round` into the next.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from selfcorrect.context import RunContext, value_of
from selfcorrect.limits import count, reached
from selfcorrect.model import (
    Ask,
    Call,
    Change,
    Changed,
    Diagnosis,
    Escalate,
    Finding,
    Fix,
    GiveUp,
    JsonDict,
    Repair,
    Result,
    Retry,
    Safety,
    Terminal,
    Wait,
    call_json,
    call_of,
    change_json,
)
from selfcorrect.models.port import ModelPort
from selfcorrect.nodes.select_strategy import fault_of
from selfcorrect.pointer import apply
from selfcorrect.policies.safety import is_tainted
from selfcorrect.protocols import RepairContext
from selfcorrect.questions import MAX_OPTIONS, question_about, repair_of
from selfcorrect.state import CorrectionState, Update, stopped
from selfcorrect.text import bound
from selfcorrect.tools.run import plain

MAX_CHANGES: Final = 500
PERSON: Final = "person"
_NO_HELP: Final = ("gave_up", "refused", "failed")


@dataclass(frozen=True, slots=True)
class Round:
    """What one round has come to so far.

    Attributes:
        call: The call, with the changes made.
        counts: The counters of the run.
        changes: The changes of this round.
        tried: The answers of this round.
        question: What a person is to be asked.
        wait: Seconds until the same call is made again.
        vouch: For which outcome somebody vouches.
        end: The update that ends the run.
    """

    call: Call
    counts: JsonDict
    changes: tuple[Change, ...] = ()
    tried: tuple[JsonDict, ...] = ()
    question: JsonDict | None = None
    wait: float | None = None
    vouch: str | None = None
    end: Update | None = None


async def repair(state: CorrectionState, context: RunContext) -> Update:
    """Try what was selected, finding by finding; where a strategy gives up, the next one."""
    question = state["question"]
    if question is not None and context.ask is not None:
        # An interrupt runs this node again from its top: nothing paid may stand before it.
        return _answered(context.ask(question), question, state, context)
    round_ = _start(state)
    for item in state["selected"]:
        finding = state["findings"][item["finding"]]
        for name in item["strategies"]:
            if reached(round_.counts, context.limits, "per_strategy", name):
                continue
            round_ = await _try(name, finding, round_, state, context)
            if round_.end is not None or round_.tried[-1]["outcome"] not in _NO_HELP:
                break
        if round_.end is not None:
            break
    return _update(round_, state)


def _start(state: CorrectionState) -> Round:
    counts = count(state["counts"], "rounds")
    for kind in dict.fromkeys(each["kind"] for each in state["findings"]):
        counts = count(counts, "per_kind", key=kind)
    return Round(call_of(state["current"]), counts, vouch=state["vouch"])


async def _try(
    name: str, finding: Finding, round_: Round, state: CorrectionState, context: RunContext
) -> Round:
    """Ask one strategy, and take its answer into the round."""
    started = context.clock.monotonic()
    port = ModelPort(context.model, context.is_async)
    tool = context.tools.get(round_.call.name)
    given = RepairContext(
        tool.parameters if tool else {},
        tuple(context.tools),
        tool.effect if tool else "",
        state["given"].get("request"),
        state["given"].get("messages") or (),
        len(state["attempts"]),
        port if context.model is not None else None,
    )
    diagnosis = Diagnosis.of(finding)
    try:
        strategy = context.map.strategy(diagnosis.rule, name).repair
        answer: Repair = await value_of(strategy(round_.call, diagnosis, given))
    except Exception as error:
        # A bug in a strategy costs this rung, never the run.
        answer = GiveUp(f"it failed: {type(error).__name__}: {error}")
    counts = count(round_.counts, "per_strategy", key=name)
    counts = count(counts, "seconds", max(0.0, context.clock.monotonic() - started))
    counts = count(count(counts, "model_calls", port.calls), "tokens", port.tokens)
    round_ = replace(round_, counts=counts)
    return take(answer, name, diagnosis, round_, state, context)


def take(
    answer: Repair,
    name: str,
    diagnosis: Diagnosis,
    round_: Round,
    state: CorrectionState,
    context: RunContext,
) -> Round:
    """Return the round after one answer; what it came to is noted in `tried`."""
    # Only a round in which nothing has changed yet may still wait or ask.
    new, outcome, reason = round_, "gave_up", ""
    match answer:
        case Changed(changes):
            return _change(changes, name, diagnosis, round_, state, context)
        case Wait(seconds):
            outcome, reason = "wait", f"{seconds:g} s"
            new = replace(round_, wait=max(round_.wait or 0.0, seconds))
        case Retry(times, even_if_lost):
            return _vouch(times, name, diagnosis, round_, state, context, lost=even_if_lost)
        case Result(value):
            outcome = "answered"
            new = replace(round_, end={"outcome": "answered", "result": plain(value)})
        case Ask(question, options):
            outcome, reason = "asked", question
            offered = plain(list(islice(options, MAX_OPTIONS)))
            asked = question_about(question, offered, diagnosis.path, state, round_.tried)
            new = replace(round_, question=asked)
        case Escalate(reason, severity):
            outcome = "escalated"
            end = stopped("escalated", bound(reason, 1_000), severity=str(severity).upper())
            new = replace(round_, end=end)
        case Terminal(reason):
            outcome = "terminal"
            # A person who says no is no error of a terminal kind.
            ends_as = "rejected" if name == PERSON else "terminal_kind"
            new = replace(round_, end=stopped(ends_as, bound(reason, 1_000)))
        case GiveUp(reason):
            pass
        case Fix():
            reason = "`Fix` is an answer of a handler"
        case _:
            reason = f"it returned {answer!r:.80}, which is no repair"
    return _note(new, outcome, reason, name, diagnosis, state, context)


def _change(
    changes: Iterable[Change],
    name: str,
    diagnosis: Diagnosis,
    round_: Round,
    state: CorrectionState,
    context: RunContext,
) -> Round:
    """Make changes if the policy lets all of them run."""
    made = [
        replace(each, strategy=name, rule=diagnosis.rule) for each in islice(changes, MAX_CHANGES)
    ]
    try:
        new = apply(round_.call, made)
    except LookupError as error:
        return _note(round_, "failed", f"{error}", name, diagnosis, state, context)
    # A strategy that changes nothing would be asked about the same call for ever.
    if new == round_.call:
        return _note(round_, "gave_up", "nothing changes", name, diagnosis, state, context)
    refusal = refusal_of(made, new, state, context)
    if refusal is not None:
        refused = _note(round_, "refused", refusal, name, diagnosis, state, context)
        refused.tried[-1]["changes"] = [change_json(each) for each in made]
        return refused
    reason = "; ".join(dict.fromkeys(each.reason for each in made))
    vouch = "lost" if name == PERSON else round_.vouch
    new_round = replace(round_, call=new, changes=(*round_.changes, *made), vouch=vouch)
    return _note(new_round, "changed", reason, name, diagnosis, state, context)


def refusal_of(
    changes: Iterable[Change], new: Call, state: CorrectionState, context: RunContext
) -> str | None:
    """Say why one of these changes may not run unasked, or return None."""
    tool = context.tools.get(new.name)
    told = [each["text"] for each in state["findings"]]
    trusted = [state["original"], context.schema_of(new), state["given"].get("request")]
    for each in changes:
        why = context.safety.refusal(each, tool, context.map.rule(each.rule).allow)
        if why is not None:
            return why
        if each.safety is Safety.MODEL and is_tainted(each, told, trusted):
            return "the model took the value from an error's text"
    return None


def _vouch(
    times: float,
    name: str,
    diagnosis: Diagnosis,
    round_: Round,
    state: CorrectionState,
    context: RunContext,
    *,
    lost: bool,
) -> Round:
    """Let the same call run again, and raise the bound on executions as far as the ceiling."""
    if context.outcome_of(state) == "lost" and not lost:
        why = "nobody knows whether it was done already"
        return _note(round_, "gave_up", why, name, diagnosis, state, context)
    executed = len(state["attempts"])
    allowed = round_.counts.get("allowed_attempts", executed + times)
    if not executed < allowed:
        why = f"{times:g} further executions did not help"
        return _note(round_, "gave_up", why, name, diagnosis, state, context)
    counts = {**round_.counts, "allowed_attempts": min(allowed, context.limits.ceiling)}
    wait, vouch = round_.wait or 0.0, "lost" if lost else "refused"
    new = replace(round_, counts=counts, wait=wait, vouch=vouch)
    return _note(new, "retry", f"{times:g} further executions", name, diagnosis, state, context)


def _note(
    round_: Round,
    outcome: str,
    reason: str,
    name: str,
    diagnosis: Diagnosis,
    state: CorrectionState,
    context: RunContext,
) -> Round:
    finding: Finding = {
        "category": diagnosis.category,
        "code": diagnosis.code,
        "paths": list(diagnosis.paths),
    }
    item = {
        "strategy": name,
        "rule": diagnosis.rule,
        "path": diagnosis.path,
        "outcome": outcome,
        "reason": bound(reason, 300),
        "key": context.key_of(call_of(state["current"])),
        "fault": fault_of(finding),
    }
    return replace(round_, tried=(*round_.tried, item))


def _answered(
    answer: object, question: JsonDict, state: CorrectionState, context: RunContext
) -> Update:
    """Return what a person's answer comes to; one that cannot be used is asked for again."""
    start = _start(state)
    is_first = not state["counts"].get("questions")
    repaired = repair_of(answer, question, start.call, is_first=is_first)
    round_ = take(repaired, PERSON, Diagnosis(paths=(question["path"],)), start, state, context)
    last = round_.tried[-1]
    if last["outcome"] in _NO_HELP:
        return _update(replace(round_, question={**question, "problem": last["reason"]}), state)
    return _update(replace(round_, counts=count(round_.counts, "questions")), state)


def _update(round_: Round, state: CorrectionState) -> Update:
    """Return what the round came to."""
    shown = ("strategy", "rule", "path", "outcome", "reason")
    changes = [change_json(each) for each in round_.changes]
    update: Update = {
        "counts": round_.counts,
        "tried": [*state["tried"], *round_.tried],
        "pending": changes,
        "wait": None if changes else round_.wait,
        "vouch": round_.vouch,
        "question": None if changes else round_.question,
        "note": {
            "tried": [{key: each[key] for key in shown} for each in round_.tried],
            "changes": changes,
        },
    }
    if round_.end is not None:
        return update | round_.end
    if changes:
        return update | {"outcome": "changed", "current": call_json(round_.call)}
    return update | {"outcome": "gave_up" if round_.wait is None else "wait"}
