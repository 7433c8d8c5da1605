"""wait: the same call may succeed a little later."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from selfcorrect.model import Call, Diagnosis, Repair
from selfcorrect.model import Wait as WaitFor
from selfcorrect.protocols import RepairContext

_MOST_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits before the same call is executed again.

    At least as long as the error asks for, else a random time below a bound that doubles with each
    attempt (full jitter), so that callers who failed together do not come back together.

    Attributes:
        base: Seconds; the bound after the first attempt.
        cap: Seconds; the highest bound.
        random: Gives a number from 0 to 1; None derives it from the call and its attempts, so that
            a run can be repeated.

    >>> from selfcorrect.model import Finding
    >>> busy = Diagnosis((Finding("busy", retry_after=7.0),))
    >>> Wait()(Call("search"), busy, RepairContext())
    Wait(seconds=7.0)
    """

    name = "wait"
    safety = ()
    needs = "nothing"

    base: float = 0.2
    cap: float = 30.0
    random: Callable[[], float] | None = None

    def __post_init__(self) -> None:
        """Refuse bounds that are none.

        Raises:
            ValueError: If `base` or `cap` is negative or not finite.
        """
        if not all(math.isfinite(bound) and bound >= 0 for bound in (self.base, self.cap)):
            raise ValueError("base and cap are seconds, from 0 on")

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Say how long to wait."""
        attempts = len(context.attempts)
        bound = min(self.cap, self.base * 2 ** min(max(attempts - 1, 0), _MOST_DOUBLINGS))
        seconds = bound * (self.random() if self.random else _derived(call, attempts))
        asked = diagnosis.finding.retry_after
        if asked is not None and math.isfinite(asked) and asked > seconds:
            seconds = float(asked)
        return WaitFor(seconds)


def _derived(call: Call, attempts: int) -> float:
    """A number from 0 to 1 that differs from call to call, and never for the same one."""
    what = call.id or json.dumps([call.name, call.args], sort_keys=True, default=str)
    return random.Random(f"{what}:{attempts}").random()  # noqa: S311 -- spreads load, no secret
