"""Where a graph comes from: a file, or a name in `langgraph.json`."""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn

from selfcorrect.cli.screen import refuse
from selfcorrect.mapping.loading import starter_dir
from selfcorrect.model import JSON

DEFAULT: Final = "flight_booking"
CONFIG: Final = "langgraph.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """One input of a graph, or what is wrong with the line that should have held it.

    Attributes:
        expect: What should come of it, where a graph file brings it along.
    """

    title: str
    input: JSON = None
    error: str | None = None
    expect: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A graph file that was loaded, and the name of its graph in it."""

    path: Path
    module: ModuleType
    name: str

    def graph(self, strategies: str | None = None) -> Any:
        """The file's graph; with other strategies, what its `make_graph` builds with them."""
        if strategies is not None:
            return self._made(strategies)
        found = getattr(self.module, self.name, None)
        if found is None:
            graphs = sorted(name for name, value in vars(self.module).items() if _is_graph(value))
            also = f"; it has {', '.join(graphs)}" if graphs else ""
            refuse(f"{self.path}: there is no {self.name!r} in it{also}")
        return _graph(found, f"{self.path}: {self.name!r}")

    def examples(self) -> list[Entry]:
        """The file's own examples, from its function `examples()`."""
        function: Any = getattr(self.module, "examples", None)
        if not callable(function):
            refuse(f"{self.path} brings no examples: give --call or --jsonl")
        try:
            items: Any = function()
            return [
                Entry(each["title"], each["input"], expect=each.get("expect")) for each in items
            ]
        except Exception as error:
            _cannot_load(self.path, error)

    def _made(self, strategies: str) -> Any:
        make = getattr(self.module, "make_graph", None)
        if not callable(make):
            refuse(
                f"{self.path}: --strategies needs a function make_graph(strategies=…) beside"
                f" {self.name!r}, so that the graph can be built anew"
            )
        try:
            return _graph(make(strategies=strategies), f"{self.path}: make_graph()")
        except TypeError as error:
            refuse(str(error))


def find(spec: str | None) -> Source:  # noqa: RET503 -- refuse() does not return
    """The graph that a command names: `path/file.py[:object]`, or a name in langgraph.json.

    A name is looked up in the working directory's langgraph.json first, then in the one that
    selfcorrect brings along.
    """
    spec = spec or DEFAULT
    path, separator, name = spec.rpartition(".py:")
    if separator:
        return _load(Path(path + ".py"), name, Path(path).parent)
    if spec.endswith(".py"):
        return _load(Path(spec), "graph", Path(spec).parent)
    known: list[str] = []
    for folder in (Path.cwd(), starter_dir()):
        graphs = _named(folder / CONFIG)
        known += [name for name in graphs if name not in known]
        if spec in graphs:
            file, _, name = graphs[spec].rpartition(":")
            if not file.endswith(".py"):
                refuse(f"{folder / CONFIG}: {spec!r} must be a path like ./graphs/x.py:graph")
            return _load(folder / file, name, folder)
    refuse(f"there is no graph named {spec!r}; known: {', '.join(known)}; or give path/file.py")


def _named(config: Path) -> dict[str, str]:
    if not config.is_file():
        return {}
    try:
        graphs = json.loads(config.read_text(encoding="utf-8")).get("graphs", {})
        return {
            name: value if isinstance(value, str) else value["path"]
            for name, value in graphs.items()
        }
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        refuse(f"{config}: not a usable {CONFIG}: {error}")


def _load(path: Path, name: str, folder: Path) -> Source:
    path = path.resolve()
    if not path.is_file():
        refuse(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(f"selfcorrect_graph_{path.stem}", path)
    if spec is None or spec.loader is None:
        refuse(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.append(str(folder.resolve()))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        _cannot_load(path, error)
    return Source(path, module, name)


def _cannot_load(path: Path, error: BaseException) -> NoReturn:
    """Refuse a file that fails, naming its own line and not the machinery around it."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    where = f"{path}:{lines[-1]}" if lines else str(path)
    refuse(f"{where}: {type(error).__name__}: {error}")


def _is_graph(value: object) -> bool:
    return callable(getattr(value, "ainvoke", None)) and callable(getattr(value, "get_graph", None))


def _graph(value: Any, what: str) -> Any:
    if not _is_graph(value):
        refuse(f"{what} is not a compiled graph")
    return value
