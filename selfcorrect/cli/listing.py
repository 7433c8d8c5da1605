"""`selfcorrect maps` and `selfcorrect strategies`: what there is, and what each is for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated

import typer
from rich.text import Text

from selfcorrect.cli.screen import console, row, short, show
from selfcorrect.errors import SelfCorrectError
from selfcorrect.mapping.files import find_map, map_names, starter_dir
from selfcorrect.mapping.loading import DEFAULT
from selfcorrect.mapping.registry import built_in_names, resolve, strategy_names


def maps() -> None:
    """List the error-strategy maps that a name can mean; a map of your own is given by its path."""
    deployments = starter_dir() / "strategies"
    screen = console()
    for name in map_names():
        try:
            path = find_map(name, run_code=False)
            is_built_in = path.parent != deployments
            where = "what systems say" if is_built_in else "for a deployment"
            where = "where none is named" if name == DEFAULT else where
            about = _heading(path.read_text(encoding="utf-8"))
        except (SelfCorrectError, OSError):
            where, about = "of an installed package", ""
        show(screen, _item(name, where, about))


def strategies(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Tell all about this one.")
    ] = None,
) -> None:
    """List the strategies that a map's ladders can name, or tell one with its options."""
    screen = console()
    if name is not None:
        for line in _told(name):
            show(screen, line)
        return
    for each in strategy_names():
        if each not in built_in_names():
            show(screen, _item(each, "of an installed package", ""))
            continue
        found = resolve(each)
        needs = getattr(found, "needs", "nothing")
        asks = {"model": "asks a model", "person": "asks a person"}.get(needs, _classes(found))
        about = (inspect.getdoc(found) or "").partition("\n")[0]
        show(screen, _item(each, asks, about))


def _told(name: str) -> Iterator[Text]:
    found = resolve(name)
    about = inspect.getdoc(found) or ""
    yield Text(name, "bold")
    for paragraph in about.partition("\n>>>")[0].partition("\nAttributes:")[0].split("\n\n"):
        yield row("", " ".join(paragraph.split()))
    if classes := _classes(found):
        yield row("changes", classes)
    if is_dataclass(found):
        for each in fields(found):
            made = each.default_factory() if each.default_factory is not MISSING else each.default
            default = "must be given" if made is MISSING else short(made, 60)
            yield row("option", (f"{each.name} ", "bold"), default)


def _classes(strategy: object) -> str:
    return ", ".join(str(each) for each in getattr(strategy, "safety", ()))


def _item(name: str, what: str, about: str) -> Text:
    line = Text(f"  {name:<20} ", "bold")
    line.append(what, "not bold cyan")
    return line.append(f"  {about}", "not bold") if about else line


def _heading(source: str) -> str:
    """The first sentence of the comment that a map begins with."""
    comment: list[str] = []
    for line in source.splitlines():
        said = line.removeprefix("#").strip()
        if not line.startswith("#") or (comment and not said):
            break
        if said and not said.startswith(":"):
            comment.append(said)
    return " ".join(comment).split(". ")[0].rstrip(".:")
