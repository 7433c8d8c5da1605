"""The starter: graphs and strategies that come with the library, and graphs given by path."""

import argparse
import json
import shutil
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from selfcorrect.cli.screen import InputError, say, say_lines
from selfcorrect.drawing import svg
from selfcorrect.drawing.picture import picture_of
from selfcorrect.drawing.text import ascii_graph
from selfcorrect.errors import unknown_name
from selfcorrect.strategy_map.load import STARTER


def load_graph_file(name: str | None) -> ModuleType:
    """Import the file of a graph, given by path or by its name in the starter.

    Raises:
        InputError: If there is no such file, or it cannot be imported.
    """
    graphs = {path.stem: path for path in (STARTER / "graphs").glob("*.py")}
    name = name or "flight_booking"
    path = graphs.get(name) or Path(name).resolve()
    spec = spec_from_file_location(f"selfcorrect_graph_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(f"{unknown_name('graph', name, graphs)}, or give the path of a .py file")
    module = module_from_spec(spec)
    # Pydantic and dataclasses look a class's module up; a graph imports what lies beside it.
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def make_graph(module: ModuleType, **options: Any) -> Any:
    """Return the graph of a file: what `make_graph` makes, or the ready `graph`.

    Raises:
        InputError: If the file has neither, or no `make_graph` to take the options.
    """
    if hasattr(module, "make_graph"):
        return module.make_graph(**options)
    if options or not hasattr(module, "graph"):
        raise InputError(f"{module.__file__}: must define make_graph, which takes {[*options]}")
    return module.graph


def draw_graph(options: argparse.Namespace) -> int:
    """Draw a graph as Mermaid text, as SVG, or as a table of nodes, outcomes and targets."""
    graph = make_graph(load_graph_file(options.graph))
    if options.format == "mermaid":
        drawn = graph.get_graph().draw_mermaid()
    else:
        picture = picture_of(graph)
        drawn = svg.draw(picture) if options.format == "svg" else ascii_graph(picture)
    say_lines(drawn)
    return 0


def init(options: argparse.Namespace) -> int:
    """Copy the starter into a folder; refuse to overwrite."""
    folder = Path(options.folder)
    parts = ("graphs", "strategies", "langgraph.json")
    for part in parts:
        if (folder / part).exists():
            raise InputError(f"{folder / part} exists; choose another folder or remove it")
    for part in parts[:2]:
        unwanted = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(STARTER / part, folder / part, ignore=unwanted)
    config = json.loads((STARTER / parts[2]).read_text("utf-8")) | {"dependencies": ["selfcorrect"]}
    (folder / parts[2]).write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    say(f"Created {', '.join(parts)} in {folder}.")
    say(f"Next: selfcorrect run {folder / 'graphs' / 'flight_booking.py'}")
    return 0
