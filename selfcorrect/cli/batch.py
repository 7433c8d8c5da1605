"""What `repair` and `diagnose` share: lines of one file, answered into another."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import typer
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from selfcorrect.batch.files import Source, is_packed, source, target
from selfcorrect.batch.lines import is_empty
from selfcorrect.batch.processes import Job, answers, processes
from selfcorrect.batch.resuming import answered_before
from selfcorrect.cli.lines import refusing
from selfcorrect.cli.screen import console, refuse
from selfcorrect.cli.strange_keys import strange_keys
from selfcorrect.errors import MapError
from selfcorrect.mapping.loading import load_map

IN: Final[Any] = typer.Option(
    "--jsonl", metavar="IN", help="What was recorded, one per line; - is stdin."
)
OUT: Final[Any] = typer.Option(
    "--out", metavar="OUT", help="Answers, in order; - is stdout. Files may end in .gz or .zst."
)
STRATEGIES: Final[Any] = typer.Option(
    "--strategies", metavar="NAME|PATH", help="Another error-strategy map."
)
PROCESSES: Final[Any] = typer.Option(
    "--processes", min=1, help="How many processes; by default as many as a big file is worth."
)
RESUME: Final[Any] = typer.Option(
    "--resume", help="Go on where OUT ends: skip the lines that it answers already."
)


def answer_file(
    job: Job, jsonl: str, out: str, strategies: str | None, wanted: int | None, *, resume: bool
) -> None:
    """Answer every line of a file; exit with 1 where somebody has to look at an answer."""
    try:
        policy = load_map(strategies)
    except MapError as error:
        refuse(str(error))
    count, started = processes(jsonl, wanted), time.monotonic()
    with refusing(), source(jsonl) as read:
        given = (raw for raw in read if not is_empty(raw))
        outcomes = answered_before(out, given, job.outcome_of) if resume else Counter()
        before = outcomes.total()
        with (
            strange_keys(job.keys) as strange,
            target(out, jsonl, append=resume) as stream,
            _bar(read, out) as advance,
        ):
            for done in answers(given, job, policy, count, as_text=True):
                for keys, where in done.strange.items():
                    strange.see(where, keys)
                stream.writelines(done.items)
                if not is_packed(out):
                    stream.flush()  # whoever follows the file sees each answer as it is there
                outcomes += done.outcomes
                advance(outcomes.total())
    _tell(outcomes, before, time.monotonic() - started)
    raise typer.Exit(1 if outcomes.keys() & job.to_look_at else 0)


@contextmanager
def _bar(read: Source, out: str) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal that shows nothing else; what is called with the lines that are done."""
    screen = console(stderr=True)
    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[lines]:,} lines"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    off = not screen.is_terminal or (out == "-" and sys.stdout.isatty())
    with Progress(*columns, console=screen, transient=True, disable=off) as bar:
        task = bar.add_task("", total=read.size, lines=0)
        yield lambda lines: bar.update(task, completed=read.at(), lines=lines)


def _tell(outcomes: Counter[str], before: int, seconds: float) -> None:
    """What all lines came to, for a person who looks on."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        return
    came = ", ".join(f"{count:,} {word}" for word, count in outcomes.most_common())
    skipped = f", {before:,} of them before" if before else ""
    lines = outcomes.total()
    told = f"{lines:,} line{'' if lines == 1 else 's'}{skipped}: {came or 'none'}"
    screen.print(f"{told}; {seconds:.1f} s")
