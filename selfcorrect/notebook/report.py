"""The report of a run that failed, as it is shown: every attempt is listed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.notebook.frame import change_row, listed, word
from selfcorrect.notebook.shown import plain_text, value_text

_MOST: Final = 50


def report_of(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the report in a state says, or None where there is none."""
    failure = values.get("failure")
    if not isinstance(failure, Mapping):
        return None
    question = failure.get("question")
    return {
        "reason": word(failure, "reason", 60),
        "detail": plain_text(failure.get("detail") or "", 400),
        "attempts": [_attempt(item) for item in listed(failure, "attempts", most=_MOST)],
        "changes": [change_row(item) for item in listed(failure, "changes", most=_MOST)],
        "question": plain_text(question.get("question", ""), 600)
        if isinstance(question, Mapping)
        else "",
        "advice": [plain_text(item, 300) for item in failure.get("advice") or ()][:_MOST],
        "for_model": plain_text(failure.get("for_model") or "", 800),
    }


def _attempt(item: Mapping[str, Any]) -> dict[str, Any]:
    call = item.get("call")
    call = call if isinstance(call, Mapping) else {}
    return {
        "number": item.get("number") if isinstance(item.get("number"), int) else 0,
        "call": f"{word(call, 'name', 80)} {value_text(call.get('args', {}), 240)}",
        "outcome": word(item, "outcome", 40),
        "text": plain_text(item.get("text") or "", 300),
        "seconds": item.get("seconds") if isinstance(item.get("seconds"), int | float) else None,
    }
