"""The command line: arguments, and the one place that turns errors into exit codes."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from selfcorrect import __version__
from selfcorrect.cli.screen import complain


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
        logging.getLogger("selfcorrect").debug("the command failed", exc_info=True)
        complain(error)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("selfcorrect", description="Repair failed tool calls.")
    parser.add_argument("--version", action="version", version=f"selfcorrect {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (does, text, arguments) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=f"{text.capitalize()}.")
        command.set_defaults(does=does)
        for argument, how in arguments:
            command.add_argument(argument, **how)
    calls = commands.choices["run"].add_mutually_exclusive_group()
    for argument, how in _CALLS:
        calls.add_argument(argument, **how)
    return parser


def _arg(name: str, text: str, metavar: Any = None, **more: Any) -> Any:
    return name, {"help": text, "metavar": metavar, **more}


def _flag(name: str, text: str) -> Any:
    return name, {"help": text, "action": "store_true"}


_GRAPH = _arg(
    "graph",
    "a .py file with make_graph or graph, or the name of a graph of the starter",
    "GRAPH",
    nargs="?",
)
_MAP = _arg("--strategies", "the name or path of a map", "MAP")
_CALLS = (
    _arg("--call", "one call, or one input of the graph", "JSON"),
    _arg("--jsonl", "calls, one a line; - reads stdin", "FILE"),
)
_LINES = (
    _arg("--jsonl", "- reads stdin", "IN", required=True),
    _arg("--out", "- writes stdout", "OUT", default="-"),
    _MAP,
)
_COMMANDS = {
    "run": (
        "run:run",
        "run a graph on calls; without any, play the demonstration",
        (
            _GRAPH,
            _flag("--json", "print one JSON line per call"),
            _arg("--record", "write the runs, for replay", "T.jsonl"),
            _flag("--interactive", "answer questions here"),
            _MAP,
        ),
    ),
    "repair": (
        "repair:repair",
        "repair calls of a JSON Lines file; nothing is executed",
        (*_LINES, _flag("--no-model", "ask no model (the default)")),
    ),
    "diagnose": (
        "diagnose:diagnose",
        "say what recorded errors of a JSON Lines file are",
        _LINES,
    ),
    "explain": (
        "maps:explain_error",
        "show what a map makes of an error",
        (
            _arg("map", "the name or path of a map", "MAP"),
            _arg("text", "what the error says", "TEXT"),
            _arg("--status", "its HTTP status"),
            _arg("--exception", "its class"),
            _arg("--code", "its code"),
            _arg("--tool", "the tool that raised it"),
        ),
    ),
    "check": (
        "maps:check",
        "find mistakes in maps",
        [_arg("maps", "names or paths of maps", "MAP", nargs="+")],
    ),
    "propose": (
        "propose:propose",
        "ask a model to suggest rules for errors that no rule decides",
        (
            _arg("errors", "recorded errors; - reads stdin", "ERRORS"),
            _arg("--model", "an object in a Python file", "FILE.py:OBJECT", required=True),
            _arg("-o", "the map to write", "OUT", default="proposed.toml"),
            _arg("--most", "calls of the model at most", type=int, default=10),
            _MAP,
        ),
    ),
    "ledger": (
        "ledger:show_ledger",
        "show calls of tools that act, or settle a doubt",
        (
            _arg("ledger", "a SQLite file, or postgresql://...", "L"),
            _flag("--doubts", "only what may have been done"),
            _arg(
                "--settle",
                "what was found out of a doubt: done, not-done, or again (it may be made again)",
                ("KEY", "OUTCOME"),
                nargs=2,
            ),
            _arg("--by", "who has found out", "NAME"),
        ),
    ),
    "graph": (
        "starter:draw",
        "draw a graph",
        (
            _GRAPH,
            _arg("--format", "its form", choices=["mermaid", "ascii", "svg"], default="mermaid"),
        ),
    ),
    "replay": (
        "replay:replay",
        "make a page of recorded runs, to step through",
        (
            _arg("trails", "recorded runs; - reads stdin", "T.jsonl"),
            _arg("--html", "the page to write", "OUT", required=True),
        ),
    ),
    "init": (
        "starter:init",
        "copy the starter's graphs and strategies into a folder",
        [_arg("folder", "where the files go", "DIR")],
    ),
    "maps": ("maps:list_maps", "list the maps that have a name", ()),
    "strategies": ("maps:list_strategies", "list the built-in strategies", ()),
}
"""Of each command: its function, what it does, and what it takes."""
