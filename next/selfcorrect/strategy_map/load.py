"""Reads maps from TOML, with all that they extend; every problem of every file is collected."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from selfcorrect.errors import MapError, near_name, unknown_name
from selfcorrect.limits import Limits
from selfcorrect.model import JsonDict
from selfcorrect.strategy_map.document import (
    ErrorRule,
    MapDocument,
    MapPolicy,
    Reading,
    ToolEffect,
)

FOLDER: Final = Path(__file__).parent
_STARTER: Final = FOLDER.parent / "_starter" / "strategies"
_INSTALLED: Final = "selfcorrect.maps"
"""The entry points by which packages offer maps: each loads the path of one."""


@dataclass(frozen=True, slots=True)
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


def read_layers(source: str | Path, problems: list[str]) -> list[Layer]:
    """Return the map of a name or path and all that it extends, nearest first."""
    path = _path_of(source, Path(), "", problems)
    return [] if path is None else _stack(_read(path, problems), problems)


def parse_layers(name: str, data: JsonDict, problems: list[str]) -> list[Layer]:
    """Return a map that was made in Python and all that it extends, nearest first."""
    path = Path(f"{name}.toml").absolute()
    document = _parse({"format": 1, **data}, f"map {name!r}", problems)
    return _stack(Layer(name, f"map {name!r}", path, document), problems)


def _stack(top: Layer, problems: list[str]) -> list[Layer]:
    """Sort a map and those below it so that each stands before all that it extends."""
    done: dict[Path, Layer] = {}

    def visit(layer: Layer, above: tuple[Layer, ...]) -> None:
        above = (*above, layer)
        for name in reversed(layer.document.extends):
            path = _path_of(name, layer.path.parent, f"{layer.label}: extends: ", problems)
            names = [each.name for each in above if each.path == path]
            if names:
                circle = " -> ".join([*(each.name for each in above), *names])
                problems.append(f"{layer.label}: extends: a circle: {circle}; remove one of them")
            elif path is not None and path not in done:
                visit(_read(path, problems), above)
        done[layer.path] = layer

    visit(top, ())
    return list(done.values())[::-1]


def _path_of(source: str | Path, folder: Path, where: str, problems: list[str]) -> Path | None:
    """Return the file of a map; a bare name never means a file of the working directory."""
    text = str(source)
    if isinstance(source, Path) or "/" in text or text.endswith(".toml"):
        path = (folder / source).absolute().resolve()
        if not path.is_file():
            near = near_name(path.name, [each.name for each in path.parent.glob("*.toml")])
            problems.append(f"{where}there is no file {text!r}{near}")
            return None
        return path
    if text in shipped_maps():
        return shipped_maps()[text]
    installed = entry_points(group=_INSTALLED)
    for point in installed.select(name=text):
        return Path(point.load()).resolve()
    unknown = unknown_name("map", text, [*shipped_maps(), *installed.names])
    problems.append(f"{where}{unknown}; write './{text}.toml' for a file")
    return None


@lru_cache(maxsize=1)
def shipped_maps() -> dict[str, Path]:
    """Return the maps that the library brings along, by name."""
    folders = (_STARTER, FOLDER)
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def _read(path: Path, problems: list[str]) -> Layer:
    return _read_shipped(path) if path.parent == FOLDER else _read_file(path, problems)


@lru_cache(maxsize=16)
def _read_shipped(path: Path) -> Layer:
    problems: list[str] = []
    layer = _read_file(path, problems)
    if problems:
        raise MapError(problems)
    return layer


def _read_file(path: Path, problems: list[str]) -> Layer:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        problems.append(f"{path.name}: cannot be read: {reason}")
        data = {"format": 1}
    document = _parse(data, path.name, problems, is_shipped=path.parent == FOLDER)
    return Layer(path.stem, path.name, path, document)


def _parse(
    data: JsonDict, label: str, problems: list[str], *, is_shipped: bool = False
) -> MapDocument:
    """Return what is usable of a map, and add a sentence for each part that is not."""
    if not isinstance(data.get("rule", []), list):
        problems.append(f"{label}: rule: must be a list; write [[rule]] above each rule")
        data = {**data, "rule": []}
    limits = data.get("limits", {})
    if isinstance(limits, dict):
        try:
            Limits.model_validate(limits)
        except ValidationError as error:
            problems += _sentences(error, data, label, ("limits",))
        if "ceiling" in limits:
            problems.append(f"{label}: limits: ceiling: only code sets it; set attempts here")
    try:
        return MapDocument.model_validate(data, context={"shipped": is_shipped})
    except ValidationError as error:
        problems += _sentences(error, data, label)
        return _parse(_without_faults(data, error), label, [], is_shipped=is_shipped)


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
            rule = rules[inner[0]]
            rules[inner[0]] = {key: item for key, item in rule.items() if key != inner[1]}
    return {**kept, "rule": list(rules.values()), "format": 1}


_KEYS: Final[dict[Any, type[BaseModel]]] = {
    "rule": ErrorRule,
    "policy": MapPolicy,
    "reading": Reading,
    "effects": ToolEffect,
    "limits": Limits,
}


def _sentences(
    error: ValidationError, data: JsonDict, label: str, above: Sequence[str] = ()
) -> Iterator[str]:
    """Yield file, rule, key, problem and near name for each thing that pydantic found."""
    seen = set()
    for fault in error.errors(include_url=False):
        place = [*above, *fault["loc"]]
        where = [str(each) for each in place if each != "[key]"]
        if place[0] == "rule" and len(place) > 1:
            rule = data["rule"][place[1]]
            name = rule.get("id", place[1]) if isinstance(rule, dict) else place[1]
            where = [f"rule {name!r}", *where[2:3]]
        # A union names one fault for each of its members, in the same place.
        sentence = ": ".join([label, *where, _reason(fault, place)])
        if tuple(where) not in seen:
            yield sentence
        seen.add(tuple(where))


def _reason(fault: Any, place: Sequence[Any]) -> str:
    """Say what is wrong, with the near name for one that does not exist."""
    value = fault["input"]
    if fault["type"] == "extra_forbidden":
        model = _KEYS.get(place[0], MapDocument) if len(place) > 1 else MapDocument
        return unknown_name("key", place[-1], model.model_fields)
    if fault["type"] in ("enum", "literal_error"):
        known = re.findall(r"'([^']*)'", fault["ctx"]["expected"])
        if not known:
            return f"must be {fault['ctx']['expected']}, not {value!r:.80}"
        return unknown_name("value", value, known)
    if fault["type"] == "missing":
        return "is missing" if place != ["format"] else "is missing; write format = 1"
    if fault["type"] == "value_error":
        return str(fault["ctx"]["error"])
    if fault["type"] == "string_pattern_mismatch":
        return f"{value!r:.80} must be small letters and digits with hyphens, such as 'no-flight'"
    return f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, not {value!r:.80}"
