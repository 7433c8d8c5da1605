"""What a person sees who looks on: how far a file is, what it came to, what exit code 1 means."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import typer

from selfcorrect.batch.files import Source
from selfcorrect.cli.screen import console


@contextmanager
def live(*columns: Any, hidden: bool = False, **task: Any) -> Iterator[Callable[..., None]]:
    """Progress on stderr where a person looks at it; what is called with what became of it."""
    screen = console(stderr=True)
    if hidden or not screen.is_terminal:
        yield lambda **_: None
        return
    from rich.progress import Progress

    with Progress(*columns, console=screen, transient=True, redirect_stdout=False) as shown:
        yield partial(shown.update, shown.add_task(**{"description": "", "total": None, **task}))


@contextmanager
def bar(files: Sequence[Source], out: str | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal that shows nothing else; what is called with the lines that are done."""
    from rich import progress

    columns = (
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[lines]:,} lines"),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
    sizes = [file.size for file in files]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    hidden = out == "-" and sys.stdout.isatty()
    with live(*columns, hidden=hidden, total=total, lines=0) as update:
        yield lambda lines: update(completed=sum(file.at() for file in files), lines=lines)


def leave(unanswered: str | None) -> NoReturn:
    """End the command: with 1 where somebody has to look at something, and say there at what."""
    if unanswered is not None:
        screen = console(stderr=True)
        if screen.is_terminal:
            screen.print(f"exit code 1: {unanswered}")
    raise typer.Exit(0 if unanswered is None else 1)
