"""`selfcorrect replay`: recorded runs as a page that needs no kernel and no network."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from selfcorrect.batch.files import apart, source
from selfcorrect.batch.lines import Line
from selfcorrect.cli.progress import bar, leave
from selfcorrect.cli.screen import console, counted, refuse

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
    """Turn recorded runs into a page that steps through each of them; of a file's first 1,000.

    Exits with 1 if a line holds no run; the page says which.
    """
    from selfcorrect.notebook import trail

    runs: list[dict[str, Any]] = []
    number = unread = 0
    with source(trails) as given, bar([given], html) as advance:
        for number, line in enumerate(given.lines(), 1):
            if number <= _MOST:
                run, is_run = _run(line, number)
                runs.append(run)
                unread += not is_run
            advance(number)
    if not runs:
        refuse(f"{trails}: there is no run in it")
    screen = console(stderr=True)
    waiting = screen.status("making the page") if screen.is_terminal else nullcontext()
    with waiting:
        page = trail(runs, strategies=strategies).to_html()
    why = f"{counted(unread, 'line')} held no run, as the page says" if unread else None
    if html == "-":
        typer.echo(page, nl=False)
        leave(why)
    apart(html, trails)
    Path(html).write_text(page, encoding="utf-8", newline="\n")
    first = "" if number <= _MOST else f"the first {_MOST:,} of "
    screen.print(f"{first}{counted(number, 'run')} in {html}")
    leave(why)


def _run(line: Line, number: int) -> tuple[dict[str, Any], bool]:
    """A recorded run; a line that is none is told as one that could not be read."""
    value = line.value if isinstance(line.value, Mapping) else {}
    if isinstance(value.get("trail"), list) or "tool_call_id" in value:
        return dict(value), True
    error = line.error or f"{line.where}: no recorded run"
    return {"title": f"line {number}", "error": error, "trail": []}, False
