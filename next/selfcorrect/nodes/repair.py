"""repair: one pass over what was selected; every answer of a strategy is one case of `Repair`.

A round is a fold: each answer turns one frozen `Round` into the next.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from inspect import isawaitable
from itertools import islice
from typing import Any, Final

from selfcorrect.context import RunContext
from selfcorrect.errors import RemoteError
from selfcorrect.limits import check_bound, count
from selfcorrect.model import (
    JSON,
    Ask,
    Call,
    Change,
    Changed,
    Diagnosis,
    Escalate,
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
from selfcorrect.state import CorrectionState, Update, stop_run
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


@dataclass(frozen=True, slots=True)
class Rung:
    """Who answers, about which fault, in which run."""

    strategy: str
    diagnosis: Diagnosis
    state: CorrectionState
    context: RunContext


async def repair(state: CorrectionState, context: RunContext) -> Update:
    """Try what was selected, finding by finding; where a strategy gives up, the next one."""
    if state["question"] is not None and context.ask is not None:
        # An interrupt runs this node again from its top: nothing paid may stand before it.
        return _take_answer(context.ask(state["question"]), state["question"], state, context)
    round_ = _start(state)
    for item in state["selected"]:
        diagnosis = Diagnosis.of(state["findings"][item["finding"]])
        for name in item["strategies"]:
            if check_bound(round_.counts, context.limits, "per_strategy", name):
                continue
            round_ = await _try(Rung(name, diagnosis, state, context), round_)
            if round_.end is not None:
                return _update(round_, state)
            if round_.tried[-1]["outcome"] not in _NO_HELP:
                break
    return _update(round_, state)


def _start(state: CorrectionState) -> Round:
    counts = count(state["counts"], "rounds")
    for kind in dict.fromkeys(each["kind"] for each in state["findings"]):
        counts = count(counts, "per_kind", key=kind)
    return Round(call_of(state["current"]), counts, vouch=state["vouch"])


async def _try(rung: Rung, round_: Round) -> Round:
    """Ask one strategy, and take its answer into the round."""
    state, context = rung.state, rung.context
    port = ModelPort(context.model, context.is_async)
    tool = context.tools.get(round_.call.name)
    given = RepairContext(
        tool.parameters if tool else {},
        context.tools,
        tool.effect if tool else "",
        state["given"].get("request"),
        state["given"].get("messages") or (),
        len(state["attempts"]),
        port if context.model is not None else None,
        _error(state, context),
    )
    started = context.clock.monotonic()
    try:
        strategy = context.strategy_for(state, rung.diagnosis.rule, rung.strategy).repair
        answer: Any = strategy(round_.call, rung.diagnosis, given)
        answer = await answer if isawaitable(answer) else answer
    except Exception as error:
        # A bug in a strategy costs this rung, never the run.
        answer = GiveUp(f"it failed: {type(error).__name__}: {error}")
    counts = count(round_.counts, "per_strategy", key=rung.strategy)
    counts = count(counts, "seconds", max(0.0, context.clock.monotonic() - started))
    counts = count(count(counts, "model_calls", port.calls), "tokens", port.tokens)
    return take(answer, rung, replace(round_, counts=counts))


def _error(state: CorrectionState, context: RunContext) -> BaseException | None:
    """Return what the tool raised, if it did; after a resume only its text is known."""
    if state["source"] != "tool":
        return None
    errors = context.live_part(state["run"]).errors
    return errors[-1] if errors else RemoteError(state["findings"][0]["text"])


def take(answer: Repair, rung: Rung, round_: Round) -> Round:
    """Return the round after one answer; what it came to is noted in `tried`."""
    match answer:
        case Changed(changes):
            return _change(changes, rung, round_)
        case Wait(seconds):
            waits = replace(round_, wait=max(round_.wait or 0.0, seconds))
            return _note(waits, rung, "wait", f"{seconds:g} s")
        case Retry(times, even_if_lost):
            return _vouch(times, rung, round_, even_if_lost=even_if_lost)
        case Result(value):
            ends: Update = {"outcome": "answered", "result": plain(value)}
            return _note(replace(round_, end=ends), rung, "answered")
        case Ask(question, options):
            offered = plain(list(islice(options, MAX_OPTIONS)))
            path = rung.diagnosis.path
            asked = question_about(question, offered, path, rung.state, round_.tried)
            return _note(replace(round_, question=asked), rung, "asked", question)
        case Escalate(reason, severity):
            ends = stop_run("escalated", bound(reason, 1_000), severity=str(severity).upper())
            return _note(replace(round_, end=ends), rung, "escalated", reason)
        case Terminal(reason):
            # A person who says no is no error of a terminal kind.
            kind = "rejected" if rung.strategy == PERSON else "terminal_kind"
            ends = stop_run(kind, bound(reason, 1_000))
            return _note(replace(round_, end=ends), rung, "terminal", reason)
        case GiveUp(reason):
            return _note(round_, rung, "gave_up", reason)
        case _:
            return _note(round_, rung, "gave_up", f"{answer!r:.80} is no repair")


def _change(changes: Iterable[Change], rung: Rung, round_: Round) -> Round:
    """Make changes if the policy lets all of them run."""
    rule = rung.diagnosis.rule
    few = islice(changes, MAX_CHANGES)
    made = tuple(replace(each, strategy=rung.strategy, rule=rule) for each in few)
    try:
        new = apply(round_.call, made)
    except LookupError as error:
        return _note(round_, rung, "failed", str(error))
    # A strategy that changes nothing would be asked about the same call for ever.
    if new == round_.call:
        return _note(round_, rung, "gave_up", "nothing changes")
    if (why := refusal_of(made, new, rung.state, rung.context)) is not None:
        return _note(round_, rung, "refused", why, changes=list(map(change_json, made)))
    vouch = "lost" if rung.strategy == PERSON else round_.vouch
    next_round = replace(round_, call=new, changes=round_.changes + made, vouch=vouch)
    return _note(next_round, rung, "changed", "; ".join({each.reason: 0 for each in made}))


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


def _vouch(times: float, rung: Rung, round_: Round, *, even_if_lost: bool) -> Round:
    """Let the same call run again, and raise the bound on executions as far as the ceiling."""
    if rung.context.outcome_of(rung.state) == "lost" and not even_if_lost:
        return _note(round_, rung, "gave_up", "nobody knows whether it was done already")
    executed = len(rung.state["attempts"])
    allowed = round_.counts.get("allowed_attempts", executed + times)
    if not executed < allowed:
        return _note(round_, rung, "gave_up", f"{times:g} further executions did not help")
    counts = {**round_.counts, "allowed_attempts": min(allowed, rung.context.limits.ceiling)}
    vouch = "lost" if even_if_lost else "refused"
    again = replace(round_, counts=counts, wait=round_.wait or 0.0, vouch=vouch)
    return _note(again, rung, "retry", f"{times:g} further executions")


def _note(round_: Round, rung: Rung, outcome: str, reason: str = "", **more: JSON) -> Round:
    item = {
        "strategy": rung.strategy,
        "rule": rung.diagnosis.rule,
        "path": rung.diagnosis.path,
        "outcome": outcome,
        "reason": bound(reason, 300),
        "key": rung.context.key_of(call_of(rung.state["current"])),
        "fault": fault_of(rung.diagnosis),
        **more,
    }
    return replace(round_, tried=(*round_.tried, item))


def _take_answer(
    answer: object, question: JsonDict, state: CorrectionState, context: RunContext
) -> Update:
    """Return what a person's answer comes to; one that cannot be used is asked for again."""
    start = _start(state)
    is_first = not state["counts"].get("questions")
    repaired = repair_of(answer, question, start.call, is_first=is_first)
    rung = Rung(PERSON, Diagnosis(paths=(question["path"],)), state, context)
    round_ = take(repaired, rung, start)
    last = round_.tried[-1]
    if last["outcome"] in _NO_HELP:
        return _update(replace(round_, question={**question, "problem": last["reason"]}), state)
    return _update(replace(round_, counts=count(round_.counts, "questions")), state)


def _update(round_: Round, state: CorrectionState) -> Update:
    """Return what the round came to."""
    shown = ("strategy", "rule", "path", "outcome", "reason")
    changes = list(map(change_json, round_.changes))
    tried = [{key: each[key] for key in shown} for each in round_.tried]
    update: Update = {
        "counts": round_.counts,
        "tried": [*state["tried"], *round_.tried],
        "pending": changes,
        "wait": None if changes else round_.wait,
        "vouch": round_.vouch,
        "question": None if changes else round_.question,
        "note": {"tried": tried, "changes": changes},
    }
    if round_.end is not None:
        return update | round_.end
    if changes:
        return update | {"outcome": "changed", "current": call_json(round_.call)}
    return update | {"outcome": "gave_up" if round_.wait is None else "wait"}
