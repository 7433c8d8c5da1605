"""A round of repair: what it has come to so far, and what each repair of a strategy adds to it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.effects.again import Refuse
from selfcorrect.limits import check_bound, cost_of, count
from selfcorrect.model import (
    ABSENT,
    MAX_CHANGES,
    Ask,
    Change,
    Changed,
    Diagnosis,
    Escalate,
    GiveUp,
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
from selfcorrect.nodes.select_strategy import fault_of, may_repeat
from selfcorrect.pointer import apply
from selfcorrect.state import (
    UNUSED,
    CorrectionState,
    Question,
    Trial,
    Update,
    drop_unused,
    records_of,
    stop_by,
    stop_run,
)
from selfcorrect.text import bound, release
from selfcorrect.tools.run import plain

PERSON = "person"
NO_HELP = ("gave_up", "refused", "failed", UNUSED)


@frozen
class Rung:
    """A strategy of a ladder, with the fault that it is asked about.

    Attributes:
        strategy: The name of the strategy.
        diagnosis: The fault.
        repair: The strategy with its options; None for a person.
    """

    strategy: str
    diagnosis: Diagnosis
    repair: Any = None

    @property
    def primitive(self) -> Any:
        """The strategy as the pass over arguments sees it; None if it is not part of the pass."""
        return getattr(self.repair, "primitive", None)

    def concerns(self, *places: str | None) -> bool:
        """Say whether one of these places lies in, or around, one that is at fault."""
        return any(
            fault == place or fault.startswith(f"{place}/") or place.startswith(f"{fault}/")
            for place in places
            if place is not None
            for fault in self.diagnosis.paths
        )


class Round:
    """What one round has come to so far.

    Attributes:
        state: The state of the run when the round begins.
        context: The context of the run.
        call: The call, with the changes made.
        key: What is equal for calls equal to the one that the round began with.
        counts: The counters of the run.
        vouch: The records for which somebody vouches.
        changes: The changes of this round.
        tried: What the repairs of this round came to.
        question: What a person is to be asked.
        wait: Seconds until the same call is made again.
        end: The update that ends the run.
    """

    def __init__(self, state: CorrectionState, context: RunContext) -> None:
        self.state = state
        self.context = context
        self.call = call_of(state["current"])
        self.key = context.key_of(self.call)
        self.vouch = [*state["vouch"]]
        self.changes: list[Change] = []
        self.tried: list[Trial] = []
        self.question: Question | None = None
        self.wait: float | None = None
        self.end: Update | None = None
        self.counts = count(state["counts"], "rounds")
        for kind in sorted({finding["kind"] for finding in state["findings"]}):
            self.count("per_kind", key=kind)

    def count(self, name: str, more: float = 1, key: str | None = None) -> None:
        """Raise a counter of the run."""
        self.counts = count(self.counts, name, more, key)

    def is_spent(self, rung: Rung) -> bool:
        """Say whether the strategy may not be used any more."""
        limits = self.context.limits
        return check_bound(self.counts, limits, "per_strategy", rung.strategy) is not None

    def is_helped(self, rung: Rung) -> bool:
        """Say whether a change of this round concerns the fault."""
        return any(rung.concerns(change.path, change.moved_from) for change in self.changes)

    def note(
        self, rung: Rung, outcome: str, reason: str = "", changes: Iterable[Change] = ()
    ) -> str:
        """Note what a repair came to, and return it."""
        trial: Trial = {
            "strategy": rung.strategy,
            "rule": rung.diagnosis.rule,
            "path": rung.diagnosis.path,
            "outcome": outcome,
            "reason": release(reason, 300),
            "key": self.key,
            "fault": fault_of(rung.diagnosis),
        }
        if changes:
            trial["changes"] = list(map(change_json, changes))
        self.tried.append(trial)
        return outcome

    def update(self) -> Update:
        """Return what the round came to."""
        names = ("strategy", "rule", "path", "outcome", "reason")
        tried = [{name: trial.get(name) for name in names} for trial in drop_unused(self.tried)]
        changes = list(map(change_json, self.changes))
        update: Update = {
            "counts": self.counts,
            "tried": [*self.state["tried"], *self.tried],
            "pending": changes,
            "wait": None if changes else self.wait,
            "vouch": self.vouch,
            "question": None if changes else self.question,
            "note": {"tried": tried, "changes": changes},
        }
        if (cost := cost_of(self.counts, self.state["counts"]))["model_calls"]:
            update["note"]["cost"] = cost
        if self.end is not None:
            return update | self.end
        if changes:
            return update | {"outcome": "changed", "current": call_json(self.call)}
        return update | {"outcome": "gave_up" if self.wait is None else "wait"}


def take(repair: Repair, rung: Rung, round_: Round) -> str:
    """Take one repair into the round; note and return what it came to."""
    match repair:
        case Changed(changes) if len(changes) > MAX_CHANGES:
            # A part of them would be another repair than the one that is meant.
            return round_.note(rung, "gave_up", f"it makes more than {MAX_CHANGES} changes")
        case Changed(changes):
            return make_changes(map(_as_json, changes), rung, round_)
        case Wait(seconds):
            # What cannot be written is refused before it changes the round.
            reason = f"{seconds:g} s"
            round_.wait = max(round_.wait or 0.0, seconds)
            return round_.note(rung, "wait", reason)
        case Retry():
            return _repeat(repair, rung, round_)
        case Result(value):
            round_.end = {"outcome": "answered", "result": plain(value)}
            return round_.note(rung, "answered")
        case Ask(text):
            from selfcorrect.people.questions import question_about

            # It is put where nothing else helps.
            path = rung.diagnosis.path
            round_.question = question_about(repair, path, round_.state, round_.tried)
            return round_.note(rung, "asked", text)
        case Escalate(reason):
            round_.end = stop_by(repair)
            return round_.note(rung, "escalated", reason)
        case Terminal(reason):
            # A person who says no is not an error of a terminal kind.
            is_person = rung.strategy == PERSON
            round_.end = (
                stop_run("rejected", bound(reason, 1_000)) if is_person else stop_by(repair)
            )
            return round_.note(rung, "terminal", reason)
        case GiveUp(reason):
            return round_.note(rung, "gave_up", reason)
        case _:
            return round_.note(rung, "gave_up", f"{repair!r:.80} is not a repair")


def _as_json(change: Change) -> Change:
    """Return a change as the state can hold it."""
    after = change.after if change.after is ABSENT else plain(change.after)
    return replace(change, safety=Safety(change.safety), after=after)


def make_changes(changes: Iterable[Change], rung: Rung, round_: Round) -> str:
    """Make changes if the policy lets all of them run; note and return what became of them."""
    rule = rung.diagnosis.rule
    own = [replace(change, strategy=rung.strategy, rule=rule) for change in changes]
    try:
        new = apply(round_.call, own)
    except LookupError as error:
        return round_.note(rung, "failed", str(error))
    # A strategy that changes nothing would be asked about the same call for ever. For Python,
    # 1 and True are equal.
    is_equal = all(type(change.before) is type(change.after) for change in own)
    if is_equal and new == round_.call:
        return round_.note(rung, "gave_up", "nothing changes")
    if (why := round_.context.refusal_of(own, new, round_.state)) is not None:
        return round_.note(rung, "refused", why, own)
    round_.call = new
    round_.changes += own
    reasons = dict.fromkeys(change.reason for change in own)
    return round_.note(rung, "changed", "; ".join(reasons))


def _repeat(repair: Retry, rung: Rung, round_: Round) -> str:
    """Let the same call run again, and raise the bound on executions as far as the ceiling."""
    context, state, times = round_.context, round_.state, repair.times
    vouch, further = round_.vouch, f"{times:g} further executions"
    if rung.strategy != PERSON:
        # A person vouches for what the question tells of; a handler knows its tool.
        outcome = "lost" if repair.even_if_lost else "refused"
        keys = dict.fromkeys(record.key for record in records_of(state))
        vouch = [*vouch, *({"key": key, "outcome": outcome} for key in keys)]
    if isinstance(may_repeat(state, context, vouch), Refuse):
        return round_.note(rung, "gave_up", "nobody knows whether it was done already")
    executions = len(state["attempts"])
    allowed = round_.counts.get("allowed_attempts", executions + times)
    if not executions < allowed:
        return round_.note(rung, "gave_up", f"{further} did not help")
    round_.counts = {**round_.counts, "allowed_attempts": min(allowed, context.limits.ceiling)}
    round_.wait, round_.vouch = round_.wait or 0.0, vouch
    return round_.note(rung, "retry", further)
