"""What happens when a run reaches one of its limits: it stops, gets more, or waits for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from selfcorrect.limits import Limits

MOST_EXTENSIONS: Final = 8
"""Extensions of one run; a handler that always gives more must end, too."""


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A limit that ends the run, unless a handler decides otherwise.

    Attributes:
        detail: Which one, in words: `3 of at most 3 executions`.
        counts: The counters of the run.
        limits: The bounds in force: `Limits`, or the `AgentBudget` of an agent's run.
    """

    detail: str
    counts: Mapping[str, Any]
    limits: Any


@dataclass(frozen=True, slots=True)
class Stop:
    """The run ends with its report."""


@dataclass(frozen=True, slots=True, init=False)
class Extend:
    """The run goes on with larger limits: `Extend(attempts=6, seconds=600)`.

    Executions never exceed the ceiling, and what is not larger than before counts for nothing.
    """

    limits: Mapping[str, Any]

    def __init__(self, **limits: Any) -> None:
        object.__setattr__(self, "limits", limits)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The run pauses, and can be resumed with larger limits; without a checkpointer it ends.

    Resume with `{"action": "extend", "limits": {"attempts": 6}}`; anything else ends the run.
    """


LimitDecision: TypeAlias = Stop | Extend | Checkpoint
OnLimit: TypeAlias = Callable[[LimitReached], Any]
"""Takes a `LimitReached` and returns a `LimitDecision`; None means `Stop`."""


def larger(limits: Limits, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the wanted limits that are larger than the present ones; empty: none is.

    >>> larger(Limits(attempts=3), {"attempts": 99, "rounds": 1, "wings": 2})
    {'attempts': 10}
    """
    out: dict[str, Any] = {}
    for name, value in wanted.items():
        now = getattr(limits, name, None) if name in _EXTENDABLE else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if now is None or not is_number:
            continue
        new = min(value, limits.ceiling) if name == "attempts" else value
        if new > now:
            out[name] = new
    return out


_EXTENDABLE: Final = ("attempts", "rounds", "model_calls", "tokens", "seconds", "wait", "cost")
