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


@dataclass(frozen=True, slots=True)
class Raw:
    """One line of a file as it was read.

    Attributes:
        name: The file's name.
        number: The line's number, from 1.
        content: Its bytes.
    """

    name: str
    number: int
    content: bytes


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
    with raw_reader(path) as given:
        yield (line for raw in given if (line := read(raw)) is not None)


@contextmanager
def raw_reader(path: str) -> Iterator[Iterator[Raw]]:
    """Like `reader`, without reading what the lines hold."""
    if path == "-":
        yield _raw(sys.stdin.buffer, "<stdin>")
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 -- see below
    except OSError as error:
        refuse(f"{path}: {error.strerror or error}")
    with stream:
        yield _raw(stream, path)


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


def read(raw: Raw) -> Line | None:
    """What a line holds, or None if it is empty."""
    where = f"{raw.name}:{raw.number}"
    try:
        text = raw.content.decode("utf-8-sig" if raw.number == 1 else "utf-8").strip()
        return Line(where, parse(text)) if text else None
    except UnicodeDecodeError as error:
        return Line(where, error=f"{where}: not UTF-8 at byte {error.start + 1}")
    except ValueError as error:
        return Line(where, error=f"{where}: {error}")


def _raw(stream: BinaryIO, name: str) -> Iterator[Raw]:
    return (Raw(name, number, content) for number, content in enumerate(stream, 1))


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
