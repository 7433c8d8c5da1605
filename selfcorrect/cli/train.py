"""`selfcorrect train`: a trained witness of one's own, from labelled errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from selfcorrect.batch.files import source
from selfcorrect.batch.lines import clip
from selfcorrect.cli.options import Strategies
from selfcorrect.cli.screen import listed, refuse
from selfcorrect.cli.strange_keys import StrangeKeys, strange_keys
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.training.figures import told
from selfcorrect.training.fitting import fit, heard_apart
from selfcorrect.training.rows import KEYS, Row, row_of
from selfcorrect.weights import written

HELP = listed(
    "A line has:",
    {
        "message": "the text of the error",
        "labels": 'kind and category, each a word or a list of accepted ones; "none": no category',
        "system": "whose message it is; what is learned is judged on systems left out",
        "exception, status, schema, arguments, tool": "as `selfcorrect diagnose` takes them",
    },
)


def train(
    errors: Annotated[
        list[Path], typer.Argument(help="Labelled errors, one per line; .gz is unpacked.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The weights.")],
    strategies: Strategies = None,
    origin: Annotated[str, typer.Option(help="What it is made of, kept in the file.")] = "",
) -> None:
    """Learn from labelled errors what rules leave open; a map names the file as its witness."""
    rules = load_map(strategies)
    with strange_keys(KEYS) as strange:
        rows = [row for file in errors for row in _rows(file, rules, strange)]
    try:
        apart = heard_apart(rows)
        content = written(fit(rows, apart, origin))
    except ValueError as error:
        refuse(str(error))
    for line in told(apart):
        typer.echo(line)
    out.write_bytes(content)
    typer.echo(f"{out}: {len(content)} bytes")


def _rows(file: Path, rules: StrategyMap, strange: StrangeKeys) -> Iterator[Row]:
    with source(str(file)) as given:
        for line in given.lines():
            if line.error is not None:
                refuse(clip(line.error))
            if not isinstance(line.value, dict):
                refuse(f"{line.where}: a line is an object")
            strange.see(line.where, line.value)
            try:
                yield row_of(line.value, rules)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                refuse(clip(f"{line.where}: {error}"))
