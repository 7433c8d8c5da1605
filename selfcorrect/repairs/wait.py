"""wait: makes the same call again, later and later."""

from random import Random

from selfcorrect.model import Call, Diagnosis, Repair, Wait
from selfcorrect.protocols import RepairContext


def wait(
    call: Call,
    diagnosis: Diagnosis,
    context: RepairContext,
    *,
    base: float = 0.2,
    cap: float = 30.0,
) -> Repair:
    """Wait with exponential backoff and full jitter; `Retry-After` is the least.

    Args:
        call: The call.
        diagnosis: What is wrong with it.
        context: What is known beside it.
        base: Seconds that the first wait takes at most; each next one may take twice as long.
        cap: Seconds that no wait exceeds, but for what the service itself asks.
    """
    longest = min(cap, base * 2.0 ** max(0, context.attempts - 1))
    # In one process the same call waits alike, so that a run can be played again.
    random = Random(hash(repr((call.name, call.args, context.attempts))))  # noqa: S311
    # Never zero: a service that is down gets no second call at once.
    jitter = random.uniform(longest / 20, longest)
    return Wait(max(diagnosis.retry_after or 0.0, jitter))
