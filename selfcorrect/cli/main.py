"""The command line: arguments, and the one place that turns errors into exit codes."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from selfcorrect import __version__
from selfcorrect.cli.screen import complain
from selfcorrect.lazy import load_table
from selfcorrect.model import JsonDict


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0 if all is well, 1 if a call ended otherwise, 2 for bad input."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")
    try:
        options = _parser().parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    module, _, name = options.does.partition(":")
    try:
        return int(getattr(import_module(f"selfcorrect.cli.{module}"), name)(options))
    except BrokenPipeError:
        # The reader has seen enough; Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        complain(error)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("selfcorrect", description="Repair failed tool calls.")
    parser.add_argument("--version", action="version", version=f"selfcorrect {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    table = load_table("cli/commands.toml")
    for name, about in table["commands"].items():
        text = about["help"]
        command = commands.add_parser(name, help=text, description=f"{text.capitalize()}.")
        command.set_defaults(does=about["does"])
        command.register("type", "int", int)
        _add_arguments(command, about["takes"], table)
        if "one_of" in about:
            _add_arguments(command.add_mutually_exclusive_group(), about["one_of"], table)
    return parser


def _add_arguments(taker: Any, names: Iterable[str], table: JsonDict) -> None:
    for key in names:
        name, how = table["arguments"][key]
        argument = taker.add_argument(name, **how)
        if isinstance(argument.metavar, list):
            # argparse names several values by a tuple, which TOML has not.
            argument.metavar = tuple(argument.metavar)
