"""`selfcorrect ledger`: what a ledger holds, and who answered for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Column, Table

from selfcorrect.cli.recorded import from_ledger
from selfcorrect.cli.screen import console, refuse
from selfcorrect.kernel.texts import visible
from selfcorrect.ledger.intents import VERDICTS


def ledger(
    ledger: Annotated[str, typer.Argument(help="An SQLite file, or the DSN of a PostgreSQL one.")],
    doubts: Annotated[
        bool, typer.Option("--doubts", help="Only what was begun, or ended nobody knows how.")
    ] = False,
    most: Annotated[int, typer.Option(min=1, help="How many, the newest first.")] = 20,
    settle: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="KEY VERDICT", help="Say what became of it: done, not-done, again."),
    ] = None,
    by: Annotated[str, typer.Option(help="Who says so, with --settle.")] = "",
) -> None:
    """Show the intents of a ledger: when each was written, its status, whose it is, who answered.

    Arguments and results are not shown. The key ends with what the tool got as its idempotency key.
    """
    if settle is not None:
        key, verdict = settle
        if verdict not in VERDICTS or not by.strip():
            refuse(f"--settle takes a key and one of {', '.join(VERDICTS)}; --by says who says so")
        from_ledger(ledger, lambda store: store.settle_doubt(key, verdict, by))
        doubts = False
    found = from_ledger(ledger, lambda store: store.intents(most, in_doubt=doubts))
    # Whoever settles a doubt copies its key: it is shown whole, on one line.
    names = ("written (UTC)", "status", "call", "by")
    table = Table(*names, Column("key", no_wrap=True), box=None)
    for each in found:
        written = datetime.fromtimestamp(each.written or 0, UTC).strftime("%Y-%m-%d %H:%M:%S")
        told = (each.status, each.about, each.by, each.key)
        table.add_row(written, *(visible(text or "") for text in told))
    screen = console()
    screen.print(table)
    if not found:
        screen.print("nothing is in doubt" if doubts else "the ledger is empty")
