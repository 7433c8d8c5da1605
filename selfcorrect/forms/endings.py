"""Why a model stopped, as a message or a whole response says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Final

from selfcorrect.forms.access import get, is_record
from selfcorrect.forms.calls import is_others

_REASONS: Final = (
    "finish_reason",
    "finishReason",
    "stop_reason",
    "stopReason",
    "done_reason",
    "status",
)
_DETAILS: Final = ("incomplete_details", "response_metadata")
"""Where a provider's message tells more about its end."""
_MARKED: Final = ("message", "delta", "content", "parts", "output", "value", "additional_kwargs")
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


def reasons_said(value: Any) -> Iterator[str]:
    """Why the answers of a response ended; of a conversation, those of its last turn."""
    for item in _last_turn(value) if isinstance(value, list | tuple) else (value,):
        answers = [get(item, key) for key in _ANSWERS]
        held = [each for found in answers if isinstance(found, list | tuple) for each in found]
        for each in (item, *held):
            yield from reasons_in(each)


def reasons_in(value: Any) -> Iterator[str]:
    """Every reason for stopping that a message or a response tells, as it is written there."""
    inner = [get(value, key) for key in _DETAILS]
    inner += [get(each, key) for each in inner for key in _DETAILS]
    for told, keys in ((value, _REASONS), *((each, (*_REASONS, "reason")) for each in inner)):
        yield from (reason for key in keys if isinstance(reason := get(told, key), str))


def _last_turn(items: Sequence[Any]) -> Iterator[Any]:
    """What the model said since somebody else spoke, the last first."""
    return takewhile(lambda item: not is_others(item), reversed(items))


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
