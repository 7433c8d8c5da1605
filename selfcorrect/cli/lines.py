"""JSON lines in and out: read strictly, streamed, and one bad line never stops the others."""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final

from selfcorrect.cli.screen import dump, refuse
from selfcorrect.model import JSON

_HEAD: Final = 16
_MARK: Final = 4
"""Bytes at the start of a file by which formats are told apart."""
_COMPRESSED: Final = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1f]")


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

    A file that cannot be opened, or is no text at all, is refused at once, before the first line is
    asked for.
    """
    with raw_reader(path) as given:
        yield (line for raw in given if (line := read(raw)) is not None)


@contextmanager
def raw_reader(path: str) -> Iterator[Iterator[Raw]]:
    """Like `reader`, without reading what the lines hold."""
    if path == "-":
        if sys.stdin is None or sys.stdin.closed:
            refuse("-: stdin is closed; give a file, or pipe lines in")
        _refuse_binary(sys.stdin.buffer, "<stdin>")
        yield _raw(sys.stdin.buffer, "<stdin>")
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 -- see below
    except OSError as error:
        refuse(f"{path}: {error.strerror or error}")
    with stream:
        _refuse_binary(stream, path)
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


def _refuse_binary(stream: BinaryIO, name: str) -> None:
    """Refuse what begins like no text at all: compressed, an archive, UTF-16, a picture."""
    peek = getattr(stream, "peek", None)
    line = (bytes(peek(_HEAD))[:_HEAD] if peek is not None else b"").split(b"\n")[0]
    if line.startswith(_COMPRESSED):
        refuse(f"{name}: compressed; unpack it first")
    if line.startswith((b"{", b"[")):
        line = line[:_MARK]  # what is wrong further on is wrong with one line
    try:
        codecs.getincrementaldecoder("utf-8")().decode(line)
    except UnicodeDecodeError:
        refuse(f"{name}: no text in UTF-8; lines of JSON are wanted")
    if _CONTROL.search(line):
        refuse(f"{name}: no text, but binary data; lines of JSON are wanted")


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
