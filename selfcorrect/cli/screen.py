"""What a person sees: text from outside is data here, never markup and never terminal codes."""

from __future__ import annotations

import logging
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from selfcorrect.batch.lines import clip, dump
from selfcorrect.drawing.visible import visible
from selfcorrect.model import ABSENT

__all__ = ["clip", "console", "dump", "log_to_stderr", "refuse", "row", "short"]


def short(value: Any, width: int = 120) -> str:
    """The value as JSON, cut to a width, with the number of characters that were left out."""
    text = "nothing" if value is ABSENT else dump(value)
    return clip(text, width)


def console(*, stderr: bool = False) -> Console:
    """A console on the stream as it is now; off a terminal it neither wraps nor colours."""
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    made.soft_wrap = not made.is_terminal
    return made


def row(label: str, *parts: tuple[str, str] | str) -> Text:
    """One line of a story: a label and its parts, each plain or with a style."""
    line = Text(f"  {label:<9} ", style="dim")
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        line.append(visible(text), style=f"not dim {style}".strip())
    return line


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def log_to_stderr() -> None:
    """Write the library's own events to stderr, one line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("%(message)s"))
    logger = logging.getLogger("selfcorrect")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def refuse(message: str) -> NoReturn:
    """Say on stderr what is wrong with the command or its input, and exit with 2."""
    for line in message.splitlines() or [""]:
        typer.echo(visible(line), err=True)
    raise typer.Exit(2)
