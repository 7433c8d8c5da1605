"""Where a value comes from that nobody wrote: law 3, and the taint of outer texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from selfcorrect.kernel.verdicts import Step, touches
from selfcorrect.model import JSON, Safety
from selfcorrect.pointer import join, split

_SHORTEST: Final = 4
"""Letters of a value that can be told from others: shorter ones stand in any text."""


def about(known: Mapping[str, Safety], place: str) -> Safety | None:
    """What is said of a place, or of what it stands in."""
    if not known:
        return None
    tokens = split(place)
    found = (known.get(join(*tokens[:n])) for n in range(len(tokens), 0, -1))
    return next((one for one in found if one is not None), None)


def is_tainted(step: Step, value: JSON) -> bool:
    """Whether a value stands in the text of an error, and nowhere where it may come from.

    A model's answer and a learnt binding may carry such a value on; it stays the error's.
    """
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return any(is_tainted(step, one) for one in inner)
    if not isinstance(value, str) or len(value) < _SHORTEST:
        return False
    if not any(value in text for text in step.tainted):
        return False
    written = json.dumps(step.written.args, ensure_ascii=False)
    return not any(value in text for text in (*step.known, written, step.source))


def is_blamed(step: Step, place: str) -> bool:
    """Whether the error of an execution names this very value."""
    return any(touches(place, one) for one in step.blamed)
