"""`selfcorrect init`: a deployment of one's own to start from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from selfcorrect.cli.screen import refuse
from selfcorrect.kernel.texts import visible
from selfcorrect.mapping.loading import starter_dir

PROJECT: Final = Path(__file__).parent / "project"
FOLDERS: Final = ("graphs", "strategies")
LEFT_OUT: Final = frozenset({"__pycache__", ".langgraph_api"})


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; made if it is missing.")],
    examples: Annotated[
        bool, typer.Option("--examples", help="All graphs and maps that selfcorrect brings along.")
    ] = False,
) -> None:
    """Lay out a graph, a map, langgraph.json and a test to start from, and overwrite nothing."""
    files = dict(_everything() if examples else _small())
    there = sorted(str(path) for path in files if (folder / path).exists())
    if there:
        refuse(f"{folder} already has {', '.join(there)}; nothing was written")
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as stream:
            stream.write(content)
    laid_out = f"{len(files)} files in {visible(str(folder))}"
    graph = "" if examples else " mine"
    test = "pip install -r requirements.txt && pytest for its test"
    typer.echo(f"{laid_out}. Next, from there: selfcorrect run{graph}, and {test}")


def _small() -> Iterator[tuple[Path, bytes]]:
    """The files of a small project; Python that is not ours to run has the ending of a text."""
    for path in sorted(PROJECT.rglob("*.*")):
        if path.is_file():
            name = path.name.replace(".py.txt", ".py")
            yield path.relative_to(PROJECT).with_name(name), path.read_bytes()


def _everything() -> Iterator[tuple[Path, bytes]]:
    """Every file of the starter, and the test, with its path below the folder."""
    small = dict(_small())
    starter = starter_dir()
    yield Path("langgraph.json"), (starter / "langgraph.json").read_bytes()
    for name in FOLDERS:
        for path in sorted((starter / name).rglob("*")):
            if path.is_file() and not LEFT_OUT & set(path.relative_to(starter).parts):
                yield path.relative_to(starter), path.read_bytes()
    for path in map(Path, ("requirements.txt", "tests/test_graphs.py")):
        yield path, small[path]
