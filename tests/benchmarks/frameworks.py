"""What other frameworks do with the same twelve broken calls: alone, and with `Mender` in them.

    KEEP=/some/folder bash .ci/frameworks    # makes an environment for each framework
    python tests/benchmarks/frameworks.py /some/folder

The model is scripted: it writes the broken call, and answers whatever is no success with the call
as it should have been. Each framework runs in its own environment, all of them in one go.
"""

from __future__ import annotations

import importlib
import json
import logging
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NAMES = (
    *("pydantic-ai", "openai-agents", "google-adk", "agent-framework", "smolagents", "litellm"),
)
COLUMNS = {
    "mended": "done without a further turn",
    "further": "further turns of the model",
    "wrong": "executions with wrong values",
    "broke": "runs that broke off",
    "undone": "runs that ended with nothing done",
}
_MARK = "TABLE "


def row(run: Any, cases: Any, *, with_us: bool) -> dict[str, int]:
    """The sums over all cases."""
    worlds = [run(case, with_us=with_us) for case in cases.values()]
    return {
        "mended": sum(world.is_mended for world in worlds),
        "further": sum(world.further for world in worlds),
        "wrong": sum(world.wrong for world in worlds),
        "broke": sum(bool(world.error) for world in worlds),
        "undone": sum(not world.error and not world.ran for world in worlds),
    }


def one(name: str) -> None:
    """One framework, in its own environment."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "integrations")]
    kit = importlib.import_module("frameworks_kit")
    run = importlib.import_module(f"test_{name.replace('-', '_')}").run
    rows = {how: row(run, kit.CASES, with_us=how == "with us") for how in ("alone", "with us")}
    print(_MARK + json.dumps(rows))


def main(folder: Path) -> None:
    """All of them, as one table."""
    print("| framework | | " + " | ".join(COLUMNS.values()) + " |")
    print("|---|---|" + "---|" * len(COLUMNS))
    for name in NAMES:
        done = subprocess.run(
            [folder / name / "bin" / "python", __file__, "--one", name],
            capture_output=True,
            text=True,
            check=True,
        )
        told = next(line for line in done.stdout.splitlines() if line.startswith(_MARK))
        for how, sums in json.loads(told.removeprefix(_MARK)).items():
            shown = " | ".join(str(sums[column]) for column in COLUMNS)
            print(f"| {name if how == 'alone' else ''} | {how} | {shown} |")


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(sys.argv[2])
    else:
        main(Path(sys.argv[1]))
