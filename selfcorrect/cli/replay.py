"""`selfcorrect replay`: recorded runs as a page that needs no kernel and no network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from selfcorrect.cli import lines
from selfcorrect.cli.screen import console, refuse
from selfcorrect.errors import SelfCorrectError

_MOST: Final = 1_000
"""Runs of one page."""


def replay(
    trails: Annotated[
        str,
        typer.Argument(
            metavar="TRAIL.jsonl",
            help="What `run --record` or an agent's `TrailFile` wrote; - is stdin.",
        ),
    ],
    html: Annotated[str, typer.Option("--html", metavar="OUT", help="The page; - is stdout.")],
    strategies: Annotated[
        str | None,
        typer.Option(metavar="NAME|PATH", help="The map of the runs, for its rules' patterns."),
    ] = None,
) -> None:
    """Turn recorded runs into a page that steps through each of them."""
    from selfcorrect.notebook import trail

    with lines.reader(trails) as given:
        runs = [_run(line, number) for number, line in enumerate(given, 1) if number <= _MOST]
    if not runs:
        refuse(f"{trails}: there is no run in it")
    try:
        page = trail(runs, strategies=strategies).to_html()
    except SelfCorrectError as error:
        refuse(str(error))
    if html == "-":
        typer.echo(page, nl=False)
        return
    try:
        if trails != "-" and Path(html).exists() and Path(html).samefile(trails):
            refuse(f"{html}: cannot be read and written at the same time")
        Path(html).write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        refuse(f"{html}: {error.strerror or error}")
    count = f"{len(runs):,} run{'' if len(runs) == 1 else 's'}"
    console(stderr=True).print(f"{count} in {html}")


def _run(line: lines.Line, number: int) -> dict[str, Any]:
    """A recorded run; a line that is none is told as one that could not be read."""
    if line.error is not None:
        return {"title": f"line {number}", "error": line.error, "trail": []}
    value = line.value
    told = isinstance(value, Mapping) and (
        isinstance(value.get("trail"), list) or "tool_call_id" in value
    )
    if not told:
        return {"title": f"line {number}", "error": f"{line.where}: no recorded run", "trail": []}
    return dict(value)
