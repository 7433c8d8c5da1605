"""The command line: arguments, and the one place that turns errors into exit codes."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from selfcorrect import __version__
from selfcorrect.cli.screen import complain

_COMMANDS = {
    "run": ("run:run", "run a graph on calls; without any, play the demonstration"),
    "repair": ("repair:repair", "repair calls of a JSON Lines file; nothing is executed"),
    "diagnose": ("diagnose:diagnose", "say what recorded errors of a JSON Lines file are"),
    "explain": ("maps:explain_error", "show what a map makes of an error"),
    "check": ("maps:check", "find mistakes in maps"),
    "propose": ("propose:propose", "ask a model to suggest rules for errors that no rule decides"),
    "ledger": ("ledger:show_ledger", "show calls of tools that act, or settle a doubt"),
    "graph": ("starter:draw", "draw a graph"),
    "replay": ("replay:replay", "make a page of recorded runs, to step through"),
    "init": ("starter:init", "copy the starter's graphs and strategies into a folder"),
    "maps": ("maps:list_maps", "list the maps that have a name"),
    "strategies": ("maps:list_strategies", "list the built-in strategies"),
}
_GRAPH_HELP = "a .py file with make_graph or graph, or the name of a graph of the starter"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0 if all is well, 1 if a call ended otherwise, 2 for bad input."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")
    try:
        options = _parser().parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    module, _, name = _COMMANDS[options.command][0].partition(":")
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
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    of = {
        name: commands.add_parser(name, help=text, description=text.capitalize() + ".")
        for name, (_, text) in _COMMANDS.items()
    }
    of["run"].add_argument("graph", nargs="?", metavar="GRAPH", help=_GRAPH_HELP)
    calls = of["run"].add_mutually_exclusive_group()
    calls.add_argument("--call", metavar="JSON", help="one call, or one input of the graph")
    calls.add_argument("--jsonl", metavar="FILE", help="calls, one a line; - reads stdin")
    of["run"].add_argument("--json", action="store_true", help="print one JSON line per call")
    of["run"].add_argument("--record", metavar="T.jsonl", help="write the runs, for replay")
    of["run"].add_argument("--interactive", action="store_true", help="answer questions here")
    for name in ("repair", "diagnose"):
        of[name].add_argument("--jsonl", required=True, metavar="IN", help="- reads stdin")
        of[name].add_argument("--out", default="-", metavar="OUT", help="- writes stdout")
    of["propose"].add_argument("errors", metavar="ERRORS", help="recorded errors; - reads stdin")
    of["propose"].add_argument("--model", required=True, metavar="FILE.py:OBJECT")
    of["propose"].add_argument(
        "-o", default="proposed.toml", metavar="OUT", help="the map to write"
    )
    of["propose"].add_argument("--most", type=int, default=10, help="calls of the model at most")
    for name in ("run", "repair", "diagnose", "propose"):
        of[name].add_argument("--strategies", metavar="MAP", help="the name or path of a map")
    of["repair"].add_argument("--no-model", action="store_true", help="ask no model (the default)")
    of["explain"].add_argument("map", metavar="MAP", help="the name or path of a map")
    of["explain"].add_argument("text", metavar="TEXT", help="what the error says")
    of["explain"].add_argument("--status", help="its HTTP status")
    of["explain"].add_argument("--exception", help="its class")
    of["explain"].add_argument("--code", help="its code")
    of["explain"].add_argument("--tool", help="the tool that raised it")
    of["check"].add_argument("maps", nargs="+", metavar="MAP", help="names or paths of maps")
    of["ledger"].add_argument("ledger", metavar="L", help="a SQLite file, or postgresql://...")
    of["ledger"].add_argument("--doubts", action="store_true", help="only what may have been done")
    of["ledger"].add_argument(
        "--settle",
        nargs=2,
        metavar=("KEY", "OUTCOME"),
        help="what was found out of a doubt: done, not-done, or again (it may be made again)",
    )
    of["ledger"].add_argument("--by", metavar="NAME", help="who has found out")
    of["graph"].add_argument("graph", nargs="?", metavar="GRAPH", help=_GRAPH_HELP)
    of["graph"].add_argument("--format", choices=["mermaid", "ascii", "svg"], default="mermaid")
    of["replay"].add_argument("trails", metavar="T.jsonl", help="recorded runs; - reads stdin")
    of["replay"].add_argument("--html", required=True, metavar="OUT", help="the page to write")
    of["init"].add_argument("folder", metavar="DIR", help="where the files go")
    return parser
