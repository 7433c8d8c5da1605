"""The calls that a thread holds, and what their answers say."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selfcorrect.effects import Outcome
from selfcorrect.model import JSON, JsonObject, frozen
from selfcorrect.reading.call_object import strict_json
from selfcorrect.threads.history import form_of, pair
from selfcorrect.tools.error_value import error_in


@frozen
class PastCall:
    """A call of a thread.

    Attributes:
        id: Its id.
        name: Its tool.
        args: An object, or the text that is none.
        at: The place of its message.
        outcome: What it did, as far as the thread shows: without an answer nobody knows.
        error: What its answer says of a failure; None if it says nothing of one.
    """

    id: str
    name: str
    args: JSON
    at: int
    outcome: Outcome
    error: str | None


def past_calls(messages: Sequence[Any]) -> Iterator[PastCall]:
    """Yield the calls of a thread in the form of any provider, in order."""
    units = form_of(messages).split(messages)
    answers = pair(units)
    for at, unit in enumerate(units):
        for index, call in enumerate(unit.calls):
            place, outcome, error = answers.get((at, index)), Outcome.LOST, None
            if place is not None:
                answer = units[place].item
                error = failure_in(answer)
                outcome = Outcome.LOST if error is not None else Outcome.DONE
                outcome = Outcome.NOT_DONE if answer.get("status") == DENIED else outcome
            args = strict_json(call.args) if isinstance(call.args, str) else call.args
            yield PastCall(call.id, call.name, args, unit.at, outcome, error)


DENIED = "denied"
"""The status of an answer to a call that somebody has refused before it was made."""


def failure_in(item: JsonObject) -> str | None:
    """Return what an answer says of a failure, by its own mark, its JSON, or its first words."""
    response = item.get("functionResponse", item.get("function_response")) or {}
    content = item.get("content", item.get("output", response.get("response")))
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text", part) if isinstance(part, Mapping) else part for part in parts]
    text = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in texts)
    if item.get("is_error") or item.get("status") == "error" or _FIRST_WORDS.match(text):
        return text
    return error_in(strict_json(text))


_FIRST_WORDS = re.compile(r"Error|An error occurred|Tool '[^']+' timed out after ")
"""What frameworks write before an exception, where an answer has no mark."""
