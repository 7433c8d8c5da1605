"""What a run carries from node to node: plain JSON only, so that any checkpointer can keep it."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypedDict, get_type_hints

from selfcorrect.effects import Outcome
from selfcorrect.effects.again import Record
from selfcorrect.model import JSON, ChangeJson, Escalate, Finding, JsonDict, Terminal, acts
from selfcorrect.text import release

Update = JsonDict
"""What a node returns: keys of the state, an `outcome`, and a `note` for the trail."""
FORMAT = 3
"""Version of the layout; a checkpoint of another version is refused."""


def extend_trail(old: Sequence[Any] | None, new: Sequence[Any] | None) -> list[Any]:
    """Append events to the trail; an event with step 0 starts a new run and a new trail."""
    if new and new[0].get("step") == 0:
        return list(new)
    return [*(old or ()), *(new or ())]


class Attempt(TypedDict, total=False):
    """One execution of the tool.

    Attributes:
        number: Counts from 1.
        call: The call that was made.
        effect: The effect of its tool.
        outcome: What it did; an `Outcome`.
        seconds: How long it took.
        text: What its error says; None for a result.
        key: The key of its record in the ledger; this and `doubt` only where something may be done.
        doubt: What equal calls of the thread share.
        attempt: The id of this execution in the ledger; only where it was begun there.
    """

    number: int
    call: JsonDict
    effect: str
    outcome: str
    seconds: float
    text: str | None
    key: str
    doubt: str
    attempt: str


class Trial(TypedDict, total=False):
    """One use of a strategy.

    Attributes:
        strategy: Its name.
        rule: The rule whose ladder it stands on.
        path: The place that it was asked about.
        outcome: What its repair came to, such as `changed` or `gave_up`.
        reason: Why, in its own words.
        key: What is equal for calls equal to the one that it saw.
        fault: The finding that it was asked about.
        changes: What the policy refused.
    """

    strategy: str
    rule: str | None
    path: str
    outcome: str
    reason: str
    key: str
    fault: str
    changes: list[ChangeJson]


class Question(TypedDict, total=False):
    """What a person is asked.

    Attributes:
        id: Names the question; it is the same when the node that asks is run again.
        question: The question, in words.
        options: Values, or changes, of which one may be chosen.
        path: The place that the answer is for.
        call: The call as it stands.
        original: The call as it came in.
        request: What the user asked for.
        errors: What is wrong.
        tried: What strategies came to: `{"strategy", "reason"}`.
        refused: Why the policy refused changes.
        changes: What was changed before.
        executions: How often the tool was called.
        attempts: The last executions: `{"number", "call", "outcome", "text"}`.
        doubts: The records in doubt for which an answer vouches.
        problem: Why the answer before cannot be used.
    """

    id: str
    question: str
    options: list[JSON]
    path: str
    call: JsonDict
    original: JSON
    request: str | None
    errors: list[str]
    tried: list[JsonDict]
    refused: list[str]
    changes: list[ChangeJson]
    executions: int
    attempts: list[JsonDict]
    doubts: list[JsonDict]
    problem: str


class CorrectionInput(TypedDict, total=False):
    """What a run starts from: one of `call`, `raw` and `request`, and what is known beside it.

    Attributes:
        call: A call as an object: `{"name", "args", "id"?}`, or in a provider's form.
        raw: The text that a model wrote.
        request: What the user asked for.
        messages: The conversation, as messages or dicts.
        finish_reason: Why the model stopped writing, if the host knows.
        tool_choice: What the caller let the model do: after `none`, nothing is a call.
        index: Which of several calls of the text is meant, from 0.
        message_id: The message that holds the call, where a host has messages.
        task_id: What the call belongs to, where there is no thread.
        mended: What an earlier walk came to that executed nothing: `original`, `changes`,
            `counts`, `tried`, and why it has to `stop`.
    """

    call: JSON
    raw: str
    request: str | None
    messages: list[JSON]
    finish_reason: str | None
    tool_choice: JSON
    index: int | None
    message_id: str | None
    task_id: str | None
    mended: JsonDict | None


class CorrectionOutput(TypedDict, total=False):
    """What a run ends with: `result` or `failure`, and always the `trail`."""

    result: JSON
    failure: JsonDict
    trail: Annotated[list[JSON], extend_trail]


class CorrectionState(CorrectionInput, CorrectionOutput, total=False):
    """The whole state.

    Keys of the input and the output last for one step, so that nothing of an earlier run on the
    same thread leaks into the next one.

    Attributes:
        format: Version of this layout.
        run: Id of the run.
        given: What came with the call; see `CorrectionInput`.
        current: The call as it stands: `{"name", "args", "id"?}`; `args` is a text while it is
            unreadable.
        original: The call as it came in.
        findings: What is wrong; after diagnose with kind, category, rule and ladder.
        source: Who found it: `plan`, `schema`, `tool` or `ledger`.
        selected: What the next repair round tries: `{"finding", "strategies", "options"?}`.
        changes: Every change so far.
        pending: The changes of the last round, not yet validated.
        tried: Every use of a strategy.
        attempts: Every execution.
        counts: The counters that `Limits` bounds, by the same names.
        wait: Seconds until the same call is made again; None: it has been changed.
        vouch: The records in spite of which the tool may run, as `{"key", "outcome"}`; see `Vouch`.
        question: What a person is to be asked.
        stop: Why the run must report: `{"reason", "detail"}`.
        outcome: What the last node came to; it decides the next node.
        remaining_steps: LangGraph's counter of supersteps that are left.
    """

    format: int
    run: str
    given: JsonDict
    current: JsonDict
    original: JSON
    findings: list[Finding]
    source: str
    selected: list[JsonDict]
    changes: list[ChangeJson]
    pending: list[ChangeJson]
    tried: list[Trial]
    attempts: list[Attempt]
    counts: JsonDict
    wait: float | None
    vouch: list[JsonDict]
    question: Question | None
    stop: JsonDict | None
    outcome: str
    remaining_steps: int


INPUT_KEYS = frozenset(get_type_hints(CorrectionInput))
ONE_STEP_KEYS = INPUT_KEYS | {"result", "failure"}
STATE_KEYS = frozenset(get_type_hints(CorrectionState))
_KEPT_INPUT = INPUT_KEYS - {"call", "raw"}


def new_run(state: CorrectionState, run: str) -> Update:
    """Return the keys that a run starts with."""
    given = {key: item for key, item in state.items() if key in _KEPT_INPUT and item is not None}
    mended: Any = given.pop("mended", {})
    return {
        "format": FORMAT,
        "run": run,
        "given": given,
        "current": {},
        "original": mended.get("original"),
        "findings": [],
        "source": "plan",
        "selected": [],
        "changes": mended.get("changes", []),
        "pending": [],
        "tried": mended.get("tried", []),
        "attempts": [],
        "counts": mended.get("counts", {}),
        "wait": None,
        "vouch": [],
        "question": None,
        "stop": mended.get("stop"),
    }


def state_findings(source: str, findings: list[Finding]) -> Update:
    """Return the update about what is wrong, with a note for the trail."""
    texts = [release(finding["text"], 500) for finding in findings[:20]]
    return {"source": source, "findings": findings, "note": {"error": texts}}


def stop_run(reason: str, detail: str, **more: JSON) -> Update:
    """Return the update with which a node ends the run in the report."""
    return {"outcome": "stopped", "stop": {"reason": reason, "detail": detail, **more}}


def stop_by(ending: Escalate | Terminal) -> Update:
    """Return the update that ends the run because a tool, a handler or a strategy says so."""
    reason = release(ending.reason, 1_000)
    if isinstance(ending, Terminal):
        return stop_run("terminal_kind", reason)
    return stop_run("escalated", reason, severity=str(ending.severity).upper())


UNUSED = "idle"
"""The outcome of a strategy that had nothing to look at: only the loop notes it."""


def drop_unused(tried: Iterable[Trial]) -> list[Trial]:
    """Return the trials without those of strategies that had nothing to look at."""
    return [trial for trial in tried if trial["outcome"] != UNUSED]


def records_of(state: CorrectionState) -> list[Record]:
    """Return the executions of a run as records; what only reads leaves nothing in doubt."""
    return [
        Record(
            attempt.get("key", ""),
            attempt.get("doubt", ""),
            attempt["call"]["name"],
            attempt["outcome"] if acts(attempt["effect"]) else Outcome.NOT_DONE,
            attempt=attempt.get("attempt", ""),
        )
        for attempt in state["attempts"]
    ]
