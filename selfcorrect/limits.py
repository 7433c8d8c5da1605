"""How much a run may cost, and the one function that compares a counter with its bound."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt

from selfcorrect.model import ErrorKind, JsonDict, JsonObject
from selfcorrect.models.port import Spending


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


def add_spending(counts: JsonObject, spending: Spending) -> JsonDict:
    """Return the counters with what models have cost."""
    counts = count(count(counts, "model_calls", spending.calls), "tokens", spending.tokens)
    counts = count(counts, "seconds", spending.seconds)
    return count(counts, "model_seconds", spending.seconds) if spending.calls else counts


def cost_of(counts: JsonObject, before: JsonObject | None = None) -> JsonDict:
    """Return what calls of models have cost: their number, tokens and seconds."""
    names = {"model_calls": "model_calls", "tokens": "tokens", "seconds": "model_seconds"}
    old = before or {}
    return {
        shown: round(counts.get(name, 0) - old.get(name, 0), 6) for shown, name in names.items()
    }
