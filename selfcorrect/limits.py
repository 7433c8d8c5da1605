"""How much a run may cost, and the one place that compares a counter with a bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from selfcorrect.model import ErrorKind

CEILING: Final = 10
"""Executions that no map and no handler exceeds, unless code sets another ceiling."""


class Price(BaseModel):
    """What a million tokens of a model cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Limits(BaseModel):
    """Bounds of one run. A map may set them, up to `ceiling`, which only code sets.

    Attributes:
        attempts: Executions of the tool.
        rounds: Repair rounds per attempt.
        findings: Findings that a repair round takes up; a call with more is refused unmended.
        strategy_calls: Strategies that one repair round calls.
        argument_bytes: How long the arguments of a call, or the text that holds it, may be as JSON.
        model_calls: Calls of a model.
        tokens: Tokens of all model calls, or None for no bound.
        seconds: Wall time of the run, waits included, or None for no bound. It cuts short what can
            be left: an async tool, one with a timeout, a model; not a sync tool without a timeout.
        cost: Money for model calls, in the currency of `prices`, or None for no bound.
        prices: What a million tokens cost, by model: `{"*": {"input": 0.15, "output": 0.6}}`.
        steps: Calls of other tools that a run makes before its own, in all.
        recall_failures: Failures in a row after which what was learnt retires by itself.
        wait: The longest single wait, in seconds.
        retry_ratio: Repeats of failed calls of one tool, per call of it, over all runs of this
            process, or of all workers on one ledger in a database, such as 0.1; None for no bound.
        nudge: In an agent, how often the same call gave the same answer when its model is told so;
            0: never.
        repeats: In an agent, the same call with the same answers so far that is not made any more;
            0: no bound.
        per_kind: Repairs after an error of a kind; 0 means report at once.
        per_strategy: Uses of a strategy.
        ceiling: The hard cap on executions.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts: PositiveInt = 3
    rounds: PositiveInt = 8
    findings: PositiveInt = 5_000
    strategy_calls: PositiveInt = 5_000
    argument_bytes: PositiveInt = 1 << 20
    model_calls: NonNegativeInt = 4
    tokens: NonNegativeInt | None = None
    seconds: float | None = Field(default=300.0, gt=0)
    cost: float | None = Field(default=None, ge=0)
    prices: Mapping[str, Price] = Field(default_factory=dict)
    steps: NonNegativeInt = 8
    recall_failures: PositiveInt = 3
    wait: float = Field(default=30.0, ge=0)
    retry_ratio: float | None = Field(default=None, ge=0, le=1)
    nudge: NonNegativeInt = 3
    repeats: NonNegativeInt = 5
    per_kind: Mapping[ErrorKind, NonNegativeInt] = Field(default_factory=dict)
    per_strategy: Mapping[str, NonNegativeInt] = Field(default_factory=dict)
    ceiling: PositiveInt = CEILING

    def merged(self, over: Mapping[str, Any]) -> Limits:
        """These limits with the keys of a map on top; the ceiling stays, and caps attempts.

        Raises:
            pydantic.ValidationError: If a value is not usable.
        """
        values = self.model_dump() | {k: v for k, v in over.items() if k != "ceiling"}
        for name in ("per_kind", "per_strategy", "prices"):
            values[name] = {**getattr(self, name), **over.get(name, {})}
        merged = Limits.model_validate(values)
        return merged.model_copy(update={"attempts": min(merged.attempts, self.ceiling)})


_BOUNDED: Final = {
    "attempts": "executions",
    "rounds": "repair rounds in one attempt",
    "strategy_calls": "strategy calls in one repair round",
    "model_calls": "model calls",
    "tokens": "tokens",
    "seconds": "seconds",
    "cost": "of money",
    "per_kind": "repairs of",
    "per_strategy": "uses of",
}


def spent(
    counts: Mapping[str, Any], limits: Limits, what: str, key: str | None = None
) -> str | None:
    """Say which bound is reached, or None while one more is allowed.

    Args:
        counts: The counters of the run.
        limits: The bounds of the run.
        what: The bound's name.
        key: The kind or the strategy, for `per_kind` and `per_strategy`.
    """
    if what in ("per_kind", "per_strategy"):
        bounds: Mapping[Any, int] = getattr(limits, what)
        bound = bounds.get(key)
        used = counts.get(what, {}).get(key, 0)
    else:
        bound = getattr(limits, what)
        used = counts.get(what, 0)
        if what == "attempts" and bound is not None:
            bound = min(max(bound, counts.get("allowed_attempts", 0)), limits.ceiling)
    if bound is None or used < bound:
        return None
    label = _BOUNDED[what] if key is None else f"{_BOUNDED[what]} {key}"
    return f"{_number(used)} of at most {_number(bound)} {label}"


def remaining(counts: Mapping[str, Any], limits: Limits) -> float | None:
    """Seconds that are left of the run, 0 or less where none are; None where there is no bound."""
    return None if limits.seconds is None else limits.seconds - float(counts.get("seconds", 0.0))


def _number(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
