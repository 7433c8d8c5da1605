"""Says in words what a map makes of an error."""

from selfcorrect.model import RETRYABLE, Finding, name_place
from selfcorrect.nodes.diagnose import diagnose_faults
from selfcorrect.strategy_map.strategy_map import StrategyMap


def explain(loaded: StrategyMap, finding: Finding, tool: str | None = None) -> str:
    """Return what decides, what would be tried, and which other rules match."""
    parts = diagnose_faults(loaded, finding, tool)
    found = parts[0]
    kind, wait, captures = found["kind"], found["retry_after"], found["captures"]
    matched = [each.key for each in loaded.matches(finding, tool)]
    again = "; the same call may succeed later" if kind in RETRYABLE else ""
    paths = dict.fromkeys(path for each in parts for path in each["paths"])
    lines = {
        "rule": found["rule"] or "no rule matches",
        "kind": f"{kind}{again}{'' if wait is None else f', in {wait:g} s'}",
        "category": found["category"],
        "seen by": f"{found['witness']}, {found['confidence']:.0%} sure",
        "arguments": ", ".join(map(name_place, paths)),
        "captures": ", ".join(f"{name} = {text!r}" for name, text in captures.items()),
        "ladder": " -> ".join(found["ladder"]) or "nothing is tried",
        "also": ", ".join(key for key in matched if key != found["rule"]),
    }
    return "\n".join(f"{label:<10} {text or '-'}" for label, text in lines.items())
