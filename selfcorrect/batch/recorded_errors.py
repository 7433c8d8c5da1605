"""ErrorReport errors, one a line: what they mean, and what the map would try."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from selfcorrect.batch.lines import Line, clip
from selfcorrect.batch.processes import Job, answered_all
from selfcorrect.evidence import ErrorReport, decide, read
from selfcorrect.loop.progress import is_retryable
from selfcorrect.mapping.files import MapSource
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Call, Finding
from selfcorrect.policies.safety import DEFAULT_SURE


def diagnose(
    lines: Iterable[Mapping[str, Any] | str | bytes],
    *,
    strategies: StrategyMap | MapSource | None = None,
    processes: int = 1,
) -> Iterator[dict[str, Any]]:
    """Say of recorded errors what they mean: one answer per line, in order, as they come.

    Args:
        lines: Errors, each an object (`{"id", "message", "status"?, "exception"?, "tool"?,
            "schema"?, "arguments"?}`) or the JSON text of one. An empty text is answered, too.
        strategies: An error-strategy map: the object, its name or its path.
        processes: How many processes work; more than one need lines and map that can be pickled,
            and a main module that can be imported.

    Returns:
        An iterator over `{"id", "kind", "category", "params", "constraint", "confidence",
        "witness", "retryable", "retry_after_s", "rule", "ladder"}`; of a line that cannot be used,
        `{"id", "error"}`.

    Raises:
        MapError: If the map is unusable; before the first line is asked for.

    >>> [answer] = diagnose([{"id": 1, "message": "slow down", "status": 429}])
    >>> answer["kind"], answer["retryable"]
    ('rate_limit', True)
    """
    return answered_all(lines, JOB, load_map(strategies), processes)


def outcome_of(answer: Mapping[str, Any]) -> str:
    """What a line came to, in a word: the kind of its error."""
    return _UNUSABLE if "error" in answer else str(answer.get("kind"))


def answered(line: Line, policy: StrategyMap) -> dict[str, Any]:
    """The answer to one line; whatever is wrong with it becomes an answer too."""
    given = line.value if isinstance(line.value, Mapping) else {}
    answer: dict[str, Any] = {"id": line.id}
    if line.error is not None:
        return answer | {"error": line.error}
    wrong = _wrong(line.value)
    if wrong is not None:
        return answer | {"error": f"{line.where}: {wrong}"}
    try:
        return answer | _told(_findings(given, policy), policy)
    except Exception as error:  # one bad line never stops the others
        return answer | {"error": clip(f"{line.where}: {type(error).__name__}: {error}")}


def _wrong(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "a line is an object"
    if not isinstance(value.get("message"), str):
        return "message is a text"
    status = value.get("status")
    if status is not None and (isinstance(status, bool) or not isinstance(status, int | str)):
        return "status is a number or a text"
    for key in ("tool", "exception"):
        if not isinstance(value.get(key), str | None):
            return f"{key} is a text"
    if not isinstance(value.get("schema"), Mapping | None):
        return "schema is an object"
    return None


def _findings(given: Mapping[str, Any], policy: StrategyMap) -> Sequence[Finding]:
    recorded = ErrorReport(given["message"], given.get("exception"), given.get("status"))
    call = Call(given.get("tool") or "", given.get("arguments") or {})
    reading = read(recorded, call, schema=given.get("schema"), bodies=policy.bodies)
    return decide(reading, policy, "any")


def _told(findings: Sequence[Finding], policy: StrategyMap) -> dict[str, Any]:
    """The first finding decides; the parameters are those of all."""
    first = findings[0]
    # A guess is harmless, a promise that repeating helps is not.
    sure = DEFAULT_SURE if policy.policy.sure is None else policy.policy.sure
    return {
        "kind": first.kind.value,
        "category": first.category.value,
        "params": list(dict.fromkeys(name for finding in findings for name in finding.params)),
        "constraint": dict(first.constraint) or None,
        "confidence": first.confidence,
        "witness": first.witness.value,
        "retryable": is_retryable(first, policy) and first.confidence >= sure,
        "retry_after_s": first.retry_after,
        "rule": first.rule,
        "ladder": list(first.ladder),
    }


_UNUSABLE: Final = "unusable"
"""What a line came to that cannot be read as an error."""
KEYS: Final = frozenset({"id", "message", "status", "exception", "tool", "schema", "arguments"})
"""The keys of a line that are read."""
JOB: Final = Job(answered, outcome_of, frozenset({_UNUSABLE}), KEYS)
