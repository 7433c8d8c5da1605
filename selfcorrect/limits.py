"""How much a run may cost, and the one function that compares a counter with its bound."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from selfcorrect.errors import LimitReachedError
from selfcorrect.model import ErrorKind, JsonDict, JsonObject


class Limits(BaseModel):
    """Bounds of one run. A map may set them too, but for `ceiling`, which only code sets.

    Attributes:
        attempts: Executions of the tool, at most `ceiling`.
        rounds: Repair rounds for each attempt.
        model_calls: Calls of a model.
        tokens: Tokens of all model calls; None: no bound.
        seconds: Time of the run, waits included; None: no bound.
        wait: The longest single wait, in seconds.
        equal: Successful equal calls of a tool that acts, within one thread; the next one asks.
        per_kind: Repair rounds after an error of a kind; 0 means report at once.
        per_strategy: Uses of a strategy.
        ceiling: The hard cap on executions, for handlers that ask for more too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts: PositiveInt = 3
    rounds: PositiveInt = 8
    model_calls: NonNegativeInt = 4
    tokens: PositiveInt | None = None
    seconds: float | None = Field(default=300.0, gt=0)
    wait: float = Field(default=30.0, ge=0)
    equal: PositiveInt = 2
    per_kind: Mapping[ErrorKind, NonNegativeInt] = {}
    per_strategy: Mapping[str, NonNegativeInt] = {}
    ceiling: PositiveInt = 10


def check_bound(
    counts: JsonObject, limits: Limits, name: str, key: str | None = None
) -> str | None:
    """Say which bound is reached, or return None while one more is allowed.

    Args:
        counts: The counters of the run.
        limits: The bounds of the run.
        name: The bound.
        key: The kind or the strategy, for `per_kind` and `per_strategy`.
    """
    bound, used = getattr(limits, name), counts.get(name, 0)
    if key is not None:
        bound, used = bound.get(key), (used or {}).get(key, 0)
    if name == "attempts":
        # A handler's `Retry(n)` lifts the bound, as far as the ceiling.
        bound = min(max(bound, counts.get("allowed_attempts", 0)), limits.ceiling)
    if bound is None or used < bound:
        return None
    return f"{used:g} of at most {bound:g} {name.replace('_', ' ')}{f' {key}' if key else ''}"


def count(counts: JsonObject, name: str, more: float = 1, key: str | None = None) -> JsonDict:
    """Return the counters with one of them raised."""
    if key is None:
        return {**counts, name: counts.get(name, 0) + more}
    inner = counts.get(name, {})
    return {**counts, name: {**inner, key: inner.get(key, 0) + more}}


async def _no_wait(_seconds: float) -> None:
    """Wait for nothing."""


@dataclass(slots=True)
class Spending:
    """What calls of models cost, and what they may cost.

    Attributes:
        is_async: Whether the run is async.
        decide: Decides about each failure of a model; see `ModelErrorHandler`.
        sleep: Waits.
        now: Tells the seconds from an arbitrary start.
        limits: The bounds of the run.
        counts: The counters of the run before these calls.
        calls: Calls made.
        tokens: Tokens that they cost, as far as the models say so.
        seconds: How long they and the waits between them took.
    """

    is_async: bool = False
    decide: Callable[[Exception], Any] | None = None
    sleep: Callable[[float], Awaitable[None]] = _no_wait
    now: Callable[[], float] = time.monotonic
    limits: Limits = field(default_factory=Limits)
    counts: JsonObject = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def check(self, wait: float = 0.0) -> None:
        """Raise if one more call is too many, or if this wait is too long.

        Raises:
            LimitReachedError: If a bound is reached.
        """
        counts = count(add_spending(self.counts, self), "seconds", wait)
        for name in ("model_calls", "tokens", "seconds"):
            if why := check_bound(counts, self.limits, name):
                raise LimitReachedError(why)


def add_spending(counts: JsonObject, spending: Spending) -> JsonDict:
    """Return the counters with what models have cost."""
    counts = count(count(counts, "model_calls", spending.calls), "tokens", spending.tokens)
    return count(counts, "seconds", spending.seconds)


def cost_of(counts: JsonObject, before: JsonObject) -> JsonDict:
    """Return what calls of models have cost since: their number and tokens."""
    return {name: counts.get(name, 0) - before.get(name, 0) for name in ("model_calls", "tokens")}
