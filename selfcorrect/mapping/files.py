"""Map files: finding one by name or path, and reading it with every fault that it has."""

from __future__ import annotations

import os
import re
import sys
import threading
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ValidationError

from selfcorrect.errors import MapError, MapFault
from selfcorrect.hints import near
from selfcorrect.mapping.document import MapBreaker, MapDocument, MapLimits, MapPolicy, MapReading
from selfcorrect.mapping.rules import ErrorRule

MAPS_GROUP: Final = "selfcorrect.maps"
LARGEST_FILE: Final = 32 << 20

MapSource: TypeAlias = str | os.PathLike[str]
"""A bare name, or the path of a file."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_PACKAGE: Final = Path(__file__).parents[1]
_LOADING: Final = threading.RLock()
_SECTIONS: Final[Mapping[str, type[BaseModel]]] = {
    "policy": MapPolicy,
    "breaker": MapBreaker,
    "reading": MapReading,
    "limits": MapLimits,
}


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One map as it was written, and what is wrong with it.

    Attributes:
        name: What its rules are called by from elsewhere: `name/rule`.
        content: All of it that could be read.
        folder: Where its paths start, or None for a map that was made in Python.
        file: The file it was read from.
        built_in: Whether it ships inside the package.
        complete: Whether its last line ends; a file that is being written may stop anywhere.
        faults: What is wrong with it as it stands; whoever links it finds more.
    """

    name: str
    content: MapDocument
    folder: Path
    file: Path | None = None
    built_in: bool = False
    complete: bool = True
    faults: tuple[MapFault, ...] = ()

    @property
    def label(self) -> str | None:
        """How messages call it."""
        return str(self.file) if self.file else None

    def fault(
        self,
        message: str,
        *,
        rule: str | None = None,
        key: str | None = None,
        hint: str | None = None,
    ) -> MapFault:
        """A fault of this map."""
        return MapFault(message, self.label, rule, key, hint)


def starter_dir() -> Path:
    """The folder with `graphs/`, `strategies/` and `langgraph.json` that selfcorrect brings along.

    A wheel carries it inside the package; in a checkout it is the root.
    """
    packed = _PACKAGE / "_starter"
    root = _PACKAGE.parent
    return root if not packed.is_dir() and (root / "pyproject.toml").is_file() else packed


def map_names() -> list[str]:
    """The maps that a bare name can mean, in the order in which they are looked up."""
    names = [path.stem for folder in _folders() for path in sorted(folder.glob("*.toml"))]
    return list(dict.fromkeys([*names, *_entry_points()]))


def is_path(source: MapSource) -> bool:
    """Whether this is an explicit path rather than a bare name."""
    if not isinstance(source, str):
        return True
    return source.endswith(".toml") or "/" in source or os.sep in source


def find_map(source: MapSource, folder: Path | None = None, *, run_code: bool = True) -> Path:
    """The file of a map. A bare name is never looked up in the working directory.

    Args:
        source: A bare name, or a path.
        folder: Where relative paths start; by default the working directory.
        run_code: Whether an installed package may be asked where its map is.

    Raises:
        MapError: If there is no such map.
    """
    if is_path(source):
        path = (folder or Path()) / source
        try:
            if path.is_file():
                return path
            what = "this is no file" if path.exists() else "there is no such file"
        except (OSError, ValueError) as error:
            what = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise MapError([MapFault(what, str(path))])
    name = str(source)
    if not _NAME.fullmatch(name):
        raise MapError([MapFault(f"{name!r} is neither the name of a map nor a path to one")])
    for place in _folders():
        path = place / f"{name}.toml"
        if path.is_file():
            return path
    if name in _entry_points():
        if not run_code:
            why = f"the map {name!r} is in an installed package, which would have to be run"
            raise MapError([MapFault(why, hint="allow code, or give the path of its file")])
        return _from_entry_point(name)
    hint = near(name, map_names()) or "a file in the working directory is named as ./name.toml"
    raise MapError([MapFault(f"there is no map named {name!r}", hint=hint)])


def _folders() -> list[Path]:
    return [_PACKAGE / "maps", starter_dir() / "strategies"]


def _entry_points() -> list[str]:
    from importlib.metadata import entry_points

    return [entry.name for entry in entry_points(group=MAPS_GROUP)]


def _from_entry_point(name: str) -> Path:
    """The file that an installed package provides: a path, or a function that returns one."""
    from importlib.metadata import entry_points

    try:
        found = next(iter(entry_points(group=MAPS_GROUP, name=name))).load()
        place: Any = found() if callable(found) else found
        path = Path(place)
    except Exception as error:
        message = f"the installed map {name!r} cannot be found: {type(error).__name__}: {error}"
        raise MapError([MapFault(message)]) from error
    if not path.is_file():
        raise MapError([MapFault(f"the installed map {name!r} is not there", str(path))])
    return path


def read_map(path: Path) -> Document:
    """Read a map file. What is wrong with it is in the document's faults; never raises."""
    try:
        found = path.stat()
        if found.st_size > LARGEST_FILE:
            return _unreadable(path, f"larger than {LARGEST_FILE >> 20} MB")
        if path.parent == _PACKAGE / "maps":
            return _built_in(path, found.st_mtime_ns, found.st_size)
        data = path.read_bytes()
    except OSError as error:
        return _unreadable(path, f"cannot be read: {error.strerror or error}")
    return parse_map(data, path)


@lru_cache(maxsize=64)
def _built_in(path: Path, stamp: int, size: int) -> Document:  # noqa: ARG001 -- make it anew
    """A map of the package, read once for all the maps that extend it."""
    return parse_map(path.read_bytes(), path)


def parse_map(data: bytes, path: Path) -> Document:
    """The document in the bytes of a map file, with every fault that reading can find."""
    try:
        raw = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return _unreadable(path, f"not UTF-8, at byte {error.start}")
    except RecursionError:
        return _unreadable(path, "nested too deeply")
    except ValueError as error:
        return _unreadable(path, f"not TOML: {error}")
    content, faults = read_document(raw, str(path))
    built_in = path.resolve().parent == (_PACKAGE / "maps").resolve()
    if built_in:
        told = [rule.id for rule in content.rule if rule.outcome is not None]
        why = "what was done is said by a deployment's own map only"
        faults += [MapFault(why, str(path), rule, "outcome") for rule in told]
    return Document(
        path.stem, content, path.parent, path, built_in, data.endswith(b"\n"), tuple(faults)
    )


def _unreadable(path: Path, why: str) -> Document:
    empty = MapDocument(format=1)
    return Document(path.stem, empty, path.parent, path, faults=(MapFault(why, str(path)),))


def read_document(
    raw: Mapping[str, Any], file: str | None = None
) -> tuple[MapDocument, list[MapFault]]:
    """Check a map's raw content.

    Returns:
        All of it that is usable, and every fault of the rest: one fault does not hide another.
    """
    faults: list[MapFault] = []
    rules = []
    given = raw.get("rule", [])
    if not isinstance(given, list | tuple):
        faults.append(MapFault("rules are written as [[rule]]", file, key="rule"))
        given = []
    for number, item in enumerate(given, 1):
        if isinstance(item, ErrorRule):
            rules.append(item)
            continue
        name = item.get("id") if isinstance(item, Mapping) else None
        label = name if isinstance(name, str) else f"#{number}"
        rule, wrong = _lenient(ErrorRule, item, file, label)
        faults += wrong
        if rule is not None:
            rules.append(rule)
    rest = {key: value for key, value in raw.items() if key != "rule"}
    if "format" not in rest:
        faults.append(MapFault("is missing", file, key="format", hint="write format = 1"))
        rest["format"] = 1
    document, wrong = _lenient(MapDocument, rest, file, None)
    faults += wrong
    if document is None:
        document = MapDocument(format=1)
    return document.model_copy(update={"rule": tuple(rules)}), faults


def _lenient(
    model: type[Any], raw: Any, file: str | None, rule: str | None
) -> tuple[Any, list[MapFault]]:
    """The model of what is usable in `raw`, or None, and the faults of the rest."""
    try:
        return model.model_validate(raw), []
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        # For a key that may be left out, pydantic also complains that the value is not None.
        errors: list[Any] = [item for item in found if item["type"] != "none_required"]
        faults = [_fault(item, model, raw, file, rule) for item in errors]
        if not isinstance(raw, Mapping):
            return None, faults
        bad = {item["loc"][0] for item in errors if item["loc"]}
        usable = {key: value for key, value in raw.items() if key not in bad}
        if model is MapDocument and "format" in bad:
            usable["format"] = 1
        try:
            return (model.model_validate(usable) if bad else None), faults
        except ValidationError:
            return None, faults


def _fault(
    error: Mapping[str, Any], model: type[BaseModel], raw: Any, file: str | None, rule: str | None
) -> MapFault:
    keys, value = _walk(error["loc"], raw)
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    hint = None
    match error["type"]:
        case "extra_forbidden":
            section = _SECTIONS.get(str(error["loc"][0]), model) if error["loc"][1:] else model
            message = "unknown key"
            hint = near(str(error["loc"][-1]), section.model_fields)
        case "missing":
            message = "is missing"
        case "enum" | "literal_error":
            choices = re.findall(r"'([^']*)'", str(error["ctx"]["expected"]))
            message = f"{_shown(value)} is none of {error['ctx']['expected'].replace(' or ', ', ')}"
            hint = near(value, choices) if isinstance(value, str) else None
        case "string_pattern_mismatch":
            message = "letters, digits, '.', '_' and '-' only"
        case "value_error":
            pass
        case _:
            message = f"should be {message[:1].lower()}{message[1:]}"
    return MapFault(message, file, rule, ".".join(keys) or None, hint)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"this {type(value).__name__}"


def _walk(loc: Sequence[int | str], raw: Any) -> tuple[list[str], Any]:
    """The keys of a location that exist in the data (pydantic adds its own), and what is there."""
    keys = []
    for step in loc:
        if isinstance(raw, Mapping) and step in raw:
            keys.append(str(step))
            raw = raw[step]
        elif isinstance(raw, list | tuple) and isinstance(step, int) and step < len(raw):
            raw = raw[step]
    return keys or [str(step) for step in loc[:1]], raw


def load_object(reference: str, folder: Path) -> Any:
    """The object that `./file.py:Object` names.

    The file runs under a name of its own, so that it neither hides another module nor leaves
    compiled files behind; the same content is run once.

    Raises:
        LookupError: If there is no such file or object, or the file cannot be run.
    """
    path, source, name = referred(reference, folder)
    with _LOADING:
        module = _module(path.resolve(), source)
    try:
        return getattr(module, name)
    except AttributeError:
        public = [item for item in vars(module) if not item.startswith("_")]
        hint = near(name, public)
        place = reference.rpartition(":")[0]
        raise LookupError(f"{place} has no {name!r}" + (f"; {hint}" if hint else "")) from None


def referred(reference: str, folder: Path) -> tuple[Path, bytes, str]:
    """The file that `./file.py:Object` names, what is in it, and the object's name.

    Raises:
        LookupError: If there is no such file.
    """
    place, separator, name = reference.rpartition(":")
    if not separator or not place.endswith(".py") or not name.isidentifier():
        raise LookupError(f"{reference!r} should be written as './file.py:Object'")
    path = folder / place
    try:
        return path, path.read_bytes(), name
    except OSError as error:
        raise LookupError(f"{place}: {error.strerror or error}") from None


def _module(path: Path, source: bytes) -> ModuleType:
    import hashlib

    digest = hashlib.sha256(str(path).encode("utf-8", "replace") + b"\0" + source).hexdigest()[:16]
    name = f"_selfcorrect_use_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(path)
    # Dataclasses and pickle look their module up, so it has to be there while it runs.
    sys.modules[name] = module
    try:
        code = compile(source, str(path), "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 -- the map names this file; allow_code refuses it
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = _line(error, str(path))
        raise LookupError(f"{path.name}{line}: {type(error).__name__}: {error}") from error
    return module


def _line(error: BaseException, file: str) -> str:
    """Where in the file it happened, as `:line`."""
    if isinstance(error, SyntaxError):
        return f":{error.lineno}"
    lines = [each.lineno for each in extract_tb(error.__traceback__) if each.filename == file]
    return f":{lines[-1]}" if lines else ""
