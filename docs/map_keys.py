"""Writes `map-keys.md` from the format of maps and the registry: `python docs/map_keys.py`."""

import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from selfcorrect import StrategyMap
from selfcorrect.limits import Limits
from selfcorrect.model import Category, ErrorKind, Safety
from selfcorrect.strategy_map.document import (
    ErrorRule,
    MapDocument,
    MapPolicy,
    ReadingPolicy,
    ToolEffect,
)
from selfcorrect.strategy_map.registry import BUILT_IN, built_in
from selfcorrect.values.primitives import PRIMITIVES

PAGE = Path(__file__).with_name("map-keys.md")
SECTIONS: Mapping[str, tuple[type[BaseModel], str]] = {
    "The file": (MapDocument, "The keys at the top of a map; the sections below are its tables."),
    "`[[rule]]`": (ErrorRule, "Conditions first, consequences second; all conditions must hold."),
    "`[policy]`": (MapPolicy, "What runs unasked, and what ends a run."),
    "`[effects]`": (
        ToolEffect,
        "The key is a tool's name or a glob. The effect alone may stand in place of the table.",
    ),
    "`[reading]`": (ReadingPolicy, "How a text becomes a call."),
    "`[limits]`": (
        Limits,
        "`limits=` of `build_graph` takes the same keys, wins over a map, and has `ceiling` too.",
    ),
}
BEGINNING = """# Map keys

Look up here what each key of a map means, which values it takes, and what holds if you leave it
out. [maps.md](maps.md) explains how the parts work together. `python docs/map_keys.py` writes
this page.

```toml
format = 1
extends = ["default"]
```
"""


def write_page() -> str:
    """Return the page."""
    parts = [BEGINNING]
    for title, (model, sentence) in SECTIONS.items():
        parts.append(f"## {title}\n\n{sentence}\n\n{_key_table(model)}")
    words = {"kinds": ErrorKind, "categories": Category, "classes of changes": Safety}
    rows = [(name, ", ".join(f"`{each}`" for each in word)) for name, word in words.items()]
    parts.append(f"## Words\n\n{_table(('word', 'values'), rows)}")
    parts.append(
        "## Strategies\n\nA rule names them in `repair`, and sets their options in `options`. "
        'Options marked "in code" take Python objects: write the rule in Python.\n\n'
        + _table(("strategy", "needs", "what it does", "options"), _strategies())
    )
    ladders = StrategyMap.load("default").ladders.items()
    parts.append(
        "## Ladders of the default map\n\nA rule without `repair` takes the ladder of its "
        "category, or else of its kind.\n\n"
        + _table(("cause", "strategies"), ((f"`{each}`", ", ".join(way)) for each, way in ladders))
    )
    return "\n".join(parts)


def _key_table(model: type[BaseModel]) -> str:
    said = _attributes(model)
    rows = [
        (f"`{name}`", _type(field.annotation), _default(field), said[name])
        for name, field in model.model_fields.items()
        # Only code may set it.
        if (model, name) != (Limits, "ceiling")
    ]
    return _table(("key", "type", "default", "what it does"), rows)


def _attributes(model: type) -> dict[str, str]:
    """Return what a docstring says under `Attributes:`, by name."""
    _, _, text = (inspect.getdoc(model) or "").partition("Attributes:\n")
    found = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", text, re.MULTILINE)
    return {name: " ".join(said.split()) for name, said in found}


def _type(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(inner[0])
    if origin is Literal:
        return ", ".join(f"`{each!r}`".replace("'", '"') for each in inner)
    if origin in (Union, types.UnionType):
        # TOML has no null, and holds no function.
        return " or ".join(dict.fromkeys(_type(each) for each in inner if _is_data(each)))
    if origin is tuple:
        return f"list of {_plural(_type(inner[0]))}"
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return "table" if inner[1] is Any else f"table of {_plural(_type(inner[1]))}"
    if inspect.isclass(hint) and issubclass(hint, StrEnum):
        return _ENUMS[hint]
    return _WORDS.get(hint, "table")


_ENUMS: Mapping[type, str] = {ErrorKind: "kind", Category: "category", Safety: "class of change"}
_WORDS: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_PLURALS = {"category": "categories", "class of change": "classes of changes"}


def _is_data(hint: Any) -> bool:
    return hint is not type(None) and get_origin(hint) is not Callable


def _plural(word: str) -> str:
    if word.startswith("list"):
        return word.replace("list", "lists", 1)
    return " or ".join(_PLURALS.get(each, f"{each}s") for each in word.split(" or "))


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if field.is_required():
        return "required"
    return "none" if isinstance(value, BaseModel | dict | None) else f"`{_toml(value)}`"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return "[]" if value == () else str(value)


def _strategies() -> Iterator[tuple[str, ...]]:
    for name, needs in sorted(BUILT_IN.items()):
        if (primitive := PRIMITIVES.get(name)) is not None:
            wanted = "`true` or `false`" if primitive.option == "relative" else "a table"
            options = f"`{primitive.option}`: {wanted}" if primitive.option else ""
            yield f"`{name}`", needs, primitive.summary, options
            continue
        found = built_in(name)
        first = (inspect.getdoc(found) or "").partition("\n")[0]
        yield f"`{name}`", needs, first, ", ".join(_options(found))


def _options(factory: Callable[..., Any]) -> Iterator[str]:
    for each in inspect.signature(factory).parameters.values():
        if inspect.isclass(factory) or each.kind is each.KEYWORD_ONLY:
            plain = isinstance(each.default, str | int | float | tuple)
            shown = f"`{each.name} = {_toml(each.default)}`" if plain else f"`{each.name}` in code"
            yield shown


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = tuple(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    # A bar would end its cell.
    cells = ([each.replace("|", r"\|") for each in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"


if __name__ == "__main__":
    PAGE.write_text(write_page(), "utf-8")
