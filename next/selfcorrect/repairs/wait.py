"""wait: makes the same call again, later and later."""

from dataclasses import dataclass
from random import uniform

from selfcorrect.model import Call, Diagnosis, Repair, Wait
from selfcorrect.protocols import RepairContext


@dataclass(frozen=True, slots=True)
class WaitAndRetry:
    """Wait with exponential backoff and full jitter; `Retry-After` is the least.

    Attributes:
        seconds: The longest first wait.
        factor: How much longer each next wait may be.
        most: The longest wait of its own choice.
    """

    seconds: float = 0.2
    factor: float = 2.0
    most: float = 30.0

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        longest = min(self.most, self.seconds * self.factor ** max(0, context.attempts - 1))
        # Never zero: a service that is down gets no second call at once.
        jitter = uniform(longest / 20, longest)  # noqa: S311 - nobody gains by guessing it
        return Wait(max(diagnosis.retry_after or 0.0, jitter))
