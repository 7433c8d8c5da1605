"""`selfcorrect init`: a deployment of one's own to start from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from selfcorrect.cli.screen import refuse
from selfcorrect.drawing.visible import visible
from selfcorrect.mapping.loading import starter_dir

FOLDERS: Final = ("graphs", "strategies")
LEFT_OUT: Final = frozenset({"__pycache__", ".langgraph_api"})
TEST: Final = Path("tests") / "test_graphs.py"
TEST_TEXT: Final = '''\
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
    assert done.returncode in (0, 1), done.stderr  # 1: some end in a report
    outputs = [json.loads(line) for line in done.stdout.splitlines()]
    assert outputs
    assert all("result" in each or "failure" in each for each in outputs)
'''


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; made if it is missing.")],
) -> None:
    """Lay out graphs/, strategies/, langgraph.json and a test, and overwrite nothing."""
    files = dict(_files())
    there = sorted(str(path) for path in files if (folder / path).exists())
    if there:
        refuse(f"{folder} already has {', '.join(there)}; nothing was written")
    try:
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as stream:
                stream.write(content)
    except OSError as error:
        refuse(f"{error.filename or folder}: {error.strerror or error}")
    typer.echo(f"{len(files)} files in {visible(str(folder))}. Next, from there: selfcorrect run")


def _files() -> Iterator[tuple[Path, bytes]]:
    """Every file of the starter, and the test, with its path below the folder."""
    starter = starter_dir()
    yield Path("langgraph.json"), (starter / "langgraph.json").read_bytes()
    for name in FOLDERS:
        for path in sorted((starter / name).rglob("*")):
            if path.is_file() and not LEFT_OUT & set(path.relative_to(starter).parts):
                yield path.relative_to(starter), path.read_bytes()
    yield TEST, TEST_TEXT.encode()
