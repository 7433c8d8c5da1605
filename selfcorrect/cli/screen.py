"""What a person sees: text from outside is data here, never markup and never terminal codes."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from selfcorrect.batch.lines import clip, dump
from selfcorrect.kernel.texts import visible
from selfcorrect.model import ABSENT

TEXTS: Final[dict[str, Any]] = tomllib.loads(
    files("selfcorrect.cli").joinpath("help.toml").read_text("utf-8")
)
"""What the help says: how each command is called, and what the keys of lines are."""


def short(value: Any, width: int = 120) -> str:
    """The value as JSON, cut to a width, with the number of characters that were left out."""
    text = "nothing" if value is ABSENT else dump(value)
    return clip(text, width)


def console(*, stderr: bool = False) -> Console:
    """A console on the stream as it is now; off a terminal it neither wraps nor colours."""
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    made.soft_wrap = not made.is_terminal
    return made


_LABEL: Final = 12
"""Columns that the label of a row takes."""


def show(screen: Console, line: Text) -> None:
    """Print a line; on a terminal what is too long goes on below itself, beside the label."""
    room = screen.width - _LABEL
    if not screen.is_terminal or not line.plain.startswith("  ") or room < _LABEL:
        screen.print(line)
        return
    first, *more = line[_LABEL:].wrap(screen, room)
    screen.print(line[:_LABEL] + first)
    for each in more:
        screen.print(Text(" " * _LABEL) + each)


def row(label: str, *parts: tuple[str, str] | str) -> Text:
    """One line of a story: a label and its parts, each plain or with a style."""
    line = Text(f"  {label:<9} ", style="dim")
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        line.append(visible(text), style=f"not dim {style}".strip())
    return line


def listed(title: str, keys: Mapping[str, str]) -> str:
    """What the keys of a line are, for the end of a command's help."""
    rows = "\n".join(f"  {key:<14} {what}" for key, what in keys.items())
    return f"\b\n{title}\n{rows}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """How many of what.

    >>> counted(1, "line"), counted(2_000, "entry", "entries")
    ('1 line', '2,000 entries')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def log_to_stderr() -> None:
    """Write the library's own events to stderr, one line each."""
    logger = logging.getLogger("selfcorrect")
    logger.addHandler(logging.StreamHandler())
    logger.setLevel(logging.INFO)


def refuse(message: str) -> NoReturn:
    """Say on stderr what is wrong with the command or its input, and exit with 2."""
    for line in message.splitlines() or [""]:
        typer.echo(visible(line), err=True)
    raise typer.Exit(2)
