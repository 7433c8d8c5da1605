"""What a person could do about a failure, one sentence each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from selfcorrect.models.describing import described, is_own
from selfcorrect.report import FailureReport

_MOST: Final = 12
_LONGEST: Final = 60

_WHAT_TO_DO: Final[Mapping[str, str]] = {
    "attempts_exhausted": "Allow more attempts, or look at the errors of the attempts.",
    "limit_reached": "Raise the limit that is named above, or call again later.",
    "needs_person": "Answer the question: run with a checkpointer, or with --interactive.",
    "refused": "Make the call anew, corrected, as far as it was not done; it was not repeated.",
    "unavailable": "Call again later: the service failed, and its calls are held back for a while.",
    "no_call": "Have the call written by itself, or make it.",
    "unknown_outcome": "Find out whether the tool acted before anything calls it again.",
    "repeated_failure": "Change the arguments: the same call would fail in the same way.",
    "invalid_input": "Give the run a call, a raw text or a request that can be read.",
    "rejected": "Nothing was done; change the call and run it again.",
    "escalated": "Someone above this loop has to decide.",
    "terminal_kind": "Settle the cause with the operator of the tool; repeating will not help.",
}

_ASK_AGAIN: Final = "ask for the whole text again, with room for more output tokens"
"""What helps where the text itself lacks something that no rule may make up."""


def ask_again(types: Sequence[str], code: Any) -> str:
    """What has to be asked for anew where a text lacks something; empty if nothing does."""
    return _ASK_AGAIN if code == "cut" and is_own(types) else ""


def advice(report: FailureReport, refused: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a person could do, one sentence each."""
    lines = []
    if report.question:
        lines.append(f"Asked: {str(report.question.get('question'))[:500]}")
    for change in refused[:_MOST]:
        before, after = (_short(change.get(key, "nothing")) for key in ("before", "after"))
        lines.append(
            f"Agree to {change['path']}: {before} → {after} ({change['safety']}: {change['why']})."
        )
    if report.reason == "no_strategy":
        lines += _mending(report.findings[:_MOST])
    if report.reason in _WHAT_TO_DO:
        lines.append(_WHAT_TO_DO[report.reason])
    return lines


def _mending(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """What helps where no strategy is left; no rule helps a text that lacks something."""
    again = [ask_again(finding.get("types") or (), finding.get("code")) for finding in findings]
    told = zip(map(described, findings), again, strict=True)
    lines = [f"Mend it: {'; '.join(filter(None, each))}." for each in told if any(each)]
    if not again or not all(again):
        lines.append("Or give the error-strategy map a rule for it.")
    return lines


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
