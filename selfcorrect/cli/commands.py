"""The commands, one file each, as one app."""

from __future__ import annotations

from typing import Annotated

import typer

from selfcorrect.cli import check, diagnose, explain, graph, init, learn, repair, replay, run
from selfcorrect.cli.screen import log_to_stderr

app = typer.Typer(
    name="selfcorrect",
    help="Mends failed tool calls of LLM agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"selfcorrect {version('selfcorrect')}")
        except PackageNotFoundError:
            typer.echo("selfcorrect 0 (not installed: a checkout)")
        raise typer.Exit


@app.callback()
def selfcorrect(
    version: Annotated[  # noqa: ARG001 -- its callback has answered
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Log every event of a run to stderr.")
    ] = False,
) -> None:
    """Mends failed tool calls of LLM agents: rules first, a model where rules end, then a person.

    Exit codes: 0, all done; 1, some calls ended in a report or a question; 2, wrong usage or
    unreadable input.
    """
    if verbose:
        log_to_stderr()


app.command("run")(run.run)
app.command("replay")(replay.replay)
app.command("graph")(graph.graph)
app.command("repair", epilog=repair.HELP)(repair.repair)
app.command("diagnose")(diagnose.diagnose)
app.command("explain")(explain.explain)
app.command("check")(check.check)
app.command("init")(init.init)
app.command("learn")(learn.learn)
