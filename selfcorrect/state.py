"""What a run carries from node to node: plain JSON only, with a format version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, TypedDict, get_type_hints

from selfcorrect.model import JSON

FORMAT: Final = 1
"""Version of the state's layout; a checkpoint of another version is refused, not guessed at."""


def extend_trail(old: Sequence[JSON] | None, new: Sequence[JSON] | None) -> list[JSON]:
    """The trail grows; an event with step 0 starts a new run and with it a new trail."""
    if not new:
        return list(old or ())
    if new[0].get("step") == 0:
        return list(new)
    return [*(old or ()), *new]


class CorrectionInput(TypedDict, total=False):
    """What a run starts from: one of `call`, `raw`, `request`, and what is known beside it.

    Attributes:
        finish_reason: Why the model stopped, in its provider's word.
        tool_choice: What its request says of calls, in any provider's form; "none": no call.
        answer: The form that its answer was to have: a JSON Schema, or a response format.
    """

    call: JSON
    raw: str
    request: str | None
    messages: list[JSON]
    finish_reason: str | None
    tool_choice: JSON
    answer: JSON
    task_id: str | None


class CorrectionOutput(TypedDict, total=False):
    """What a run ends with: `result` or `failure`, and always the `trail`."""

    result: JSON
    failure: dict[str, JSON]
    trail: Annotated[list[JSON], extend_trail]


class CorrectionState(CorrectionInput, total=False):
    """The whole state.

    The keys of the input last for one step only; plan copies them, so that nothing of an earlier
    run on the same thread can leak into this one.

    Attributes:
        format: Version of this layout.
        run: Id of the run.
        phase: The node to enter at, for a run that another runner started; lasts for one step.
        policy: The kinds that end this run, as it started: `{"terminal", "per_tool"}`.
        written: The text that the call was read from, where another runner had read it.
        given: What came with the call: `request`, `messages`, `finish_reason`, `tool_choice`,
            `task_id`, and `written`, where the call was strictly readable text with numbers in it.
        current: The call as it stands: `{"name", "args", "id"?, "raw"?}`.
        original: The call as it came in.
        error: What the last failing node saw: `{"source": "plan" | "schema" | "tool", "findings"}`
            and, for a tool, `intent`, the key of the ledger.
        findings: The diagnosed findings that are still open.
        selected: What the next repair round does: `{"finding", "rule", "strategy", "question"?}`.
        outcome: What the last node came to; with the routing table it decides the next node.
        changes: Every change so far.
        pending: The changes of the last round, not yet validated.
        refused: Changes that policy did not let run unasked, each with `why`.
        tried: Every use of a strategy: `{"rule", "strategy", "path", "outcome", "reason", …}`.
        attempts: Every execution.
        failed: What failed in the runs of this thread so far, by call; it outlives a run:
            `{"error", "times", "findings"}`.
        lost: Calls of this thread that may have been done, by their scope: why; it outlives a run.
        counts: The counters that `Limits` bound, by the same names.
        wait: Seconds to wait before the next execution.
        barred: Why the tool may not be called again in this run: `{"reason", "detail"}`.
        question: What a person is to be asked.
        stop: Why the run must report: `{"reason", "detail"}`.
        remaining_steps: LangGraph's own counter of supersteps that are left.
    """

    format: int
    run: str
    phase: str | None
    policy: dict[str, JSON]
    written: str
    given: dict[str, JSON]
    current: dict[str, JSON]
    original: dict[str, JSON]
    error: dict[str, JSON] | None
    findings: list[dict[str, JSON]]
    selected: list[dict[str, JSON]]
    outcome: str
    changes: list[dict[str, JSON]]
    pending: list[dict[str, JSON]]
    refused: list[dict[str, JSON]]
    tried: list[dict[str, JSON]]
    attempts: list[dict[str, JSON]]
    failed: dict[str, JSON]
    lost: dict[str, JSON]
    counts: dict[str, Any]
    wait: float
    barred: dict[str, JSON] | None
    question: dict[str, JSON] | None
    stop: dict[str, JSON] | None
    trail: Annotated[list[JSON], extend_trail]
    result: JSON
    failure: dict[str, JSON]
    remaining_steps: int


STATE_KEYS: Final = frozenset(get_type_hints(CorrectionState))
INPUT_KEYS: Final = frozenset(get_type_hints(CorrectionInput))
LASTS_ONE_STEP: Final = INPUT_KEYS | {"phase", "result", "failure"}
"""Keys that only the next node sees; the next run on a thread sees nothing of how one ended."""
