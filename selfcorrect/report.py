"""The report of a run that ended without a result: for a person, an operator and the model."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, field, fields
from pathlib import Path

from selfcorrect.effects import Outcome
from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, JsonDict, JsonObject, acts, frozen
from selfcorrect.text import release


@frozen
class FailureReport:
    """Why a run ended without a result, and what can be done.

    Attributes:
        reason: One of the keys of `ADVICE`.
        detail: Why it stopped, in one sentence.
        for_model: What the agent's model reads.
        advice: What a person can do, one sentence.
        tool: The tool that was meant.
        call: The call as it stood at the end; `{"raw": text}` where a text is not a call.
        original: The call as it came in.
        findings: What was still wrong.
        tried: Every answer of a strategy.
        attempts: Every execution.
        changes: Every change, with rule, strategy and safety class.
        proposal: The repaired call, where the run itself may not make it.
        question: What a person would have to answer.
        severity: How urgent an escalation is.
        counts: Executions, repair rounds, model calls, tokens, seconds.
        where: File, line and function of the tool's code that raised last, for its developer.
        record: The key of the ledger's record that forbids the call, or is in doubt.
    """

    reason: str
    detail: str
    for_model: str = ""
    advice: str = ""
    tool: str | None = None
    _: KW_ONLY
    call: JsonObject | None = None
    original: JSON = None
    findings: Sequence[JsonObject] = ()
    tried: Sequence[JsonObject] = ()
    attempts: Sequence[JsonObject] = ()
    changes: Sequence[JsonObject] = ()
    proposal: JsonObject | None = None
    question: JsonObject | None = None
    severity: str | None = None
    counts: JsonObject = field(default_factory=dict)
    where: str | None = None
    record: str | None = None

    @property
    def is_doubt(self) -> bool:
        """Whether nobody knows what a tool that acts did."""
        return self.reason == "unknown_outcome" or is_lost(self.attempts)

    def to_json(self) -> JsonDict:
        """Return the report as the state holds it; what is None is left out."""
        return {
            item.name: value
            for item in fields(self)
            if (value := getattr(self, item.name)) is not None
        }


def is_lost(attempts: Iterable[JsonObject]) -> bool:
    """Say whether nobody knows what one of these executions did."""
    return any(
        attempt["outcome"] == Outcome.LOST and acts(attempt["effect"]) for attempt in attempts
    )


def frame_of(error: BaseException | None) -> str | None:
    """Return where an error was raised: the last frame of its traceback.

    Frames of this library do not count: they stand above the tool's own.
    """
    frames = traceback.extract_tb(error.__traceback__) if error else ()
    own = [frame for frame in frames if not frame.filename.startswith(_HOME)]
    if not own:
        return None
    return release(f"{own[-1].filename}:{own[-1].lineno} in {own[-1].name}", 300)


_HOME = str(Path(__file__).parent)


ADVICE: Mapping[str, str] = load_table("sentences.toml")["advice"]
"""What a person can do, by reason: every reason of a report has a row."""
