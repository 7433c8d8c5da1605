"""The files of a small project of one's own, as `selfcorrect init` lays them out."""

from __future__ import annotations

from typing import Final

GRAPH: Final = '''\
"""A graph of your own: put your tools in the place of `order`."""

from pathlib import Path
from typing import Any

from selfcorrect import ToolSpec, build_graph

STRATEGIES = Path(__file__).parents[1] / "strategies" / "mine.toml"


def order(item: str, count: int = 1) -> str:
    """Order something."""
    return f"{count} x {item}"


def make_graph(strategies: Any = STRATEGIES, **wiring: Any) -> Any:
    """The graph; with another map where the command line names one."""
    tools = [ToolSpec.from_function(order, effect="mutating")]
    return build_graph(tools, strategies=strategies, **wiring)


graph = make_graph()


def examples() -> list[dict[str, Any]]:
    """Calls that `selfcorrect run` plays, and what is to become of each."""
    broken = {"name": "order", "args": {"item": "tea", "count": "2"}}
    return [{"title": "a number as text", "input": {"call": broken}, "expect": "mended"}]
'''

STRATEGIES: Final = """\
# What is tried for which error; `selfcorrect check strategies/mine.toml` finds faults in it.
format = 1
extends = ["default"]

# What calling a tool does; a tool that nobody declares is taken for one that changes things.
[effects]
"get_*" = "read_only"

# A rule of your own comes before those of the maps that it extends.
[[rule]]
id = "sold-out"
match = "sold out"
kind = "conflict"
repair = ["ask-human"]
example = "sold out until Monday"
"""

CONFIG: Final = """\
{
  "dependencies": ["."],
  "graphs": { "mine": "./graphs/mine.py:graph" }
}
"""

REQUIREMENTS: Final = """\
selfcorrect[cli]
pytest
"""

TEST: Final = '''\
"""Every graph of langgraph.json loads, and the examples that it brings along can be played."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GRAPHS = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]


@pytest.mark.parametrize("name", GRAPHS)
def test_the_examples_are_played(name):
    command = [sys.executable, "-m", "selfcorrect", "run", name, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr  # 1: one ends otherwise than it says
    outputs = [json.loads(line) for line in done.stdout.splitlines()]
    assert outputs
    assert all("result" in each or "failure" in each for each in outputs)
'''

PROJECT: Final = {
    "graphs/mine.py": GRAPH,
    "langgraph.json": CONFIG,
    "requirements.txt": REQUIREMENTS,
    "strategies/mine.toml": STRATEGIES,
    "tests/test_graphs.py": TEST,
}
