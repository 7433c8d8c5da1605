"""Commands about maps: check, maps, strategies."""

import argparse
from functools import cache
from importlib.metadata import entry_points

from selfcorrect.cli.lint import lint
from selfcorrect.cli.screen import say, say_lines
from selfcorrect.drawing.text import align
from selfcorrect.errors import MapError
from selfcorrect.strategy_map.load import shipped_maps
from selfcorrect.strategy_map.registry import BUILT_IN
from selfcorrect.strategy_map.strategy_map import StrategyMap, load_default


def check(options: argparse.Namespace) -> int:
    """Name every mistake in maps, one a line."""
    problems = [problem for name in options.maps for problem in _problems(name)]
    for problem in problems or ["ok"]:
        say(problem)
    return 1 if problems else 0


def list_maps(_options: argparse.Namespace) -> int:
    """List maps by name, each with the place where it stands."""
    rows = [(name, str(path)) for name, path in sorted(shipped_maps().items())]
    rows += [(point.name, point.value) for point in entry_points(group="selfcorrect.maps")]
    say_lines(align(rows))
    return 0


def list_strategies(_options: argparse.Namespace) -> int:
    """List the built-in strategies, each with what it needs."""
    say_lines(align(sorted(BUILT_IN.items())))
    return 0


@cache
def chosen_map(name: str | None) -> StrategyMap:
    """Return the map that `--strategies` names, or the default."""
    return StrategyMap.load(name) if name else load_default()


def _problems(name: str) -> list[str]:
    try:
        return [f"{name}: {problem}" for problem in lint(StrategyMap.load(name))]
    except MapError as error:
        return list(error.problems)
