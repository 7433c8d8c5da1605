"""A round of repair as a fold: each answer of a strategy turns one frozen `Round` into the next."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.effects.again import Refuse
from selfcorrect.limits import cost_of, count
from selfcorrect.model import (
    ABSENT,
    JSON,
    MAX_CHANGES,
    Ask,
    Call,
    Change,
    Changed,
    Diagnosis,
    Escalate,
    GiveUp,
    JsonDict,
    JsonObject,
    Repair,
    Result,
    Retry,
    Safety,
    Terminal,
    Wait,
    call_json,
    call_of,
    change_json,
    frozen,
)
from selfcorrect.nodes.select_strategy import fault_of
from selfcorrect.pointer import apply
from selfcorrect.state import IDLE, CorrectionState, Update, seen, stop_by, stop_run
from selfcorrect.strategy_map.registry import bind
from selfcorrect.text import bound, release
from selfcorrect.tools.run import plain

PERSON = "person"
NO_HELP = ("gave_up", "refused", "failed", IDLE)


@frozen
class Round:
    """What one round has come to so far.

    Attributes:
        call: The call, with the changes made.
        key: What is equal for calls equal to the one that the round began with.
        counts: The counters of the run.
        changes: The changes of this round.
        tried: The answers of this round.
        question: What a person is to be asked.
        wait: Seconds until the same call is made again.
        vouch: The records for which somebody vouches.
        end: The update that ends the run.
    """

    call: Call
    key: str
    counts: JsonDict
    changes: tuple[Change, ...] = ()
    tried: tuple[JsonDict, ...] = ()
    question: JsonDict | None = None
    wait: float | None = None
    vouch: tuple[JsonDict, ...] = ()
    end: Update | None = None


@frozen
class Rung:
    """Who answers, about which fault, in which run."""

    strategy: str
    diagnosis: Diagnosis
    state: CorrectionState
    context: RunContext
    options: JsonObject | None = None
    """What a person has written in place of the options of the rule."""

    @property
    def repair(self) -> Any:
        """The strategy with its options."""
        rule = self.diagnosis.rule
        if self.options:
            brought = self.context.map.strategies.factory(rule, self.strategy)
            return bind(self.strategy, brought, self.options).repair
        return self.context.strategy_for(self.state, rule, self.strategy).repair

    @property
    def primitive(self) -> Any:
        """The strategy as the pass over arguments sees it; None where it is no part of the pass."""
        return getattr(self.repair, "primitive", None)

    def concerns(self, *places: str | None) -> bool:
        """Say whether one of these places lies in, or around, one that is at fault."""
        return any(
            one == place or one.startswith(f"{place}/") or place.startswith(f"{one}/")
            for place in places
            if place is not None
            for one in self.diagnosis.paths
        )

    def is_helped(self, round_: Round) -> bool:
        """Say whether a change of this round concerns the fault."""
        return any(self.concerns(each.path, each.moved_from) for each in round_.changes)


def start_round(state: CorrectionState, context: RunContext) -> Round:
    """Return the round that begins with the call as it stands."""
    counts = count(state["counts"], "rounds")
    for kind in dict.fromkeys(each["kind"] for each in state["findings"]):
        counts = count(counts, "per_kind", key=kind)
    call = call_of(state["current"])
    return Round(call, context.key_of(call), counts, vouch=tuple(state["vouch"]))


def take(answer: Repair, rung: Rung, round_: Round) -> Round:
    """Return the round after one answer; what it came to is noted in `tried`."""
    match answer:
        case Changed(changes) if len(changes) > MAX_CHANGES:
            # A part of them would be another repair than the one that is meant.
            return note(round_, rung, "gave_up", f"it makes more than {MAX_CHANGES} changes")
        case Changed(changes):
            # As the state can hold them.
            made = (replace(each, safety=Safety(each.safety)) for each in changes)
            held = (e if e.after is ABSENT else replace(e, after=plain(e.after)) for e in made)
            return change_call(held, rung, round_)
        case Wait(seconds):
            waits = replace(round_, wait=max(round_.wait or 0.0, seconds))
            return note(waits, rung, "wait", f"{seconds:g} s")
        case Retry():
            return _repeat(answer, rung, round_)
        case Result(value):
            ends: Update = {"outcome": "answered", "result": plain(value)}
            return note(replace(round_, end=ends), rung, "answered")
        case Ask():
            return _ask(answer, rung, round_)
        case Escalate(reason):
            return note(replace(round_, end=stop_by(answer)), rung, "escalated", reason)
        case Terminal(reason):
            # A person who says no is no error of a terminal kind.
            is_person = rung.strategy == PERSON
            ends = stop_run("rejected", bound(reason, 1_000)) if is_person else stop_by(answer)
            return note(replace(round_, end=ends), rung, "terminal", reason)
        case GiveUp(reason):
            return note(round_, rung, "gave_up", reason)
        case _:
            return note(round_, rung, "gave_up", f"{answer!r:.80} is no repair")


def change_call(changes: Iterable[Change], rung: Rung, round_: Round) -> Round:
    """Make changes if the policy lets all of them run."""
    rule = rung.diagnosis.rule
    few = islice(changes, MAX_CHANGES)
    made = tuple(replace(each, strategy=rung.strategy, rule=rule) for each in few)
    try:
        new = apply(round_.call, made)
    except LookupError as error:
        return note(round_, rung, "failed", str(error))
    # A strategy that changes nothing would be asked about the same call for ever. For Python,
    # 1 and True are equal.
    is_equal = all(type(each.before) is type(each.after) for each in made)
    if is_equal and new == round_.call:
        return note(round_, rung, "gave_up", "nothing changes")
    if (why := rung.context.refusal_of(made, new, rung.state)) is not None:
        return note(round_, rung, "refused", why, changes=list(map(change_json, made)))
    next_round = replace(round_, call=new, changes=round_.changes + made)
    return note(next_round, rung, "changed", "; ".join({each.reason: 0 for each in made}))


def _ask(answer: Ask, rung: Rung, round_: Round) -> Round:
    """Keep the question: it is put where nothing else helps."""
    from selfcorrect.people.questions import question_about

    asked = question_about(answer, rung.diagnosis.path, rung.state, rung.context, round_.tried)
    return note(replace(round_, question=asked), rung, "asked", answer.question)


def _repeat(answer: Retry, rung: Rung, round_: Round) -> Round:
    """Let the same call run again, and raise the bound on executions as far as the ceiling."""
    context, state, times = rung.context, rung.state, answer.times
    vouch = round_.vouch
    if rung.strategy != PERSON:
        # A person vouches for what the question tells of; a handler knows its tool.
        outcome = "lost" if answer.even_if_lost else "refused"
        own = dict.fromkeys(each.key for each in context.own_records(state))
        vouch += tuple({"key": key, "outcome": outcome} for key in own)
    if isinstance(context.may_repeat(state, vouch), Refuse):
        return note(round_, rung, "gave_up", "nobody knows whether it was done already")
    executed = len(state["attempts"])
    allowed = round_.counts.get("allowed_attempts", executed + times)
    if not executed < allowed:
        return note(round_, rung, "gave_up", f"{times:g} further executions did not help")
    counts = {**round_.counts, "allowed_attempts": min(allowed, context.limits.ceiling)}
    again = replace(round_, counts=counts, wait=round_.wait or 0.0, vouch=vouch)
    return note(again, rung, "retry", f"{times:g} further executions")


def note(round_: Round, rung: Rung, outcome: str, reason: str = "", **more: JSON) -> Round:
    """Note what an answer came to."""
    item = {
        "strategy": rung.strategy,
        "rule": rung.diagnosis.rule,
        "path": rung.diagnosis.path,
        "outcome": outcome,
        "reason": release(reason, 300),
        "key": round_.key,
        "fault": fault_of(rung.diagnosis),
        **more,
    }
    return replace(round_, tried=(*round_.tried, item))


def update_of(round_: Round, state: CorrectionState) -> Update:
    """Return what the round came to."""
    shown = ("strategy", "rule", "path", "outcome", "reason")
    changes = list(map(change_json, round_.changes))
    tried = [{key: each[key] for key in shown} for each in seen(round_.tried)]
    update: Update = {
        "counts": round_.counts,
        "tried": [*state["tried"], *round_.tried],
        "pending": changes,
        "wait": None if changes else round_.wait,
        "vouch": [*round_.vouch],
        "question": None if changes else round_.question,
        "note": {"tried": tried, "changes": changes},
    }
    if (cost := cost_of(round_.counts, state["counts"]))["model_calls"]:
        update["note"]["cost"] = cost
    if round_.end is not None:
        return update | round_.end
    if changes:
        return update | {"outcome": "changed", "current": call_json(round_.call)}
    return update | {"outcome": "gave_up" if round_.wait is None else "wait"}
