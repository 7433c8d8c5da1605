"""What is asked of errors in tests, in a line: the findings of one, and what a map decides."""

from __future__ import annotations

from typing import Any

from selfcorrect import evidence
from selfcorrect.evidence import ErrorReport, deciding
from selfcorrect.evidence.trained import features as trained
from selfcorrect.model import Call, Finding


def read_report(message: str, **given: Any) -> tuple[Finding, ...]:
    """The findings of a recorded error."""
    recorded = ErrorReport(message, given.pop("exception", None), given.pop("status", None))
    call = Call(given.pop("tool", None) or "", given.pop("arguments", None))
    return evidence.read(recorded, call, **given).findings


def read_error(error: BaseException, call: Call, tool: Any, **given: Any) -> tuple[Finding, ...]:
    """The findings of an exception."""
    return evidence.read(error, call, tool, **given).findings


def decide(
    finding: Finding,
    rules: Any,
    tool: Any,
    arguments: Any,
    schema: Any = None,
    *,
    acts: bool = True,
) -> Finding:
    """What rules and the witness make of a finding, as if it came out of a state."""
    reading = evidence.read([finding], Call(tool or "", arguments), schema=schema)
    return evidence.decide(reading, rules, "likely" if acts else "any")[0]


def by_rules(
    finding: Finding, rules: Any, tool: Any, arguments: Any, schema: Any = None
) -> Finding:
    """What rules alone make of it."""
    reading = evidence.read([finding], Call(tool or "", arguments), schema=schema)
    return deciding.by_rules(reading.parts[0], rules)


def features(finding: Finding, arguments: Any) -> list[str]:
    """What the trained witness sees of it."""
    return trained.features(evidence.read([finding], Call("", arguments)).parts[0])
