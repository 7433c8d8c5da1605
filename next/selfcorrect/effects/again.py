"""May this call run? The one place that decides what is executed again.

`may_run` is pure: it gets what a ledger remembers, the tool's effect, what this run's executions
came to, and the request. `execute` asks it before the tool is called, and the nodes that would
prepare a repetition ask it before they pay for one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from selfcorrect.effects.effect import HARMLESS
from selfcorrect.effects.outcome import Outcome
from selfcorrect.model import JSON

BEGUN: Final = "begun"
"""The status of an intent of which nobody has written an outcome."""
HELD: Final = "held"
"""The status of a call that was held once, because one in other words was lost."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of `may_run`.

    Attributes:
        key: The identity of the call.
        doubt: Its key among the calls that ask the same.
        vouch: For which outcome a handler, a rule or a person vouches that running the tool again
            does no harm: `refused`, or `lost`, which covers both.
        equal: How many equal successful calls run before somebody is asked.
    """

    key: str = ""
    doubt: str = ""
    vouch: str | None = None
    equal: int = 2


@dataclass(frozen=True, slots=True)
class Run:
    """The tool is called."""


@dataclass(frozen=True, slots=True)
class Replay:
    """This very call is done: its value is the answer."""

    value: JSON


@dataclass(frozen=True, slots=True)
class Hold:
    """Somebody is asked first."""

    question: str


@dataclass(frozen=True, slots=True)
class Reworded:
    """A call in other words was lost: this one is held once, and runs if it is made again."""


@dataclass(frozen=True, slots=True)
class InProgress:
    """This very call is being made by somebody else."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The tool is not called; `reason` is that of the report."""

    reason: Literal["refused", "unknown_outcome"]


Verdict: TypeAlias = Run | Replay | Hold | Reworded | InProgress | Refuse

_NO_DOUBT: Final = (None, Outcome.DONE, Outcome.NOT_DONE)


def may_run(
    history: Iterable[Record], effect: str, outcome: str | None, request: Request
) -> Verdict:
    """Decide whether a call runs.

    Args:
        history: Records with the identity of the call, its doubt key or its theme.
        effect: The tool's effect.
        outcome: The gravest outcome of this run's executions of tools that act.
        request: What is asked.
    """
    if effect in HARMLESS:
        return Run()
    if outcome not in _NO_DOUBT and not _vouches(outcome, request):
        return Refuse("unknown_outcome" if outcome == Outcome.LOST else "refused")
    equal, known, is_reworded = 0, set[str](), False
    for record in history:
        if record.doubt != request.doubt:
            is_reworded = is_reworded or in_doubt(record)
            continue
        same = record.key == request.key
        verdict = _of_same(record, request) if same else None
        if verdict is None and in_doubt(record) and not _vouches(Outcome.LOST, request):
            verdict = Refuse("unknown_outcome")
        if verdict is not None:
            return verdict
        equal += record.status == Outcome.DONE
        known.add(record.status)
    if _vouches(Outcome.LOST, request):
        return Run()
    if equal >= request.equal:
        return Hold(f"{equal} equal calls of this tool have succeeded already. Run it once more?")
    return Reworded() if is_reworded and HELD not in known else Run()


def _of_same(record: Record, request: Request) -> Verdict | None:
    """Say what follows from a record of this very call, or None if its status forbids nothing."""
    if record.status == Outcome.DONE:
        return Replay(record.value)
    if record.status == BEGUN and record.alive:
        return InProgress()
    if record.status == Outcome.REFUSED and not _vouches(Outcome.REFUSED, request):
        return Refuse("refused")
    return None


def in_doubt(record: Record) -> bool:
    """Say whether a call may have been done, and nobody who knows is still making it."""
    # Equal calls that live holders make side by side are both meant.
    return record.status == Outcome.LOST or (record.status == BEGUN and not record.alive)


def _vouches(outcome: str | None, request: Request) -> bool:
    return request.vouch == Outcome.LOST or (
        request.vouch is not None and outcome == Outcome.REFUSED
    )


def gravest(outcomes: Iterable[str]) -> str | None:
    """Return the outcome that leaves most in doubt, or None where nothing was executed."""
    found = set(outcomes)
    return next((each for each in _GRAVITY if each in found), None)


_GRAVITY: Final = (Outcome.LOST, Outcome.REFUSED, Outcome.DONE, Outcome.NOT_DONE)
