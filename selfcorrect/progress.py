"""Fingerprints: what was tried, what was executed, and whether a finding is still open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.model import ABSENT, Call, ErrorKind, Finding
from selfcorrect.plain import digest
from selfcorrect.pointer import look
from selfcorrect.protocols import Tool
from selfcorrect.schema.equality import normal_form
from selfcorrect.strategy_map import StrategyMap

RETRYABLE: Final = frozenset({ErrorKind.TRANSIENT, ErrorKind.RATE_LIMIT, ErrorKind.TIMEOUT})
"""Kinds that may succeed when the same call is simply repeated."""


def call_key(call: Call, tool: Tool | None = None) -> str:
    """Equal for calls that ask the same of the same tool; the id does not count.

    Args:
        call: The call.
        tool: Its tool: with it, naming a default or writing 5 as 5.0 makes no other call.
    """
    args = call.args if tool is None else normal_form(call.args, tool.schema)
    return digest(call.name, args, call.raw)


def try_key(call: str, finding: Finding, strategy: str) -> str:
    """Equal for the same strategy against the same finding of the call of this `call_key`."""
    return "|".join((call, finding.rule or "", finding.code or "", strategy, *finding.paths))


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
