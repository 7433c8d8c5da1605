"""Says in words what a map makes of an error."""

from selfcorrect.model import RETRYABLE, Finding, name_place
from selfcorrect.strategy_map.strategy_map import StrategyMap


def explain(loaded: StrategyMap, finding: Finding, tool: str | None = None) -> str:
    """Return what decides, what would be tried, and which other rules match."""
    found = loaded.diagnose(finding, tool)
    if found["rule"] is None:
        return "No rule matches: the kind is internal, and nothing is tried."
    kind, wait, captures = found["kind"], found["retry_after"], found["captures"]
    others = [each.key for each in loaded.matches(finding, tool)[1:]]
    again = "; the same call may succeed later" if kind in RETRYABLE else ""
    lines = {
        "rule": found["rule"],
        "kind": f"{kind}{again}{'' if wait is None else f', in {wait:g} s'}",
        "category": found["category"],
        "arguments": ", ".join(map(name_place, found["paths"])),
        "captures": ", ".join(f"{name} = {text!r}" for name, text in captures.items()),
        "ladder": " -> ".join(found["ladder"]) or "nothing is tried",
        "also": ", ".join(others),
    }
    return "\n".join(f"{label:<10} {text or '-'}" for label, text in lines.items())
