"""Fingerprints: what was tried, what was executed, and whether a finding is still open."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from selfcorrect.kinds import RETRYABLE
from selfcorrect.model import ABSENT, JSON, Call, Finding
from selfcorrect.pointer import look
from selfcorrect.routing import STOPPED

if TYPE_CHECKING:
    from selfcorrect.mapping.strategy_map import StrategyMap


def stopped(reason: str, detail: str, **more: JSON) -> dict[str, Any]:
    """What a node changes that ends the run in the report."""
    return {"outcome": STOPPED, "stop": {"reason": reason, "detail": detail, **more}}


def try_key(call: str, finding: Finding, strategy: str) -> str:
    """Equal for the same strategy against the same finding of the call of this `call_key`."""
    return "|".join((call, finding.rule or "", finding.code or "", strategy, *finding.paths))


def readings_of(
    tried: Iterable[Mapping[str, Any]], paths: Container[str | None]
) -> Mapping[str, JSON]:
    """What a value at one of these places could mean, as a strategy found that would not choose."""
    several = (item.get("readings") for item in tried if item.get("path") in paths)
    return next(filter(None, several), {})


def refusal_of(tried: Iterable[Mapping[str, Any]], paths: Container[str | None]) -> str:
    """What the kernel says of a mend that it did not let run at one of these places, in words."""
    told = (item["reason"] for item in tried if item.get("law") and item.get("path") in paths)
    return next(told, "")


def is_retryable(finding: Finding, strategies: StrategyMap) -> bool:
    """Whether the same call may be executed again after this finding; a rule may say otherwise."""
    if finding.rule is not None:
        said = getattr(strategies.rule(finding.rule), "retryable", None)
        if said is not None:
            return bool(said)
    return finding.kind in RETRYABLE


def is_open(finding: Finding, before: Call, now: Call) -> bool:
    """Whether a finding about `before` can still hold for `now`, as far as the paths tell."""
    if before is now or not finding.paths:
        return True
    for path in finding.paths:
        value = look(now, path)
        if finding.code == "required":
            if value is ABSENT:
                return True
        elif value is not ABSENT and value == look(before, path):
            return True
    return False


def add(counts: Mapping[str, Any], what: str, amount: float = 1) -> dict[str, Any]:
    """The counters with one of them raised."""
    return {**counts, what: counts.get(what, 0) + amount}


def add_to(counts: Mapping[str, Any], what: str, key: str) -> dict[str, Any]:
    """The counters with one key of a group (`per_kind`, `per_strategy`) raised."""
    group = counts.get(what, {})
    return {**counts, what: {**group, key: group.get(key, 0) + 1}}
