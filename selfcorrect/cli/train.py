"""`selfcorrect train`: a trained witness of one's own, from labelled errors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from selfcorrect.cli.screen import clip, listed, refuse
from selfcorrect.cli.strange_keys import StrangeKeys, strange_keys
from selfcorrect.errors import MapError, MissingExtra
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.training.figures import curve as curve_of
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
    strategies: Annotated[
        str | None, typer.Option(metavar="NAME|PATH", help="Another error-strategy map.")
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Show also what more systems teach; takes a while.")
    ] = False,
    origin: Annotated[str, typer.Option(help="What it is made of, kept in the file.")] = "",
) -> None:
    """Learn from labelled errors what rules leave open; a map names the file as its witness."""
    try:
        rules = load_map(strategies)
    except MapError as error:
        refuse(str(error))
    with strange_keys(KEYS) as strange:
        rows = [row for file in errors for row in _rows(file, rules, strange)]
    try:
        apart = heard_apart(rows)
        content = written(fit(rows, apart, origin))
    except (MissingExtra, ValueError) as error:
        refuse(str(error))
    for line in (*told(apart), *(curve_of(rows) if curve else ())):
        typer.echo(line)
    try:
        out.write_bytes(content)
    except OSError as error:
        refuse(f"{out}: {error.strerror or error}")
    typer.echo(f"{out}: {len(content)} bytes")


def _rows(file: Path, rules: StrategyMap, strange: StrangeKeys) -> Iterator[Row]:
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rt", encoding="utf-8", errors="surrogatepass") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _row(line, f"{file}:{number}", rules, strange)
    except OSError as error:
        refuse(f"{file}: {error.strerror or error}")
    except UnicodeDecodeError as error:
        refuse(f"{file}: {error}")


def _row(line: str, where: str, rules: StrategyMap, strange: StrangeKeys) -> Row:
    try:
        record = json.loads(line)
        if not isinstance(record, dict):
            refuse(f"{where}: a line is an object")
        strange.see(where, record)
        return row_of(record, rules)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        refuse(clip(f"{where}: {error}"))
