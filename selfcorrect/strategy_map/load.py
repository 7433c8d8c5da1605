"""Reads maps from TOML, with all that they extend; of the first bad file, all problems."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
        problems: A sentence for each part that cannot be used, and is left out.
    """

    name: str
    label: str
    path: Path
    document: MapDocument
    problems: tuple[str, ...] = ()


@contextmanager
def raise_at(*where: str) -> Iterator[None]:
    """Raise an error of the block as a problem of the map, with file, rule and key.

    Raises:
        MapError: In place of the error.
    """
    try:
        yield
    except (ValueError, OSError) as error:
        raise MapError(": ".join([*where, str(error)])) from error


def read_layers(source: str | Path) -> list[Layer]:
    """Return the map of a name or path and all that it extends, nearest first."""
    with raise_at():
        path = _path_of(source, Path())
    return _stack(_read(path))


def parse_layers(name: str, data: JsonDict) -> list[Layer]:
    """Return a map that was made in Python and all that it extends, nearest first."""
    tables = {key: item for key, item in data.items() if item is not None}
    path = Path(f"{name} in Python").absolute()
    return _stack(_parse({"format": 1, **tables}, name, f"map {name!r}", path))


def _stack(top: Layer) -> list[Layer]:
    """Sort a map and those below it so that each stands before all that it extends."""
    done: dict[Path, Layer] = {}

    def visit(layer: Layer, above: tuple[Path, ...]) -> None:
        above = (*above, layer.path)
        for name in reversed(layer.document.extends):
            with raise_at(layer.label, "extends"):
                path = _path_of(name, layer.path.parent)
                if path in above:
                    raise ValueError(f"{name!r} extends this map: a circle; remove one of them")
                if path not in done:
                    visit(_read(path), above)
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


def _read(path: Path) -> Layer:
    with raise_at(path.name, "cannot be read"):
        data = tomllib.loads(path.read_text("utf-8"))
    return _parse(data, path.stem, path.name, path)


def _parse(data: JsonDict, name: str, label: str, path: Path) -> Layer:
    """Return what is usable of a map, and what is wrong with the rest."""
    context = {"is_shipped": path.parent == FOLDER}
    try:
        return Layer(name, label, path, MapDocument.model_validate(data, context=context))
    except ValidationError as error:
        rest = _parse(_without_faults(data, error), name, label, path)
        return replace(rest, problems=tuple(_sentences(error, data, label)))


def _without_faults(data: JsonDict, error: ValidationError) -> JsonDict:
    """Leave out the keys and rules at fault, so that the rest can be checked too."""
    kept = {key: item for key, item in data.items() if key in MapDocument.model_fields}
    written = kept.pop("rule", None)
    rules: dict[Any, Any] = dict(enumerate(written if isinstance(written, list) else ()))
    for fault in error.errors():
        top, *inner = fault["loc"]
        if top != "rule":
            kept.pop(str(top), None)
        elif len(inner) < 2 or inner[1] == "id":
            rules.pop((*inner, None)[0], None)
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
    if names := re.findall(r"'([^']*)'", fault.get("ctx", {}).get("expected", "")):
        return unknown_name("value", value, names)
    if fault["type"] == "missing":
        return "is missing"
    if fault["type"] == "value_error":
        return str(fault["ctx"]["error"])
    return f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, not {value!r:.80}"
