"""What `repair` and `diagnose` share: lines of one file, answered into another."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import typer

from selfcorrect.batch.files import is_packed, source, target
from selfcorrect.batch.lines import Raw, clip, is_empty
from selfcorrect.batch.processes import Job, answers, processes
from selfcorrect.batch.resuming import answered_before
from selfcorrect.cli.progress import bar, leave
from selfcorrect.cli.screen import console, counted
from selfcorrect.cli.strange_keys import say, strange_keys
from selfcorrect.kernel.texts import visible
from selfcorrect.mapping.loading import load_map

IN: Final[Any] = typer.Option(
    "--jsonl", metavar="IN", help="What was recorded, one per line; - is stdin."
)
OUT: Final[Any] = typer.Option(
    "--out", metavar="OUT", help="Answers, in order; - is stdout. Files may end in .gz or .zst."
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
    policy = load_map(strategies)
    count, started, first = processes(jsonl, wanted), time.monotonic(), None
    with _interrupted(out), source(jsonl) as read:
        blank: Counter[str] = Counter()
        given = _filled(read, blank)
        outcomes = answered_before(out, given, job.outcome_of) if resume else Counter()
        before = outcomes.total()
        with (
            strange_keys(job.keys) as strange,
            target(out, jsonl, append=resume) as stream,
            bar([read], out) as advance,
        ):
            for done in answers(given, job, policy, count, as_text=True):
                for keys, where in done.strange.items():
                    strange.see(where, keys)
                stream.writelines(done.items)
                if not is_packed(out):
                    stream.flush()  # whoever follows the file sees each answer as it is there
                outcomes += done.outcomes
                first = first or done.first
                if done.lost:
                    say(f"a worker was killed with {done.lost} in hand; answered here instead")
                advance(outcomes.total())
    _tell(outcomes + blank, before, time.monotonic() - started, first)
    open_ = sum(outcomes[word] for word in job.to_look_at)
    words = ", ".join(sorted(job.to_look_at & outcomes.keys()))
    leave(f"somebody has to look at {counted(open_, 'line')}: {words}" if open_ else None)


@contextmanager
def _interrupted(out: str) -> Iterator[None]:
    """Say how it goes on to whoever stops it."""
    try:
        yield
    except KeyboardInterrupt:
        if out != "-":
            told = f"stopped; --resume goes on where {visible(out)} ends"
            console(stderr=True).print(told)
        raise


def _filled(lines: Iterable[Raw], blank: Counter[str]) -> Iterator[Raw]:
    """The lines with something in them; the others are counted."""
    for raw in lines:
        if is_empty(raw):
            blank["blank"] += 1
        else:
            yield raw


def _tell(outcomes: Counter[str], before: int, seconds: float, first: str | None) -> None:
    """What all lines came to, and the first that somebody has to look at: one line on stderr."""
    came = ", ".join(f"{count:,} {word}" for word, count in outcomes.most_common())
    skipped = f", {before:,} of them before" if before else ""
    told = f"{counted(outcomes.total(), 'line')}{skipped}: {came or 'none'}"
    look = f"; look at {visible(clip(first))}" if first else ""
    console(stderr=True).print(f"{told}; {seconds:.1f} s{look}")
