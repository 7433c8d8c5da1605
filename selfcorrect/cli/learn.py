"""`selfcorrect learn`: a map of what mended errors in recorded runs, for people to review."""

from __future__ import annotations

from typing import Annotated

import typer

from selfcorrect.batch.files import target
from selfcorrect.cli.options import Tools
from selfcorrect.cli.progress import leave
from selfcorrect.cli.recorded import calls_of, tell_left_out
from selfcorrect.cli.screen import console, counted, refuse


def learn(
    logs: Annotated[
        list[str] | None,
        typer.Argument(metavar="CALLS.jsonl...", help="Recorded runs; - is stdin."),
    ] = None,
    out: Annotated[
        str | None, typer.Option("-o", "--out", metavar="MAP.toml", help="The map to write.")
    ] = None,
    support: Annotated[
        int, typer.Option(min=1, help="Tasks in which a repair must have mended the error.")
    ] = 2,
    agreement: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Share of what overcame the error that it must have."),
    ] = 0.3,
    tools: Tools = None,
    stats: Annotated[
        str | None,
        typer.Option(metavar="LEDGER", help="Tell how entries fared: an SQLite file, or a DSN."),
    ] = None,
) -> None:
    """Learn from recorded runs, offline, and write a map that a person can read and review.

    Logs are lines of CALLS.jsonl, trails of `run --record`, chat logs of OpenAI or LangChain, or
    OpenTelemetry GenAI spans. Every value in the map says where it comes from; none is of a run.

    Exits with 1 if lines were left out.
    """
    if stats is not None:
        _tell_stats(stats, out or next(iter(logs or ()), None))
        return
    if not logs or out is None:
        refuse("give recorded runs, and -o MAP.toml to write to")
    from selfcorrect.learning.learner import learn as learn_from
    from selfcorrect.learning.writing import as_toml

    with calls_of(logs, out, tools) as found:
        learned = learn_from(found.calls, support=support, agreement=agreement)
        skipped = found.skipped
    if not learned.calls:
        tell_left_out(skipped)
        refuse("there is no recorded call in these logs")
    with target(out) as file:
        file.write(as_toml(learned.entries))
    told = [
        f"{learned.calls:,} calls, {learned.failures:,} failed, {learned.overcome:,} overcome",
        f"{counted(len(learned.entries), 'entry', 'entries')} in {out}",
    ]
    if learned.unvouched:
        left_out = counted(learned.unvouched, "error")
        told.append(f"{left_out} left out: their words may be somebody's data")
    console(stderr=True).print("; ".join(told))
    tell_left_out(skipped)
    lost = counted(skipped.total(), "line was", "lines were")
    leave(f"{lost} left out; the map is of all others" if skipped else None)


def _tell_stats(ledger: str, learned: str | None) -> None:
    """How what was learnt has fared since, out of the ledger's database."""
    from rich.table import Table

    from selfcorrect.cli.recorded import from_ledger
    from selfcorrect.limits import Limits
    from selfcorrect.mapping.loading import load_map

    names = {}
    if learned is not None:
        recalls = load_map(learned, allow_code=False).recalls
        names = {entry.id: f"{entry.tool}: {entry.told}" for entry in recalls}
    table = Table("entry", "seen", "mended", "failed", "", "what it does", box=None)
    for count in from_ledger(ledger, lambda store: store.recall_counts()):
        retired = "retired" if count.in_a_row >= Limits().recall_failures else ""
        row = (count.entry, str(count.seen), str(count.mended), str(count.failed), retired)
        table.add_row(*row, names.get(count.entry, ""))
    console().print(table)
