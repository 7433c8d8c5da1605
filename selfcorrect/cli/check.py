"""`selfcorrect check`: everything that is wrong with a map, before anything starts."""

from __future__ import annotations

from typing import Annotated

import typer

from selfcorrect.cli.screen import visible
from selfcorrect.linting import check_map


def check(
    maps: Annotated[
        list[str], typer.Argument(metavar="MAP...", help="Names of maps, or paths of TOML files.")
    ],
) -> None:
    """Check error-strategy maps: every fault of each, and what was most likely not meant.

    Exits with 1 if a map cannot be used or has an error; warnings alone do not count.
    """
    usable = True
    for name in maps:
        faults = list(dict.fromkeys(check_map(name)))
        errors = [fault for fault in faults if getattr(fault, "level", "error") == "error"]
        usable = usable and not errors
        for fault in faults:
            level = "error" if fault in errors else "warning"
            where = "" if fault.file else f"{name}: "
            typer.echo(visible(f"{level}: {where}{fault}"))
        if not faults:
            typer.echo(visible(f"ok: {name}"))
    raise typer.Exit(0 if usable else 1)
