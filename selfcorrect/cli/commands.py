"""The commands, one file each, as one app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import typer

from selfcorrect.cli import (
    audit,
    check,
    diagnose,
    explain,
    graph,
    init,
    learn,
    ledger,
    listing,
    propose,
    proxy,
    repair,
    replay,
    run,
    train,
)
from selfcorrect.cli.screen import log_to_stderr

app = typer.Typer(
    name="selfcorrect",
    help="Mends failed tool calls of LLM agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
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


EXAMPLES: Final = {
    "run": """selfcorrect run graphs/mine.py --call '{"name": "order", "args": {"count": "2"}}'
selfcorrect run mine --jsonl calls.jsonl --record trail.jsonl""",
    "replay": "selfcorrect replay trail.jsonl --html page.html",
    "graph": "selfcorrect graph mine --format svg > mine.svg",
    "repair": "selfcorrect repair --jsonl calls.jsonl --out mended.jsonl",
    "diagnose": "selfcorrect diagnose --jsonl errors.jsonl --out read.jsonl",
    "explain": "selfcorrect explain default 'too many requests' --status 429",
    "check": "selfcorrect check strategies/mine.toml",
    "maps": "selfcorrect maps",
    "strategies": "selfcorrect strategies convert-type",
    "audit": "selfcorrect audit conversations.jsonl --html audit.html",
    "learn": "selfcorrect learn calls.jsonl -o learned.toml && selfcorrect check learned.toml",
    "ledger": "selfcorrect ledger ledger.db --doubts",
    "propose": "selfcorrect propose calls.jsonl --model openai:gpt-4.1 -o proposed.toml",
    "train": "selfcorrect train errors.jsonl -o witness.bin",
    "proxy": """selfcorrect proxy -- npx -y @modelcontextprotocol/server-filesystem /data
selfcorrect proxy --http 9000 --url https://mcp.example.org/mcp""",
    "init": "selfcorrect init shop && cd shop && selfcorrect run mine",
}
"""How each command is called; its help ends with it."""


def _add(name: str, command: Callable[..., None], more: str = "") -> None:
    shown = "\n".join(f"  {line}" for line in EXAMPLES[name].splitlines())
    example = f"\b\nExample:\n{shown}"
    app.command(name, epilog=f"{more}\n\n{example}" if more else example)(command)


_add("run", run.run)
_add("replay", replay.replay)
_add("graph", graph.graph)
_add("repair", repair.repair, repair.HELP)
_add("diagnose", diagnose.diagnose, diagnose.HELP)
_add("explain", explain.explain)
_add("check", check.check)
_add("maps", listing.maps)
_add("strategies", listing.strategies)
_add("audit", audit.audit)
_add("learn", learn.learn)
_add("ledger", ledger.ledger)
_add("propose", propose.propose)
_add("train", train.train, train.HELP)
_add("proxy", proxy.proxy, proxy.HELP)
_add("init", init.init)
