"""`selfcorrect audit`: what would have become of the calls of a log, before one installs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.table import Table

from selfcorrect.cli.options import Logs, Strategies, Tools
from selfcorrect.cli.progress import leave, live
from selfcorrect.cli.recorded import calls_of, tell_left_out
from selfcorrect.cli.screen import console, counted, refuse
from selfcorrect.kernel.texts import visible

if TYPE_CHECKING:
    from collections import Counter

    from selfcorrect.learning.auditing import Audit


def audit(
    logs: Logs,
    html: Annotated[
        str | None, typer.Option(metavar="OUT", help="Write a page with plots, too.")
    ] = None,
    strategies: Strategies = None,
    tools: Tools = None,
) -> None:
    """Tell what selfcorrect would have done with the failing calls of a log; nothing is executed.

    Logs are lines of CALLS.jsonl, trails of `run --record`, chat logs of OpenAI or LangChain, or
    OpenTelemetry GenAI spans. Of a tool whose schema nobody tells, no call can be mended.

    Exits with 1 if lines were left out.
    """
    from selfcorrect.learning.auditing import audit as look_at

    screen = console(stderr=True)
    columns = (TextColumn("failing calls"), BarColumn(), MofNCompleteColumn())
    with calls_of(logs, html, tools) as found, live(*columns) as update:
        result = look_at(found.calls, strategies, lambda done, of: update(completed=done, total=of))
    tell_left_out(found.skipped)
    if not result.calls:
        refuse("there is no recorded call in these logs")
    _tell(result)
    if html is not None:
        from selfcorrect.notebook.audited import audit_page

        page = audit_page(result, ", ".join(Path(log).name for log in logs))
        Path(html).write_text(page, encoding="utf-8", newline="\n")
        screen.print(f"the page is {html}")
    lost = counted(found.skipped.total(), "line was", "lines were")
    leave(f"{lost} left out; the audit is of all others" if found.skipped else None)


def _tell(result: Audit) -> None:
    screen = console()
    failed = result.failures
    out = result.outcomes
    usage = f" and {result.tokens:,} tokens" if result.has_tokens else ""
    confirmed = result.confirmed.total()
    runs, calls = counted(result.runs, "run"), counted(result.calls, "call")
    lines = (
        f"{runs}, {calls}, {failed:,} failed",
        f"mended without a model: {_share(result.mended, failed)}",
        f"  as the run itself did later: {confirmed:,}, {result.turns:,} turns{usage} sooner",
        f"only proposed, since the tool acts: {_share(out['proposed'], failed)}",
        f"a person would be asked, if one is there: {_share(out['asked'], failed)}",
        f"left to the model, with a diagnosis: {_share(out['left'], failed)}",
    )
    for line in lines:
        screen.print(line)
    screen.print(_table("kind of error", result.kinds, None))
    if result.strategies:
        screen.print(_table("mended by", result.strategies, result.confirmed))


def _share(part: int, whole: int) -> str:
    return f"{part:,}" + (f" ({part / whole:.0%})" if whole else "")


def _table(title: str, counts: Counter[str], confirmed: Counter[str] | None) -> Table:
    table = Table(title, "calls", *(["as the run did"] if confirmed is not None else []), box=None)
    for name, count in counts.most_common(12):
        more = [f"{confirmed[name]:,}"] if confirmed is not None else []
        table.add_row(visible(name), f"{count:,}", *more)
    return table
