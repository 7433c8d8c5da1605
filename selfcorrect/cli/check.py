"""`selfcorrect check`: everything that is wrong with a map, before anything starts."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from selfcorrect.cli.screen import counted
from selfcorrect.errors import MapError
from selfcorrect.kernel.texts import visible
from selfcorrect.mapping.files import find_map
from selfcorrect.mapping.linting import check_map


def check(
    maps: Annotated[
        list[str], typer.Argument(metavar="MAP...", help="Names of maps, or paths of TOML files.")
    ],
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Run the Python that maps name in [use].")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Name also the rules that a map overrules as it is meant.")
    ] = False,
) -> None:
    """Check error-strategy maps: every fault of each, and what was most likely not meant.

    Nothing of a map's Python is run without --allow-code: what [use] names is looked up in the
    source, and told as unchecked.

    Exits with 1 if a map has an error, with 2 if there is no such map; warnings do not count.
    """
    worst = 0
    for name in maps:
        faults = list(dict.fromkeys(check_map(name, allow_code=allow_code)))
        levels = [getattr(fault, "level", "error") for fault in faults]
        if "error" in levels:
            worst = max(worst, _exit_code(name, allow_code=allow_code))
        for fault, level in zip(faults, levels, strict=True):
            if level != "note" or everything:
                where = "" if fault.file else f"{name}: "
                typer.echo(visible(f"{level}: {where}{fault}"))
        typer.echo(visible(_verdict(name, Counter(levels))))
    raise typer.Exit(worst)


def _exit_code(name: str, *, allow_code: bool) -> int:
    """2 where there is no such map, as everywhere; 1 where there is one, with errors."""
    try:
        find_map(name, run_code=allow_code)
    except MapError:
        return 2
    return 1


def _verdict(name: str, found: Counter[str]) -> str:
    """One line on whether the map can be used."""
    told = [counted(found[level], level) for level in ("error", "warning") if found[level]]
    return ", ".join([f"{'not usable' if found['error'] else 'ok'}: {name}", *told])
