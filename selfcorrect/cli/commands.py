"""The commands as one app: each in a file of its own, which is loaded when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, Final, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from selfcorrect.cli.screen import TEXTS, log_to_stderr, refuse
from selfcorrect.errors import SelfCorrectError

_SETTINGS: Final[dict[str, Any]] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
_HOMES: Final = {"maps": "listing", "strategies": "listing"}
"""The file of a command that is not named after it."""
EXAMPLES: Final = TEXTS["examples"]
"""The commands, in the order of the help, and how each is called; its own help ends with it."""


class _Commands(TyperGroup):
    """Loads the file of a command when it is asked for: all of them only for the help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast("Any", dict.fromkeys(EXAMPLES))  # the names, without what they do

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        del ctx
        return _command(cmd_name) if cmd_name in EXAMPLES else None

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what its user can put right is told in a line, and ends it with 2."""
        try:
            return super().invoke(ctx)
        except SelfCorrectError as error:
            refuse(str(error))
        except OSError as error:
            if error.filename is None:  # a pipe that nobody reads any more: the library's business
                raise
            refuse(f"{error.filename}: {error.strerror or error}")


def _command(name: str) -> Any:
    module = import_module(f"selfcorrect.cli.{_HOMES.get(name, name)}")
    shown = "\n".join(f"  {line}" for line in EXAMPLES[name].splitlines())
    parts = (getattr(module, "HELP", ""), f"\b\nExample:\n{shown}")
    alone = typer.Typer(**_SETTINGS)
    alone.command(name, epilog="\n\n".join(filter(None, parts)))(getattr(module, name))
    return get_command(alone)


app = typer.Typer(
    name="selfcorrect",
    help="Mends failed tool calls of LLM agents.",
    no_args_is_help=True,
    cls=_Commands,
    **_SETTINGS,
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

    Exit codes: 0, all done, or each example ended as it should; 1, some calls ended in a report or
    a question; 2, wrong usage or unreadable input.
    """
    if verbose:
        log_to_stderr()
