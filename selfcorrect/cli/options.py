"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Logs: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="LOGS...", help="Recorded runs; - is stdin.")
]
Strategies: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME|PATH", help="Another error-strategy map.")
]
Tools: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="TOOLS.json", help="The tools as a model is sent them, and effects."),
]
