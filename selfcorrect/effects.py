"""What may be called again: one table of outcome and effect.

An outcome says whether a failed execution may already have acted. `maybe` is an honest
"nobody knows": a timeout after the request went out, a connection reset, a crash.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import Final

from selfcorrect.protocols import Effect

EFFECTS: Final[tuple[Effect, ...]] = ("read_only", "idempotent", "mutating", "destructive")
UNDECLARED: Final[Effect] = "mutating"
"""What a tool is taken for that does not say."""


class Outcome(StrEnum):
    """What is known of an execution's effect."""

    NOT_DONE = "not_done"
    MAYBE = "maybe"
    DONE = "done"


MAY_CALL_AGAIN: Final = MappingProxyType(
    {
        (Outcome.NOT_DONE, "read_only"): True,
        (Outcome.NOT_DONE, "idempotent"): True,
        (Outcome.NOT_DONE, "mutating"): True,
        (Outcome.NOT_DONE, "destructive"): True,
        (Outcome.MAYBE, "read_only"): True,
        (Outcome.MAYBE, "idempotent"): True,
        (Outcome.MAYBE, "mutating"): False,
        (Outcome.MAYBE, "destructive"): False,
        (Outcome.DONE, "read_only"): True,
        (Outcome.DONE, "idempotent"): True,
        (Outcome.DONE, "mutating"): False,
        (Outcome.DONE, "destructive"): False,
    }
)


def may_call_again(outcome: Outcome, effect: Effect) -> bool:
    """Whether a tool of this effect may be called again after this outcome."""
    return MAY_CALL_AGAIN[(outcome, effect)]
