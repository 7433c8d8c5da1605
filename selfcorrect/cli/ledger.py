"""`selfcorrect ledger`: what a ledger holds, and who answered for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from selfcorrect.cli.recorded import from_ledger
from selfcorrect.cli.screen import console
from selfcorrect.kernel.texts import visible


def ledger(
    ledger: Annotated[str, typer.Argument(help="An SQLite file, or the DSN of a PostgreSQL one.")],
    doubts: Annotated[
        bool, typer.Option("--doubts", help="Only what was begun, or ended nobody knows how.")
    ] = False,
    most: Annotated[int, typer.Option(min=1, help="How many, the newest first.")] = 20,
) -> None:
    """Show the intents of a ledger: when each was written, its status, who answered for it.

    Results are not shown. The key ends with what the tool got as its idempotency key.
    """
    found = from_ledger(ledger, lambda store: store.intents(most, in_doubt=doubts))
    table = Table("written (UTC)", "status", "by", "key", box=None)
    for each in found:
        written = datetime.fromtimestamp(each.written or 0, UTC).strftime("%Y-%m-%d %H:%M:%S")
        table.add_row(written, visible(each.status), visible(each.by or ""), visible(each.key))
    screen = console()
    screen.print(table)
    if not found:
        screen.print("nothing is in doubt" if doubts else "the ledger is empty")
