"""JSON lines in and out: read strictly, streamed, and one bad line never stops the others."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from selfcorrect.cli.screen import dump, refuse
from selfcorrect.model import JSON


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its value, or what is wrong with it."""

    where: str
    value: JSON = None
    error: str | None = None


def parse(text: str) -> JSON:
    """Read JSON strictly: no duplicate keys, no NaN, no number beyond the range of a float.

    Raises:
        ValueError: If the text is not such JSON, naming the place where that is known.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number
        )
    except json.JSONDecodeError as error:
        at = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}"
        raise ValueError(f"not JSON: {error.msg} at {at}") from None
    except RecursionError:
        raise ValueError("not readable: nested too deeply") from None


@contextmanager
def reader(path: str) -> Iterator[Iterator[Line]]:
    """The lines of a JSON lines file (`-` is stdin), one at a time; empty lines are left out.

    A file that cannot be opened is refused at once, before the first line is asked for.
    """
    if path == "-":
        yield _lines(sys.stdin.buffer, "<stdin>")
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 -- see below
    except OSError as error:
        refuse(f"{path}: {error.strerror or error}")
    with stream:
        yield _lines(stream, path)


@contextmanager
def writer(path: str, source: str | None = None) -> Iterator[IO[str]]:
    """A text file to write lines to (`-` is stdout); never the `source` that is being read."""
    if path == "-":
        yield sys.stdout
        return
    try:
        if source not in (None, "-") and Path(path).exists() and Path(path).samefile(source):
            refuse(f"{path}: cannot be read and written at the same time")
        stream = Path(path).open("w", encoding="utf-8", newline="\n")  # noqa: SIM115 -- see below
    except OSError as error:
        refuse(f"{path}: {error.strerror or error}")
    with stream:
        yield stream


def write(stream: IO[str], value: JSON) -> None:
    """Write one line, and hand it on at once so that a reader can follow."""
    stream.write(dump(value) + "\n")
    stream.flush()


def _lines(stream: BinaryIO, name: str) -> Iterator[Line]:
    for number, raw in enumerate(stream, 1):
        where = f"{name}:{number}"
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if text:
                yield Line(where, parse(text))
        except UnicodeDecodeError as error:
            yield Line(where, error=f"{where}: not UTF-8 at byte {error.start + 1}")
        except ValueError as error:
            yield Line(where, error=f"{where}: {error}")


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    made: dict[str, JSON] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"not readable: the key {dump(key)} appears twice")
        made[key] = value
    return made


def _constant(name: str) -> JSON:
    raise ValueError(f"not JSON: {name} is not a JSON number")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"not readable: the number {text[:20]} is too large")
    return value
