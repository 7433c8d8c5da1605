"""The same call that gives the same answer again and again: told at first, then not made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage, ToolMessage

from selfcorrect.integrations.chat import note_of, this_run
from selfcorrect.limits import Limits

REASON: Final = "repeated_failure"
REFUSED: Final = (
    "The call was not made: it gave the same answer {} times before, with the same arguments. Use "
    "that answer, or do something else."
)
_NUDGE: Final = (
    "\n\n(Note: this call gave this same answer {} times now. Making it again will not change it.)"
)


def repeats(messages: Sequence[BaseMessage], call: Mapping[str, Any]) -> int:
    """How often this very call succeeded in this run, ending in the same answer each time.

    Calls of other tools in between do not count against it; an answer that differs starts anew.
    """
    asked: dict[str, bool] = {}
    answers: list[Any] = []
    for message in this_run(messages):
        for made in getattr(message, "tool_calls", None) or ():
            same = made["name"] == call["name"] and made["args"] == call["args"]
            asked[str(made.get("id"))] = same
        if not isinstance(message, ToolMessage) or not asked.get(message.tool_call_id):
            continue
        if note_of(message).get("reason") != REASON:
            answers.append(message.content if message.status != "error" else None)
    count = 0
    for answer in reversed(answers):
        if answer is None or not _same(answer, answers[-1]):
            break
        count += 1
    return count


def is_too_often(count: int, limits: Limits) -> bool:
    """Whether the call that comes now is one too many."""
    return limits.repeats > 0 and count + 1 >= limits.repeats


def nudged(response: Any, count: int, limits: Limits) -> Any:
    """The answer, with a word to the model where it is the same once more."""
    if not isinstance(response, ToolMessage) or not 0 < limits.nudge <= count + 1:
        return response
    said = response.content
    if not isinstance(said, str):
        return response
    return response.model_copy(update={"content": said + _NUDGE.format(count + 1)})


def _same(one: Any, other: Any) -> bool:
    """Whether two answers are the same, but for what was added to one of them here."""
    return bool(_bare(one) == _bare(other))


def _bare(content: Any) -> Any:
    return content.partition(_NUDGE[:40])[0] if isinstance(content, str) else content
