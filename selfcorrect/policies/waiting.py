"""How long a repeat waits: what was asked for, what the tool asks for, and the run's deadline."""

from __future__ import annotations


def waiting(wanted: float, floor: float, longest: float, left: float | None) -> float | str:
    """Seconds to wait before the next execution, or why there will be none.

    The tool's own word (`Retry-After`) is a floor. A wait that would pass the deadline is cut
    short, but never below that floor: half of the time that is left is kept for the execution.

    >>> waiting(20.0, 0.0, 30.0, left=8.0)
    4.0
    >>> waiting(0.2, 5.0, 30.0, left=300.0)
    5.0
    >>> waiting(0.2, 5.0, 30.0, left=4.0)
    "a wait of 5 s would pass the run's deadline"

    Args:
        wanted: What the strategy asks for, in seconds.
        floor: What the tool asks for, in seconds; 0 if nothing.
        longest: The longest wait that the limits allow, in seconds.
        left: Seconds to the run's deadline; None: there is none.
    """
    wait = max(0.0, wanted, floor)
    if wait > longest:
        return f"a wait of {wait:g} s, and at most {longest:g} s"
    if left is None or wait < left:
        return wait
    if floor >= left:
        return f"a wait of {wait:g} s would pass the run's deadline"
    return floor + (left - floor) / 2
