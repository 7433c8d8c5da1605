"""Commands about maps: explain, check, maps, strategies."""

import argparse
import inspect
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from selfcorrect.cli.lint import lint
from selfcorrect.cli.screen import say, say_lines
from selfcorrect.diagnosis.facts import recorded_finding
from selfcorrect.drawing.text import align
from selfcorrect.errors import MapError
from selfcorrect.model import RETRYABLE, Finding, name_place
from selfcorrect.nodes.diagnose import diagnose_faults
from selfcorrect.strategy_map.load import shipped_maps
from selfcorrect.strategy_map.registry import BUILT_IN, built_in
from selfcorrect.strategy_map.strategy_map import StrategyMap, load_default
from selfcorrect.values.primitives import PRIMITIVES


def explain_error(options: argparse.Namespace) -> int:
    """Show what a map makes of an error."""
    finding = recorded_finding(options.text, options.exception, options.status, options.code)
    say_lines(explain(StrategyMap.load(options.map), finding, options.tool))
    return 0


def explain(loaded: StrategyMap, finding: Finding, tool: str | None = None) -> str:
    """Return what decides, what would be tried, and which other rules match."""
    findings = diagnose_faults(loaded, finding, tool)
    first = findings[0]
    kind, wait, captures = first["kind"], first["retry_after"], first["captures"]
    rules = [rule.key for rule in loaded.matches(finding, tool)]
    again = "; the same call may succeed later" if kind in RETRYABLE else ""
    paths = dict.fromkeys(path for part in findings for path in part["paths"])
    lines = {
        "rule": first["rule"] or "no rule matches",
        "kind": f"{kind}{again}{'' if wait is None else f', in {wait:g} s'}",
        "category": first["category"],
        "seen by": f"{first['witness']}, {first['confidence']:.0%} sure",
        "arguments": ", ".join(map(name_place, paths)),
        "captures": ", ".join(f"{name} = {text!r}" for name, text in captures.items()),
        "ladder": " -> ".join(first["ladder"]) or "nothing is tried",
        "also": ", ".join(key for key in rules if key != first["rule"]),
    }
    return "\n".join(f"{label:<10} {text or '-'}" for label, text in lines.items())


def check(options: argparse.Namespace) -> int:
    """Name every mistake in maps, one a line."""
    problems = [problem for name in options.maps for problem in _problems(name)]
    for problem in problems or ["ok"]:
        say(problem)
    return 1 if problems else 0


def list_maps(_options: argparse.Namespace) -> int:
    """List maps by name, each with the comment at its top."""
    rows = [(name, _comment(path)) for name, path in sorted(shipped_maps().items())]
    rows += [(point.name, point.value) for point in entry_points(group="selfcorrect.maps")]
    say_lines(align(rows))
    return 0


def list_strategies(_options: argparse.Namespace) -> int:
    """List the built-in strategies: name, what each needs, what it does."""
    say_lines(align((name, needs, _summary(name)) for name, needs in sorted(BUILT_IN.items())))
    return 0


@cache
def chosen_map(name: str | None) -> StrategyMap:
    """Return the map that `--strategies` names, or the default."""
    return StrategyMap.load(name) if name else load_default()


def _comment(path: Path) -> str:
    lines = path.read_text("utf-8").splitlines()
    return next((line.lstrip("# ").strip() for line in lines if line.startswith("#")), "")


def _summary(name: str) -> str:
    if name in PRIMITIVES:
        return PRIMITIVES[name].summary
    return (inspect.getdoc(built_in(name)) or "").partition("\n")[0]


def _problems(name: str) -> list[str]:
    try:
        return [f"{name}: {problem}" for problem in lint(StrategyMap.load(name))]
    except MapError as error:
        return list(error.problems)
