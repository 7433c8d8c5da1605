"""Why a model stopped, as a message or a whole response says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from selfcorrect.forms.access import get, is_record
from selfcorrect.model import JsonObject

_TOLD: Final = (
    *("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "status"),
    *("incomplete_details", "response_metadata"),
)
_ANSWERS: Final = ("choices", "candidates")
"""Where responses hold one answer or more, which are alternatives of one another."""


def alternatives(value: Any) -> tuple[str, int] | None:
    """The key under which a response holds several answers, and how many; None where it does not.

    >>> alternatives({"choices": [{}, {}]})
    ('choices', 2)
    """
    for item in value if isinstance(value, list) else (value,):
        for key in _ANSWERS:
            answers = get(item, key)
            if isinstance(answers, list | tuple) and len(answers) > 1:
                return key, len(answers)
    return None


def endings_said(value: Any) -> Iterator[JsonObject]:
    """What the objects of a response say of its end."""
    for item in value if isinstance(value, list) else (value,):
        answers = [get(item, key) for key in _ANSWERS]
        held = [each for found in answers if isinstance(found, list | tuple) for each in found]
        for each in (item, *held):
            if is_record(each):
                yield {key: told for key in _TOLD if (told := get(each, key)) is not None}
