"""May this call run? The one place that decides what is executed again.

`may_run` is pure: it gets what a ledger remembers, the tool's effect, what this run's own
executions came to, and the request. `call_once` asks it before the tool is called, and the nodes
that would prepare a repetition ask it before they pay for one. Two more functions answer where
there is no call yet: `may_pass` for an error that may pass by itself, and `may_start_over` for
another run. Bounds on the number of executions are another question: see `nodes/retry.py`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Literal
from uuid import uuid4

from selfcorrect.effects import Outcome
from selfcorrect.model import HARMLESS, JSON, JsonDict, JsonObject, acts, frozen

BEGUN = "begun"
"""The status of an intent whose outcome is not written yet."""
HELD = "held"
"""The status of a call that was held once, because one in other words was lost."""


@frozen
class Record:
    """What a ledger remembers of one call.

    Attributes:
        key: The identity: scope, message, id and equal call.
        doubt: Equal for every call of one scope that asks the same, whatever its id.
        tool: The tool's name.
        status: `BEGUN`, `HELD`, or what became of it: an `Outcome`.
        value: The result of a call that is done.
        alive: Whether its holder still runs; says something of a `begun` record only.
        about: The arguments, for people; secrets cut out.
        by: Who settled a doubt.
        theme: Equal for every call of one scope that asks the same in other words; empty where a
            call has no words of its own.
        time: When it was begun, in seconds since the epoch, by the ledger.
        thread: The thread that it belongs to, or the task; empty where there is none.
        call_id: The id of the call; empty where it has none.
        request: What the user asked for; secrets cut out.
        attempt: A name of this execution among all that have the key.
    """

    key: str
    doubt: str
    tool: str
    status: str = BEGUN
    value: JSON = None
    alive: bool = False
    about: str = ""
    by: str | None = None
    theme: str = ""
    time: float = field(default=0.0, compare=False)
    thread: str = ""
    call_id: str = ""
    request: str = ""
    attempt: str = field(default_factory=lambda: uuid4().hex, compare=False)


@frozen
class Vouch:
    """Somebody who knows of a record says that the tool may run in spite of it.

    Attributes:
        key: The key of the record.
        outcome: The gravest status that the record may have: `done`, `refused` or `lost`.
        attempt: The execution that it is about; empty for every one, as a tool's handler says it.
    """

    key: str
    outcome: str
    attempt: str = ""


@frozen
class Request:
    """What is asked of `may_run`.

    Attributes:
        key: The identity of the call.
        doubt: Its key among the calls that ask the same.
        vouches: The records that do not forbid it.
        equal: How many equal calls of a tool run before somebody is asked; of a destructive tool
            it is one.
        is_meant: Whether the same call is made again on purpose, such as after a wait.
    """

    key: str = ""
    doubt: str = ""
    vouches: Iterable[Vouch] = ()
    equal: int = 2
    is_meant: bool = True


@frozen
class Run:
    """The tool is called."""


@frozen
class Replay:
    """This very call is done: its value is the answer."""

    value: JSON


@frozen
class Hold:
    """Somebody is asked first; the records are of equal calls."""

    records: Sequence[Record]


@frozen
class Reworded:
    """A call in other words was lost: this one is held once, and runs if it is made again."""


@frozen
class InProgress:
    """This very call is being made by somebody else."""


@frozen
class Refuse:
    """The tool is not called.

    Attributes:
        reason: The reason of the report.
        key: The key of the record that forbids it.
    """

    reason: Literal["refused", "unknown_outcome", "repeated_failure"]
    key: str = field(default="", compare=False)


Verdict = Run | Replay | Hold | Reworded | InProgress | Refuse


def may_run(
    history: Iterable[Record], effect: str, own: Sequence[Record], request: Request
) -> Verdict:
    """Decide whether a call runs.

    Args:
        history: Records with the identity of the call, its doubt key or its theme.
        effect: The tool's effect.
        own: The executions of this run, as records.
        request: What is asked.
    """
    if not request.is_meant and any(record.doubt == request.doubt for record in own):
        return Refuse("repeated_failure")
    if effect in HARMLESS:
        return Run()
    open_records = [record for record in own if not _is_vouched(record, request)]
    if (forbids := gravest(open_records)) is not None:
        return _refuse(forbids)
    equal, is_held, is_reworded = list[Record](), False, False
    for record in history:
        is_same, is_equal = record.key == request.key, record.doubt == request.doubt
        if is_same and (verdict := _of_same(record)) is not None:
            return verdict
        is_held = is_held or (is_equal and record.status == HELD)
        if _is_vouched(record, request):
            continue
        if (is_equal and in_doubt(record)) or (is_same and record.status == Outcome.REFUSED):
            return _refuse(record)
        is_reworded = is_reworded or in_doubt(record)
        # What is being made side by side counts like what was made before.
        equal += [record] if is_equal and record.status in (Outcome.DONE, BEGUN) else []
    # A person has settled a doubt as done, so the next equal call may be its retry.
    may_be_retry = any(record.by and record.status == Outcome.DONE for record in equal)
    if len(equal) >= (1 if may_be_retry or effect == "destructive" else request.equal):
        return Hold(equal)
    return Reworded() if is_reworded and not is_held else Run()


def may_pass(*, acts: bool, by_words: bool) -> bool:
    """Say whether the same call may run again behind an error: words never make a tool act.

    Args:
        acts: Whether the tool has side effects.
        by_words: Whether nothing but the words of the error says that it may pass.
    """
    return not (acts and by_words)


def may_start_over(reason: str, attempts: Iterable[JsonObject]) -> bool:
    """Say whether another run may do what a run that ended in a report was to do.

    Args:
        reason: The reason of the report.
        attempts: Its executions.
    """
    # These two tell of an execution before that run.
    return reason not in ("unknown_outcome", "refused") and all(
        attempt["outcome"] == Outcome.NOT_DONE or not acts(attempt["effect"])
        for attempt in attempts
    )


def in_doubt(record: Record) -> bool:
    """Say whether a call may have been done, and nobody who knows is still making it."""
    return record.status == Outcome.LOST or (record.status == BEGUN and not record.alive)


def doubt_of(record: Record, outcome: str) -> JsonDict:
    """Return what somebody vouches for, as JSON: a record, and the gravest status it may have."""
    return {
        "key": record.key,
        "outcome": str(outcome),
        "about": record.about,
        "attempt": record.attempt,
    }


def gravest(records: Sequence[Record]) -> Record | None:
    """Return the last record that leaves most in doubt, or None where none does."""
    for outcome in (Outcome.LOST, Outcome.REFUSED):
        for record in reversed(records):
            if record.status == outcome:
                return record
    return None


def _of_same(record: Record) -> Verdict | None:
    """Return the answer for a call that was made, or is being made; nobody can vouch that away."""
    if record.status == Outcome.DONE:
        return Replay(record.value)
    return InProgress() if record.status == BEGUN and record.alive else None


def _refuse(record: Record) -> Refuse:
    is_refusal = record.status == Outcome.REFUSED
    return Refuse("refused" if is_refusal else "unknown_outcome", record.key)


def _is_vouched(record: Record, request: Request) -> bool:
    status = Outcome.LOST if in_doubt(record) else record.status
    gravity = _RANK.get(status, 0)
    return any(
        # A word about one execution is used up by the next, even if that one was cut off.
        vouch.key == record.key
        and vouch.attempt in ("", record.attempt)
        and gravity <= _RANK[vouch.outcome]
        for vouch in request.vouches
    )


_RANK: Mapping[str, int] = {Outcome.DONE: 0, Outcome.REFUSED: 1, Outcome.LOST: 2}
