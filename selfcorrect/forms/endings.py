"""Why a model stopped, as a message or a whole response says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Final

from selfcorrect.forms.access import get, is_record
from selfcorrect.forms.calls import is_others
from selfcorrect.model import JsonObject

_TOLD: Final = (
    *("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "status"),
    *("incomplete_details", "response_metadata"),
)
_MARKED: Final = ("message", "content", "parts", "output", "value", "additional_kwargs")
"""Under these keys stands what may be marked as a refusal."""
_ANSWERS: Final = ("choices", "candidates")
"""Where responses hold one answer or more, which are alternatives of one another."""
_DEPTH: Final = 16


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
    """What the objects of a response say of its end; of a conversation, those of its last turn."""
    for item in _last_turn(value) if isinstance(value, list | tuple) else (value,):
        answers = [get(item, key) for key in _ANSWERS]
        held = [each for found in answers if isinstance(found, list | tuple) for each in found]
        for each in (item, *held):
            if is_record(each):
                yield _told(each, _TOLD)


def _last_turn(items: Sequence[Any]) -> Iterator[Any]:
    """What the model said since somebody else spoke, the last first."""
    return takewhile(lambda item: not is_others(item), reversed(items))


def _told(value: Any, keys: Sequence[str], depth: int = 2) -> JsonObject:
    """What an object says under these keys, and the objects under them: those of an SDK, too."""
    found = {key: told for key in keys if (told := get(value, key)) is not None}
    return {
        key: _told(each, (*_TOLD, "reason"), depth - 1) if depth and is_record(each) else each
        for key, each in found.items()
    }


def is_marked_refused(value: Any, depth: int = 0) -> bool:
    """Whether a message, or the last one of a conversation, is marked as a refusal.

    >>> is_marked_refused({"role": "assistant", "content": "f()", "refusal": "I will not."})
    True
    >>> is_marked_refused({"content": [{"type": "refusal", "refusal": "I will not."}]})
    True
    """
    if isinstance(value, list | tuple):
        last = _last_turn(value)
        return depth <= _DEPTH and any(is_marked_refused(item, depth + 1) for item in last)
    if not is_record(value) or depth > _DEPTH:
        return False
    if get(value, "refusal"):
        return True
    held = (each for key in (*_ANSWERS, *_MARKED) if (each := get(value, key)))
    return any(is_marked_refused(each, depth + 1) for each in held if not isinstance(each, str))
