"""Reads maps from TOML, with all that they extend; every problem of every file is collected."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from selfcorrect.errors import MapError, near_name, unknown_name
from selfcorrect.limits import Limits
from selfcorrect.model import JsonDict, frozen
from selfcorrect.strategy_map.document import (
    ErrorRule,
    MapDocument,
    MapPolicy,
    ReadingPolicy,
    ToolEffect,
)

FOLDER = Path(__file__).parent
_INSIDE = FOLDER.parent / "_starter"
STARTER = _INSIDE if _INSIDE.is_dir() else FOLDER.parent.parent
"""The folder of `graphs` and `strategies`: in a wheel, or beside the package in a checkout."""
_INSTALLED = "selfcorrect.maps"
"""The entry points by which packages offer maps: each loads the path of one."""


@frozen
class Layer:
    """One map as it was written.

    Attributes:
        name: What stands before the slash in `map/id`.
        label: What messages call it.
        path: Its file; relative paths start from the folder of it.
        document: What it says.
    """

    name: str
    label: str
    path: Path
    document: MapDocument


@contextmanager
def collect(problems: list[str], *where: str) -> Iterator[None]:
    """Add an error of the block to the problems, with the file, rule and key where it is."""
    try:
        yield
    except (ValueError, OSError) as error:
        problems.append(": ".join([*where, str(error)]))


def read_layers(source: str | Path, problems: list[str]) -> list[Layer]:
    """Return the map of a name or path and all that it extends, nearest first."""
    with collect(problems):
        return _stack(_read(_path_of(source, Path()), problems), problems)
    raise MapError(problems)


def parse_layers(name: str, data: JsonDict, problems: list[str]) -> list[Layer]:
    """Return a map that was made in Python and all that it extends, nearest first."""
    label = f"map {name!r}"
    tables = {key: item for key, item in data.items() if item is not None}
    document = _parse({"format": 1, **tables}, label, problems)
    return _stack(Layer(name, label, Path(f"{name} in Python").absolute(), document), problems)


def _stack(top: Layer, problems: list[str]) -> list[Layer]:
    """Sort a map and those below it so that each stands before all that it extends."""
    done: dict[Path, Layer] = {}

    def visit(layer: Layer, above: tuple[Path, ...]) -> None:
        above = (*above, layer.path)
        for name in reversed(layer.document.extends):
            with collect(problems, layer.label, "extends"):
                path = _path_of(name, layer.path.parent)
                if path in above:
                    raise ValueError(f"{name!r} extends this map: a circle; remove one of them")
                if path not in done:
                    visit(_read(path, problems), above)
        done[layer.path] = layer

    visit(top, ())
    return list(done.values())[::-1]


def _path_of(source: str | Path, folder: Path) -> Path:
    """Return the file of a map; a bare name never means a file of the working directory.

    Raises:
        ValueError: If there is no such map.
    """
    text = str(source)
    if isinstance(source, Path) or "/" in text or text.endswith(".toml"):
        path = (folder / source).resolve()
        if path.is_file():
            return path
        near = near_name(path.name, [file.name for file in path.parent.glob("*.toml")])
        raise ValueError(f"there is no file {text!r}{near}")
    if text in shipped_maps():
        return shipped_maps()[text]
    installed = entry_points(group=_INSTALLED)
    for point in installed.select(name=text):
        return Path(point.load()).resolve()
    unknown = unknown_name("map", text, [*shipped_maps(), *installed.names])
    raise ValueError(f"{unknown}; write './{text}.toml' for a file")


@cache
def shipped_maps() -> dict[str, Path]:
    """Return the maps that the library brings along, by name."""
    folders = (STARTER / "strategies", FOLDER)
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def _read(path: Path, problems: list[str]) -> Layer:
    data: JsonDict = {"format": 1}
    with collect(problems, path.name, "cannot be read"):
        data = tomllib.loads(path.read_text("utf-8"))
    document = _parse(data, path.name, problems, is_shipped=path.parent == FOLDER)
    return Layer(path.stem, path.name, path, document)


def _parse(
    data: JsonDict, label: str, problems: list[str], *, is_shipped: bool = False
) -> MapDocument:
    """Return what is usable of a map, and add a sentence for each part that is not."""
    if not isinstance(data.get("rule", []), list):
        problems.append(f"{label}: rule: must be a list; write [[rule]] above each rule")
        data = {**data, "rule": []}
    try:
        return MapDocument.model_validate(data, context={"is_shipped": is_shipped})
    except ValidationError as error:
        problems += _sentences(error, data, label)
        return _parse(_without_faults(data, error), label, [])


def _without_faults(data: JsonDict, error: ValidationError) -> JsonDict:
    """Leave out the keys and rules at fault, so that the rest can be checked too."""
    kept = {key: item for key, item in data.items() if key in MapDocument.model_fields}
    rules: dict[Any, Any] = dict(enumerate(kept.pop("rule", ())))
    for fault in error.errors():
        top, *inner = fault["loc"]
        if top != "rule":
            kept.pop(str(top), None)
        elif len(inner) < 2 or inner[1] == "id":
            rules.pop(inner[0], None)
        elif inner[0] in rules:
            rest = {key: item for key, item in rules[inner[0]].items() if key != inner[1]}
            # What is left of it has a condition, or that would be its next fault.
            rules[inner[0]] = {"tool": "*", **rest}
    return {**kept, "rule": list(rules.values()), "format": 1}


_KEYS: dict[Any, type[BaseModel]] = {
    "rule": ErrorRule,
    "policy": MapPolicy,
    "reading": ReadingPolicy,
    "effects": ToolEffect,
    "limits": Limits,
}


def _sentences(error: ValidationError, data: JsonDict, label: str) -> Iterator[str]:
    """Yield file, rule, key, problem and near name for each thing that pydantic found."""
    seen = set()
    for fault in error.errors(include_url=False):
        place = fault["loc"]
        where = [str(part) for part in place if part != "[key]"]
        if place[0] == "rule" and len(place) > 1:
            rule = data["rule"][place[1]]
            own = rule.get("id") if isinstance(rule, dict) else getattr(rule, "id", None)
            where = [f"rule {place[1] if own is None else own!r}", *where[2:3]]
        # A union names one fault for each of its members, in the same place.
        sentence = ": ".join([label, *where, reason_of(fault, place)])
        if tuple(where) not in seen:
            yield sentence
        seen.add(tuple(where))


def reason_of(fault: Any, place: Sequence[Any]) -> str:
    """Say what is wrong, with the near name for one that does not exist."""
    value = fault["input"]
    if fault["type"] == "extra_forbidden":
        model = _KEYS.get(place[0], MapDocument) if len(place) > 1 else MapDocument
        return unknown_name("key", place[-1], model.model_fields)
    if fault["type"] in ("enum", "literal_error"):
        names = re.findall(r"'([^']*)'", fault["ctx"]["expected"])
        if not names:
            return f"must be {fault['ctx']['expected']}, not {value!r:.80}"
        return unknown_name("value", value, names)
    if fault["type"] == "missing":
        return "is missing" if place != ("format",) else "is missing; write format = 1"
    if fault["type"] == "value_error":
        return str(fault["ctx"]["error"])
    return f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, not {value!r:.80}"
