"""What can go wrong with a tool call, as a simulation lets it go wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from selfcorrect.errors import NotDone


class Fault(StrEnum):
    """One way in which an execution goes.

    Explicit faults raise; implicit ones return a value that is not what was asked for.
    """

    NONE = "none"
    NOT_DONE = "not_done"
    TRANSIENT = "transient"
    PERMANENT = "permanent"
    AUTH = "auth"
    INVALID = "invalid"
    IMPLICIT_TRANSIENT = "implicit_transient"
    IMPLICIT_PERMANENT = "implicit_permanent"
    LATENCY = "latency"
    TIMEOUT_BEFORE = "timeout_before"
    TIMEOUT_AFTER = "timeout_after"
    RESET_AFTER = "reset_after"
    UNCLEAR_AFTER = "unclear_after"
    PARTIAL = "partial"
    SCHEMA_DRIFT = "schema_drift"
    RATE_LIMIT = "rate_limit"
    RATE_LIMIT_WITH_HINT = "rate_limit_with_hint"


ACTS: Final = frozenset(
    {
        Fault.NONE,
        Fault.LATENCY,
        Fault.TIMEOUT_AFTER,
        Fault.RESET_AFTER,
        Fault.UNCLEAR_AFTER,
        Fault.PARTIAL,
        Fault.SCHEMA_DRIFT,
    }
)
"""Faults that come after the effect, or leave it as it is."""

HINT: Final = 7.0
"""Seconds that a rate limit with a hint asks to wait."""


class RateLimited(Exception):
    """A refusal with status 429, and perhaps a word on when to come back."""

    def __init__(self, retry_after: float | None = None) -> None:
        self.status_code = 429
        self.headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
        super().__init__("too many requests")


class Refused(Exception):
    """A refusal with an HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        self.status_code = status
        super().__init__(text)


def error_of(fault: Fault) -> Exception | None:  # noqa: C901 -- one case a fault
    """What an execution with this fault raises, or None."""
    match fault:
        case Fault.NOT_DONE:
            promised = NotDone("not now")
            promised.__cause__ = ConnectionRefusedError(111, "Connection refused")
            return promised
        case Fault.TRANSIENT:
            return ConnectionRefusedError(111, "Connection refused")
        case Fault.PERMANENT:
            return Refused(405, "this account is closed")
        case Fault.AUTH:
            return Refused(401, "the credentials were not accepted")
        case Fault.INVALID:
            return Refused(422, "the request cannot be processed")
        case Fault.TIMEOUT_BEFORE | Fault.TIMEOUT_AFTER:
            return TimeoutError("read timed out")
        case Fault.RESET_AFTER:
            return ConnectionResetError(104, "Connection reset by peer")
        case Fault.UNCLEAR_AFTER:
            return OSError(5, "Input/output error")
        case Fault.RATE_LIMIT:
            return RateLimited()
        case Fault.RATE_LIMIT_WITH_HINT:
            return RateLimited(HINT)
        case _:
            return None


def stream(seed: int, faults: Sequence[Fault] = tuple(Fault), calm: float = 0.5) -> Iterator[Fault]:
    """An endless stream of faults, always the same for a seed.

    >>> [fault.value for _, fault in zip(range(3), stream(1))] == [
    ...     fault.value for _, fault in zip(range(3), stream(1))]
    True

    Args:
        seed: What it is drawn from.
        faults: What may happen.
        calm: The share of executions in which nothing goes wrong.
    """
    drawn = random.Random(seed)  # noqa: S311 -- repeatable, no secret
    while True:
        yield Fault.NONE if drawn.random() < calm else drawn.choice(faults)
