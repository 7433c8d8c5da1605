"""Files of JSON lines, for commands: what cannot be opened or read ends the command with 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from selfcorrect.batch.files import source, target
from selfcorrect.batch.lines import Line, Raw, dump, parse, read
from selfcorrect.cli.screen import refuse
from selfcorrect.errors import MissingExtra, UnusableFile
from selfcorrect.model import JSON

__all__ = ["Line", "Raw", "parse", "read", "reader", "refusing", "write", "writer"]


@contextmanager
def refusing() -> Iterator[None]:
    """End the command where a file cannot be used."""
    try:
        yield
    except (UnusableFile, MissingExtra) as error:
        refuse(str(error))


@contextmanager
def reader(path: str) -> Iterator[Iterator[Line]]:
    """The lines of a JSON lines file (`-` is stdin), one at a time; empty lines are left out.

    A file that cannot be opened, or is no text at all, is refused at once, before the first line is
    asked for.
    """
    with refusing(), source(path) as given:
        yield (line for raw in given if (line := read(raw)) is not None)


@contextmanager
def writer(path: str, read_from: str | None = None) -> Iterator[IO[str]]:
    """A text file to write lines to (`-` is stdout); never the one that is being read."""
    with refusing(), target(path, read_from) as stream:
        yield stream


def write(stream: IO[str], value: JSON) -> None:
    """Write one line, and hand it on at once so that a reader can follow."""
    stream.write(dump(value) + "\n")
    stream.flush()
