"""`selfcorrect check`: everything that is wrong with a map, before anything starts."""

from __future__ import annotations

from typing import Annotated

import typer

from selfcorrect.drawing.visible import visible
from selfcorrect.mapping.linting import check_map


def check(
    maps: Annotated[
        list[str], typer.Argument(metavar="MAP...", help="Names of maps, or paths of TOML files.")
    ],
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Run the Python that maps name in [use].")
    ] = False,
) -> None:
    """Check error-strategy maps: every fault of each, and what was most likely not meant.

    Nothing of a map's Python is run without --allow-code: what [use] names is looked up in the
    source, and told as unchecked.

    Exits with 1 if a map cannot be used or has an error; warnings alone do not count.
    """
    usable = True
    for name in maps:
        faults = list(dict.fromkeys(check_map(name, allow_code=allow_code)))
        errors = [fault for fault in faults if getattr(fault, "level", "error") == "error"]
        usable = usable and not errors
        for fault in faults:
            level = getattr(fault, "level", "error")
            where = "" if fault.file else f"{name}: "
            typer.echo(visible(f"{level}: {where}{fault}"))
        if all(getattr(fault, "level", "error") == "unchecked" for fault in faults):
            typer.echo(visible(f"ok: {name}"))
    raise typer.Exit(0 if usable else 1)
